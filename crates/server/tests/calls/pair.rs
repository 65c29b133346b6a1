//! A client's connection and a server's shard with bytes in between, and no socket.

use std::collections::BTreeMap;
use std::net::SocketAddr;

use bookend_server::io::{AfterRead, ConnectionId, IoContext, Opened, Shard, Waker};
use bookend_server::prost::Message as _;
use bookend_server::{Code, Limits, Server, ServerShard, Service, Services};
use bookend_wire::grpc::message::Message;
use bookend_wire::grpc::{Assembler, gzip, percent};
use bookend_wire::{
    Connection, ConnectionConfig, ErrorCode, ExtraField, HeaderBlock, HeaderList, Indexing,
    Initiator, Sender, Side, StreamKey, Visitor,
};

use crate::raw::Raw;
use crate::shop::{self, Cancellations, Item, Money, Waiting};
use crate::streams::Streams;

/// What a client has heard about one call.
#[derive(Debug, Default)]
pub struct Heard {
    pub fields: Vec<(String, String)>,
    pub body: Vec<u8>,
    pub messages: Vec<Vec<u8>>,
    /// Which of them came compressed; they are kept inflated.
    pub compressed: Vec<bool>,
    pub header_blocks: usize,
    pub ended: bool,
    pub reset: Option<ErrorCode>,
    assembler: Assembler,
}

impl Heard {
    pub fn field(&self, name: &str) -> Option<&str> {
        let field = self.fields.iter().find(|(field, _)| field == name)?;
        Some(&field.1)
    }

    fn assemble(&mut self, data: &[u8]) {
        let keep = |message: Message<'_>| {
            self.compressed.push(message.compressed);
            self.messages.push(match message.compressed {
                true => inflated(message.bytes),
                false => message.bytes.to_vec(),
            });
        };
        self.assembler.push(data, usize::MAX, keep).unwrap();
    }

    pub fn code(&self) -> Code {
        let (fields, reset) = (&self.fields, self.reset);
        assert!(self.ended, "{fields:?} {reset:?}");
        Code::parse(self.field("grpc-status").expect("a status").as_bytes())
    }

    pub fn status_message(&self) -> String {
        percent::decode(self.field("grpc-message").unwrap_or("").as_bytes())
    }

    /// The replies of a call that went well.
    pub fn cents(&self) -> Vec<i64> {
        assert_eq!(self.code(), Code::Ok, "{:?}", self.fields);
        self.messages.iter().map(|message| Money::decode(&**message).unwrap().cents).collect()
    }
}

#[derive(Default)]
pub struct Listener {
    pub calls: BTreeMap<u32, Heard>,
    pub goaway: Option<u32>,
    /// Gives no credit back for what comes, as a client does whose program does not read.
    pub idles: bool,
    unread: Vec<(StreamKey, usize)>,
}

impl Visitor for Listener {
    fn headers(
        &mut self,
        _: &mut Sender,
        stream: StreamKey,
        fields: &HeaderList,
        end_stream: bool,
    ) -> Option<u32> {
        let heard = self.calls.entry(stream.id).or_default();
        heard.header_blocks += 1;
        heard.ended |= end_stream;
        for field in fields.iter() {
            let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
            heard.fields.push((text(field.name), text(field.value)));
        }
        None
    }

    fn cached_headers(&mut self, _: &mut Sender, _: StreamKey, _: u32, _: bool) {
        unreachable!("no token was given");
    }

    fn data(&mut self, sender: &mut Sender, stream: StreamKey, data: &[u8], end_stream: bool) {
        let heard = self.calls.entry(stream.id).or_default();
        heard.ended |= end_stream;
        heard.body.extend_from_slice(data);
        if heard.field("content-type") == Some("application/grpc") {
            heard.assemble(data);
        }
        match self.idles {
            true => self.unread.push((stream, data.len())),
            false => sender.release(stream, data.len()),
        }
    }

    fn reset(&mut self, _: &mut Sender, stream: StreamKey, code: ErrorCode, _: Initiator) {
        self.calls.entry(stream.id).or_default().reset = Some(code);
    }

    fn goaway(&mut self, _: &mut Sender, last_stream_id: u32, _: ErrorCode, _: &[u8]) {
        self.goaway = Some(last_stream_id);
    }
}

/// Both ends.
pub struct Pair {
    pub client: Connection,
    pub shard: ServerShard,
    pub io: IoContext,
    pub waiting: Waiting,
    pub cancellations: Cancellations,
    pub streams: Streams,
    /// Reads of the server, and those after which it had something to write.
    pub reads: usize,
    pub writes: usize,
    /// The longest of those writes, bytes.
    pub longest_write: usize,
    /// All that the server has written.
    pub written: Vec<u8>,
    /// Turns that the shard asked for.
    pub turns: usize,
    pub closed: bool,
    pub connection: ConnectionId,
    pub listener: Listener,
    unread: Vec<u8>,
}

impl Pair {
    pub fn new() -> Self {
        Self::with(without_timeout_checks(), &ConnectionConfig::trusted())
    }

    pub fn with(limits: Limits, client: &ConnectionConfig) -> Self {
        Self::exchange_prefaces(Self::connected(limits, client, None))
    }

    pub fn with_page(limits: Limits, page: &str) -> Self {
        Self::exchange_prefaces(Self::connected(limits, &ConnectionConfig::trusted(), Some(page)))
    }

    fn exchange_prefaces(mut pair: Self) -> Self {
        pair.pump();
        (pair.reads, pair.writes) = (0, 0);
        pair
    }

    /// A client that connects and sends nothing.
    pub fn silent(limits: Limits) -> Self {
        let mut pair = Self::connected(limits, &ConnectionConfig::trusted(), None);
        pair.client.sender.output.clear();
        pair
    }

    fn connected(limits: Limits, client: &ConnectionConfig, page: Option<&str>) -> Self {
        let waiting = Waiting::default();
        let cancellations = Cancellations::default();
        let shop = shop::cancellable_service(&waiting, &cancellations);
        let streams = Streams::default();
        let mut builder = Server::builder()
            .add_service(shop)
            .add_service(Raw)
            .add_service(streams.clone())
            .reflection()
            .limits(limits);
        if let Some(page) = page {
            builder = builder.fallback_page(page);
        }
        Self { waiting, cancellations, streams, ..Self::join(builder.build().unwrap(), client) }
    }

    /// A client that speaks to services of a test's own.
    pub fn over(service: impl Service) -> Self {
        Self::over_with(service, &ConnectionConfig::trusted())
    }

    pub fn over_with(service: impl Service, client: &ConnectionConfig) -> Self {
        let services = Server::builder().add_service(service).build().unwrap();
        Self::exchange_prefaces(Self::join(services, client))
    }

    fn join(services: Services, client: &ConnectionConfig) -> Self {
        let mut io = IoContext::default();
        let connection = io.connect(nowhere(), 0);
        let mut shard = services.shard(Waker::new().unwrap());
        shard.opened(connection, Opened::Accepted, &mut io);
        Pair {
            client: Connection::new(Side::Client, client),
            shard,
            io,
            waiting: Waiting::default(),
            cancellations: Cancellations::default(),
            streams: Streams::default(),
            reads: 0,
            writes: 0,
            longest_write: 0,
            written: Vec::new(),
            turns: 0,
            closed: false,
            connection,
            listener: Listener::default(),
            unread: Vec::new(),
        }
    }

    /// Moves bytes both ways, and calls the shard as often as it wants to be called at once, until
    /// neither end has anything to say.
    pub fn pump(&mut self) {
        while !self.closed && self.exchange() {
            if self.wants_a_turn() {
                self.shard.woken(&mut self.io);
                self.turns += 1;
            }
        }
    }

    /// As [`Pair::pump`], until other threads have done what they were given.
    pub fn pump_with_threads(&mut self) {
        self.pump();
        while self.shard.has_outstanding() {
            std::thread::yield_now();
            self.wake();
            self.pump();
        }
    }

    /// Moves bytes both ways once. False if nothing moved, and the shard wants no turn.
    pub fn exchange(&mut self) -> bool {
        let sent = std::mem::take(&mut self.client.sender.output);
        let quiet = sent.is_empty() && self.io.output(self.connection).is_empty();
        if !sent.is_empty() {
            self.server_reads(&sent);
        }
        self.client_reads();
        !quiet || self.wants_a_turn()
    }

    /// Whether the shard is to be called before anything else happens.
    pub fn wants_a_turn(&self) -> bool {
        self.shard.next_deadline() == Some(0)
    }

    /// Lets time pass, a little more than nothing: a turn reads the clock once. The connections of
    /// the new one are those of the old one.
    pub fn later(&mut self) {
        assert!(self.io.output(self.connection).is_empty());
        let (then_ns, connection) = (self.io.now_ns(), self.connection);
        while self.io.now_ns() <= then_ns + 1 {
            self.io = IoContext::default();
            assert_eq!(self.io.connect(nowhere(), 0), connection);
        }
    }

    /// The client's program reads what it had left unread, and whatever comes from now on.
    pub fn read_on(&mut self) {
        self.listener.idles = false;
        for (stream, bytes) in std::mem::take(&mut self.listener.unread) {
            self.client.sender.release(stream, bytes);
        }
        self.pump();
    }

    /// Gives the server what the client has written, in pieces of at most `piece` bytes.
    pub fn pump_in_pieces(&mut self, piece: usize) {
        let sent = std::mem::take(&mut self.client.sender.output);
        for piece in sent.chunks(piece) {
            self.server_reads(piece);
        }
        self.pump();
    }

    fn server_reads(&mut self, bytes: &[u8]) {
        self.unread.extend_from_slice(bytes);
        let mut after = AfterRead::Again;
        while after == AfterRead::Again && !self.unread.is_empty() {
            let received = self.shard.received(self.connection, &self.unread, &mut self.io);
            self.unread.drain(..received.consumed);
            after = received.after;
        }
        self.closed |= matches!(after, AfterRead::Close | AfterRead::LingeringClose);
        self.reads += 1;
        self.writes += usize::from(!self.io.output(self.connection).is_empty());
    }

    fn client_reads(&mut self) {
        let answered = std::mem::take(self.io.output(self.connection));
        self.longest_write = self.longest_write.max(answered.len());
        self.written.extend_from_slice(&answered);
        let read = self.client.receive(&answered, &mut self.listener).unwrap();
        assert_eq!(read, answered.len(), "the server writes whole frames");
    }

    /// Has the server look at its mailbox and its driver's state, as a driver does when called.
    pub fn wake(&mut self) {
        self.shard.woken(&mut self.io);
        self.pump();
    }

    /// Begins a call; `pump` brings it to the server.
    pub fn start(&mut self, path: &str, item: &str) -> StreamKey {
        self.start_with(path, &[], item)
    }

    pub fn start_with(&mut self, path: &str, metadata: &[(&str, &str)], item: &str) -> StreamKey {
        let message = Item { name: item.into() }.encode_to_vec();
        let extra = extra(metadata);
        self.client.sender.request(&mut head(path), &extra, &message).unwrap()
    }

    /// A whole call.
    pub fn call(&mut self, path: &str, item: &str) -> &Heard {
        self.call_with(path, &[], item)
    }

    pub fn call_with(&mut self, path: &str, metadata: &[(&str, &str)], item: &str) -> &Heard {
        let stream = self.start_with(path, metadata, item);
        self.pump();
        self.heard(stream)
    }

    /// Opens a stream with this head and no body yet.
    pub fn open(&mut self, fields: &[(&str, &str)], end_stream: bool) -> StreamKey {
        let fields: Vec<(&[u8], &[u8])> =
            fields.iter().map(|(name, value)| (name.as_bytes(), value.as_bytes())).collect();
        let stream = self.client.sender.open().unwrap();
        self.client.sender.headers(stream, &mut HeaderBlock::new(&fields), end_stream);
        stream
    }

    pub fn heard(&self, stream: StreamKey) -> &Heard {
        self.listener.calls.get(&stream.id).expect("an answer")
    }

    pub fn heard_nothing(&self, stream: StreamKey) -> bool {
        !self.listener.calls.contains_key(&stream.id)
    }

    pub fn goaway(&self) -> Option<u32> {
        self.listener.goaway
    }
}

/// The usual limits without timeout checks: what deadlines there are, are
/// those of calls and prefaces.
pub fn without_timeout_checks() -> Limits {
    Limits {
        input_timeout_ns: None,
        request_timeout_ns: None,
        write_timeout_ns: None,
        window_timeout_ns: None,
        idle_timeout_ns: None,
        keepalive: None,
        max_held_bytes: None,
        ..Limits::internet()
    }
}

fn nowhere() -> SocketAddr {
    ([127, 0, 0, 1], 9).into()
}

pub fn fields(path: &str) -> [(&str, &str); 6] {
    [
        (":method", "POST"),
        (":scheme", "http"),
        (":path", path),
        (":authority", "127.0.0.1"),
        ("te", "trailers"),
        ("content-type", "application/grpc"),
    ]
}

pub fn head(path: &str) -> HeaderBlock {
    let fields = fields(path).map(|(name, value)| (name.as_bytes(), value.as_bytes()));
    HeaderBlock::new(&fields)
}

fn extra<'a>(metadata: &'a [(&str, &str)]) -> Vec<ExtraField<'a>> {
    let field = |(name, value): &'a (&str, &str)| ExtraField {
        name: name.as_bytes(),
        value: value.as_bytes(),
        indexing: Indexing::Without,
    };
    metadata.iter().map(field).collect()
}

/// What compressed bytes stand for.
fn inflated(bytes: &[u8]) -> Vec<u8> {
    let mut message = Vec::new();
    gzip::decompress(bytes, usize::MAX, &mut message).unwrap();
    message
}

/// A message as it stands in a body, compressed.
pub fn deflated(message: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::new();
    gzip::compress(message, &mut bytes);
    let mut body = framed(&bytes);
    body[0] = 1;
    body
}

/// A message as it stands in a body.
pub fn framed(message: &[u8]) -> Vec<u8> {
    let mut body = vec![0];
    body.extend_from_slice(&(message.len() as u32).to_be_bytes());
    body.extend_from_slice(message);
    body
}
