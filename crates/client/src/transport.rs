//! A socket and the octets that came but are no whole frame yet.

use bookend_io::ByteStream;
use std::io::{self, ErrorKind, Read, Write};
use std::time::{Duration, Instant};

/// How much is asked of the kernel in one read: a whole frame of the default size and some more.
const READ_BYTES: usize = 64 * 1024;
/// How long a write may stall before it is looked whether the peer wants to be read first. Two ends
/// that both only write would wait for each other for ever.
const STALL: Duration = Duration::from_millis(1);

/// A connected socket.
#[derive(Debug)]
pub(crate) struct Transport {
    stream: ByteStream,
    inbox: Vec<u8>,
    buffer: Box<[u8]>,
}

/// How a wait ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Event {
    /// Something moved.
    Progress,
    /// The deadline passed.
    TimedOut,
    /// The peer sends no more.
    Closed,
}

impl Transport {
    pub fn new(stream: ByteStream) -> io::Result<Self> {
        stream.set_write_timeout(Some(STALL))?;
        Ok(Self {
            stream,
            inbox: Vec::new(),
            buffer: vec![0; READ_BYTES].into_boxed_slice(),
        })
    }

    /// What has come and was not consumed.
    pub fn inbox(&self) -> &[u8] {
        &self.inbox
    }

    pub fn consume(&mut self, bytes: usize) {
        self.inbox.drain(..bytes);
    }

    /// Writes what there is to write and waits until something has come, or until the deadline.
    pub fn exchange(
        &mut self,
        output: &mut Vec<u8>,
        deadline: Option<Instant>,
    ) -> io::Result<Event> {
        let Some(patience) = remaining(deadline) else {
            return Ok(Event::TimedOut);
        };
        if let Err(error) = self.write(output) {
            // A server may answer and close before it has taken the whole request.
            return match self.read(Some(STALL)) {
                Ok(Event::Progress) => Ok(Event::Progress),
                _ => Err(error),
            };
        }
        if output.is_empty() && !self.stream.wants_write() {
            return self.read(patience);
        }
        // The peer does not take everything: read it meanwhile, and try again.
        match self.read(Some(STALL))? {
            Event::TimedOut => Ok(Event::Progress),
            event => Ok(event),
        }
    }

    /// Writes what the kernel takes within a moment.
    pub fn write(&mut self, output: &mut Vec<u8>) -> io::Result<()> {
        while !output.is_empty() {
            match self.stream.write(output) {
                Ok(0) => return Err(ErrorKind::WriteZero.into()),
                Ok(written) => drop(output.drain(..written)),
                Err(error) if is_time_out(&error) => return Ok(()),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        match self.stream.flush() {
            Err(error) if !is_time_out(&error) => Err(error),
            _ => Ok(()),
        }
    }

    fn read(&mut self, patience: Option<Duration>) -> io::Result<Event> {
        self.stream.set_read_timeout(patience)?;
        match self.stream.read(&mut self.buffer) {
            Ok(0) => Ok(Event::Closed),
            Ok(read) => {
                self.inbox.extend_from_slice(&self.buffer[..read]);
                Ok(Event::Progress)
            }
            Err(error) if is_time_out(&error) => Ok(Event::TimedOut),
            Err(error) if error.kind() == ErrorKind::Interrupted => Ok(Event::Progress),
            Err(error) => Err(error),
        }
    }
}

/// `Some(None)` is for ever, `None` is over.
fn remaining(deadline: Option<Instant>) -> Option<Option<Duration>> {
    match deadline {
        None => Some(None),
        Some(deadline) => {
            let left = deadline.saturating_duration_since(Instant::now());
            (!left.is_zero()).then_some(Some(left))
        }
    }
}

/// What an expired SO_RCVTIMEO or SO_SNDTIMEO is reported as.
fn is_time_out(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut)
}
