//! A server that does, frame by frame, what the test says, and remembers what it was sent. It gives
//! credit only where the test does.

use bookend_client::{Channel, ChannelOptions};
use bookend_testing::{PREFACE, frame, kind, message};
use bookend_wire::frame::{FrameHeader, HEADER_BYTES};
use bookend_wire::{
    Connection, ConnectionConfig, ErrorCode, HeaderBlock, HeaderList, Initiator, Sender, Side,
    StreamKey, Visitor,
};
use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};

/// One connection. Dropping it kills it.
pub struct Peer {
    socket: TcpStream,
    pub connection: Connection,
    heard: Heard,
    inbox: Vec<u8>,
    /// Bytes of the inbox whose frames are in the log.
    logged_bytes: usize,
}

/// What the client has said.
#[derive(Default)]
pub struct Heard {
    /// In the order in which they were opened.
    pub streams: Vec<StreamKey>,
    pub requests: BTreeMap<u32, Request>,
    pub resets: Vec<(u32, ErrorCode)>,
    pub frames: Vec<FrameHeader>,
    pongs: usize,
}

/// What has come on one stream.
#[derive(Clone, Debug, Default)]
pub struct Request {
    pub fields: Vec<(String, String)>,
    pub body: Vec<u8>,
    pub ended: bool,
}

impl Request {
    pub fn field(&self, name: &str) -> Option<&str> {
        self.fields(name).first().copied()
    }

    pub fn fields(&self, name: &str) -> Vec<&str> {
        let named = self.fields.iter().filter(|(field, _)| field == name);
        named.map(|(_, value)| value.as_str()).collect()
    }
}

impl Heard {
    pub fn request(&self, stream: StreamKey) -> &Request {
        &self.requests[&stream.id]
    }

    /// Streams of which that many bytes of the body have come.
    pub fn has_body(&self, bytes: usize) -> bool {
        self.requests.values().any(|request| request.body.len() >= bytes)
    }
}

/// A place where a client can connect.
pub fn listen() -> (TcpListener, String) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    (listener, address)
}

/// A channel and the first connection that it makes.
pub fn connected(
    options: ChannelOptions,
    config: &ConnectionConfig,
) -> (Channel, Peer, TcpListener) {
    let (listener, address) = listen();
    let channel = Channel::connect(&address, options).unwrap();
    let peer = Peer::accept(&listener, config);
    (channel, peer, listener)
}

impl Peer {
    /// Accepts the next connection and greets it.
    pub fn accept(listener: &TcpListener, config: &ConnectionConfig) -> Self {
        Self::accept_or_end(listener, config).expect("the client greets")
    }

    /// As [`Peer::accept`]; `None` where the connection is closed without a greeting.
    pub fn accept_or_end(listener: &TcpListener, config: &ConnectionConfig) -> Option<Self> {
        let (socket, _) = listener.accept().unwrap();
        let mut peer = Self {
            socket,
            connection: Connection::new(Side::Server, config),
            heard: Heard::default(),
            inbox: Vec::new(),
            logged_bytes: 0,
        };
        peer.write();
        let mut preface = vec![0; PREFACE.len()];
        peer.socket.read_exact(&mut preface).ok()?;
        let mut nobody = Heard::default();
        peer.connection.receive(&preface, &mut nobody).unwrap();
        Some(peer)
    }

    /// Reads until what was heard satisfies `is_enough`.
    pub fn hear(&mut self, is_enough: impl Fn(&Heard) -> bool) -> &Heard {
        while !is_enough(&self.heard) {
            assert!(self.read(), "the client has closed the connection");
        }
        &self.heard
    }

    /// Reads until the client closes the connection; gives all that was heard.
    pub fn hear_all(mut self) -> Heard {
        while self.read() {}
        self.heard
    }

    fn read(&mut self) -> bool {
        let mut buffer = [0; 1 << 16];
        let Ok(read @ 1..) = self.socket.read(&mut buffer) else {
            return false;
        };
        self.inbox.extend_from_slice(&buffer[..read]);
        self.log();
        let consumed = self.connection.receive(&self.inbox, &mut self.heard).unwrap();
        self.inbox.drain(..consumed);
        self.logged_bytes -= consumed;
        self.write();
        true
    }

    fn log(&mut self) {
        while let Some(bytes) = self.inbox[self.logged_bytes..].first_chunk::<HEADER_BYTES>() {
            let header = FrameHeader::parse(bytes);
            let frame_bytes = HEADER_BYTES + header.length;
            if self.inbox.len() - self.logged_bytes < frame_bytes {
                return;
            }
            self.heard.frames.push(header);
            self.logged_bytes += frame_bytes;
        }
    }

    /// Waits until the client has handled everything that was sent to it.
    pub fn settle(&mut self) -> &Heard {
        let pongs = self.heard.pongs;
        self.connection.sender.ping(*b"settled?");
        self.write();
        self.hear(|heard| heard.pongs > pongs)
    }

    /// Waits until `count` streams were opened; returns the last.
    pub fn stream(&mut self, count: usize) -> StreamKey {
        self.hear(|heard| heard.streams.len() >= count).streams[count - 1]
    }

    /// Waits for the stream after `before` others; `None` if the client closes the connection.
    pub fn next_stream(&mut self, before: usize) -> Option<StreamKey> {
        while self.heard.streams.len() <= before {
            self.read().then_some(())?;
        }
        Some(self.heard.streams[before])
    }

    /// Waits for the end of a request.
    pub fn whole(&mut self, stream: StreamKey) -> Request {
        let is_whole = |heard: &Heard| heard.request(stream).ended;
        self.hear(is_whole).request(stream).clone()
    }

    /// Sends a good head with these fields behind the usual ones.
    pub fn head(&mut self, stream: StreamKey, extra: &[(&str, &str)]) {
        let mut fields = vec![(":status", "200"), ("content-type", "application/grpc")];
        fields.extend_from_slice(extra);
        self.headers(stream, &fields, false);
    }

    /// Sends trailers with these fields behind the status.
    pub fn trailers(&mut self, stream: StreamKey, status: &str, extra: &[(&str, &str)]) {
        let mut fields = vec![("grpc-status", status)];
        fields.extend_from_slice(extra);
        self.headers(stream, &fields, true);
    }

    /// Sends a header block.
    pub fn headers(&mut self, stream: StreamKey, fields: &[(&str, &str)], end_stream: bool) {
        let fields: Vec<_> =
            fields.iter().map(|(name, value)| (name.as_bytes(), value.as_bytes())).collect();
        let mut block = HeaderBlock::new(&fields);
        self.connection.sender.headers(stream, &mut block, end_stream);
        self.write();
    }

    /// Sends one message, as far as the client's windows let it.
    pub fn message(&mut self, stream: StreamKey, bytes: &[u8]) {
        let append = |output: &mut Vec<u8>| output.extend_from_slice(bytes);
        self.connection.sender.message(stream, false, append);
        self.write();
    }

    /// Sends part of a body as it is.
    pub fn data(&mut self, stream: StreamKey, bytes: &[u8], end_stream: bool) {
        self.connection.sender.data(stream, bytes, end_stream);
        self.write();
    }

    /// A head, that message, and OK.
    pub fn answer(&mut self, stream: StreamKey, message: &[u8]) {
        self.head(stream, &[]);
        self.message(stream, message);
        self.trailers(stream, "0", &[]);
    }

    /// An answer of nothing but OK.
    pub fn trailers_only_ok(&mut self, stream: StreamKey) {
        let fields =
            [(":status", "200"), ("content-type", "application/grpc"), ("grpc-status", "0")];
        self.headers(stream, &fields, true);
    }

    pub fn reset(&mut self, stream: StreamKey, code: ErrorCode) {
        self.connection.sender.reset(stream, code);
        self.write();
    }

    /// Says that nothing above that stream will be looked at.
    pub fn go_away(&mut self, last_stream_id: u32) {
        let mut payload = last_stream_id.to_be_bytes().to_vec();
        payload.extend_from_slice(&ErrorCode::NO_ERROR.0.to_be_bytes());
        self.frame(kind::GOAWAY, 0, 0, &payload);
    }

    /// Sends a frame past everything that keeps order.
    pub fn frame(&mut self, kind: u8, flags: u8, stream_id: u32, payload: &[u8]) {
        self.socket.write_all(&frame(kind, flags, stream_id, payload)).unwrap();
    }

    /// Lets the client send `bytes` bytes more on that stream.
    pub fn allow(&mut self, stream: StreamKey, bytes: usize) {
        self.connection.sender.release(stream, bytes);
        self.write();
    }

    /// Bytes that the client does not let this stream send.
    pub fn blocked_bytes(&mut self, stream: StreamKey) -> usize {
        self.connection.sender.blocked_bytes(stream)
    }

    /// Sends what the connection has to say.
    pub fn write(&mut self) {
        let output = std::mem::take(&mut self.connection.sender.output);
        // A client that has closed has said all that it will.
        let _ = self.socket.write_all(&output);
    }
}

impl Visitor for Heard {
    fn headers(
        &mut self,
        _: &mut Sender,
        stream: StreamKey,
        fields: &HeaderList,
        end_stream: bool,
    ) -> Option<u32> {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let fields = fields.iter().map(|f| (text(f.name), text(f.value)));
        self.streams.push(stream);
        let request = Request { fields: fields.collect(), body: Vec::new(), ended: end_stream };
        self.requests.insert(stream.id, request);
        None
    }

    /// Never called: no token is ever given out.
    fn cached_headers(&mut self, _: &mut Sender, _: StreamKey, _: u32, _: bool) {}

    fn data(&mut self, _: &mut Sender, stream: StreamKey, data: &[u8], end_stream: bool) {
        let request = self.requests.get_mut(&stream.id).unwrap();
        request.body.extend_from_slice(data);
        request.ended |= end_stream;
    }

    fn reset(&mut self, _: &mut Sender, stream: StreamKey, code: ErrorCode, _: Initiator) {
        self.resets.push((stream.id, code));
    }

    fn goaway(&mut self, _: &mut Sender, _: u32, _: ErrorCode, _: &[u8]) {}

    fn pong(&mut self, _: [u8; 8]) {
        self.pongs += 1;
    }
}

/// Messages as they stand in a body that is not compressed.
pub fn body_of(messages: &[&[u8]]) -> Vec<u8> {
    messages.iter().flat_map(|bytes| message(bytes)).collect()
}
