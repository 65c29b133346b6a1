//! One connection of the server.

use super::behaviour::{AfterGoAway, Answer, Behaviour, Part};
use bookend_testing::{
    Frame, OK_TRAILERS, PREFACE, RESPONSE_HEAD, flag, frame, kind, message, setting, settings,
    window_update,
};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::io::{BufReader, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// What the server has seen of a client on a connection, and what it has sent.
#[derive(Debug, Default)]
pub struct Observed {
    /// All frames, without the payload of DATA.
    pub frames: Vec<Frame>,
    /// Bytes of DATA by frame: the stream and the length.
    pub data: Vec<(u32, usize)>,
    /// Calls that have come whole.
    pub calls: u64,
    /// The most streams that were open at a time.
    pub open_max: usize,
    /// PING frames that were sent.
    pub pings: u64,
    /// Bytes of DATA that were sent, padding included.
    pub sent_bytes: u64,
}

impl Observed {
    /// Frames of that kind.
    pub fn of_kind(&self, kind: u8) -> impl Iterator<Item = &Frame> {
        self.frames.iter().filter(move |frame| frame.kind == kind)
    }

    /// The acknowledged PINGs, which are numbered.
    pub fn pongs(&self) -> Vec<u64> {
        let pongs = self.of_kind(kind::PING).filter(|frame| frame.has(flag::ACK));
        let number = |frame: &Frame| u64::from_be_bytes(*frame.payload.first_chunk().unwrap());
        pongs.map(number).collect()
    }
}

/// A connection.
pub struct ServerConnection {
    reader: BufReader<TcpStream>,
    writer: TcpStream,
    behaviour: Behaviour,
    /// Calls of all connections.
    all_calls: Arc<AtomicU64>,
    observed: Observed,
    output: Vec<u8>,
    windows: Windows,
    /// Streams that have begun and not ended.
    open: BTreeSet<u32>,
    /// Calls that wait to be answered.
    waiting: VecDeque<u32>,
    replies: Vec<Reply>,
    closes: bool,
}

/// What the client lets the server send.
struct Windows {
    connection_bytes: i64,
    initial_bytes: i64,
    /// What differs from that.
    streams: BTreeMap<u32, i64>,
}

/// A response that is being sent.
struct Reply {
    stream_id: u32,
    how: Answer,
    body: Vec<u8>,
    sent_bytes: usize,
}

impl ServerConnection {
    pub fn new(socket: TcpStream, behaviour: Behaviour, all_calls: Arc<AtomicU64>) -> Self {
        Self {
            reader: BufReader::new(socket.try_clone().unwrap()),
            writer: socket,
            behaviour,
            all_calls,
            observed: Observed::default(),
            output: Vec::new(),
            windows: Windows {
                connection_bytes: 65_535,
                initial_bytes: 65_535,
                streams: BTreeMap::new(),
            },
            open: BTreeSet::new(),
            waiting: VecDeque::new(),
            replies: Vec::new(),
            closes: false,
        }
    }

    /// Serves until the client closes the connection.
    pub fn run(mut self) -> Observed {
        let mut preface = [0; PREFACE.len()];
        if self.reader.read_exact(&mut preface).is_err() || preface != *PREFACE {
            return self.observed;
        }
        self.send_settings();
        self.write();
        while let Ok(Some(frame)) = Frame::read(&mut self.reader) {
            self.take(&frame);
            self.send_replies();
            self.write();
            self.note(frame);
        }
        self.observed
    }

    fn send_settings(&mut self) {
        let parameters = match self.behaviour {
            Behaviour::Allows { streams } => vec![(setting::MAX_CONCURRENT_STREAMS, streams)],
            _ => Vec::new(),
        };
        self.output.extend(settings(&parameters));
    }

    /// A client that has closed hears nothing more, which is no fault of the server's.
    fn write(&mut self) {
        let _ = self.writer.write_all(&self.output);
        self.output.clear();
        if std::mem::take(&mut self.closes) {
            let _ = self.writer.shutdown(Shutdown::Write);
        }
    }

    fn note(&mut self, mut frame: Frame) {
        if frame.kind == kind::DATA {
            self.observed.data.push((frame.stream_id, frame.payload.len()));
            frame.payload.clear();
        }
        self.observed.frames.push(frame);
    }

    fn take(&mut self, frame: &Frame) {
        match frame.kind {
            kind::SETTINGS if !frame.has(flag::ACK) => self.settings(frame),
            kind::HEADERS => {
                self.open.insert(frame.stream_id);
                self.observed.open_max = self.observed.open_max.max(self.open.len());
            }
            kind::DATA if !frame.payload.is_empty() => {
                self.output.extend(window_update(0, frame.payload.len() as u32));
            }
            kind::WINDOW_UPDATE => self.windows.open(frame.stream_id, frame.number_at(0)),
            kind::PING if frame.has(flag::ACK) => self.pong(),
            kind::RST_STREAM => {
                self.open.remove(&frame.stream_id);
                self.waiting.retain(|id| *id != frame.stream_id);
                self.replies.retain(|reply| reply.stream_id != frame.stream_id);
            }
            _ => {}
        }
        if matches!(frame.kind, kind::HEADERS | kind::DATA) && frame.has(flag::END_STREAM) {
            self.call(frame.stream_id);
        }
    }

    fn settings(&mut self, heard: &Frame) {
        for (id, value) in heard.settings() {
            if id == setting::INITIAL_WINDOW_SIZE {
                self.windows.initial_bytes = i64::from(value);
            }
        }
        self.output.extend(frame(kind::SETTINGS, flag::ACK, 0, &[]));
    }

    /// A call has come whole.
    fn call(&mut self, stream_id: u32) {
        self.observed.calls += 1;
        let number = self.all_calls.fetch_add(1, Ordering::SeqCst) + 1;
        match self.behaviour {
            Behaviour::Silent => {}
            Behaviour::GoesAway { at_call, code, debug, then }
                if self.observed.calls >= at_call =>
            {
                match self.observed.calls {
                    1 if at_call == 0 => self.go_away(0, code, debug, then),
                    calls if calls == at_call => self.go_away(stream_id, code, debug, then),
                    _ => {}
                }
            }
            Behaviour::Allows { .. } => {
                // When the answer comes, the client has sent all that it thinks it may.
                self.waiting.push_back(stream_id);
                if self.waiting.len() == 1 {
                    self.ping();
                }
            }
            _ => self.answer(stream_id, number),
        }
    }

    fn go_away(&mut self, stream_id: u32, code: u32, debug: &str, then: AfterGoAway) {
        let [last, code] = [stream_id, code].map(u32::to_be_bytes);
        let payload = [&last[..], &code, debug.as_bytes()].concat();
        self.output.extend(frame(kind::GOAWAY, 0, 0, &payload));
        match then {
            AfterGoAway::Answers => self.answer(stream_id, 0),
            AfterGoAway::Hangs => {}
            AfterGoAway::Closes => self.closes = true,
        }
    }

    fn ping(&mut self) {
        let number = self.observed.pings.to_be_bytes();
        self.observed.pings += 1;
        self.output.extend(frame(kind::PING, 0, 0, &number));
    }

    fn pong(&mut self) {
        if let Some(stream_id) = self.waiting.pop_front() {
            self.answer(stream_id, 0);
        }
        if !self.waiting.is_empty() {
            self.ping();
        }
    }

    fn answer(&mut self, stream_id: u32, number: u64) {
        let how = self.behaviour.answer(number);
        let mut body = message(&vec![7; how.message_bytes]);
        self.ping_if_asked_to();
        match how.broken_off {
            Some((Part::Nothing, _)) => body.clear(),
            Some((Part::Head, _)) => {
                self.head(stream_id);
                body.clear();
            }
            Some((Part::HalfOfTheMessage, _)) => {
                self.head(stream_id);
                body.truncate(body.len() / 2);
            }
            Some((Part::WholeMessage, _)) | None => self.head(stream_id),
        }
        self.replies.push(Reply { stream_id, how, body, sent_bytes: 0 });
    }

    fn head(&mut self, stream_id: u32) {
        self.output.extend(frame(kind::HEADERS, flag::END_HEADERS, stream_id, RESPONSE_HEAD));
        self.ping_if_asked_to();
    }

    fn ping_if_asked_to(&mut self) {
        if self.behaviour == Behaviour::Pings {
            self.ping();
        }
    }

    /// Sends what the client's windows allow.
    fn send_replies(&mut self) {
        for mut reply in std::mem::take(&mut self.replies) {
            self.send_body(&mut reply);
            match reply.sent_bytes == reply.body.len() {
                true => self.end(&reply),
                false => self.replies.push(reply),
            }
        }
    }

    fn send_body(&mut self, reply: &mut Reply) {
        while reply.sent_bytes < reply.body.len() {
            let rest = &reply.body[reply.sent_bytes..];
            let piece = &rest[..rest.len().min(reply.how.piece_bytes)];
            let (flags, payload) = match reply.how.padding_bytes {
                Some(bytes) => {
                    let padding = vec![0; usize::from(bytes)];
                    (flag::PADDED, [&[bytes][..], piece, &padding].concat())
                }
                None => (0, piece.to_vec()),
            };
            if !self.windows.take(reply.stream_id, payload.len() as i64) {
                return;
            }
            self.output.extend(frame(kind::DATA, flags, reply.stream_id, &payload));
            self.observed.sent_bytes += payload.len() as u64;
            reply.sent_bytes += piece.len();
        }
    }

    fn end(&mut self, reply: &Reply) {
        self.ping_if_asked_to();
        self.open.remove(&reply.stream_id);
        let id = reply.stream_id;
        let flags = flag::END_HEADERS | flag::END_STREAM;
        match reply.how.broken_off {
            Some((_, code)) => {
                self.output.extend(frame(kind::RST_STREAM, 0, id, &code.to_be_bytes()))
            }
            None => self.output.extend(frame(kind::HEADERS, flags, id, OK_TRAILERS)),
        }
    }
}

impl Windows {
    fn open(&mut self, stream_id: u32, bytes: u32) {
        match stream_id {
            0 => self.connection_bytes += i64::from(bytes),
            id => *self.streams.entry(id).or_default() += i64::from(bytes),
        }
    }

    /// Takes `bytes` off both windows; false, and nothing taken, if either has less.
    fn take(&mut self, stream_id: u32, bytes: i64) -> bool {
        let difference_bytes = self.streams.entry(stream_id).or_default();
        let fits =
            bytes <= self.connection_bytes && bytes <= self.initial_bytes + *difference_bytes;
        if fits {
            self.connection_bytes -= bytes;
            *difference_bytes -= bytes;
        }
        fits
    }
}
