//! One hostile connection.

use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;
use std::thread;
use std::time::{Duration, Instant};

use bookend_testing::frame;
use bookend_wire::frame::{PREFACE, kind};

use crate::access::{Access, Line};
use crate::source::Source;

/// Writes on one connection, at most: the limits end most attacks long before.
const GOES: usize = 2000;

/// How long what only waits is waited for.
const HOLD: Duration = Duration::from_secs(3);

pub struct Attacker {
    line: Line,
    pub source: Source,
    pub is_cut_off: bool,
}

impl Attacker {
    pub fn connect(access: &Access, seed: u64) -> Option<Self> {
        let line = access.dial().ok()?;
        let mut attacker = Attacker { line, source: Source::new(seed, 0), is_cut_off: false };
        attacker.send(&[&PREFACE[..], &frame(kind::SETTINGS, 0, 0, &[])].concat());
        Some(attacker)
    }

    /// Writes, and reads what is there.
    pub fn send(&mut self, bytes: &[u8]) {
        self.write_only(bytes);
        self.read_some();
    }

    pub fn write_only(&mut self, bytes: &[u8]) {
        self.is_cut_off |= self.line.write_all(bytes).is_err();
    }

    fn read_some(&mut self) {
        let mut buffer = [0; 16 << 10];
        self.is_cut_off |= self.line.socket().set_nonblocking(true).is_err();
        self.is_cut_off |= match self.line.read(&mut buffer) {
            Ok(count) => count == 0,
            Err(error) => error.kind() != ErrorKind::WouldBlock,
        };
        self.is_cut_off |= self.line.socket().set_nonblocking(false).is_err();
    }

    pub fn again(&mut self, bytes: impl Fn(usize) -> Vec<u8>) {
        for go in 0..GOES {
            if self.is_cut_off {
                return;
            }
            self.send(&bytes(go));
        }
    }

    pub fn again_of(&mut self, bytes: impl Fn(&mut Source) -> Vec<u8>) {
        for _ in 0..GOES {
            if self.is_cut_off {
                return;
            }
            let bytes = bytes(&mut self.source);
            self.send(&bytes);
        }
    }

    pub fn requests(&mut self, bytes: impl Fn(u32) -> Vec<u8>) {
        self.again(|go| bytes(2 * go as u32 + 1));
    }

    /// As [`Attacker::hold`], with `connections` more connections, which begin with `bytes`,
    /// whether that is TLS or not.
    pub fn hold_beside(&mut self, connections: usize, bytes: &[u8]) {
        let Ok(address) = self.line.socket().peer_addr() else {
            return;
        };
        let open = |_| {
            let mut socket = TcpStream::connect(address).ok()?;
            socket.set_write_timeout(Some(HOLD)).ok()?;
            // Whether it is read or refused is the server's affair.
            let _ = socket.write_all(bytes);
            Some(socket)
        };
        let sockets: Vec<_> = (0..connections).map_while(open).collect();
        self.hold();
        drop(sockets);
    }

    /// Says nothing more for a while, and reads nothing.
    pub fn hold(&mut self) {
        let until = Instant::now() + HOLD;
        self.is_cut_off |= self.line.socket().set_nonblocking(true).is_err();
        while !self.is_cut_off && Instant::now() < until {
            thread::sleep(Duration::from_millis(50));
            self.is_cut_off |= match self.line.socket().peek(&mut [0]) {
                Ok(count) => count == 0,
                Err(error) => error.kind() != ErrorKind::WouldBlock,
            };
        }
    }
}
