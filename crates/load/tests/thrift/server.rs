//! A server of Thrift that answers as a test says. It knows no types: it echoes what it was asked,
//! and finds the end of a request by the empty arguments that all of them have.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

pub const PART_BYTES: usize = 4 << 20;

/// What the server does with a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// An empty result, which is that of a method that returns nothing.
    Echo,
    /// The same, each byte in a packet of its own.
    ByteByByte,
    /// The same, two times.
    Twice,
    Nothing,
    WrongSequence,
    WrongMethod,
    Exception,
    Close,
    /// A frame longer than any.
    Huge,
    /// The first [`PART_BYTES`] of a frame twice as long.
    Part,
}

pub struct ThriftServer {
    pub address: SocketAddr,
    counts: Arc<Counts>,
}

#[derive(Default)]
struct Counts {
    calls: AtomicUsize,
    most_in_a_read: AtomicUsize,
}

impl ThriftServer {
    pub fn start(answer: Answer) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let counts = Arc::<Counts>::default();
        let server = Self { address, counts: Arc::clone(&counts) };
        thread::spawn(move || {
            for stream in listener.incoming() {
                let counts = Arc::clone(&counts);
                thread::spawn(move || serve(stream.unwrap(), answer, &counts));
            }
        });
        server
    }

    pub fn calls(&self) -> usize {
        self.counts.calls.load(Ordering::SeqCst)
    }

    /// Waits until `calls` calls have come: those without a reply come behind the run.
    pub fn wait_for_calls(&self, calls: usize) -> usize {
        while self.calls() < calls {
            thread::yield_now();
        }
        self.calls()
    }

    /// The most requests that came in one read.
    pub fn most_behind_each_other(&self) -> usize {
        self.counts.most_in_a_read.load(Ordering::SeqCst)
    }
}

fn serve(mut stream: TcpStream, answer: Answer, counts: &Counts) {
    stream.set_nodelay(true).unwrap();
    let (mut waiting, mut buffer) = (Vec::new(), [0; 64 << 10]);
    while let Ok(count @ 1..) = stream.read(&mut buffer) {
        waiting.extend_from_slice(&buffer[..count]);
        let mut in_this_read = 0;
        while let Some(length) = request_length(&waiting) {
            let request: Vec<u8> = waiting.drain(..length).collect();
            in_this_read += 1;
            counts.calls.fetch_add(1, Ordering::SeqCst);
            if answer == Answer::Close || reply(&mut stream, answer, &request).is_err() {
                return;
            }
        }
        counts.most_in_a_read.fetch_max(in_this_read, Ordering::SeqCst);
    }
}

/// The length of the request that the bytes begin with, if it is whole.
fn request_length(bytes: &[u8]) -> Option<usize> {
    let length = match bytes {
        [0, a, b, c, ..] => 4 + u32::from_be_bytes([0, *a, *b, *c]) as usize,
        // Without frames: `ping` in the binary and in the compact protocol, without arguments.
        [0x80, ..] => 17,
        [0x82, ..] => 11,
        _ => return None,
    };
    (bytes.len() >= length).then_some(length)
}

fn reply(stream: &mut TcpStream, answer: Answer, request: &[u8]) -> std::io::Result<()> {
    let mut reply = request.to_vec();
    let message = if request[0] == 0 { 4 } else { 0 };
    let is_binary = request[message] == 0x80;
    // From a call to a reply.
    if is_binary {
        reply[message + 3] = 2;
    } else {
        reply[message + 1] = 2 << 5 | 1;
    }
    match answer {
        Answer::Nothing | Answer::Close => return Ok(()),
        Answer::Echo => {}
        Answer::Twice => reply.extend(reply.clone()),
        Answer::ByteByByte => return reply.iter().try_for_each(|byte| stream.write_all(&[*byte])),
        Answer::WrongSequence => reply[message + 12..message + 16].copy_from_slice(&[0, 0, 0, 1]),
        Answer::WrongMethod => {
            reply = b"\0\0\0\x12\x80\x01\0\x02\0\0\0\x05other\0\0\x40\0\0".to_vec();
        }
        Answer::Exception => {
            reply = b"\0\0\0\x26\x80\x01\0\x03\0\0\0\x04ping\0\0\x40\0\x0b\0\x01\0\0\0\x07no ping\
                      \x08\0\x02\0\0\0\x01\0"
                .to_vec();
        }
        Answer::Huge => reply = b"\x7f\0\0\0".to_vec(),
        Answer::Part => {
            reply = (2 * PART_BYTES as u32).to_be_bytes().to_vec();
            reply.resize(PART_BYTES, 0);
        }
    }
    stream.write_all(&reply)
}
