//! Frames as RFC 9113 has them, read by nobody's code but this file's: a parser that shared the
//! crate's would share its mistakes.

/// One frame as it stands on the wire.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Frame {
    pub kind: u8,
    pub flags: u8,
    pub stream: u32,
    pub payload: Vec<u8>,
}

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

pub const DATA: u8 = 0;
pub const HEADERS: u8 = 1;
pub const PRIORITY: u8 = 2;
pub const RST_STREAM: u8 = 3;
pub const SETTINGS: u8 = 4;
pub const PING: u8 = 6;
pub const GOAWAY: u8 = 7;
pub const WINDOW_UPDATE: u8 = 8;
pub const CONTINUATION: u8 = 9;

pub const ACK: u8 = 1;
pub const END_STREAM: u8 = 1;
pub const END_HEADERS: u8 = 4;
pub const PADDED: u8 = 8;
pub const WITH_PRIORITY: u8 = 32;

pub const HEADER_TABLE_SIZE: u16 = 1;
pub const MAX_CONCURRENT_STREAMS: u16 = 3;
pub const INITIAL_WINDOW_SIZE: u16 = 4;
pub const MAX_FRAME_SIZE: u16 = 5;

/// The largest window there may be, RFC 9113 section 6.9.1.
pub const LARGEST_WINDOW: i64 = (1 << 31) - 1;

/// What a client sends first.
pub const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
const HEAD_BYTES: usize = 9;

impl Frame {
    pub fn new(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Self {
        Self { kind, flags, stream, payload: payload.to_vec() }
    }

    pub fn has(&self, flag: u8) -> bool {
        self.flags & flag != 0
    }

    pub fn write(&self, output: &mut Vec<u8>) {
        let length = self.payload.len() as u32;
        output.extend_from_slice(&length.to_be_bytes()[1..]);
        output.extend_from_slice(&[self.kind, self.flags]);
        output.extend_from_slice(&self.stream.to_be_bytes());
        output.extend_from_slice(&self.payload);
    }

    /// # Errors
    /// The rule of form that the frame breaks.
    pub fn meaning(&self) -> Result<Meaning, String> {
        let found = match self.kind {
            DATA | HEADERS | PRIORITY | RST_STREAM | CONTINUATION => self.on_a_stream(),
            SETTINGS | PING | GOAWAY => self.on_the_connection(),
            WINDOW_UPDATE => match self.word(0) {
                Some(increment_bytes @ 1..=0x7fff_ffff) if self.payload.len() == 4 => {
                    Ok(Meaning::WindowUpdate { increment_bytes })
                }
                _ => Err("a WINDOW_UPDATE without a sound increment"),
            },
            _ => Ok(Meaning::Unknown),
        };
        found.map_err(|rule| format!("{rule}: {}", self.summary()))
    }

    fn on_a_stream(&self) -> Result<Meaning, &'static str> {
        if self.stream == 0 {
            return Err("a frame that needs a stream has none");
        }
        let (end_stream, end_headers) = (self.has(END_STREAM), self.has(END_HEADERS));
        match self.kind {
            DATA => Ok(Meaning::Data { data_bytes: self.unpadded()?.len(), end_stream }),
            HEADERS => {
                let priority_bytes = if self.has(WITH_PRIORITY) { 5 } else { 0 };
                match self.unpadded()?.len() < priority_bytes {
                    true => Err("HEADERS shorter than their priority"),
                    false => Ok(Meaning::Headers { end_stream, end_headers }),
                }
            }
            PRIORITY if self.payload.len() == 5 => Ok(Meaning::Priority),
            RST_STREAM if self.payload.len() == 4 => {
                Ok(Meaning::Reset { code: self.word(0).unwrap_or(0) })
            }
            CONTINUATION => Ok(Meaning::Continuation { end_headers }),
            _ => Err("a frame of the wrong length"),
        }
    }

    fn on_the_connection(&self) -> Result<Meaning, &'static str> {
        if self.stream != 0 {
            return Err("a frame of the connection is on a stream");
        }
        match self.kind {
            SETTINGS if self.has(ACK) && self.payload.is_empty() => Ok(Meaning::SettingsAck),
            SETTINGS if !self.has(ACK) && self.payload.len().is_multiple_of(6) => {
                Ok(Meaning::Settings(self.settings()))
            }
            PING if self.payload.len() == 8 && self.has(ACK) => Ok(Meaning::PingAck),
            PING if self.payload.len() == 8 => Ok(Meaning::Ping),
            GOAWAY if self.payload.len() >= 8 => {
                Ok(Meaning::Goaway { last_stream: self.word(0).unwrap_or(0) & 0x7fff_ffff })
            }
            _ => Err("a frame of the wrong length"),
        }
    }

    fn unpadded(&self) -> Result<&[u8], &'static str> {
        if !self.has(PADDED) {
            return Ok(&self.payload);
        }
        let (&pad_bytes, rest) = self.payload.split_first().ok_or("no pad length")?;
        let kept_bytes = rest.len().checked_sub(usize::from(pad_bytes));
        Ok(&rest[..kept_bytes.ok_or("more padding than payload")?])
    }

    fn settings(&self) -> Vec<(u16, u32)> {
        let entry = |bytes: &[u8]| {
            let id = u16::from_be_bytes([bytes[0], bytes[1]]);
            let value = u32::from_be_bytes([bytes[2], bytes[3], bytes[4], bytes[5]]);
            (id, value)
        };
        self.payload.chunks_exact(6).map(entry).collect()
    }

    fn word(&self, at: usize) -> Option<u32> {
        let bytes = self.payload.get(at..at + 4)?;
        Some(u32::from_be_bytes(bytes.try_into().ok()?))
    }

    pub fn summary(&self) -> String {
        let Self { kind, flags, stream, payload } = self;
        format!("type {kind}, flags {flags:#x}, stream {stream}, {} bytes", payload.len())
    }
}

/// SETTINGS with these values.
pub fn settings(entries: &[(u16, u32)]) -> Frame {
    let mut payload = Vec::new();
    for (id, value) in entries {
        payload.extend_from_slice(&id.to_be_bytes());
        payload.extend_from_slice(&value.to_be_bytes());
    }
    Frame::new(SETTINGS, 0, 0, &payload)
}

/// WINDOW_UPDATE.
pub fn window_update(stream: u32, increment_bytes: u32) -> Frame {
    Frame::new(WINDOW_UPDATE, 0, stream, &increment_bytes.to_be_bytes())
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
        let mut frames = Vec::new();
        let mut rest = &self.partial[..];
        while let Some((frame, behind)) = split_first(rest) {
            frames.push(frame);
            rest = behind;
        }
        let taken_bytes = self.partial.len() - rest.len();
        self.partial.drain(..taken_bytes);
        Ok(frames)
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

fn split_first(bytes: &[u8]) -> Option<(Frame, &[u8])> {
    let (head, behind) = bytes.split_at_checked(HEAD_BYTES)?;
    let length = u32::from_be_bytes([0, head[0], head[1], head[2]]) as usize;
    let (payload, behind) = behind.split_at_checked(length)?;
    let stream = u32::from_be_bytes([head[5], head[6], head[7], head[8]]) & 0x7fff_ffff;
    Some((Frame::new(head[3], head[4], stream, payload), behind))
}
