//! A server that does, frame by frame, what the test says.

use bookend_wire::frame::{kind, write_frame};
use bookend_wire::{
    Connection, ConnectionConfig, ErrorCode, HeaderBlock, HeaderList, Initiator, Sender, Side,
    StreamKey, Visitor,
};
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};

/// One connection. Dropping it kills it.
pub struct Raw {
    socket: TcpStream,
    connection: Connection,
    heard: Heard,
    inbox: Vec<u8>,
}

/// What the client has said, in order.
#[derive(Default)]
pub struct Heard {
    pub requests: Vec<StreamKey>,
    pub timeouts: Vec<Vec<u8>>,
    pub resets: Vec<ErrorCode>,
}

impl Raw {
    /// Accepts the next connection and greets it.
    pub fn accept(listener: &TcpListener, config: &ConnectionConfig) -> Self {
        let (socket, _) = listener.accept().unwrap();
        let mut raw = Self {
            socket,
            connection: Connection::new(Side::Server, config),
            heard: Heard::default(),
            inbox: Vec::new(),
        };
        raw.write();
        raw
    }

    /// Reads until what was heard satisfies `is_enough`.
    pub fn hear(&mut self, is_enough: impl Fn(&Heard) -> bool) -> &Heard {
        let mut buffer = [0; 1 << 16];
        while !is_enough(&self.heard) {
            let read = self.socket.read(&mut buffer).unwrap();
            assert!(read > 0, "the client has closed the connection");
            self.inbox.extend_from_slice(&buffer[..read]);
            let consumed = self.connection.receive(&self.inbox, &mut self.heard);
            self.inbox.drain(..consumed.unwrap());
            self.write();
        }
        &self.heard
    }

    /// Reads until `count` whole requests have come; returns their streams.
    pub fn requests(&mut self, count: usize) -> Vec<StreamKey> {
        let heard = self.hear(|heard| heard.requests.len() >= count);
        heard.requests.clone()
    }

    /// Answers with OK and an empty message.
    pub fn answer(&mut self, stream: StreamKey) {
        let mut head =
            HeaderBlock::new(&[(b":status", b"200"), (b"content-type", b"application/grpc")]);
        let mut trailers = HeaderBlock::new(&[(b"grpc-status", b"0")]);
        let sender = &mut self.connection.sender;
        sender.reply(stream, &mut head, &mut trailers, |_| {});
        self.write();
    }

    /// Answers with a head that states `PERMISSION_DENIED`, and ends the stream with it or after.
    pub fn answer_by_head(&mut self, stream: StreamKey, ends_at_once: bool) {
        let fields: [(&[u8], &[u8]); 3] =
            [(b":status", b"200"), (b"content-type", b"application/grpc"), (b"grpc-status", b"7")];
        let sender = &mut self.connection.sender;
        sender.headers(stream, &mut HeaderBlock::new(&fields), ends_at_once);
        if !ends_at_once {
            sender.data(stream, b"", true);
        }
        self.write();
    }

    /// Sends two messages and does not stop there.
    pub fn answer_twice(&mut self, stream: StreamKey) {
        let mut head =
            HeaderBlock::new(&[(b":status", b"200"), (b"content-type", b"application/grpc")]);
        let sender = &mut self.connection.sender;
        sender.headers(stream, &mut head, false);
        for message in [b"one", b"two"] {
            sender.message(stream, false, |output| output.extend_from_slice(message));
        }
        self.write();
    }

    /// Says what is not HTTP/2, in one write with what it has said before.
    pub fn accept_and_babble(listener: &TcpListener, before: &[u8]) -> TcpStream {
        let (mut socket, _) = listener.accept().unwrap();
        let babble = [before, b"HTTP/1.1 400 Bad Request\r\n\r\n"].concat();
        socket.write_all(&babble).unwrap();
        socket
    }

    /// Says that nothing above that stream will be looked at.
    pub fn go_away(&mut self, last_stream_id: u32) {
        let mut payload = last_stream_id.to_be_bytes().to_vec();
        payload.extend_from_slice(&ErrorCode::NO_ERROR.0.to_be_bytes());
        let mut frame = Vec::new();
        write_frame(&mut frame, kind::GOAWAY, 0, 0, &payload);
        self.socket.write_all(&frame).unwrap();
    }

    /// Refuses a stream without looking at it.
    pub fn refuse(&mut self, stream: StreamKey) {
        let sender = &mut self.connection.sender;
        sender.reset(stream, ErrorCode::REFUSED_STREAM);
        self.write();
    }

    /// Reads until the client closes the connection.
    pub fn wait_for_end(mut self) {
        while self.socket.read(&mut [0; 1024]).is_ok_and(|read| read > 0) {}
    }

    fn write(&mut self) {
        let output = std::mem::take(&mut self.connection.sender.output);
        self.socket.write_all(&output).unwrap();
    }
}

impl Visitor for Heard {
    fn headers(
        &mut self,
        _: &mut Sender,
        _: StreamKey,
        fields: &HeaderList,
        _: bool,
    ) -> Option<u32> {
        self.timeouts.extend(fields.find(b"grpc-timeout").map(<[u8]>::to_vec));
        None
    }

    /// Never called: no token is ever given out.
    fn cached_headers(&mut self, _: &mut Sender, _: StreamKey, _: u32, _: bool) {}

    fn data(&mut self, sender: &mut Sender, stream: StreamKey, data: &[u8], end_stream: bool) {
        sender.release(stream, data.len());
        if end_stream {
            self.requests.push(stream);
        }
    }

    fn reset(&mut self, _: &mut Sender, _: StreamKey, code: ErrorCode, _: Initiator) {
        self.resets.push(code);
    }

    fn goaway(&mut self, _: &mut Sender, _: u32, _: ErrorCode, _: &[u8]) {}
}
