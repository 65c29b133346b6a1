//! What frames mean, RFC 9113, read by nobody's code but this file's and that of
//! `bookend_testing`: a parser that shared the crate's would share its mistakes.

use bookend_testing::{Frame, PREFACE, flag, kind, take_frames};

/// What a frame says, with its form checked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Meaning {
    Data { data_bytes: usize, end_stream: bool },
    Headers { end_stream: bool, end_headers: bool },
    Priority,
    Reset { code: u32 },
    Settings(Vec<(u16, u32)>),
    SettingsAck,
    Ping,
    PingAck,
    Goaway { last_stream: u32 },
    WindowUpdate { increment_bytes: u32 },
    Continuation { end_headers: bool },
    Unknown,
}

/// The largest window there may be, RFC 9113 section 6.9.1.
pub const LARGEST_WINDOW: i64 = (1 << 31) - 1;

impl Meaning {
    /// # Errors
    /// The rule of form that the frame breaks.
    pub fn of(frame: &Frame) -> Result<Meaning, String> {
        use kind::*;
        let found = match frame.kind {
            DATA | HEADERS | PRIORITY | RST_STREAM | CONTINUATION => on_a_stream(frame),
            SETTINGS | PING | GOAWAY => on_the_connection(frame),
            WINDOW_UPDATE if frame.payload.len() == 4 => match frame.number_at(0) {
                increment_bytes @ 1..=0x7fff_ffff => Ok(Meaning::WindowUpdate { increment_bytes }),
                _ => Err("a WINDOW_UPDATE without a sound increment"),
            },
            WINDOW_UPDATE => Err("a WINDOW_UPDATE without a sound increment"),
            _ => Ok(Meaning::Unknown),
        };
        found.map_err(|rule| format!("{rule}: {}", summary(frame)))
    }
}

fn on_a_stream(frame: &Frame) -> Result<Meaning, &'static str> {
    if frame.stream_id == 0 {
        return Err("a frame that needs a stream has none");
    }
    let (end_stream, end_headers) = (frame.has(flag::END_STREAM), frame.has(flag::END_HEADERS));
    match frame.kind {
        kind::DATA => Ok(Meaning::Data { data_bytes: unpadded(frame)?.len(), end_stream }),
        kind::HEADERS => {
            let priority_bytes = if frame.has(flag::PRIORITY) { 5 } else { 0 };
            match unpadded(frame)?.len() < priority_bytes {
                true => Err("HEADERS shorter than their priority"),
                false => Ok(Meaning::Headers { end_stream, end_headers }),
            }
        }
        kind::PRIORITY if frame.payload.len() == 5 => Ok(Meaning::Priority),
        kind::RST_STREAM if frame.payload.len() == 4 => {
            Ok(Meaning::Reset { code: frame.number_at(0) })
        }
        kind::CONTINUATION => Ok(Meaning::Continuation { end_headers }),
        _ => Err("a frame of the wrong length"),
    }
}

fn on_the_connection(frame: &Frame) -> Result<Meaning, &'static str> {
    if frame.stream_id != 0 {
        return Err("a frame of the connection is on a stream");
    }
    let is_ack = frame.has(flag::ACK);
    match (frame.kind, frame.payload.len()) {
        (kind::SETTINGS, 0) if is_ack => Ok(Meaning::SettingsAck),
        (kind::SETTINGS, length) if !is_ack && length.is_multiple_of(6) => {
            Ok(Meaning::Settings(frame.settings().collect()))
        }
        (kind::PING, 8) if is_ack => Ok(Meaning::PingAck),
        (kind::PING, 8) => Ok(Meaning::Ping),
        (kind::GOAWAY, 8..) => {
            Ok(Meaning::Goaway { last_stream: frame.number_at(0) & 0x7fff_ffff })
        }
        _ => Err("a frame of the wrong length"),
    }
}

fn unpadded(frame: &Frame) -> Result<&[u8], &'static str> {
    if !frame.has(flag::PADDED) {
        return Ok(&frame.payload);
    }
    let (&pad_bytes, rest) = frame.payload.split_first().ok_or("no pad length")?;
    let kept_bytes = rest.len().checked_sub(usize::from(pad_bytes));
    Ok(&rest[..kept_bytes.ok_or("more padding than payload")?])
}

/// A frame in words, without its payload.
pub fn summary(frame: &Frame) -> String {
    let Frame { kind, flags, stream_id, payload } = frame;
    format!("type {kind}, flags {flags:#x}, stream {stream_id}, {} bytes", payload.len())
}

/// Cuts bytes into frames, however they come.
#[derive(Clone, Debug, Default)]
pub struct Splitter {
    partial: Vec<u8>,
    preface_bytes_due: usize,
}

impl Splitter {
    /// For what a client writes.
    pub fn with_preface() -> Self {
        Self { partial: Vec::new(), preface_bytes_due: PREFACE.len() }
    }

    /// For what a server writes.
    pub fn without_preface() -> Self {
        Self::default()
    }

    /// Takes bytes and gives the frames that are whole with them.
    ///
    /// # Errors
    /// When the preface is not the preface.
    pub fn push(&mut self, bytes: &[u8]) -> Result<Vec<Frame>, String> {
        self.partial.extend_from_slice(bytes);
        if self.preface_bytes_due > 0 {
            if self.partial.len() < PREFACE.len() {
                return Ok(Vec::new());
            }
            if !self.partial.starts_with(PREFACE) {
                return Err("what came first is not the preface".to_owned());
            }
            self.partial.drain(..PREFACE.len());
            self.preface_bytes_due = 0;
        }
        Ok(take_frames(&mut self.partial))
    }

    /// Bytes that are no whole frame yet.
    pub fn partial_bytes(&self) -> usize {
        self.partial.len()
    }

    /// Whether the preface has come, or none was due.
    pub fn is_past_preface(&self) -> bool {
        self.preface_bytes_due == 0
    }
}
