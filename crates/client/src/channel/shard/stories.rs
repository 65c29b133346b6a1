//! A channel's shard in virtual time, before a server that is made by hand.

use super::{AddressPicker, ChannelShard};
use crate::channel::ChannelOptions;
use crate::channel::call_handle::CallHandle;
use crate::channel::call_limit::CallLimit;
use crate::channel::message_reader::MessageReader;
use crate::channel::pending_call::{
    CallKind, ChannelCommand, PendingCall, ResponseCallback, StreamGuard,
};
use crate::channel::shared::ChannelShared;
use crate::channel::shared_stream::SharedStream;
use crate::{ConnectError, Requests, Responses, SendError, StreamCall};
use bookend_io::simulated::{End, Simulated};
use bookend_io::{ConnectionId, Mailbox, Waker};
use bookend_wire::frame::{FrameHeader, HEADER_BYTES, PREFACE, flag, kind, write_frame};
use bookend_wire::grpc::{Code, Encoding, Status};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, channel, sync_channel};
use std::time::Duration;

const SECOND_NS: u64 = 1_000_000_000;

/// `:status: 200` and `content-type: application/grpc`, as literals.
const HEAD: &[u8] = b"\x88\x0f\x10\x10application/grpc";

struct Story {
    channel: Simulated<ChannelShard>,
    waker: Waker,
    mailbox: Mailbox<ChannelCommand>,
    limit: Arc<CallLimit>,
    id: ConnectionId,
    has_greeted: bool,
}

impl Story {
    /// A channel that has connected, to a server that has greeted.
    fn with(keepalive_time: Option<Duration>) -> Self {
        let mut story = Self::connected(keepalive_time);
        story.greet();
        story
    }

    /// A channel that has connected, to a server that has sent nothing.
    fn connected(keepalive_time: Option<Duration>) -> Self {
        let waker = Waker::new().expect("a descriptor");
        let mailbox = Mailbox::new(waker.clone());
        let addresses = AddressPicker::find("127.0.0.1:1").expect("an address");
        let options = ChannelOptions { keepalive_time, ..ChannelOptions::default() };
        let limit = Arc::new(CallLimit::new(9));
        let shard = ChannelShard::new(addresses, options, mailbox.clone(), Arc::clone(&limit));
        let mut channel = Simulated::new(shard, SECOND_NS);
        let id = channel.connect().expect("it connects at once");
        Story { channel, waker, mailbox, limit, id, has_greeted: false }
    }

    fn greet(&mut self) {
        self.has_greeted = false;
        self.say(kind::SETTINGS, 0, 0, &[]);
        self.heard();
    }

    fn say(&mut self, kind: u8, flags: u8, stream: u32, payload: &[u8]) {
        let mut bytes = Vec::new();
        write_frame(&mut bytes, kind, flags, stream, payload);
        self.channel.give(self.id, &bytes);
    }

    fn call(&mut self) -> Receiver<Status> {
        let (sender, receiver) = channel();
        let callback = ResponseCallback::new(move |response| sender.send(response.status).unwrap());
        let kind = CallKind::Unary(Vec::new(), callback);
        let pending = PendingCall::new(StreamCall::new("/a/b"), kind, None);
        self.mailbox.push(ChannelCommand::Call(pending));
        self.channel.wake();
        receiver
    }

    /// A call whose messages come one by one, which has a second.
    fn open(&mut self) -> (Requests, Responses) {
        let shared = ChannelShared {
            target: String::new(),
            max_message_bytes: 1_000,
            stream_window_bytes: 65_535,
            mailbox: self.mailbox.clone(),
            waker: self.waker.clone(),
            limit: Arc::clone(&self.limit),
        };
        let stream = Arc::new(SharedStream::default());
        let handle = CallHandle { channel: Arc::new(shared), stream: Arc::clone(&stream) };
        let reader = MessageReader::new(1_000, 65_535);
        let deadline_ns = Some(self.channel.now_ns() + SECOND_NS);
        let kind = CallKind::Stream(StreamGuard(stream));
        let pending = PendingCall::new(StreamCall::new("/a/b"), kind, deadline_ns);
        self.mailbox.push(ChannelCommand::Call(pending));
        self.channel.wake();
        (Requests::new(handle.clone(), Encoding::Identity), Responses::new(handle, reader))
    }

    /// The types of the frames that have come from the channel, without acknowledgements.
    fn heard(&mut self) -> Vec<u8> {
        let bytes = self.channel.take(self.id, usize::MAX);
        let mut rest = if self.has_greeted { &bytes[..] } else { &bytes[PREFACE.len()..] };
        self.has_greeted = true;
        let mut kinds = Vec::new();
        while let Some((head, behind)) = rest.split_first_chunk::<HEADER_BYTES>() {
            let header = FrameHeader::parse(head);
            if matches!(header.kind, kind::HEADERS | kind::DATA) || !header.has(flag::ACK) {
                kinds.push(header.kind);
            }
            rest = &behind[header.length..];
        }
        kinds
    }

    /// PINGs that come while `seconds` seconds pass, each of which is answered.
    fn pings_in(&mut self, seconds: u64) -> usize {
        let mut pings = 0;
        for _ in 0..seconds {
            self.channel.pass_ns(SECOND_NS);
            for _ in self.heard().iter().filter(|heard| **heard == kind::PING) {
                pings += 1;
                self.say(kind::PING, flag::ACK, 0, &[0; 8]);
            }
        }
        pings
    }

    fn go_away(&mut self, debug: &str) {
        let code = [0, 0, 0, 11];
        let payload = [&[0, 0, 0, 0][..], &code, debug.as_bytes()].concat();
        self.say(kind::GOAWAY, 0, 0, &payload);
    }
}

fn keepalive(seconds: u64) -> Option<Duration> {
    Some(Duration::from_secs(seconds))
}

#[test]
fn a_server_that_vanishes_while_a_call_waits_is_given_up() {
    let mut story = Story::with(keepalive(60));
    let status_of_call = story.call();
    assert_eq!(story.heard(), [kind::HEADERS, kind::DATA]);
    story.channel.pass_ns(59 * SECOND_NS);
    assert_eq!(story.heard(), []);
    story.channel.pass_ns(SECOND_NS);
    assert_eq!(story.heard(), [kind::PING]);
    story.channel.pass_ns(19 * SECOND_NS);
    assert!(status_of_call.try_recv().is_err());
    story.channel.pass_ns(SECOND_NS);
    let status = status_of_call.try_recv().expect("it has ended");
    assert_eq!(status.code, Code::Unavailable);
    assert!(status.message.contains("keepalive PING"), "{status}");
    assert_eq!(story.channel.end(story.id), Some(End::Reset));
    assert!(story.channel.connect().is_some(), "another one is made");
}

#[test]
fn a_server_that_answers_pings_is_kept_and_sent_more() {
    let mut story = Story::with(keepalive(60));
    let status_of_call = story.call();
    let pings = story.pings_in(3_600);
    assert!((40..=60).contains(&pings), "{pings}");
    assert!(status_of_call.try_recv().is_err());
}

#[test]
fn without_a_call_there_are_no_pings_and_without_the_option_none_either() {
    for (keepalive, calls) in [(keepalive(60), false), (None, true)] {
        let mut story = Story::with(keepalive);
        let _status = calls.then(|| story.call());
        assert_eq!(story.pings_in(3_600), 0);
    }
}

#[test]
fn pings_come_no_more_often_than_every_ten_seconds() {
    let mut story = Story::with(keepalive(1));
    let _status = story.call();
    assert!(story.pings_in(1_000) <= 100);
}

#[test]
fn a_server_that_had_too_many_pings_is_sent_half_as_many_from_then_on() {
    for (debug, slower) in [("too_many_pings", true), ("calm down", false)] {
        let mut story = Story::with(keepalive(60));
        story.go_away(debug);
        story.channel.pass_ns(SECOND_NS);
        story.id = story.channel.connect().expect("another one is made");
        story.greet();
        let _status = story.call();
        let pings = story.pings_in(3_600);
        assert_eq!(pings <= 30, slower, "{debug}: {pings}");
        assert!(pings >= 20, "{pings}");
    }
}

#[test]
fn a_server_that_sends_half_a_frame_is_given_up() {
    let mut story = Story::connected(None);
    let (waiter, connected) = sync_channel(1);
    story.mailbox.push(ChannelCommand::AwaitConnection(waiter));
    story.channel.wake();
    story.channel.give(story.id, &[0, 0, 6, 4]);
    let timeout = ChannelOptions::default().settings_timeout;
    story.channel.pass_ns(timeout.as_nanos() as u64 - 1);
    assert!(connected.try_recv().is_err());
    story.channel.pass_ns(1);
    let error = connected.try_recv().expect("it is over").unwrap_err();
    let half = matches!(error, ConnectError::NoSettings { received_bytes: 4, .. });
    assert!(half, "{error:?}");
}

#[test]
fn what_came_before_a_deadline_can_be_read_after_it() {
    let mut story = Story::with(None);
    let (mut requests, mut responses) = story.open();
    assert_eq!(story.heard(), [kind::HEADERS]);
    story.say(kind::HEADERS, flag::END_HEADERS, 1, HEAD);
    story.say(kind::DATA, 0, 1, b"\0\0\0\0\x07in time");
    story.channel.pass_ns(SECOND_NS - 1);
    assert_eq!(story.heard(), []);
    story.channel.pass_ns(1);
    assert_eq!(story.heard(), [kind::RST_STREAM]);
    assert_eq!(requests.send(b"late"), Err(SendError::Ended));
    assert_eq!(responses.next().unwrap().unwrap().bytes, b"in time");
    let late = responses.next().unwrap().unwrap_err();
    assert_eq!(late.code, Code::DeadlineExceeded);
}
