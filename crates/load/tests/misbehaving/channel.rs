//! The channel of the client library: unary calls.

use super::behaviour::Behaviour;
use super::cases::{BAD, Case, GOOD, Tally};
use super::server::{bind, unused_address};
use bookend_client::{Channel, ChannelOptions, Code, Response, UnaryCall};
use bookend_wire::ConnectionConfig;
use std::net::SocketAddr;
use std::sync::mpsc;
use std::time::Duration;

/// Windows are small: what is not given back is missed soon.
pub fn channel_to(address: SocketAddr) -> Channel {
    let options =
        ChannelOptions { http2: ConnectionConfig::internet(), ..ChannelOptions::default() };
    Channel::connect(&address.to_string(), options).unwrap()
}

/// Calls in flight on a channel.
struct Calls {
    channel: Channel,
    tell: mpsc::Sender<Response>,
    hear: mpsc::Receiver<Response>,
    left: u64,
}

impl Calls {
    /// Makes the first calls, as many as the case has at once. They wait for their connection.
    fn begin(address: SocketAddr, case: &Case) -> Self {
        let (tell, hear) = mpsc::channel();
        let mut calls = Self { channel: channel_to(address), tell, hear, left: case.calls };
        (0..case.at_once).for_each(|_| calls.make());
        calls
    }

    fn make(&mut self) {
        if self.left == 0 {
            return;
        }
        self.left -= 1;
        let mut call = UnaryCall::new("/test.Any/Call", b"ping".to_vec());
        call.timeout = Some(Duration::from_secs(20));
        let tell = self.tell.clone();
        self.channel.call(call, move |answer| tell.send(answer).unwrap());
    }

    /// Waits for all answers; for each, another call is made.
    fn tally(mut self, address: SocketAddr, case: &Case) -> Tally {
        let mut tally = Tally::default();
        for _ in 0..case.calls {
            let status = self.hear.recv().unwrap().status;
            self.make();
            if status.code == Code::Ok {
                tally.ok += 1;
                continue;
            }
            let text = format!("{}: {}", status.code, status.message)
                .replace(&address.to_string(), "ADDRESS");
            *tally.errors.entry(text).or_default() += 1;
        }
        tally
    }
}

fn meet(case: &Case, behaviour: Behaviour) -> Result<(), String> {
    let bound = bind();
    let address = bound.address();
    let calls = Calls::begin(address, case);
    let server = bound.serve(behaviour);
    let tally = calls.tally(address, case);
    case.judge(case.channel, &tally, &server.finish())
}

#[test]
fn every_misbehaviour_is_reported_as_what_it_is() {
    assert_eq!(meet(&GOOD, GOOD.behaviour), Ok(()));
    for case in &BAD {
        assert_eq!(meet(case, case.behaviour), Ok(()));
    }
}

#[test]
fn with_no_server_no_case_passes() {
    for case in BAD.iter().chain([&GOOD]) {
        let address = unused_address();
        let tally = Calls::begin(address, case).tally(address, case);
        let passes = case.judge(case.channel, &tally, &[]).is_ok();
        assert!(!passes, "{}", case.name);
        assert!(tally.errors.keys().all(|text| text.starts_with("UNAVAILABLE")));
    }
}

#[test]
fn a_server_that_behaves_well_passes_for_no_other() {
    for case in &BAD {
        let taken_in = meet(case, Behaviour::Good).is_ok();
        assert!(!taken_in, "{}", case.name);
    }
}
