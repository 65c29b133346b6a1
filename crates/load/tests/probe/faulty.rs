//! A server that does one thing wrong: the frames that it reads and writes pass through a fault.

use super::honest::hello;
use bookend_testing::{PREFACE, flag, frame, frames, kind};
use bookend_wire::frame::{FrameHeader, HEADER_BYTES};
use bookend_wire::grpc::{Assembler, timeout};
use bookend_wire::{
    Connection, ConnectionConfig, ErrorCode, HeaderBlock, HeaderList, Initiator, Sender, Side,
    StreamKey, Visitor,
};
use std::collections::HashMap;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

/// What a server may do wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// SETTINGS are not acknowledged.
    NoSettingsAck,
    /// PING is not answered.
    NoPong,
    /// PING is answered with zeros.
    WrongPong,
    /// Our SETTINGS are acknowledged and not read: windows and tables stay the default.
    IgnoresSettings,
    /// No credit is ever noticed.
    IgnoresWindowUpdates,
    /// A message that spans DATA frames closes the connection.
    OneFrameMessages,
    /// A method that does not exist closes the connection.
    ClosesOnUnknownMethod,
    /// A method that does not exist is answered as HTTP would.
    Http404,
    /// A call with a deadline that has passed is answered all the same.
    IgnoresDeadlines,
    /// A call with a deadline that has passed is never answered.
    DropsLateCalls,
    /// A call with a short deadline is ended before its request is whole. No fault at all.
    EndsLateCallsEarly,
    /// `grpc-timeout` closes the connection.
    ClosesOnTimeout,
    /// Metadata that ends in `-bin` is answered with `INTERNAL`.
    NoBinaryMetadata,
    /// CONTINUATION closes the connection.
    NoContinuation,
    /// Padding is taken for data.
    ReadsPadding,
    /// RST_STREAM closes the connection.
    ClosesOnReset,
    /// HEADERS while another call's request is not whole close the connection.
    OneCallAtATime,
    /// Frames of unknown kinds close the connection.
    ClosesOnUnknownFrames,
    /// A frame of this kind of which a read has a part alone closes the connection.
    ClosesOnCut(u8),
    /// Every answer is a write of its own, and waits until the one before it is acknowledged.
    WaitsOnAcks,
    /// A handler in 128 sleeps as long as an acknowledgement may be delayed. No fault at all.
    Sleeps,
    /// Only the first connection is ever answered; the others hear SETTINGS and nothing more.
    SilentAfterTheFirst,
    /// Every call is answered with bytes that are not a message.
    GarbledReply,
}

/// A running server and how many calls it has answered.
pub struct Faulty {
    pub address: String,
    pub answered: Arc<AtomicU64>,
}

/// Starts a server that does everything but one thing.
pub fn start(fault: Fault) -> Faulty {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let answered = Arc::new(AtomicU64::new(0));
    let counter = Arc::clone(&answered);
    thread::spawn(move || {
        for (number, stream) in listener.incoming().enumerate() {
            let counter = Arc::clone(&counter);
            let stream = stream.unwrap();
            stream.set_nodelay(fault != Fault::WaitsOnAcks).unwrap();
            thread::spawn(move || Faulted::new(fault, number, counter).serve(stream));
        }
    });
    Faulty { address, answered }
}

/// What becomes of a frame that came.
enum Fate {
    Pass,
    Drop,
    Close,
}

struct Faulted {
    fault: Fault,
    silent: bool,
    connection: Connection,
    calls: Calls,
}

impl Faulted {
    fn new(fault: Fault, number: usize, answered: Arc<AtomicU64>) -> Self {
        Self {
            fault,
            silent: fault == Fault::SilentAfterTheFirst && number > 0,
            connection: Connection::new(Side::Server, &ConnectionConfig::internet()),
            calls: Calls { fault, requests: HashMap::new(), answered, closing: false },
        }
    }

    /// Reads frame by frame until either side has enough.
    fn serve(mut self, mut stream: TcpStream) -> Option<()> {
        let preface = std::mem::take(&mut self.connection.sender.output);
        stream.write_all(&preface).ok()?;
        let mut preface = [0; PREFACE.len()];
        stream.read_exact(&mut preface).ok()?;
        self.connection.receive(&preface, &mut self.calls).ok()?;
        loop {
            let mut bytes = [0; HEADER_BYTES];
            let is_cut = read_whole(&mut stream, &mut bytes)?;
            let header = FrameHeader::parse(&bytes);
            let mut payload = vec![0; header.length];
            let is_cut = read_whole(&mut stream, &mut payload)? || is_cut;
            // Long ones span segments by themselves.
            let is_short = header.length < 1_000;
            if is_cut && is_short && self.fault == Fault::ClosesOnCut(header.kind) {
                return None;
            }
            match self.fate(header) {
                Fate::Pass => self.handle(header, &payload)?,
                Fate::Drop => {}
                Fate::Close => return None,
            }
            if self.calls.closing {
                return None;
            }
            let output = self.filtered_output();
            stream.write_all(&output).ok()?;
        }
    }

    fn fate(&self, header: FrameHeader) -> Fate {
        let is_unknown = header.kind > kind::CONTINUATION;
        let is_cut = header.kind == kind::DATA && !header.has(flag::END_STREAM);
        let is_second = header.kind == kind::HEADERS && !self.calls.requests.is_empty();
        let closes = match self.fault {
            Fault::OneFrameMessages => is_cut,
            Fault::NoContinuation => header.kind == kind::CONTINUATION,
            Fault::ClosesOnReset => header.kind == kind::RST_STREAM,
            Fault::ClosesOnUnknownFrames => is_unknown,
            Fault::OneCallAtATime => is_second,
            _ => false,
        };
        let drops = self.silent
            || (self.fault == Fault::IgnoresWindowUpdates && header.kind == kind::WINDOW_UPDATE);
        match (closes, drops) {
            (true, _) => Fate::Close,
            (_, true) => Fate::Drop,
            _ => Fate::Pass,
        }
    }

    fn handle(&mut self, header: FrameHeader, payload: &[u8]) -> Option<()> {
        let is_settings = header.kind == kind::SETTINGS && !header.has(flag::ACK);
        let mut flags = header.flags;
        let mut read = payload;
        match self.fault {
            Fault::IgnoresSettings if is_settings => read = &[],
            Fault::ReadsPadding => flags &= !flag::PADDED,
            _ => {}
        }
        let frame = frame(header.kind, flags, header.stream_id, read);
        self.connection.receive(&frame, &mut self.calls).ok()?;
        Some(())
    }

    /// What may go out of what was to go out.
    fn filtered_output(&mut self) -> Vec<u8> {
        let output = std::mem::take(&mut self.connection.sender.output);
        let mut kept = Vec::new();
        for mut frame in frames(&output) {
            match (self.fault, frame.kind) {
                (Fault::NoSettingsAck, kind::SETTINGS) | (Fault::NoPong, kind::PING)
                    if frame.has(flag::ACK) =>
                {
                    continue;
                }
                (Fault::WrongPong, kind::PING) => frame.payload.fill(0),
                _ => {}
            }
            frame.write(&mut kept);
        }
        kept
    }
}

/// Fills the buffer, and returns whether that took more than one read.
fn read_whole(stream: &mut TcpStream, buffer: &mut [u8]) -> Option<bool> {
    let mut filled = 0;
    let mut reads = 0;
    while filled < buffer.len() {
        filled += stream.read(&mut buffer[filled..]).ok().filter(|read| *read > 0)?;
        reads += 1;
    }
    Some(reads > 1)
}

#[derive(Default)]
struct Request {
    path: Vec<u8>,
    is_late: bool,
    has_binary: bool,
    assembler: Assembler,
    name: Option<String>,
}

struct Calls {
    fault: Fault,
    requests: HashMap<u32, Request>,
    answered: Arc<AtomicU64>,
    closing: bool,
}

impl Calls {
    fn answer(&mut self, sender: &mut Sender, stream: StreamKey) {
        let Some(request) = self.requests.remove(&stream.id) else {
            return;
        };
        if request.is_late && self.fault == Fault::DropsLateCalls {
            return;
        }
        let before = self.answered.fetch_add(1, Ordering::SeqCst);
        if self.fault == Fault::Sleeps && before % 128 == 64 {
            thread::sleep(Duration::from_millis(40));
        }
        let is_known = request.path == b"/helloworld.Greeter/SayHello";
        match self.fault {
            _ if !is_known => self.unknown_method(sender, stream),
            Fault::IgnoresDeadlines | Fault::ClosesOnTimeout => good(sender, stream, &request),
            _ if request.is_late => failed(sender, stream, b"4"),
            Fault::NoBinaryMetadata if request.has_binary => failed(sender, stream, b"13"),
            Fault::GarbledReply => reply(sender, stream, b"\xff\xff\xff"),
            _ => good(sender, stream, &request),
        }
    }

    fn unknown_method(&mut self, sender: &mut Sender, stream: StreamKey) {
        match self.fault {
            Fault::ClosesOnUnknownMethod => self.closing = true,
            Fault::Http404 => {
                sender.headers(stream, &mut HeaderBlock::new(&[(b":status", b"404")]), true);
            }
            _ => failed(sender, stream, b"12"),
        }
    }
}

fn head() -> HeaderBlock {
    HeaderBlock::new(&[(b":status", b"200"), (b"content-type", b"application/grpc")])
}

fn good(sender: &mut Sender, stream: StreamKey, request: &Request) {
    match &request.name {
        Some(name) => reply(sender, stream, &hello(name)),
        None => failed(sender, stream, b"13"),
    }
}

fn reply(sender: &mut Sender, stream: StreamKey, message: &[u8]) {
    let mut trailers = HeaderBlock::new(&[(b"grpc-status", b"0")]);
    sender.reply(stream, &mut head(), &mut trailers, |output| {
        output.extend_from_slice(message);
    });
}

fn failed(sender: &mut Sender, stream: StreamKey, status: &[u8]) {
    sender.headers(stream, &mut head(), false);
    sender.headers(stream, &mut HeaderBlock::new(&[(b"grpc-status", status)]), true);
}

impl Visitor for Calls {
    fn headers(
        &mut self,
        sender: &mut Sender,
        stream: StreamKey,
        fields: &HeaderList,
        _: bool,
    ) -> Option<u32> {
        let request = Request {
            path: fields.find(b":path").unwrap().to_vec(),
            is_late: fields
                .find(b"grpc-timeout")
                .and_then(timeout::parse)
                .is_some_and(|timeout_ns| timeout_ns < 1_000_000_000),
            has_binary: fields.iter().any(|field| field.name.ends_with(b"-bin")),
            ..Request::default()
        };
        self.closing |= request.is_late && self.fault == Fault::ClosesOnTimeout;
        let ends_now = request.is_late && self.fault == Fault::EndsLateCallsEarly;
        self.requests.insert(stream.id, request);
        if ends_now {
            self.answer(sender, stream);
        }
        None
    }

    fn cached_headers(&mut self, _: &mut Sender, _: StreamKey, _: u32, _: bool) {}

    fn data(&mut self, sender: &mut Sender, stream: StreamKey, data: &[u8], end_stream: bool) {
        sender.release(stream, data.len());
        if let Some(request) = self.requests.get_mut(&stream.id) {
            let name = &mut request.name;
            let taken = request.assembler.push(data, 1 << 22, |message| {
                let text = &message.bytes[message.bytes.len().min(2)..];
                *name = Some(String::from_utf8_lossy(text).into_owned());
            });
            if taken.is_err() || (end_stream && !request.assembler.is_empty()) {
                request.name = None;
            }
        }
        if end_stream {
            self.answer(sender, stream);
        }
    }

    fn reset(&mut self, _: &mut Sender, stream: StreamKey, _: ErrorCode, _: Initiator) {
        self.requests.remove(&stream.id);
    }

    fn goaway(&mut self, _: &mut Sender, _: u32, _: ErrorCode, _: &[u8]) {}
}
