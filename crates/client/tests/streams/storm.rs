//! Everything at once, drawn from a seed: whatever is done to a call, by either side and by the
//! network, whoever waits for it sees exactly one end.

use crate::peer::{Peer, connected};
use crate::{PATH, careful};
use bookend_client::{Channel, Code, StreamCall};
use bookend_wire::{ConnectionConfig, ErrorCode, StreamKey};
use std::net::TcpListener;
use std::thread;

/// Marsaglia's xorshift.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 33) % limit
    }
}

/// Makes calls, does something to each, and waits for its end.
fn call_many(channel: &Channel, calls: usize, mut random: Random) -> Vec<Code> {
    let one = |_| {
        let mut call = StreamCall::new(PATH);
        call.waits_for_ready = true;
        let (mut requests, mut responses) = channel.open(call);
        let canceller = responses.canceller();
        let (messages, bytes) = (random.below(30), random.below(20_000) as usize);
        let then = random.below(4);
        let sending = thread::spawn(move || {
            for _ in 0..messages {
                // An end that came meanwhile is told to the other half.
                if requests.send(&vec![1; bytes]).is_err() {
                    break;
                }
            }
            match then {
                0 => drop(requests),
                1 => requests.cancel(),
                _ => requests.finish(),
            }
        });
        match random.below(3) {
            // The server may have forgotten it.
            0 => drop(responses.next()),
            1 => canceller.cancel(),
            _ => {}
        }
        let code = responses.end().status.code;
        sending.join().unwrap();
        code
    };
    (0..calls).map(one).collect()
}

/// Does something to one call, never nothing.
fn treat(peer: &mut Peer, stream: StreamKey, random: &mut Random) {
    match random.below(6) {
        0 => peer.reset(stream, ErrorCode::REFUSED_STREAM),
        1 => peer.reset(stream, ErrorCode::CANCEL),
        2 => peer.trailers_only_ok(stream),
        3 => {
            peer.head(stream, &[]);
            peer.message(stream, &vec![2; random.below(200_000) as usize]);
            peer.trailers(stream, "0", &[]);
        }
        4 => {
            peer.head(stream, &[]);
            peer.data(stream, b"\0\0\0\x01\0half", false);
            peer.trailers(stream, "0", &[]);
        }
        _ => peer.answer(stream, b"whole"),
    }
}

fn serve(mut peer: Peer, listener: &TcpListener, mut random: Random) {
    loop {
        let mut left = 1 + random.below(40);
        let mut treated = 0;
        while left > 0
            && let Some(stream) = peer.next_stream(treated)
        {
            treat(&mut peer, stream, &mut random);
            treated += 1;
            left -= 1;
        }
        drop(peer);
        let Some(next) = Peer::accept_or_end(listener, &ConnectionConfig::internet()) else {
            return;
        };
        peer = next;
    }
}

#[test]
fn whatever_is_done_to_a_call_it_ends_once_for_everybody() {
    const THREADS: u64 = 8;
    const CALLS: usize = 40;
    for seed in 1..=4_u64 {
        let mut options = careful();
        options.backoff_min = std::time::Duration::from_micros(100);
        options.backoff_max = options.backoff_min;
        let (channel, peer, listener) = connected(options, &ConnectionConfig::internet());
        let address = listener.local_addr().unwrap();
        let serving = thread::spawn(move || serve(peer, &listener, Random(seed << 32 | 7)));
        let calling: Vec<_> = (0..THREADS)
            .map(|number| {
                let channel = channel.clone();
                thread::spawn(move || {
                    call_many(&channel, CALLS, Random(seed << 32 | number << 8 | 1))
                })
            })
            .collect();
        let codes: Vec<_> = calling.into_iter().flat_map(|thread| thread.join().unwrap()).collect();
        assert_eq!(codes.len(), THREADS as usize * CALLS);
        for expected in [Code::Ok, Code::Cancelled, Code::Unavailable, Code::Internal] {
            assert!(codes.contains(&expected), "seed {seed} has no {expected}");
        }
        drop(channel);
        // An empty connection tells the listener of the end.
        drop(std::net::TcpStream::connect(address).unwrap());
        serving.join().unwrap();
    }
}
