//! One attacker: a connection at a time, until its time is over.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{ErrorKind, Read, Write};
use std::mem;
use std::net::TcpStream;
use std::thread;
use std::time::{Duration, Instant};

use bookend_testing::{frame, take_frames};
use bookend_wire::ErrorCode;
use bookend_wire::frame::{PREFACE, flag, kind};

use crate::victim::ServerEnd;

/// How a connection ended.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum End {
    /// With a GOAWAY of this code.
    GoAway(u32),
    /// Without one.
    Closed,
    /// It could not be made.
    Refused,
    /// By the attacker: its time was over, or it had done what it wanted.
    Open,
}

impl End {
    pub fn name(&self) -> String {
        match self {
            Self::GoAway(code) => ErrorCode(*code).name().to_owned(),
            Self::Closed => "closed".to_owned(),
            Self::Refused => "refused".to_owned(),
            Self::Open => "not ended".to_owned(),
        }
    }
}

/// How often connections ended in each way.
pub type Ends = BTreeMap<End, u64>;

/// How long to wait where nothing can be written or read.
const NAP: Duration = Duration::from_millis(1);
/// Between two streams that are opened in place of others: 250 of them a second are no flood.
const BETWEEN_STREAMS: Duration = Duration::from_millis(4);

/// What a connection of HTTP/2 begins with.
pub fn beginning() -> Vec<u8> {
    [&PREFACE[..], &frame(kind::SETTINGS, 0, 0, &[])].concat()
}

/// The client's end of a connection that is attacked.
pub struct Attacker {
    pub server: ServerEnd,
    pub socket: TcpStream,
    until: Instant,
    unread: Vec<u8>,
    reads: bool,
    goaway: Option<u32>,
    is_cut_off: bool,
    /// Streams whose end is awaited.
    open: BTreeSet<u32>,
    next_stream: u32,
    /// When another stream may be opened.
    next_open: Instant,
    /// Further connections of this attacker.
    others: Vec<Attacker>,
}

/// Attacks that server with one connection after the other.
pub fn attack_until(server: &ServerEnd, act: fn(&mut Attacker), until: Instant) -> Ends {
    let mut ends = Ends::new();
    while Instant::now() < until {
        match Attacker::connect(server, until) {
            None => {
                thread::sleep(NAP);
                *ends.entry(End::Refused).or_default() += 1;
            }
            Some(mut attacker) => {
                act(&mut attacker);
                for other in mem::take(&mut attacker.others) {
                    *ends.entry(other.end()).or_default() += 1;
                }
                *ends.entry(attacker.end()).or_default() += 1;
            }
        }
    }
    ends
}

impl Attacker {
    /// In plain text it has said what HTTP/2 begins with; inside TLS it has said nothing yet.
    fn connect(server: &ServerEnd, until: Instant) -> Option<Self> {
        let socket = TcpStream::connect(server.address()).ok()?;
        socket.set_nonblocking(true).ok()?;
        socket.set_nodelay(true).ok()?;
        let mut attacker = Attacker {
            server: server.clone(),
            socket,
            until,
            unread: Vec::new(),
            reads: true,
            goaway: None,
            is_cut_off: false,
            open: BTreeSet::new(),
            next_stream: 1,
            next_open: Instant::now(),
            others: Vec::new(),
        };
        if server.authority.is_none() {
            attacker.send(&beginning());
        }
        Some(attacker)
    }

    pub fn goes_on(&self) -> bool {
        !self.is_cut_off && Instant::now() < self.until
    }

    /// Writes, and reads what is there, unless it reads no more.
    pub fn send(&mut self, bytes: &[u8]) {
        let mut rest = bytes;
        while !rest.is_empty() && self.goes_on() {
            let written = match self.socket.write(rest) {
                Ok(count) => count,
                Err(error) if error.kind() == ErrorKind::WouldBlock => 0,
                Err(_) => {
                    while self.read() {}
                    self.is_cut_off = true;
                    return;
                }
            };
            rest = &rest[written..];
            if !self.read() && written == 0 {
                thread::sleep(NAP);
            }
        }
        self.read();
    }

    /// Reads what is there; whether that was anything.
    fn read(&mut self) -> bool {
        if !self.reads || self.is_cut_off {
            return false;
        }
        let mut buffer = [0; 64 << 10];
        match self.socket.read(&mut buffer) {
            Ok(0) => self.is_cut_off = true,
            // What is encrypted nobody looks at.
            Ok(_) if self.server.authority.is_some() => {}
            Ok(count) => self.unread.extend_from_slice(&buffer[..count]),
            Err(error) if error.kind() == ErrorKind::WouldBlock => return false,
            Err(_) => self.is_cut_off = true,
        }
        for heard in take_frames(&mut self.unread) {
            if heard.kind == kind::GOAWAY && heard.payload.len() >= 8 {
                self.goaway = Some(heard.number_at(4));
            }
            let ends_stream =
                matches!(heard.kind, kind::HEADERS | kind::DATA) && heard.has(flag::END_STREAM);
            if ends_stream || heard.kind == kind::RST_STREAM {
                self.open.remove(&heard.stream_id);
            }
        }
        true
    }

    /// Sends what `bytes` makes of one stream's id after the other.
    pub fn again(&mut self, bytes: impl Fn(u32) -> Vec<u8>) {
        self.again_at_most(u32::MAX >> 2, bytes);
    }

    pub fn again_at_most(&mut self, streams: u32, bytes: impl Fn(u32) -> Vec<u8>) {
        for stream in 0..streams {
            if !self.goes_on() {
                return;
            }
            self.send(&bytes(2 * stream + 1));
        }
    }

    pub fn stops_reading(&mut self) {
        self.reads = false;
    }

    /// Says nothing more.
    pub fn hold(&mut self) {
        while self.goes_on() {
            if !self.read() {
                thread::sleep(10 * NAP);
            }
        }
    }

    /// Opens `connections` connections that send `bytes` and then nothing, and waits while one of
    /// them is open.
    pub fn crowd(&mut self, connections: usize, bytes: &[u8]) {
        self.send(bytes);
        for _ in 1..connections {
            let Some(mut other) = Self::connect(&self.server, self.until) else {
                break;
            };
            other.send(bytes);
            self.others.push(other);
        }
        while self.goes_on() || self.others.iter().any(Self::goes_on) {
            self.read();
            for other in &mut self.others {
                other.read();
            }
            thread::sleep(100 * NAP);
        }
    }

    /// Keeps `streams` streams open on each of `connections` connections, as long as all of these
    /// are open. A stream that ends is replaced, at a leisurely pace.
    pub fn keep_open(&mut self, connections: usize, streams: usize, open: impl Fn(u32) -> Vec<u8>) {
        let more = (1..connections).filter_map(|_| Self::connect(&self.server, self.until));
        self.others = more.collect();
        while self.goes_on() && self.others.iter().all(Self::goes_on) {
            self.open_missing(streams, &open);
            let mut others = mem::take(&mut self.others);
            others.iter_mut().for_each(|other| other.open_missing(streams, &open));
            self.others = others;
            thread::sleep(NAP);
        }
    }

    /// Opens all the streams at first, and later one at a time.
    fn open_missing(&mut self, streams: usize, open: &impl Fn(u32) -> Vec<u8>) {
        self.read();
        while self.open.len() < streams && Instant::now() >= self.next_open && self.goes_on() {
            let stream = self.next_stream;
            self.next_stream += 2;
            self.open.insert(stream);
            if stream as usize > 2 * streams {
                self.next_open = Instant::now() + BETWEEN_STREAMS;
            }
            self.send(&open(stream));
        }
    }

    fn end(mut self) -> End {
        self.reads = true;
        // Behind answers that were not read there may be a GOAWAY.
        while self.goaway.is_none() && self.read() {}
        match self.goaway {
            Some(code) => End::GoAway(code),
            None if self.is_cut_off => End::Closed,
            None => End::Open,
        }
    }
}
