//! One attacker: a connection at a time, until its time is over.

use std::collections::BTreeMap;
use std::io::{ErrorKind, Read, Write};
use std::net::{Ipv4Addr, TcpStream};
use std::thread;
use std::time::{Duration, Instant};

use bookend_wire::ErrorCode;
use bookend_wire::frame::{PREFACE, kind};

use crate::attacks::Attack;
use crate::frames::{frame, take_frames};

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

/// The client's end of a connection that is attacked.
pub struct Attacker {
    port: u16,
    socket: TcpStream,
    until: Instant,
    unread: Vec<u8>,
    reads: bool,
    goaway: Option<u32>,
    is_cut_off: bool,
}

/// Attacks that port with one connection after the other.
pub fn attack_until(port: u16, attack: Attack, until: Instant) -> Ends {
    let mut ends = Ends::new();
    while Instant::now() < until {
        let end = match Attacker::connect(port, until) {
            None => {
                thread::sleep(NAP);
                End::Refused
            }
            Some(mut attacker) => {
                attack(&mut attacker);
                attacker.end()
            }
        };
        *ends.entry(end).or_default() += 1;
    }
    ends
}

impl Attacker {
    fn connect(port: u16, until: Instant) -> Option<Self> {
        let socket = TcpStream::connect((Ipv4Addr::LOCALHOST, port)).ok()?;
        socket.set_nonblocking(true).ok()?;
        socket.set_nodelay(true).ok()?;
        let mut attacker = Attacker {
            port,
            socket,
            until,
            unread: Vec::new(),
            reads: true,
            goaway: None,
            is_cut_off: false,
        };
        attacker.send(&[&PREFACE[..], &frame(kind::SETTINGS, 0, 0, &[])].concat());
        Some(attacker)
    }

    fn goes_on(&self) -> bool {
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
            Ok(count) => self.unread.extend_from_slice(&buffer[..count]),
            Err(error) if error.kind() == ErrorKind::WouldBlock => return false,
            Err(_) => self.is_cut_off = true,
        }
        for (header, payload) in take_frames(&mut self.unread) {
            if header.kind == kind::GOAWAY && payload.len() >= 8 {
                let code = [payload[4], payload[5], payload[6], payload[7]];
                self.goaway = Some(u32::from_be_bytes(code));
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

    /// Has so many connections that say nothing.
    pub fn crowd(&mut self, connections: usize) {
        let mut others: Vec<_> =
            (0..connections).filter_map(|_| Self::connect(self.port, self.until)).collect();
        while self.goes_on() {
            for silent in others.iter_mut().chain([&mut *self]) {
                silent.read();
            }
            thread::sleep(100 * NAP);
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
