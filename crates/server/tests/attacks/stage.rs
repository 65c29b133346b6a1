//! A server's shard in virtual time, an attacker, and a client that only makes calls.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::{Mutex, MutexGuard, PoisonError};

use bookend_server::io::simulated::{End, Simulated};
use bookend_server::io::{ConnectionId, Shard, Waker};
use bookend_server::{Counts, Limits, Server, ServerShard, Services};
use bookend_testing::{frame, take_frames};
use bookend_wire::frame::{PREFACE, flag, kind};
use bookend_wire::hpack::{Decoder, HeaderList};
use bookend_wire::{ConnectionConfig, ErrorCode};

use crate::MEMORY;
use crate::frames::request;
use crate::testing::{ECHO, Testing};

/// What an attacker sends, piece by piece.
pub type Frames = Box<dyn Iterator<Item = Vec<u8>>>;

/// What is allocated is counted a process, so attacks go on one after the other: a test has one
/// stage at a time.
static SCALES: Mutex<()> = Mutex::new(());

/// Lets a test go on by itself.
pub fn alone() -> MutexGuard<'static, ()> {
    SCALES.lock().unwrap_or_else(PoisonError::into_inner)
}

pub const SECOND_NS: u64 = 1_000_000_000;

/// How often the other client calls while an attack goes on, in frames of the attacker.
const FRAMES_BETWEEN_CALLS: u64 = 97;

pub struct Stage {
    pub server: Simulated<ServerShard>,
    pub testing: Testing,
    services: Services,
    /// Attacks end when other threads have done what they were given.
    pub waits_for_threads: bool,
    other: Peer,
    other_called_at_ns: u64,
    _alone: MutexGuard<'static, ()>,
}

/// A client: what it sends is made by hand, what it hears is counted.
pub struct Peer {
    pub connection: ConnectionId,
    unread: Vec<u8>,
    decoder: Decoder,
    next_id: u32,
    /// PINGs that it has not answered.
    asked: Vec<Vec<u8>>,
    pub heard: Heard,
}

/// What a client has heard.
#[derive(Debug, Default)]
pub struct Heard {
    /// Frames by type.
    pub frames: BTreeMap<u8, u64>,
    /// Bytes of DATA.
    pub body_bytes: usize,
    /// RST_STREAM by code.
    pub resets: BTreeMap<ErrorCode, u64>,
    /// `grpc-status` by code.
    pub statuses: BTreeMap<String, u64>,
    /// The last one, and its stream.
    pub last_status: Option<(u32, String)>,
    pub goaway: Option<(ErrorCode, String)>,
}

/// How an attack went.
#[derive(Debug, PartialEq, Eq)]
pub struct Outcome {
    /// Frames, requests or whatever else the attack is made of, until the connection was closed or
    /// no longer read.
    pub steps: u64,
    pub sent_bytes: u64,
    /// What was allocated at once, beyond what was there before.
    pub peak_bytes: usize,
    /// What the goodbye said; `None` if the connection lives.
    pub ended_by: Option<(ErrorCode, String)>,
}

impl Outcome {
    pub fn code(&self) -> Option<ErrorCode> {
        self.ended_by.as_ref().map(|(code, _)| *code)
    }
}

impl Stage {
    pub fn new(limits: Limits) -> Self {
        let alone = alone();
        let testing = Testing::default();
        let builder = Server::builder().add_service(testing.clone()).limits(limits);
        let services = builder.build().expect("one service");
        let shard = services.shard(Waker::new().expect("a descriptor"));
        let mut server = Simulated::new(shard, SECOND_NS);
        let other = Peer::with_preface(&mut server);
        Self {
            server,
            testing,
            services,
            waits_for_threads: false,
            other,
            other_called_at_ns: SECOND_NS,
            _alone: alone,
        }
    }

    /// Another thread of the same server.
    pub fn other_shard(&self) -> Simulated<ServerShard> {
        let shard = self.services.shard(Waker::new().expect("a descriptor"));
        Simulated::new(shard, self.server.now_ns())
    }

    /// A client that has connected and said nothing.
    pub fn stranger(&mut self) -> Peer {
        Peer::connected(&mut self.server)
    }

    /// A client whose SETTINGS have come.
    pub fn attacker(&mut self) -> Peer {
        Peer::with_preface(&mut self.server)
    }

    /// As [`Stage::attacker`], from an address.
    pub fn attacker_from(&mut self, address: SocketAddr) -> Peer {
        let connection = self.server.accept_from(address);
        let mut peer = Peer::on(connection);
        peer.say_hello(&mut self.server);
        peer
    }

    /// Whether other threads still work for calls.
    pub fn outstanding(&self) -> bool {
        self.server.shard().has_outstanding()
    }

    /// As [`Stage::attacker`], with SETTINGS of its own.
    pub fn attacker_with(&mut self, settings: &[u8]) -> Peer {
        let mut peer = self.stranger();
        let preface = [&PREFACE[..], settings].concat();
        self.server.give(peer.connection, &preface);
        peer.read(&mut self.server);
        peer
    }

    pub fn counts(&self) -> Counts {
        self.server.shard().counts()
    }

    /// Somebody else calls, and is answered at once.
    pub fn another_is_answered(&mut self) {
        self.other_called_at_ns = self.server.now_ns();
        let Stage { server, other, .. } = self;
        let id = other.next_id;
        other.next_id += 2;
        server.give(other.connection, &request(id, ECHO, b"still there?"));
        other.read(server);
        let answered = Some((id, "0".to_owned()));
        assert_eq!(other.heard.last_status, answered, "{:?}", other.heard.goaway);
    }

    /// Sends `frames` until they are out or the connection is closed, reading everything that
    /// comes.
    pub fn attack(&mut self, peer: &mut Peer, frames: impl Iterator<Item = Vec<u8>>) -> Outcome {
        self.attack_by(peer, frames, true)
    }

    /// As [`Stage::attack`], reading nothing.
    pub fn attack_deaf(
        &mut self,
        peer: &mut Peer,
        frames: impl Iterator<Item = Vec<u8>>,
    ) -> Outcome {
        self.attack_by(peer, frames, false)
    }

    fn attack_by(
        &mut self,
        peer: &mut Peer,
        frames: impl Iterator<Item = Vec<u8>>,
        reads: bool,
    ) -> Outcome {
        self.another_is_answered();
        let before = MEMORY.current_usage();
        MEMORY.reset_peak_usage();
        let (mut count, mut sent_bytes) = (0, 0);
        for frame in frames {
            self.server.give(peer.connection, &frame);
            count += 1;
            sent_bytes += frame.len() as u64;
            if reads {
                peer.read(&mut self.server);
            }
            if count % FRAMES_BETWEEN_CALLS == 0 {
                self.another_is_answered();
            }
            let is_read = self.server.unread_bytes(peer.connection) <= frame.len();
            if self.server.end(peer.connection).is_some() || !is_read {
                break;
            }
        }
        while self.waits_for_threads && !self.server.may_leave() {
            self.server.wake();
            peer.read(&mut self.server);
            std::thread::yield_now();
        }
        self.another_is_answered();
        let peak_bytes = MEMORY.peak_usage().saturating_sub(before);
        if reads {
            peer.read(&mut self.server);
        }
        Outcome {
            steps: count,
            sent_bytes,
            peak_bytes,
            ended_by: self.server.end(peer.connection).and(peer.heard.goaway.clone()),
        }
    }

    /// Whether the connection of that peer is open.
    pub fn is_open(&self, peer: &Peer) -> bool {
        self.server.end(peer.connection).is_none()
    }

    pub fn is_reset(&self, peer: &Peer) -> bool {
        self.server.end(peer.connection) == Some(End::Reset)
    }

    /// A peer sends, and reads what comes.
    pub fn send(&mut self, peer: &mut Peer, bytes: &[u8]) {
        self.server.give(peer.connection, bytes);
        peer.read(&mut self.server);
    }

    /// Lets time pass. The other client calls often enough not to be idle.
    pub fn pass_seconds(&mut self, seconds: u64) {
        for _ in 0..seconds {
            self.server.pass_ns(SECOND_NS);
            if self.server.now_ns() >= self.other_called_at_ns + 1_000 * SECOND_NS {
                self.another_is_answered();
            }
        }
    }
}

impl Peer {
    fn connected(server: &mut Simulated<ServerShard>) -> Self {
        Self::on(server.accept())
    }

    fn on(connection: ConnectionId) -> Self {
        Self {
            connection,
            unread: Vec::new(),
            decoder: Decoder::new(4_096),
            next_id: 1,
            asked: Vec::new(),
            heard: Heard::default(),
        }
    }

    /// Reads what there is, and answers the PINGs that have come.
    pub fn answer_pings(&mut self, server: &mut Simulated<ServerShard>) {
        self.read(server);
        for payload in std::mem::take(&mut self.asked) {
            server.give(self.connection, &frame(kind::PING, flag::ACK, 0, &payload));
        }
        self.read(server);
    }

    pub fn with_preface(server: &mut Simulated<ServerShard>) -> Self {
        let mut peer = Self::connected(server);
        peer.say_hello(server);
        peer
    }

    fn say_hello(&mut self, server: &mut Simulated<ServerShard>) {
        let settings = frame(kind::SETTINGS, 0, 0, &[]);
        server.give(self.connection, &[&PREFACE[..], &settings].concat());
        self.read(server);
    }

    /// Reads everything that the server has for it.
    pub fn read(&mut self, server: &mut Simulated<ServerShard>) {
        loop {
            let bytes = server.take(self.connection, 64 << 10);
            if bytes.is_empty() {
                return;
            }
            self.unread.extend(bytes);
            for heard in take_frames(&mut self.unread) {
                if heard.kind == kind::PING && !heard.has(flag::ACK) {
                    self.asked.push(heard.payload.clone());
                }
                self.hear(heard.kind, heard.stream_id, &heard.payload);
            }
        }
    }

    fn hear(&mut self, kind: u8, id: u32, payload: &[u8]) {
        *self.heard.frames.entry(kind).or_default() += 1;
        let code_at = |at: usize| {
            ErrorCode(u32::from_be_bytes(payload[at..at + 4].try_into().expect("four bytes")))
        };
        match kind {
            kind::DATA => self.heard.body_bytes += payload.len(),
            kind::HEADERS => self.hear_fields(id, payload),
            kind::RST_STREAM => *self.heard.resets.entry(code_at(0)).or_default() += 1,
            kind::GOAWAY => {
                let debug = String::from_utf8_lossy(&payload[8..]).into_owned();
                self.heard.goaway = Some((code_at(4), debug));
            }
            _ => {}
        }
    }

    fn hear_fields(&mut self, id: u32, block: &[u8]) {
        let mut fields = HeaderList::new(1 << 16, 1_000);
        self.decoder.decode(block, &mut fields).expect("a block");
        if let Some(status) = fields.find(b"grpc-status") {
            let status = String::from_utf8_lossy(status).into_owned();
            *self.heard.statuses.entry(status.clone()).or_default() += 1;
            self.heard.last_status = Some((id, status));
        }
    }
}

impl Heard {
    pub fn resets_with(&self, code: ErrorCode) -> u64 {
        self.resets.get(&code).copied().unwrap_or(0)
    }

    pub fn statuses_of(&self, status: &str) -> u64 {
        self.statuses.get(status).copied().unwrap_or(0)
    }

    pub fn count(&self, kind: u8) -> u64 {
        self.frames.get(&kind).copied().unwrap_or(0)
    }
}

/// The default limits but for what `change` changes.
pub fn but(change: impl FnOnce(&mut Limits)) -> Limits {
    let mut limits = Limits::internet();
    change(&mut limits);
    limits
}

/// The default limits but for what `change` changes in those of HTTP/2.
pub fn but_http2(change: impl FnOnce(&mut ConnectionConfig)) -> Limits {
    but(|limits| change(&mut limits.http2))
}
