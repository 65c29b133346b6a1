//! What a server answers to unary calls, right or wrong.

use crate::peer::{Heard, Peer, Request};
use bookend_wire::{ErrorCode, HeaderBlock, StreamKey};
use std::io::Write;
use std::net::{TcpListener, TcpStream};

const HEAD: [(&[u8], &[u8]); 2] = [(b":status", b"200"), (b"content-type", b"application/grpc")];

/// Says what is not HTTP/2, in one write with what it has said before.
pub fn accept_and_babble(listener: &TcpListener, before: &[u8]) -> TcpStream {
    let (mut socket, _) = listener.accept().unwrap();
    let babble = [before, b"HTTP/1.1 400 Bad Request\r\n\r\n"].concat();
    socket.write_all(&babble).unwrap();
    socket
}

impl Request {
    /// The deadline, as the client has sent it.
    pub fn timeout(&self) -> Option<&str> {
        self.field("grpc-timeout")
    }
}

impl Peer {
    /// Reads until `count` whole requests have come; returns their streams.
    pub fn requests(&mut self, count: usize) -> Vec<StreamKey> {
        let whole = |heard: &Heard| -> Vec<StreamKey> {
            let streams = heard.streams.iter().copied();
            streams.filter(|stream| heard.request(*stream).ended).collect()
        };
        whole(self.hear(|heard| whole(heard).len() >= count))
    }

    /// Answers with OK and an empty message, in one write.
    pub fn answer_at_once(&mut self, stream: StreamKey) {
        let mut trailers = HeaderBlock::new(&[(b"grpc-status", b"0")]);
        let sender = &mut self.connection.sender;
        sender.reply(stream, &mut HeaderBlock::new(&HEAD), &mut trailers, |_| {});
        self.write();
    }

    /// Answers with a head that states `PERMISSION_DENIED`, and ends the stream with it or after.
    pub fn answer_by_head(&mut self, stream: StreamKey, ends_at_once: bool) {
        let fields = [&HEAD[..], &[(&b"grpc-status"[..], &b"7"[..])]].concat();
        let sender = &mut self.connection.sender;
        sender.headers(stream, &mut HeaderBlock::new(&fields), ends_at_once);
        if !ends_at_once {
            sender.data(stream, b"", true);
        }
        self.write();
    }

    /// Sends two messages and does not stop there.
    pub fn answer_twice(&mut self, stream: StreamKey) {
        let sender = &mut self.connection.sender;
        sender.headers(stream, &mut HeaderBlock::new(&HEAD), false);
        for message in [b"one", b"two"] {
            sender.message(stream, false, |output| output.extend_from_slice(message));
        }
        self.write();
    }

    /// Refuses a stream without looking at it.
    pub fn refuse(&mut self, stream: StreamKey) {
        self.reset(stream, ErrorCode::REFUSED_STREAM);
    }
}
