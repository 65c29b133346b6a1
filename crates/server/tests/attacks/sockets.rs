//! Two of the attacks once more, over real sockets and every driver: the limits are the shard's,
//! and that the goodbye arrives is the driver's.

use std::io::{ErrorKind, Read, Write};
use std::iter::repeat_n;
use std::net::{TcpStream, ToSocketAddrs};
use std::time::Duration;

use bookend_server::{Io, Server, ServerHandle};
use bookend_wire::ErrorCode;
use bookend_wire::frame::{PREFACE, flag, kind};

use crate::frames::{frame, head, ids, ping, request, reset, take_frames};
use crate::stage::alone;
use crate::testing::{ECHO, Testing};

/// Longer than any answer takes on the slowest machine: only a test that fails waits for it.
const PATIENCE: Duration = Duration::from_secs(20);

struct Client {
    socket: TcpStream,
    unread: Vec<u8>,
}

impl Client {
    fn with_preface(address: impl ToSocketAddrs) -> Self {
        let socket = TcpStream::connect(address).expect("a connection");
        socket.set_read_timeout(Some(PATIENCE)).expect("a time-out");
        socket.set_write_timeout(Some(PATIENCE)).expect("a time-out");
        let mut client = Self { socket, unread: Vec::new() };
        let settings = frame(kind::SETTINGS, 0, 0, &[]);
        client.send(&[&PREFACE[..], &settings].concat());
        client
    }

    /// Sends; a server that has hung up is no failure of the test.
    fn send(&mut self, bytes: &[u8]) {
        let _ = self.socket.write_all(bytes);
    }

    /// Reads once; `None` at the end.
    fn read(&mut self) -> Option<Vec<(u8, u8, Vec<u8>)>> {
        let mut buffer = vec![0; 64 << 10];
        let count = match self.socket.read(&mut buffer) {
            Ok(0) => return None,
            Ok(count) => count,
            Err(error) if error.kind() == ErrorKind::ConnectionReset => return None,
            Err(error) => panic!("{error}"),
        };
        self.unread.extend(&buffer[..count]);
        let frames = take_frames(&mut self.unread);
        Some(
            frames
                .into_iter()
                .map(|(header, payload)| (header.kind, header.flags, payload))
                .collect(),
        )
    }

    /// Reads `frames` frames, or to the end. The code of the GOAWAY, if there is one among them.
    fn hear(&mut self, frames: usize) -> Option<ErrorCode> {
        let (mut code, mut count) = (None, 0);
        while count < frames
            && let Some(heard) = self.read()
        {
            count += heard.len();
            for (frame_kind, _, payload) in heard {
                if frame_kind == kind::GOAWAY {
                    let bytes = payload[4..8].try_into().expect("four bytes");
                    code = Some(ErrorCode(u32::from_be_bytes(bytes)));
                }
            }
        }
        code
    }

    fn is_answered(&mut self, id: u32) {
        self.send(&request(id, ECHO, b"still there?"));
        let ends = |(frame_kind, flags, _): &(u8, u8, Vec<u8>)| {
            *frame_kind == kind::HEADERS && flags & flag::END_STREAM != 0
        };
        while !self.read().expect("an answer").iter().any(ends) {}
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
