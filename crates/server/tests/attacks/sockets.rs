//! Two of the attacks once more, over real sockets and every driver: the limits are the shard's,
//! and that the goodbye arrives is the driver's.

use std::iter::{self, repeat_n};
use std::net::ToSocketAddrs;

use bookend_server::{Io, Server, ServerHandle};
use bookend_testing::{PREFACE, ScriptedPeer, flag, kind, settings};
use bookend_wire::ErrorCode;

use crate::frames::{head, ids, ping, request, reset};
use crate::stage::alone;
use crate::testing::{ECHO, Testing};

struct Client(ScriptedPeer);

impl Client {
    fn with_preface(address: impl ToSocketAddrs) -> Self {
        let mut client = Self(ScriptedPeer::connect(address));
        client.send(&[&PREFACE[..], &settings(&[])].concat());
        client
    }

    /// Sends; a server that has hung up is no failure of the test.
    fn send(&mut self, bytes: &[u8]) {
        let _ = self.0.send(bytes);
    }

    /// Hears `count` frames, or all to the end. The code of the GOAWAY, if there is one among them.
    fn hear(&mut self, count: usize) -> Option<ErrorCode> {
        let frames = iter::from_fn(|| self.0.hear()).take(count);
        let goaways = frames.filter(|frame| frame.kind == kind::GOAWAY);
        goaways.map(|goaway| ErrorCode(goaway.number_at(4))).last()
    }

    fn is_answered(&mut self, id: u32) {
        self.send(&request(id, ECHO, b"still there?"));
        self.0.wait_for(|frame| frame.kind == kind::HEADERS && frame.has(flag::END_STREAM));
    }
}

fn serve(io: Io) -> ServerHandle {
    let server = Server::builder().add_service(Testing::default());
    let bound = server.bind("127.0.0.1:0").expect("a port").io(io).threads(1);
    bound.spawn().expect("a thread")
}

/// Sends the same piece ten times, which is half as much again as is allowed at once: a little more
/// is as time passes. Each piece has `answers` answers, which the attacker reads.
fn is_cut(io: Io, pieces: impl Iterator<Item = Vec<u8>>, answers: usize) {
    let server = serve(io);
    let mut attacker = Client::with_preface(server.local_address());
    let mut other = Client::with_preface(server.local_address());
    let mut code = None;
    for (id, piece) in ids().zip(pieces) {
        attacker.send(&piece);
        other.is_answered(id);
        code = code.or_else(|| attacker.hear(answers));
    }
    code = code.or_else(|| attacker.hear(usize::MAX));
    assert_eq!(code, Some(ErrorCode::ENHANCE_YOUR_CALM), "{io:?}");
    other.is_answered(1_001);
    // A server that stops waits for clients that stay.
    drop(other);
    server.stop();
    let counts = server.join().expect("no machine's error").calls;
    assert_eq!((counts.broken_connections, counts.answered_ok), (1, 11), "{io:?}");
}

#[test]
fn rapid_resets_are_cut_and_told_so() {
    let _alone = alone();
    let resets =
        |ids: Vec<u32>| ids.into_iter().flat_map(|id| [head(id, ECHO), reset(id)].concat());
    for io in [Io::Epoll, Io::Blocking, Io::Auto, Io::Uring] {
        let all: Vec<u32> = ids().take(1_500).collect();
        is_cut(io, all.chunks(150).map(|piece| resets(piece.to_vec()).collect()), 0);
    }
}

#[test]
fn a_flood_of_pings_is_cut_and_told_so() {
    let _alone = alone();
    for io in [Io::Epoll, Io::Blocking, Io::Auto, Io::Uring] {
        is_cut(io, repeat_n(ping().repeat(1_500), 10), 1_500);
    }
}
