//! Two connections in memory, with virtual time, and a visitor that keeps every event.
#![allow(dead_code, reason = "each test file uses a part of it")]

use bookend_wire::{
    Connection, ConnectionConfig, ConnectionError, ErrorCode, HeaderBlock, HeaderList, Initiator,
    Sender, Side, StreamKey, Visitor, WholeRequest, WholeResponse,
};
use std::collections::{HashMap, VecDeque};

/// What a visitor was told, by id and with the body put together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    Headers { id: u32, fields: Vec<(String, String)>, end_stream: bool },
    Data { id: u32, bytes: Vec<u8>, end_stream: bool },
    Reset { id: u32, code: ErrorCode, by: Initiator },
    Goaway { last_stream_id: u32, code: ErrorCode, debug: String },
    Settings,
    SettingsAcknowledged,
    Pong([u8; 8]),
    Drained { id: u32 },
}

/// The answer to every request.
pub struct Answer {
    pub head: HeaderBlock,
    pub trailers: HeaderBlock,
    pub message: Vec<u8>,
}

impl Answer {
    pub fn new(message: &[u8]) -> Self {
        let (head, trailers) = (HeaderBlock::new(&RESPONSE), HeaderBlock::new(&TRAILERS));
        Self { head, trailers, message: message.to_vec() }
    }

    fn send(&mut self, sender: &mut Sender, stream: StreamKey) {
        let Self { head, trailers, message } = self;
        sender.reply(stream, head, trailers, |output| output.extend_from_slice(message));
    }
}

/// Keeps every event. Blocks that come again are recognised by their token, as real visitors do.
#[derive(Default)]
pub struct Recorder {
    pub events: Vec<Event>,
    pub streams: HashMap<u32, StreamKey>,
    pub blocks_recalled: usize,
    pub whole_requests: usize,
    pub whole_responses: usize,
    /// Whether body bytes are released at once.
    pub keeps_bodies: bool,
    /// The message with which each request is answered as soon as it is whole.
    pub answer: Option<Answer>,
    tokens: Vec<Vec<(String, String)>>,
}

impl Visitor for Recorder {
    const TAKES_WHOLE_REQUESTS: bool = true;
    const TAKES_WHOLE_RESPONSES: bool = true;

    fn head_may_wait(&self, stream: StreamKey, _: u32) -> bool {
        assert!(!stream.is_listed());
        self.answer.is_some()
    }

    fn end_may_join(&self, _: StreamKey) -> bool {
        self.answer.is_some()
    }

    fn takes_whole_request(&self, request: WholeRequest<'_>) -> bool {
        assert!(!request.stream.is_listed());
        !self.keeps_bodies
    }

    fn whole_request(&mut self, sender: &mut Sender, request: WholeRequest<'_>) {
        let WholeRequest { stream, head, body } = request;
        self.whole_requests += 1;
        let stream = if self.answer.is_some() { stream } else { sender.enlist(stream) };
        self.cached_headers(sender, stream, head, false);
        self.data(sender, stream, body, true);
    }

    fn whole_response(
        &mut self,
        sender: &mut Sender,
        stream: StreamKey,
        response: WholeResponse<'_>,
    ) {
        let WholeResponse { head, body, trailers } = response;
        self.whole_responses += 1;
        self.cached_headers(sender, stream, head, false);
        self.events.push(Event::Data { id: stream.id, bytes: body.to_vec(), end_stream: false });
        self.cached_headers(sender, stream, trailers, true);
    }

    fn headers(
        &mut self,
        _: &mut Sender,
        stream: StreamKey,
        fields: &HeaderList,
        end_stream: bool,
    ) -> Option<u32> {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let fields: Vec<_> = fields.iter().map(|f| (text(f.name), text(f.value))).collect();
        self.streams.insert(stream.id, stream);
        self.tokens.push(fields.clone());
        self.events.push(Event::Headers { id: stream.id, fields, end_stream });
        Some(self.tokens.len() as u32 - 1)
    }

    fn cached_headers(&mut self, _: &mut Sender, stream: StreamKey, token: u32, end_stream: bool) {
        self.blocks_recalled += 1;
        self.streams.insert(stream.id, stream);
        let fields = self.tokens[token as usize].clone();
        self.events.push(Event::Headers { id: stream.id, fields, end_stream });
    }

    fn data(&mut self, sender: &mut Sender, stream: StreamKey, data: &[u8], end_stream: bool) {
        self.events.push(Event::Data { id: stream.id, bytes: data.to_vec(), end_stream });
        match &mut self.answer {
            Some(answer) if end_stream => answer.send(sender, stream),
            _ if !self.keeps_bodies => sender.release(stream, data.len()),
            _ => {}
        }
    }

    fn reset(&mut self, _: &mut Sender, stream: StreamKey, code: ErrorCode, by: Initiator) {
        self.events.push(Event::Reset { id: stream.id, code, by });
    }

    fn goaway(&mut self, _: &mut Sender, last_stream_id: u32, code: ErrorCode, debug: &[u8]) {
        let debug = String::from_utf8_lossy(debug).into_owned();
        self.events.push(Event::Goaway { last_stream_id, code, debug });
    }

    fn settings(&mut self, _: &mut Sender) {
        self.events.push(Event::Settings);
    }

    fn settings_acknowledged(&mut self) {
        self.events.push(Event::SettingsAcknowledged);
    }

    fn pong(&mut self, payload: [u8; 8]) {
        self.events.push(Event::Pong(payload));
    }

    fn drained(&mut self, _: &mut Sender, stream: StreamKey) {
        self.events.push(Event::Drained { id: stream.id });
    }
}

/// One end: a connection, what it was told, and what arrived but was no whole frame yet.
pub struct End {
    pub connection: Connection,
    pub seen: Recorder,
    inbox: Vec<u8>,
    /// What this end wrote, in flight to the other: arrival time and bytes.
    in_flight: VecDeque<(u64, Vec<u8>)>,
    pub error: Option<ConnectionError>,
}

impl End {
    pub fn new(side: Side, config: &ConnectionConfig) -> Self {
        Self {
            connection: Connection::new(side, config),
            seen: Recorder::default(),
            inbox: Vec::new(),
            in_flight: VecDeque::new(),
            error: None,
        }
    }

    pub fn sender(&mut self) -> &mut Sender {
        &mut self.connection.sender
    }

    /// Hands over bytes as they come from a socket.
    pub fn arrive(&mut self, bytes: &[u8]) {
        self.inbox.extend_from_slice(bytes);
        if self.error.is_some() {
            return;
        }
        match self.connection.receive(&self.inbox, &mut self.seen) {
            Ok(consumed) => drop(self.inbox.drain(..consumed)),
            Err(error) => self.error = Some(error),
        }
    }

    pub fn take_output(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.connection.sender.output)
    }

    /// The events since the last call.
    pub fn events(&mut self) -> Vec<Event> {
        std::mem::take(&mut self.seen.events)
    }

    /// The body that came on a stream, put together.
    pub fn body_of(&self, id: u32) -> Vec<u8> {
        let bytes_of = |event: &Event| match event {
            Event::Data { id: of, bytes, .. } if *of == id => bytes.clone(),
            _ => Vec::new(),
        };
        self.seen.events.iter().flat_map(bytes_of).collect()
    }
}

/// A client and a server with a wire between them that takes `latency` ticks of virtual time and
/// hands over at most `piece_bytes` at once.
pub struct Pair {
    pub client: End,
    pub server: End,
    pub time: u64,
    pub latency: u64,
    pub piece_bytes: usize,
}

impl Pair {
    pub fn new(client: &ConnectionConfig, server: &ConnectionConfig) -> Self {
        Self {
            client: End::new(Side::Client, client),
            server: End::new(Side::Server, server),
            time: 0,
            latency: 1,
            piece_bytes: usize::MAX,
        }
    }

    /// A pair that has exchanged its greetings.
    pub fn greeted(client: &ConnectionConfig, server: &ConnectionConfig) -> Self {
        let mut pair = Self::new(client, server);
        pair.drive();
        pair.client.events();
        pair.server.events();
        pair
    }

    /// Moves time to the next arrival and hands over what arrives then; false when all is quiet.
    pub fn step(&mut self) -> bool {
        for end in [&mut self.client, &mut self.server] {
            let written = end.take_output();
            for piece in written.chunks(self.piece_bytes.min(written.len().max(1))) {
                end.in_flight.push_back((self.time + self.latency, piece.to_vec()));
            }
        }
        let next = |end: &End| end.in_flight.front().map(|(time, _)| *time);
        let Some(now) = next(&self.client).into_iter().chain(next(&self.server)).min() else {
            return false;
        };
        self.time = now;
        let due = |end: &mut End| match end.in_flight.front() {
            Some((time, _)) if *time <= now => end.in_flight.pop_front(),
            _ => None,
        };
        if let Some((_, bytes)) = due(&mut self.client) {
            self.server.arrive(&bytes);
        }
        if let Some((_, bytes)) = due(&mut self.server) {
            self.client.arrive(&bytes);
        }
        true
    }

    /// Steps until all is quiet.
    pub fn drive(&mut self) {
        while self.step() {}
    }
}

/// A unary gRPC request's head.
pub const REQUEST: [(&[u8], &[u8]); 6] = [
    (b":method", b"POST"),
    (b":scheme", b"http"),
    (b":path", b"/helloworld.Greeter/SayHello"),
    (b":authority", b"localhost"),
    (b"te", b"trailers"),
    (b"content-type", b"application/grpc"),
];

/// A gRPC response's head.
pub const RESPONSE: [(&[u8], &[u8]); 2] =
    [(b":status", b"200"), (b"content-type", b"application/grpc")];

/// Trailers that say OK.
pub const TRAILERS: [(&[u8], &[u8]); 1] = [(b"grpc-status", b"0")];
