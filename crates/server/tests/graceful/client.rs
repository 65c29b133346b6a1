//! A server's shard in virtual time, and clients whose bytes take the time that a test gives them.

use std::collections::BTreeMap;

use bookend_server::io::simulated::Simulated;
use bookend_server::io::{ConnectionId, Waker};
use bookend_server::{Code, Counts, Limits, Server, ServerShard};
use bookend_testing::{Frame, flag, kind};
use bookend_wire::{
    Connection, ConnectionConfig, ErrorCode, HeaderBlock, HeaderList, Initiator, Sender, Side,
    StreamKey, Visitor,
};

use crate::service::Testing;

pub const SECOND_NS: u64 = 1_000_000_000;

/// What the first GOAWAY names: no stream that a client could open lies above it.
pub const NO_LAST_STREAM: u32 = (1 << 31) - 1;

pub struct World {
    pub server: Simulated<ServerShard>,
    pub testing: Testing,
    pub clients: Vec<Client>,
}

/// A client. What it writes arrives when the test says so.
pub struct Client {
    pub id: ConnectionId,
    connection: Connection,
    /// Written, and not at the server yet.
    underway: Vec<u8>,
    /// Part of a frame.
    unread: Vec<u8>,
    /// Calls that it has made.
    pub made: u64,
    /// PINGs that it has had.
    pub pings: u64,
    pub heard: Heard,
}

/// What a client was told.
#[derive(Debug, Default)]
pub struct Heard {
    /// Calls by the code that they ended with.
    pub ended: BTreeMap<u32, u64>,
    /// Calls that a GOAWAY has left out.
    pub left_out: u64,
    /// Streams that were reset.
    pub resets: u64,
    /// The last stream, the code and the text of each.
    pub goaways: Vec<(u32, ErrorCode, String)>,
}

impl World {
    pub fn new(limits: Limits) -> Self {
        let testing = Testing::default();
        let builder = Server::builder().add_service(testing.clone()).limits(limits);
        let services = builder.build().expect("one service");
        let shard = services.shard(Waker::new().expect("a descriptor"));
        World { server: Simulated::new(shard, SECOND_NS), testing, clients: Vec::new() }
    }

    pub fn with_clients(limits: Limits, clients: usize) -> Self {
        let mut world = Self::new(limits);
        for _ in 0..clients {
            let client = world.connect();
            world.exchange(client);
        }
        world
    }

    /// A client connects; its preface is the first of its bytes that arrive.
    pub fn connect(&mut self) -> usize {
        let id = self.server.accept();
        let connection = Connection::new(Side::Client, &ConnectionConfig::trusted());
        self.clients.push(Client {
            id,
            connection,
            underway: Vec::new(),
            unread: Vec::new(),
            made: 0,
            pings: 0,
            heard: Heard::default(),
        });
        self.clients.len() - 1
    }

    /// A client makes a call, if it knows no reason not to.
    pub fn call(&mut self, client: usize, path: &str) {
        let client = &mut self.clients[client];
        if client.connection.sender.may_open() > 0 {
            let request = (client.connection.sender).request(&mut head(path), &[], b"hello");
            request.expect("it may");
            client.made += 1;
        }
    }

    /// Up to `most` bytes of a client arrive.
    pub fn arrive(&mut self, client: usize, most: usize) {
        let client = &mut self.clients[client];
        client.underway.append(&mut client.connection.sender.output);
        let count = most.min(client.underway.len());
        let bytes: Vec<u8> = client.underway.drain(..count).collect();
        if count > 0 {
            self.server.give(client.id, &bytes);
        }
    }

    /// All but the last bytes of a client arrive.
    pub fn arrive_but(&mut self, client: usize, missing_bytes: usize) {
        let Client { underway, connection, .. } = &self.clients[client];
        let all_bytes = underway.len() + connection.sender.output.len();
        self.arrive(client, all_bytes - missing_bytes);
    }

    /// A client reads up to `most` bytes.
    pub fn read(&mut self, client: usize, most: usize) {
        let client = &mut self.clients[client];
        let bytes = self.server.take(client.id, most);
        client.unread.extend(bytes);
        let used = client
            .connection
            .receive(&client.unread, &mut client.heard)
            .expect("the server keeps to HTTP/2");
        let frames: Vec<u8> = client.unread.drain(..used).collect();
        client.pings += pings_in(&frames);
    }

    /// Moves all that there is between a client and the server, until both are silent.
    pub fn exchange(&mut self, client: usize) {
        loop {
            self.arrive(client, usize::MAX);
            let id = self.clients[client].id;
            self.read(client, usize::MAX);
            let is_over = self.server.end(id).is_some();
            if is_over || self.clients[client].connection.sender.output.is_empty() {
                return;
            }
        }
    }

    pub fn exchange_all(&mut self) {
        (0..self.clients.len()).for_each(|client| self.exchange(client));
    }

    /// Lets calls that wait be answered and everything arrive.
    pub fn settle(&mut self) {
        self.exchange_all();
        self.testing.answer_all();
        self.server.wake();
        self.exchange_all();
    }

    /// Lets time pass, in which everything arrives at once.
    pub fn pass_seconds(&mut self, seconds: u64) {
        for _ in 0..seconds {
            self.server.pass_ns(SECOND_NS);
            self.exchange_all();
        }
    }

    /// A client sends what is no HTTP/2.
    pub fn break_http2(&mut self, client: usize) {
        let id = self.clients[client].id;
        self.server.give(id, &[0xff; 64]);
    }

    /// PINGs that a client has had.
    pub fn pings(&self, client: usize) -> u64 {
        self.clients[client].pings
    }

    pub fn is_open(&self, client: usize) -> bool {
        let id = self.clients[client].id;
        self.server.end(id).is_none()
    }

    pub fn counts(&self) -> Counts {
        self.server.shard().counts()
    }

    pub fn made(&self) -> u64 {
        self.clients.iter().map(|client| client.made).sum()
    }

    /// Calls that ended with that code, as the clients have it.
    pub fn ended_with(&self, code: Code) -> u64 {
        let of = |client: &Client| client.heard.ended_with(code);
        self.clients.iter().map(of).sum()
    }

    pub fn left_out(&self) -> u64 {
        let of = |client: &Client| client.heard.left_out;
        self.clients.iter().map(of).sum()
    }
}

impl Heard {
    pub fn ended_with(&self, code: Code) -> u64 {
        self.ended.get(&(code as u32)).copied().unwrap_or(0)
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
        if let Some(status) = fields.find(b"grpc-status") {
            *self.ended.entry(Code::parse(status) as u32).or_default() += 1;
        }
        None
    }

    fn cached_headers(&mut self, _: &mut Sender, _: StreamKey, _: u32, _: bool) {
        unreachable!("no token was given");
    }

    fn data(&mut self, sender: &mut Sender, stream: StreamKey, data: &[u8], _: bool) {
        sender.release(stream, data.len());
    }

    fn reset(&mut self, _: &mut Sender, _: StreamKey, _: ErrorCode, by: Initiator) {
        match by {
            Initiator::PeerGoAway => self.left_out += 1,
            _ => self.resets += 1,
        }
    }

    fn goaway(&mut self, _: &mut Sender, last_stream_id: u32, code: ErrorCode, debug: &[u8]) {
        let text = String::from_utf8_lossy(debug).into_owned();
        self.goaways.push((last_stream_id, code, text));
    }
}

/// PINGs among whole frames.
fn pings_in(frames: &[u8]) -> u64 {
    let is_ping = |frame: &&Frame| frame.kind == kind::PING && !frame.has(flag::ACK);
    bookend_testing::frames(frames).iter().filter(is_ping).count() as u64
}

fn head(path: &str) -> HeaderBlock {
    HeaderBlock::new(&[
        (b":method", b"POST"),
        (b":scheme", b"http"),
        (b":path", path.as_bytes()),
        (b":authority", b"localhost"),
        (b"te", b"trailers"),
        (b"content-type", b"application/grpc"),
    ])
}

/// Numbers that look drawn, the same for the same seed.
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Self {
        Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    pub fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 33) as usize % limit
    }
}
