//! What is said in a call, by whom, and when.

use crate::both::Both;
use crate::plan::{EndPlan, window_bytes};
use crate::random::Random;
use bookend_wire::hpack::FIELD_OVERHEAD_BYTES;
use bookend_wire::{ConnectionConfig, Indexing, Side};

/// One call as it is meant to go.
#[derive(Clone, Debug)]
pub struct CallPlan {
    pub starts_at: u64,
    pub request: Speech,
    pub response: Speech,
    pub answer: Answer,
    /// What the server does with a request that goes on behind its answer.
    pub leftover: Leftover,
    /// How each end gives bytes back that it has heard.
    pub release: Both<Release>,
    pub cancel: Option<Cancel>,
    /// From the opening; told to the server as `grpc-timeout`.
    pub timeout_ticks: Option<u64>,
}

/// One direction of a call.
#[derive(Clone, Debug)]
pub struct Speech {
    pub style: Style,
    /// Fields behind those that all calls have.
    pub extra: Vec<Extra>,
    pub bytes: Vec<u8>,
    pub pieces: Vec<Piece>,
    pub ending: Ending,
}

/// A field of its own.
#[derive(Clone, Debug)]
pub struct Extra {
    pub name: Vec<u8>,
    pub value: Vec<u8>,
    pub indexing: Indexing,
}

/// Which of the sender's ways is taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    /// `request` or `reply`: one message, at once.
    Whole,
    /// `prepared_request`.
    Again,
    /// Head, pieces, ending.
    Pieces,
}

/// A part of the body that is handed over at once.
#[derive(Clone, Copy, Debug)]
pub struct Piece {
    /// Where it ends in the body.
    pub end: usize,
    /// Whether it is a gRPC message, and handed over as one.
    pub is_message: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// END_STREAM is on the last piece, or on the head if no piece follows.
    LastPiece,
    EmptyData,
    Trailers,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    OnHead,
    AfterBytes(usize),
    AtEnd,
    Never,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Leftover {
    Drain,
    Reset,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Release {
    AtOnce,
    Later,
    InHalves,
    /// The end of the stream does it.
    Never,
}

#[derive(Clone, Copy, Debug)]
pub struct Cancel {
    pub by: Side,
    pub when: When,
}

#[derive(Clone, Copy, Debug)]
pub enum When {
    /// Ticks after the end has come to know of the call.
    After(u64),
    /// In the middle of the body, inside the visitor.
    Heard(usize),
}

/// Bytes in front of a gRPC message.
const PREFIX_BYTES: usize = 5;
/// Bodies that never give their bytes back have to fit through any window together.
const KEPT_BYTES: usize = 900;

impl CallPlan {
    pub fn draw(random: &mut Random, ends: &Both<EndPlan>) -> Self {
        let request = Speech::draw(random, ends, Side::Client);
        let response = Speech::draw(random, ends, Side::Server);
        let release = Both {
            client: Release::draw(random, &response, window_bytes(ends, Side::Server)),
            server: Release::draw(random, &request, window_bytes(ends, Side::Client)),
        };
        let (answer, cancel) = (Answer::draw(random, &request), Cancel::draw(random));
        let has_deadline = random.one_in(10) || answer == Answer::Never;
        Self {
            starts_at: random.below(random.clone().pick(&[1, 30, 400])) as u64,
            timeout_ticks: has_deadline.then(|| 1 + random.below(500) as u64),
            leftover: random.pick(&[Leftover::Drain, Leftover::Drain, Leftover::Reset]),
            request,
            response,
            answer,
            release,
            cancel,
        }
    }

    pub fn speech(&self, side: Side) -> &Speech {
        match side {
            Side::Client => &self.request,
            Side::Server => &self.response,
        }
    }

    /// Whether the server's limits forbid the request's head.
    pub fn is_oversize(&self, server: &ConnectionConfig) -> bool {
        let limit_bytes = server.settings.max_header_list_bytes.unwrap_or(u32::MAX);
        let own = |extra: &Extra| extra.name.len() + extra.value.len() + FIELD_OVERHEAD_BYTES;
        let bytes = COMMON_HEAD_BYTES + self.request.extra.iter().map(own).sum::<usize>();
        bytes > limit_bytes as usize
    }
}

/// More than the fields of every request count together, `grpc-timeout` included; the extra ones
/// are drawn so that they do not depend on the difference.
pub const COMMON_HEAD_BYTES: usize = 400;

impl Speech {
    fn draw(random: &mut Random, ends: &Both<EndPlan>, speaker: Side) -> Self {
        let style = match (random.below(4), speaker) {
            (0, _) => Style::Whole,
            (1, Side::Client) => Style::Again,
            (1, Side::Server) => Style::Whole,
            _ => Style::Pieces,
        };
        let most_bytes = draw_most_bytes(random, window_bytes(ends, speaker));
        let extra = match style {
            Style::Again => Vec::new(),
            _ => draw_extra(random, &ends.of(crate::both::other(speaker)).config),
        };
        let mut speech =
            Self { style, extra, bytes: Vec::new(), pieces: Vec::new(), ending: Ending::LastPiece };
        match style {
            // What is made again and again is the same: short, so that it is remembered whole.
            Style::Again => speech.push_message(&[b'a'; 40]),
            Style::Whole => {
                let bytes = random.below(most_bytes + 1);
                speech.push_message(&random.bytes(bytes));
            }
            Style::Pieces => speech.push_pieces(random, most_bytes),
        }
        if style == Style::Whole && speaker == Side::Server {
            speech.ending = Ending::Trailers;
        }
        speech
    }

    fn push_pieces(&mut self, random: &mut Random, most_bytes: usize) {
        for _ in 0..random.below(5) {
            let piece_bytes = random.below(most_bytes + 1) / 2;
            let bytes = random.bytes(piece_bytes);
            match random.one_in(2) {
                true => self.push_message(&bytes),
                // An empty piece would be no piece: nothing is sent for it.
                false if piece_bytes == 0 => {}
                false => self.push(&bytes, false),
            }
        }
        self.ending = random.pick(&[Ending::LastPiece, Ending::EmptyData, Ending::Trailers]);
    }

    fn push_message(&mut self, message: &[u8]) {
        let length = message.len() as u32;
        let [a, b, c, d] = length.to_be_bytes();
        self.bytes.extend_from_slice(&[0, a, b, c, d]);
        self.push(message, true);
    }

    fn push(&mut self, bytes: &[u8], is_message: bool) {
        self.bytes.extend_from_slice(bytes);
        self.pieces.push(Piece { end: self.bytes.len(), is_message });
    }

    /// The bytes of a piece; of a message those behind its prefix, which the sender writes.
    pub fn piece(&self, nth: usize) -> &[u8] {
        let start = nth.checked_sub(1).map_or(0, |before| self.pieces[before].end);
        let Piece { end, is_message } = self.pieces[nth];
        let prefix_bytes = if is_message { PREFIX_BYTES } else { 0 };
        &self.bytes[start + prefix_bytes..end]
    }
}

/// Bodies are larger than the windows they have to pass, and still quickly moved.
fn draw_most_bytes(random: &mut Random, window_bytes: usize) -> usize {
    match window_bytes {
        0..20 => 30,
        20..200 => random.pick(&[50, 600]),
        200..10_000 => random.pick(&[50, 1_500, 6_000]),
        _ if random.one_in(40) => 160_000,
        _ => random.pick(&[50, 50, 500, 2_000, 17_000]),
    }
}

fn draw_extra(random: &mut Random, listener: &ConnectionConfig) -> Vec<Extra> {
    let limit_bytes = listener.settings.max_header_list_bytes.unwrap_or(u32::MAX) as usize;
    let (fields, value_bytes) = match random.below(16) {
        0 if limit_bytes > 50_000 => (4 + random.below(5), 5_000),
        // Too much for the smallest list, and less than four times too much.
        1 if limit_bytes < 1_000 => (2, 500),
        2..7 => (1 + random.below(3), 15),
        _ => (0, 0),
    };
    let draw = |_| Extra {
        name: format!("x-{}", random.below(6)).into_bytes(),
        value: printable(random, value_bytes),
        indexing: random.pick(&[Indexing::Incremental, Indexing::Without, Indexing::Never]),
    };
    (0..fields).map(draw).collect()
}

fn printable(random: &mut Random, bytes: usize) -> Vec<u8> {
    // Few different values, so that some come again.
    let first = b'0' + random.below(3) as u8;
    let vary = |at: usize| first + (at % 40) as u8;
    (0..bytes).map(vary).collect()
}

impl Answer {
    fn draw(random: &mut Random, request: &Speech) -> Self {
        match random.below(12) {
            0..2 => Self::OnHead,
            2..4 => Self::AfterBytes(random.below(request.bytes.len() + 1)),
            4 => Self::Never,
            _ => Self::AtEnd,
        }
    }
}

impl Release {
    fn draw(random: &mut Random, heard: &Speech, window_bytes: usize) -> Self {
        let body_bytes = heard.bytes.len();
        // Half, as the middlebox may tell of a smaller window.
        if random.one_in(6) && body_bytes <= KEPT_BYTES.min(window_bytes / 2) {
            return Self::Never;
        }
        random.pick(&[Self::AtOnce, Self::AtOnce, Self::Later, Self::InHalves])
    }
}

impl Cancel {
    fn draw(random: &mut Random) -> Option<Self> {
        let by = random.pick(&[Side::Client, Side::Server]);
        match random.below(16) {
            0 => Some(When::After(random.below(200) as u64)),
            1 => Some(When::Heard(random.below(2_000))),
            _ => None,
        }
        .map(|when| Self { by, when })
    }
}
