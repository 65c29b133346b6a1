//! One connection, frame by frame: what a check needs to send things that a client library never
//! would, and to see what comes back as it comes.

mod incoming;
mod outgoing;

pub(super) use outgoing::{BodyShape, HeadShape, Outgoing};

use super::reply::Reply;
use bookend_io::tls::Connector;
use bookend_io::{Address, ByteStream};
use bookend_wire::ErrorCode;
use bookend_wire::flow::Window;
use bookend_wire::frame::{FrameHeader, HEADER_BYTES, PREFACE, kind, write_frame};
use bookend_wire::hpack::{DEFAULT_TABLE_BYTES, Decoder, Encoder, HeaderList};
use bookend_wire::settings::{DEFAULT_WINDOW_BYTES, Settings};
use std::collections::BTreeMap;
use std::fmt;
use std::io::{self, ErrorKind, Read, Write};
use std::time::{Duration, Instant};

/// SETTINGS_MAX_FRAME_SIZE as it stands when nobody raises it, and we do not.
const MAX_FRAME_BYTES: usize = 16_384;
/// Header fields of a response that are looked at: what our server's limits are, too.
const MAX_HEADER_FIELDS: usize = 128;
/// Octets of a response's header list that are looked at.
const MAX_HEADER_LIST_BYTES: usize = 64 * 1024;

/// Why what was waited for did not come.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Broken {
    /// The check's time is up.
    TimedOut(Duration),
    /// The server closed the connection, or refused it.
    Closed,
    /// The server said that it closes the connection, and why.
    GoingAway(ErrorCode, String),
    /// The server broke HTTP/2.
    Foul(&'static str),
    /// The network or this machine failed.
    Network(String),
}

/// How the server's DATA is paid for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Refill {
    /// Everything is given back as it comes.
    AtOnce,
    /// Octet by octet for so many frames, then at once and more.
    OctetByOctet {
        /// Frames left of that.
        frames: u32,
    },
}

/// How to get to the server.
#[derive(Clone, Copy)]
pub(super) struct Way<'a> {
    pub addresses: &'a [Address],
    /// TLS; `None` is plain text.
    pub connector: Option<&'a Connector>,
}

/// One connection to the server, and everything that came over it.
pub(super) struct Conversation {
    stream: ByteStream,
    inbox: Vec<u8>,
    patience: Duration,
    deadline: Instant,
    encoder: Encoder,
    decoder: Decoder,
    fields: HeaderList,
    /// A header block that waits for CONTINUATION: its stream, whether it ends it, its octets.
    open_block: Option<(u32, bool, Vec<u8>)>,
    /// What the server allows us.
    peer: Settings,
    greeted: bool,
    send_window: Window,
    stream_send_windows: BTreeMap<u32, Window>,
    /// What we allow the server.
    own_table_bytes: Option<u32>,
    own_window_bytes: u32,
    pub refill: Refill,
    /// What the server sent beyond what it was allowed to, in octets.
    pub violation_bytes: usize,
    /// DATA frames that came with something in them.
    pub data_frames: u32,
    pub acknowledged: bool,
    pub pong: Option<[u8; 8]>,
    replies: BTreeMap<u32, Reply>,
    next_stream_id: u32,
    /// Calls that the server may have answered and counted: their requests were sent whole, or it
    /// answered before that.
    pub calls_sent: u64,
}

impl Conversation {
    /// Connects, and sends the preface and these settings.
    pub fn open(way: Way<'_>, settings: &[(u16, u32)], patience: Duration) -> Result<Self, Broken> {
        let deadline = Instant::now() + patience;
        let stream = connect(way, patience)?;
        stream
            .set_write_timeout(Some(patience))
            .map_err(|error| broken(&error))?;
        let mut conversation = Self {
            stream,
            inbox: Vec::new(),
            patience,
            deadline,
            encoder: Encoder::new(DEFAULT_TABLE_BYTES),
            decoder: Decoder::new(DEFAULT_TABLE_BYTES),
            fields: HeaderList::new(MAX_HEADER_LIST_BYTES, MAX_HEADER_FIELDS),
            open_block: None,
            peer: Settings::default(),
            greeted: false,
            send_window: Window::new(DEFAULT_WINDOW_BYTES),
            stream_send_windows: BTreeMap::new(),
            own_table_bytes: None,
            own_window_bytes: DEFAULT_WINDOW_BYTES,
            refill: Refill::AtOnce,
            violation_bytes: 0,
            data_frames: 0,
            acknowledged: false,
            pong: None,
            replies: BTreeMap::new(),
            next_stream_id: 1,
            calls_sent: 0,
        };
        conversation.greet(settings)?;
        Ok(conversation)
    }

    fn greet(&mut self, settings: &[(u16, u32)]) -> Result<(), Broken> {
        let mut payload = Vec::new();
        for &(id, value) in settings {
            payload.extend_from_slice(&id.to_be_bytes());
            payload.extend_from_slice(&value.to_be_bytes());
            match id {
                setting::HEADER_TABLE_SIZE => self.own_table_bytes = Some(value),
                setting::INITIAL_WINDOW_SIZE => self.own_window_bytes = value,
                _ => {}
            }
        }
        let mut output = PREFACE.to_vec();
        write_frame(&mut output, kind::SETTINGS, 0, 0, &payload);
        self.write(&output)?;
        self.wait_until(|conversation| conversation.greeted)
    }

    /// Reads frames until `there` holds.
    pub fn wait_until(&mut self, there: impl Fn(&Self) -> bool) -> Result<(), Broken> {
        while !there(self) {
            self.step()?;
        }
        Ok(())
    }

    /// As [`Conversation::wait_until`], but gives up quietly when this part of the time is gone.
    /// Whether it held.
    pub fn wait_at_most(
        &mut self,
        part: Duration,
        there: impl Fn(&Self) -> bool,
    ) -> Result<bool, Broken> {
        let whole = self.deadline;
        self.deadline = whole.min(Instant::now() + part);
        let waited = self.wait_until(there);
        self.deadline = whole;
        match waited {
            Ok(()) => Ok(true),
            Err(Broken::TimedOut(_)) => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Reads frames until the call on that stream has ended, and gives what came of it.
    pub fn reply(&mut self, stream_id: u32) -> Result<Reply, Broken> {
        self.wait_until(|conversation| conversation.has_ended(stream_id))?;
        Ok(self.replies.remove(&stream_id).unwrap_or_default())
    }

    /// Whether the call on that stream has ended.
    pub fn has_ended(&self, stream_id: u32) -> bool {
        self.replies
            .get(&stream_id)
            .is_some_and(|reply| reply.end.is_some())
    }

    /// Octets of the body that have come on a stream.
    pub fn body_bytes(&self, stream_id: u32) -> usize {
        self.replies.get(&stream_id).map_or(0, Reply::body_bytes)
    }

    /// Reads one frame.
    fn step(&mut self) -> Result<(), Broken> {
        loop {
            if let Some((octets, _)) = self.inbox.split_first_chunk::<HEADER_BYTES>() {
                let header = FrameHeader::parse(octets);
                if header.length > MAX_FRAME_BYTES {
                    return Err(Broken::Foul("a frame above SETTINGS_MAX_FRAME_SIZE"));
                }
                let end = HEADER_BYTES + header.length;
                if self.inbox.len() >= end {
                    let payload = self.inbox[HEADER_BYTES..end].to_vec();
                    self.inbox.drain(..end);
                    return self.frame(header, &payload);
                }
            }
            self.read()?;
        }
    }

    fn read(&mut self) -> Result<(), Broken> {
        let left = self.deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(Broken::TimedOut(self.patience));
        }
        let timed = self.stream.set_read_timeout(Some(left));
        timed.map_err(|error| broken(&error))?;
        let mut buffer = [0; MAX_FRAME_BYTES];
        match self.stream.read(&mut buffer) {
            Ok(0) => Err(Broken::Closed),
            Ok(read) => {
                self.inbox.extend_from_slice(&buffer[..read]);
                Ok(())
            }
            Err(error) if error.kind() == ErrorKind::Interrupted => Ok(()),
            Err(error) if is_time_out(&error) => Err(Broken::TimedOut(self.patience)),
            Err(error) => Err(broken(&error)),
        }
    }

    pub fn write(&mut self, octets: &[u8]) -> Result<(), Broken> {
        match self.stream.write_all(octets) {
            Ok(()) => Ok(()),
            Err(error) if is_time_out(&error) => Err(Broken::TimedOut(self.patience)),
            Err(error) => Err(broken(&error)),
        }
    }
}

/// Ids of SETTINGS, RFC 9113 section 6.5.2.
pub(super) mod setting {
    /// Bytes of the HPACK table for decoding.
    pub const HEADER_TABLE_SIZE: u16 = 0x1;
    /// Window of a new stream.
    pub const INITIAL_WINDOW_SIZE: u16 = 0x4;
    /// An id that nobody has defined and all must ignore.
    pub const UNDEFINED: u16 = 0xbe11;
}

fn connect(way: Way<'_>, patience: Duration) -> Result<ByteStream, Broken> {
    let secured = |stream: ByteStream| match way.connector {
        Some(connector) => stream.secure(connector, patience),
        None => Ok(stream),
    };
    let mut last = Broken::Closed;
    for address in way.addresses {
        match ByteStream::connect(address, patience).and_then(secured) {
            Ok(stream) => return Ok(stream),
            Err(error) if is_time_out(&error) => last = Broken::TimedOut(patience),
            Err(error) => last = broken(&error),
        }
    }
    Err(last)
}

/// A reset is a close by a peer that had not read everything.
fn broken(error: &io::Error) -> Broken {
    match error.kind() {
        ErrorKind::ConnectionReset
        | ErrorKind::ConnectionRefused
        | ErrorKind::ConnectionAborted
        | ErrorKind::BrokenPipe => Broken::Closed,
        _ => Broken::Network(error.to_string()),
    }
}

fn is_time_out(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut)
}

impl fmt::Display for Broken {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TimedOut(patience) => write!(formatter, "no answer within {patience:?}"),
            Self::Closed => write!(formatter, "the server closed the connection"),
            Self::GoingAway(code, text) if text.is_empty() => {
                write!(formatter, "the server sent GOAWAY {code}")
            }
            Self::GoingAway(code, text) => {
                write!(formatter, "the server sent GOAWAY {code} ({text})")
            }
            Self::Foul(rule) => write!(formatter, "the server broke HTTP/2: {rule}"),
            Self::Network(reason) => write!(formatter, "{reason}"),
        }
    }
}
