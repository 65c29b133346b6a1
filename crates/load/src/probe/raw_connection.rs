//! One connection, frame by frame: what a check needs to send things that a client library never
//! would, and to see what comes back as it comes.

mod batch;
mod cut;
mod incoming;
mod outgoing;
mod quick_ack;

use super::check::CheckError;
use super::check_reply::CheckReply;
use bookend_io::tls::Connector;
use bookend_io::{Address, ByteStream, reason};
use bookend_wire::flow::Window;
use bookend_wire::frame::{FrameHeader, HEADER_BYTES, PREFACE, kind, write_frame};
use bookend_wire::hpack::{DEFAULT_TABLE_BYTES, Decoder, Encoder, HeaderList};
use bookend_wire::settings::{DEFAULT_WINDOW_BYTES, Settings};
use std::collections::BTreeMap;
use std::io::{self, ErrorKind, Read, Write};
use std::time::{Duration, Instant};

/// The default of SETTINGS_MAX_FRAME_SIZE, which we do not raise.
const MAX_FRAME_BYTES: usize = 16_384;
/// Header fields of a response that are decoded: our server's limit as well.
const MAX_HEADER_FIELDS: usize = 128;
/// Bytes of a response's header list that are decoded.
const MAX_HEADER_LIST_BYTES: usize = 64 * 1024;

/// How the server's window is opened again after DATA.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum WindowRefill {
    /// By as much as has come.
    AtOnce,
    /// Byte by byte for this number of frames, then by as much as any reply needs.
    ByteByByte {
        /// DATA frames that are left to come.
        frames: u32,
    },
    /// Not at all.
    Never,
}

/// Where the server listens, and how a connection to it is secured.
pub(super) struct Destination {
    pub addresses: Vec<Address>,
    /// TLS; `None` is plain text.
    pub connector: Option<Connector>,
}

/// One connection to the server, and everything that came on it.
pub(super) struct RawConnection {
    stream: ByteStream,
    inbox: Vec<u8>,
    timeout: Duration,
    deadline: Instant,
    encoder: Encoder,
    decoder: Decoder,
    fields: HeaderList,
    /// A header block that waits for CONTINUATION: its stream, whether it ends it, its bytes.
    open_block: Option<(u32, bool, Vec<u8>)>,
    /// What the server allows us.
    peer: Settings,
    settings_received: bool,
    send_window: Window,
    stream_send_windows: BTreeMap<u32, Window>,
    /// What we allow the server.
    own_table_bytes: Option<u32>,
    own_window_bytes: u32,
    pub refill: WindowRefill,
    /// What the server sent beyond what it was allowed to, in bytes.
    pub violation_bytes: usize,
    pub acknowledged: bool,
    pub pong: Option<[u8; 8]>,
    replies: BTreeMap<u32, CheckReply>,
    next_stream_id: u32,
    /// The first frame of this kind goes out in three pieces, with a pause between them.
    pub cut: Option<u8>,
    /// Frames that go out later, by one write.
    held: Option<Vec<u8>>,
    /// Whether what comes is acknowledged at once. `None`: as the kernel likes.
    acknowledges_at_once: Option<bool>,
    /// Calls that the server may have answered and counted: their requests were sent whole, or it
    /// answered before that.
    pub calls_sent: u64,
}

impl RawConnection {
    /// Connects, sends the preface with these settings and waits for the server's.
    pub fn open(
        destination: &Destination,
        settings: &[(u16, u32)],
        timeout: Duration,
    ) -> Result<Self, CheckError> {
        let deadline = Instant::now() + timeout;
        let stream = connect(destination, timeout)?;
        stream.set_write_timeout(Some(timeout)).map_err(|error| error_of(&error, timeout))?;
        let mut connection = Self {
            stream,
            inbox: Vec::new(),
            timeout,
            deadline,
            encoder: Encoder::new(DEFAULT_TABLE_BYTES),
            decoder: Decoder::new(DEFAULT_TABLE_BYTES),
            fields: HeaderList::new(MAX_HEADER_LIST_BYTES, MAX_HEADER_FIELDS),
            open_block: None,
            peer: Settings::default(),
            settings_received: false,
            send_window: Window::new(DEFAULT_WINDOW_BYTES),
            stream_send_windows: BTreeMap::new(),
            own_table_bytes: None,
            own_window_bytes: DEFAULT_WINDOW_BYTES,
            refill: WindowRefill::AtOnce,
            violation_bytes: 0,
            acknowledged: false,
            pong: None,
            replies: BTreeMap::new(),
            next_stream_id: 1,
            cut: None,
            held: None,
            acknowledges_at_once: None,
            calls_sent: 0,
        };
        connection.send_preface(settings)?;
        Ok(connection)
    }

    fn send_preface(&mut self, settings: &[(u16, u32)]) -> Result<(), CheckError> {
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
        self.wait_until(|connection| connection.settings_received)
    }

    /// Gives it more time.
    pub fn allow(&mut self, more: Duration) {
        self.deadline += more;
    }

    /// Reads frames until `is_met` holds.
    pub fn wait_until(&mut self, is_met: impl Fn(&Self) -> bool) -> Result<(), CheckError> {
        while !is_met(self) {
            self.step()?;
        }
        Ok(())
    }

    /// As [`RawConnection::wait_until`], but no longer than `part`. Returns whether `is_met` held.
    pub fn wait_at_most(
        &mut self,
        part: Duration,
        is_met: impl Fn(&Self) -> bool,
    ) -> Result<bool, CheckError> {
        let whole = self.deadline;
        self.deadline = whole.min(Instant::now() + part);
        let waited = self.wait_until(is_met);
        self.deadline = whole;
        match waited {
            Ok(()) => Ok(true),
            Err(CheckError::TimedOut(_)) => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Reads frames until the call on that stream has ended, and returns its reply.
    pub fn reply(&mut self, stream_id: u32) -> Result<CheckReply, CheckError> {
        self.wait_until(|connection| connection.has_ended(stream_id))?;
        Ok(self.replies.remove(&stream_id).unwrap_or_default())
    }

    /// Whether the call on that stream has ended.
    pub fn has_ended(&self, stream_id: u32) -> bool {
        self.replies.get(&stream_id).is_some_and(|reply| reply.end.is_some())
    }

    /// Bytes of the body that have come on a stream.
    pub fn body_bytes(&self, stream_id: u32) -> usize {
        self.replies.get(&stream_id).map_or(0, |reply| reply.body_bytes)
    }

    /// Reads one frame.
    fn step(&mut self) -> Result<(), CheckError> {
        loop {
            if let Some((bytes, _)) = self.inbox.split_first_chunk::<HEADER_BYTES>() {
                let header = FrameHeader::parse(bytes);
                if header.length > MAX_FRAME_BYTES {
                    return Err(CheckError::Violation("a frame above SETTINGS_MAX_FRAME_SIZE"));
                }
                let end = HEADER_BYTES + header.length;
                if self.inbox.len() >= end {
                    let payload = self.inbox[HEADER_BYTES..end].to_vec();
                    self.inbox.drain(..end);
                    return self.receive_frame(header, &payload);
                }
            }
            self.read()?;
        }
    }

    fn read(&mut self) -> Result<(), CheckError> {
        let left = self.deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(CheckError::TimedOut(self.timeout));
        }
        let mut buffer = [0; MAX_FRAME_BYTES];
        let timed = self.stream.set_read_timeout(Some(left));
        match timed.and_then(|()| self.stream.read(&mut buffer)) {
            Ok(0) => Err(CheckError::Closed),
            Ok(read) => {
                self.inbox.extend_from_slice(&buffer[..read]);
                match self.acknowledges_at_once {
                    Some(at_once) => quick_ack::set(&self.stream, at_once),
                    None => Ok(()),
                }
            }
            Err(error) if error.kind() == ErrorKind::Interrupted => Ok(()),
            Err(error) => Err(error_of(&error, self.timeout)),
        }
    }

    /// Writes whole frames, and one of them in pieces if it is to be cut.
    pub fn write(&mut self, bytes: &[u8]) -> Result<(), CheckError> {
        if let Some(held) = &mut self.held {
            held.extend_from_slice(bytes);
            return Ok(());
        }
        let cut = self.cut.and_then(|kind| cut::first_of(kind, bytes));
        let mut written = 0;
        if cut.is_some() {
            self.cut = None;
        }
        for end in cut.into_iter().flatten() {
            self.write_now(&bytes[written..end])?;
            written = end;
            self.pause()?;
        }
        self.write_now(&bytes[written..])
    }

    /// Waits, and keeps what comes meanwhile without an answer to it, which would stand inside the
    /// frame that is being sent.
    fn pause(&mut self) -> Result<(), CheckError> {
        let whole = self.deadline;
        self.deadline = whole.min(Instant::now() + cut::PAUSE);
        let ended = loop {
            if let Err(error) = self.read() {
                break error;
            }
        };
        self.deadline = whole;
        match ended {
            CheckError::TimedOut(_) => Ok(()),
            error => Err(error),
        }
    }

    fn write_now(&mut self, bytes: &[u8]) -> Result<(), CheckError> {
        self.stream.write_all(bytes).map_err(|error| error_of(&error, self.timeout))
    }
}

/// Ids of SETTINGS, RFC 9113 section 6.5.2.
pub(super) mod setting {
    /// Bytes of the HPACK table for decoding.
    pub const HEADER_TABLE_SIZE: u16 = 0x1;
    /// Window of a new stream.
    pub const INITIAL_WINDOW_SIZE: u16 = 0x4;
    /// An id that no specification defines: receivers must ignore it.
    pub const UNDEFINED: u16 = 0xbe11;
}

fn connect(destination: &Destination, timeout: Duration) -> Result<ByteStream, CheckError> {
    let secure = |stream: ByteStream| match &destination.connector {
        Some(connector) => stream.secure(connector, timeout),
        None => Ok(stream),
    };
    let mut last = CheckError::Closed;
    for address in &destination.addresses {
        match ByteStream::connect(address, timeout).and_then(secure) {
            Ok(stream) => return Ok(stream),
            Err(error) => last = error_of(&error, timeout),
        }
    }
    Err(last)
}

/// A reset counts as a close: it comes from a peer that had not read everything.
fn error_of(error: &io::Error, timeout: Duration) -> CheckError {
    match error.kind() {
        ErrorKind::WouldBlock | ErrorKind::TimedOut => CheckError::TimedOut(timeout),
        ErrorKind::ConnectionReset
        | ErrorKind::ConnectionRefused
        | ErrorKind::ConnectionAborted
        | ErrorKind::BrokenPipe => CheckError::Closed,
        _ => CheckError::NotChecked(reason(error)),
    }
}
