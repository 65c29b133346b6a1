//! Clients that do what is known to hurt HTTP/2 servers, one connection after the other.

use std::env;
use std::io::{ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use bookend_wire::frame::{PREFACE, flag, kind};
use bookend_wire::grpc::gzip;

use crate::frames::{
    data, fields, frame, frame_header, head, head_of, head_with, ids, ping, request, reset,
    setting, stream_window, update,
};
use crate::source::Source;

const ECHO: &str = "/soak.Hostile/Echo";
const LATER: &str = "/soak.Hostile/Later";
const FILL: &str = "/soak.Hostile/Fill";

/// What is written on one connection; the server may end it at any time.
type Attack = fn(&mut Attacker);

const ATTACKS: &[(&str, Attack)] = &[
    ("rapid reset", |attacker| {
        attacker.requests(|id| [request(id, LATER, b"x"), reset(id)].concat())
    }),
    ("resets made by the server", |attacker| {
        attacker.requests(|id| [head(id, ECHO), update(id, 0)].concat())
    }),
    ("pings", |attacker| attacker.again(|_| ping().repeat(100))),
    ("settings", |attacker| attacker.again(|_| setting(3, 100).repeat(100))),
    ("a table that changes its size", |attacker| {
        attacker.again(|go| setting(1, (go % 5000) as u32).repeat(50))
    }),
    ("empty DATA", |attacker| {
        attacker.send(&head(1, ECHO));
        attacker.again(|_| data(1, b"").repeat(100));
    }),
    ("a header block without an end", |attacker| {
        attacker.send(&frame(kind::HEADERS, 0, 1, b""));
        attacker.again(|_| frame(kind::CONTINUATION, 0, 1, b""));
    }),
    ("a header list that grows when decoded", |attacker| {
        let value = "x".repeat(4000);
        attacker.requests(|id| {
            let mut bomb = crate::frames::block(&fields(ECHO));
            // One insertion (a literal of the static name 58), then references to it.
            bomb.extend([0x7a, 0x7f, 0xa1, 0x1e]);
            bomb.extend(value.as_bytes());
            bomb.extend(vec![0xbe; 1000]);
            head_of(id, &bomb)
        });
    }),
    ("windows of one byte", |attacker| {
        attacker.send(&stream_window(1));
        attacker.requests(|id| [fill(id, 100), update(id, 1)].concat());
    }),
    ("windows that stay shut", |attacker| {
        attacker.send(&stream_window(0));
        attacker.requests(|id| fill(id, 100));
        attacker.hold();
    }),
    ("unread answers", |attacker| {
        attacker.send(&[stream_window(1 << 30), update(0, 1 << 30)].concat());
        for id in ids().take(200) {
            attacker.write_only(&fill(id, 1000));
        }
        attacker.hold();
    }),
    ("half a frame", |attacker| {
        attacker.send(&frame_header(kind::DATA, 1, 5000));
        attacker.hold();
    }),
    ("heads without bodies", |attacker| {
        attacker.requests(|id| head(id, ECHO));
        attacker.hold();
    }),
    ("messages larger than allowed", |attacker| {
        attacker.requests(|id| [head(id, ECHO), data(id, &[0, 255, 255, 255, 255, 1])].concat())
    }),
    ("gzip that grows", |attacker| {
        let bomb = bomb();
        attacker.requests(|id| {
            let head = head_with(id, ECHO, &[("grpc-encoding", "gzip")]);
            [head, frame(kind::DATA, flag::END_STREAM, id, &bomb)].concat()
        });
    }),
    ("rubbish", |attacker| attacker.again_of(|source| source.bytes(2000))),
    ("rubbish in frames", |attacker| {
        attacker.again_of(|source| {
            let (kind, flags) = (source.below(11) as u8, source.below(256) as u8);
            frame(kind, flags, source.below(9) as u32, &source.bytes(60))
        });
    }),
    ("gone in the middle of an answer", |attacker| {
        let bytes = request(1, LATER, &[1; 5000]);
        let cut = attacker.source.below(bytes.len() as u64) as usize;
        attacker.send(&bytes[..cut]);
    }),
    ("another protocol", |attacker| {
        attacker.send(b"GET / HTTP/1.1\r\nHost: soaked\r\n\r\n");
    }),
];

fn fill(id: u32, messages: u32) -> Vec<u8> {
    request(id, FILL, &messages.to_be_bytes())
}

/// A message of a few kilobytes that says it is one of eight megabytes.
fn bomb() -> Vec<u8> {
    let mut small = Vec::new();
    gzip::compress(&vec![0; 8 << 20], &mut small);
    let mut framed = vec![1];
    framed.extend((small.len() as u32).to_be_bytes());
    framed.extend(small);
    framed
}

/// Writes on one connection, at most: the limits end most attacks long before.
const GOES: usize = 2000;

/// How long what only waits is waited for.
const HOLD: Duration = Duration::from_secs(3);

/// Attackers at a time.
const ATTACKERS: u64 = 8;

/// What one attacker did, in connections.
#[derive(Clone, Copy, Debug)]
pub struct Attacked {
    pub attack: &'static str,
    pub connections: u64,
    /// Those that the server ended before the attack was over.
    pub cut_off: u64,
}

pub fn start(
    address: SocketAddr,
    seed: u64,
    over: &Arc<AtomicBool>,
) -> Vec<JoinHandle<Vec<Attacked>>> {
    let start_one = |number: u64| {
        let over = Arc::clone(over);
        let source = Source::new(seed, 1000 + number);
        thread::spawn(move || attack_in_turn(address, source, &over))
    };
    (0..ATTACKERS).map(start_one).collect()
}

fn attack_in_turn(address: SocketAddr, mut source: Source, over: &AtomicBool) -> Vec<Attacked> {
    let nothing =
        |&(attack, _): &(&'static str, Attack)| Attacked { attack, connections: 0, cut_off: 0 };
    let mut done: Vec<_> = ATTACKS.iter().map(nothing).collect();
    let wanted = env::var("SOAK_ATTACK").ok().map(|name| numbered(&name));
    while !over.load(Ordering::Relaxed) {
        let number = match wanted {
            Some(number) => number,
            None => source.below(ATTACKS.len() as u64) as usize,
        };
        let Some(mut attacker) = Attacker::connect(address, source.number()) else {
            continue;
        };
        ATTACKS[number].1(&mut attacker);
        done[number].connections += 1;
        done[number].cut_off += u64::from(attacker.is_cut_off);
    }
    done
}

fn numbered(name: &str) -> usize {
    let number = ATTACKS.iter().position(|(attack, _)| *attack == name);
    number.unwrap_or_else(|| panic!("SOAK_ATTACK={name}: there is no such attack"))
}

struct Attacker {
    socket: TcpStream,
    source: Source,
    is_cut_off: bool,
}

impl Attacker {
    fn connect(address: SocketAddr, seed: u64) -> Option<Self> {
        let socket = TcpStream::connect(address).ok()?;
        // A server that does not read any more is as good as gone.
        let timeout = Some(Duration::from_millis(500));
        socket.set_write_timeout(timeout).ok()?;
        let mut attacker = Attacker { socket, source: Source::new(seed, 0), is_cut_off: false };
        attacker.send(&[&PREFACE[..], &frame(kind::SETTINGS, 0, 0, &[])].concat());
        Some(attacker)
    }

    /// Writes, and reads what is there.
    fn send(&mut self, bytes: &[u8]) {
        self.write_only(bytes);
        self.read_some();
    }

    fn write_only(&mut self, bytes: &[u8]) {
        self.is_cut_off |= self.socket.write_all(bytes).is_err();
    }

    fn read_some(&mut self) {
        let mut buffer = [0; 16 << 10];
        self.is_cut_off |= self.socket.set_nonblocking(true).is_err();
        self.is_cut_off |= match self.socket.read(&mut buffer) {
            Ok(count) => count == 0,
            Err(error) => error.kind() != ErrorKind::WouldBlock,
        };
        self.is_cut_off |= self.socket.set_nonblocking(false).is_err();
    }

    fn again(&mut self, bytes: impl Fn(usize) -> Vec<u8>) {
        for go in 0..GOES {
            if self.is_cut_off {
                return;
            }
            self.send(&bytes(go));
        }
    }

    fn again_of(&mut self, bytes: impl Fn(&mut Source) -> Vec<u8>) {
        for _ in 0..GOES {
            if self.is_cut_off {
                return;
            }
            let bytes = bytes(&mut self.source);
            self.send(&bytes);
        }
    }

    fn requests(&mut self, bytes: impl Fn(u32) -> Vec<u8>) {
        self.again(|go| bytes(2 * go as u32 + 1));
    }

    /// Says nothing more for a while, and reads nothing.
    fn hold(&mut self) {
        let until = Instant::now() + HOLD;
        self.is_cut_off |= self.socket.set_nonblocking(true).is_err();
        while !self.is_cut_off && Instant::now() < until {
            thread::sleep(Duration::from_millis(50));
            self.is_cut_off |= match self.socket.peek(&mut [0]) {
                Ok(count) => count == 0,
                Err(error) => error.kind() != ErrorKind::WouldBlock,
            };
        }
    }
}
