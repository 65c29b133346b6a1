//! A connection of either side that is given bytes.

use crate::bounds::{assert_memory, assert_work};
use crate::frames::{Meaning, Splitter};
use crate::peculiarities::{Peculiarities, REQUESTS};
use bookend_testing::{Frame, kind};
use bookend_wire::{
    Connection, ConnectionError, ErrorCode, HeaderBlock, HeaderList, Initiator, Sender, Side,
    StreamKey, Visitor,
};
use std::collections::{BTreeMap, BTreeSet};

/// Two bytes of peculiarities, then what a client could have written.
pub fn server_core(input: &[u8]) {
    let (own, bytes) = Peculiarities::of(input);
    check(Side::Server, own, &own.greeted(Side::Server, bytes));
}

/// Two bytes of peculiarities, then what a server could have written.
pub fn client_core(input: &[u8]) {
    let (own, bytes) = Peculiarities::of(input);
    check(Side::Client, own, &own.greeted(Side::Client, bytes));
}

/// Memory of a connection whose peer sends nothing: tables, a header list, and what a client holds
/// back of its last request.
const MEMORY_BYTES: u64 = 256 << 10;
/// A header block is put together once and its vector doubles; a frame is smaller than its trace.
const MEMORY_BYTES_PER_BYTE: u64 = 16;
/// The smallest request there is: a frame's head and a few indexes.
const REQUEST_BYTES: usize = 12;
/// Streams at a time, by the limits of the internet.
const STREAMS: usize = 250;
/// A frame has nine bytes and tells one thing, but for the ends of what earlier frames began.
const EVENTS: usize = 300;
/// A GOAWAY with its reason, and what a client held back of its last request.
const OUTPUT_BYTES: usize = 1_200;
/// The dearest answer: ten bytes of DATA may be worth credit for the stream and the connection.
const OUTPUT_BYTES_PER_BYTE: usize = 4;

/// Asserts all that has to hold of a connection, whatever it is given.
pub fn check(side: Side, own: Peculiarities, bytes: &[u8]) {
    let whole = hear(side, own, [bytes]);
    let one_by_one = hear(side, own, bytes.chunks(1));
    assert_eq!(whole, one_by_one, "one by one");
    let uneven = hear(side, own, uneven_pieces(bytes));
    assert_eq!(whole, uneven, "in uneven pieces");
    check_events(&whole.events, side);
    check_output(side, bytes, &whole.output);
    assert_work("events", whole.events.len(), EVENTS, 1, bytes);
    let answers: usize = whole.answered * (own.answer_bytes + 100);
    let beyond_answers = whole.output.len().saturating_sub(answers + whole.said_before);
    assert_work("bytes of output", beyond_answers, OUTPUT_BYTES, OUTPUT_BYTES_PER_BYTE, bytes);
    check_memory(side, own, bytes);
}

/// What the visitor hears, without the memory that keeping it takes.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Event {
    Headers { id: u32, fields: Vec<(Vec<u8>, Vec<u8>)>, end_stream: bool },
    Data { id: u32, bytes: Vec<u8>, end_stream: bool },
    Reset { id: u32, code: ErrorCode, by: Initiator },
    Goaway { last_stream_id: u32, code: ErrorCode, debug: Vec<u8> },
    Settings,
    SettingsAcknowledged,
    Pong([u8; 8]),
    Drained { id: u32 },
}

/// All that an input comes to.
#[derive(Debug, PartialEq)]
struct Heard {
    events: Vec<Event>,
    output: Vec<u8>,
    /// Bytes of the output that were there before the input.
    said_before: usize,
    answered: usize,
    error: Option<ConnectionError>,
}

fn hear<'a>(side: Side, own: Peculiarities, pieces: impl IntoIterator<Item = &'a [u8]>) -> Heard {
    let mut connection = own.connection(side);
    let mut owner = Owner::new(side, own, true);
    let said_before = connection.sender.output.len();
    let error = feed(&mut connection, &mut owner, pieces, |_| ());
    Heard {
        events: owner.events,
        output: connection.sender.output,
        said_before,
        answered: owner.answered,
        error,
    }
}

fn feed<'a>(
    connection: &mut Connection,
    owner: &mut Owner,
    pieces: impl IntoIterator<Item = &'a [u8]>,
    mut between: impl FnMut(&mut Connection),
) -> Option<ConnectionError> {
    let mut inbox: Vec<u8> = Vec::new();
    for piece in pieces {
        inbox.extend_from_slice(piece);
        match connection.receive(&inbox, owner) {
            Ok(taken_bytes) => drop(inbox.drain(..taken_bytes)),
            Err(error) => return Some(error),
        }
        between(connection);
    }
    None
}

/// Pieces of lengths that have nothing to do with frames.
fn uneven_pieces(bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut rest = bytes;
    let mut piece_bytes = 1;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        piece_bytes = (piece_bytes * 7 + 3) % 61 + 1;
        let (piece, behind) = rest.split_at(piece_bytes.min(rest.len()));
        rest = behind;
        Some(piece)
    })
}

fn check_memory(side: Side, own: Peculiarities, bytes: &[u8]) {
    // Answers that wait for a window, in vectors that double.
    let answers = (bytes.len() / REQUEST_BYTES).min(STREAMS);
    let waiting_bytes = 2 * (answers * own.answer_bytes) as u64;
    assert_memory(bytes, MEMORY_BYTES + waiting_bytes, MEMORY_BYTES_PER_BYTE, || {
        let mut connection = own.connection(side);
        let mut owner = Owner::new(side, own, false);
        let pieces = bytes.chunks(4_096);
        feed(&mut connection, &mut owner, pieces, |connection| connection.sender.output.clear());
    });
}

/// Whether the events of each stream come in order: a head, a body, one end, and nothing behind a
/// reset.
fn check_events(events: &[Event], side: Side) {
    let mut began = BTreeSet::new();
    let mut ended = BTreeSet::new();
    let mut reset = BTreeSet::new();
    for event in events {
        let (id, end_stream) = match event {
            Event::Headers { id, end_stream, .. } => {
                began.insert(*id);
                (*id, *end_stream)
            }
            Event::Data { id, end_stream, .. } => {
                assert!(began.contains(id), "a body without a head: {events:?}");
                (*id, *end_stream)
            }
            Event::Reset { id, .. } => {
                let is_known = side == Side::Client || began.contains(id);
                assert!(is_known && reset.insert(*id), "{id} is reset: {events:?}");
                continue;
            }
            _ => continue,
        };
        assert!(!reset.contains(&id), "{id} was reset: {events:?}");
        assert!(!ended.contains(&id), "{id} had ended: {events:?}");
        if end_stream {
            ended.insert(id);
        }
    }
}

/// Whether what was written is made of sound frames, and resets nothing that was never there.
fn check_output(side: Side, bytes: &[u8], output: &[u8]) {
    let (mut written, mut given) = match side {
        Side::Client => (Splitter::with_preface(), Splitter::without_preface()),
        Side::Server => (Splitter::without_preface(), Splitter::with_preface()),
    };
    let mut opened = BTreeSet::new();
    if side == Side::Client {
        opened.extend((0..REQUESTS as u32).map(|nth| 2 * nth + 1));
    } else {
        let came = given.push(bytes).unwrap_or_default();
        let is_head = |frame: &&Frame| frame.kind == kind::HEADERS;
        opened.extend(came.iter().filter(is_head).map(|frame| frame.stream_id));
    }
    let mut resets: BTreeMap<u32, usize> = BTreeMap::new();
    for frame in written.push(output).expect("our own preface") {
        match Meaning::of(&frame).expect("a sound frame") {
            Meaning::Reset { .. } => {
                assert!(opened.contains(&frame.stream_id), "an idle stream is reset: {frame:?}");
                *resets.entry(frame.stream_id).or_default() += 1;
            }
            Meaning::Priority | Meaning::Unknown => panic!("nobody asked for {frame:?}"),
            _ => {}
        }
    }
    assert_eq!(written.partial_bytes(), 0, "a frame is cut off");
    assert!(resets.values().all(|resets| *resets == 1), "reset twice: {resets:?}");
}

/// Answers like a server does, and keeps what it hears.
struct Owner {
    side: Side,
    own: Peculiarities,
    keeps: bool,
    events: Vec<Event>,
    answered: usize,
    head: HeaderBlock,
    trailers: HeaderBlock,
}

impl Owner {
    fn new(side: Side, own: Peculiarities, keeps: bool) -> Self {
        Self {
            side,
            own,
            keeps,
            events: Vec::new(),
            answered: 0,
            head: HeaderBlock::new(&[(b":status", b"200"), (b"content-type", b"application/grpc")]),
            trailers: HeaderBlock::new(&[(b"grpc-status", b"0")]),
        }
    }

    fn keep(&mut self, event: impl FnOnce() -> Event) {
        if self.keeps {
            self.events.push(event());
        }
    }

    fn answer(&mut self, sender: &mut Sender, stream: StreamKey, is_due: bool) {
        if self.side == Side::Server && is_due {
            let bytes = self.own.answer_bytes;
            self.answered += 1;
            sender.reply(stream, &mut self.head, &mut self.trailers, |output| {
                output.resize(output.len() + bytes, b'a');
            });
        }
    }
}

impl Visitor for Owner {
    fn headers(
        &mut self,
        sender: &mut Sender,
        stream: StreamKey,
        fields: &HeaderList,
        end_stream: bool,
    ) -> Option<u32> {
        self.keep(|| Event::Headers {
            id: stream.id,
            fields: fields.iter().map(|f| (f.name.to_vec(), f.value.to_vec())).collect(),
            end_stream,
        });
        self.answer(sender, stream, end_stream || self.own.answers_early);
        Some(0)
    }

    fn cached_headers(&mut self, sender: &mut Sender, stream: StreamKey, _: u32, end_stream: bool) {
        let id = stream.id;
        self.keep(|| Event::Headers { id, fields: Vec::new(), end_stream });
        self.answer(sender, stream, end_stream || self.own.answers_early);
    }

    fn data(&mut self, sender: &mut Sender, stream: StreamKey, data: &[u8], end_stream: bool) {
        let id = stream.id;
        self.keep(|| Event::Data { id, bytes: data.to_vec(), end_stream });
        if self.own.releases {
            sender.release(stream, data.len());
        }
        self.answer(sender, stream, end_stream && !self.own.answers_early);
    }

    fn reset(&mut self, _: &mut Sender, stream: StreamKey, code: ErrorCode, by: Initiator) {
        self.keep(|| Event::Reset { id: stream.id, code, by });
    }

    fn goaway(&mut self, _: &mut Sender, last_stream_id: u32, code: ErrorCode, debug: &[u8]) {
        self.keep(|| Event::Goaway { last_stream_id, code, debug: debug.to_vec() });
    }

    fn settings(&mut self, _: &mut Sender) {
        self.keep(|| Event::Settings);
    }

    fn settings_acknowledged(&mut self) {
        self.keep(|| Event::SettingsAcknowledged);
    }

    fn pong(&mut self, payload: [u8; 8]) {
        self.keep(|| Event::Pong(payload));
    }

    fn drained(&mut self, _: &mut Sender, stream: StreamKey) {
        self.keep(|| Event::Drained { id: stream.id });
    }
}
