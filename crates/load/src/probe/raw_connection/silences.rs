//! How long nothing came, with acknowledgements that are delayed or not.

use crate::probe::check::CheckError;
use bookend_io::ByteStream;
use std::io;
use std::os::linux::net::TcpStreamExt as _;
use std::time::{Duration, Instant};

/// How a socket acknowledges what comes, and the longest time for which nothing came.
pub(super) struct Silences {
    acknowledges_at_once: bool,
    last: Instant,
    pub longest: Duration,
}

impl Silences {
    /// The first silence begins now.
    pub fn new(acknowledges_at_once: bool) -> Self {
        Self { acknowledges_at_once, last: Instant::now(), longest: Duration::ZERO }
    }

    /// Something came. The kernel forgets TCP_QUICKACK with every acknowledgement (tcp(7)).
    pub fn end(&mut self, stream: &ByteStream) -> Result<(), CheckError> {
        let now = Instant::now();
        self.longest = self.longest.max(now - self.last);
        self.last = now;
        self.set(stream)
    }

    /// Has the socket acknowledge so.
    pub fn set(&self, stream: &ByteStream) -> Result<(), CheckError> {
        set_quick_ack(stream, self.acknowledges_at_once)
            .map_err(|error| CheckError::NotChecked(format!("TCP_QUICKACK: {error}")))
    }
}

fn set_quick_ack(stream: &ByteStream, at_once: bool) -> io::Result<()> {
    match stream {
        ByteStream::Tcp(stream) => stream.set_quickack(at_once),
        ByteStream::Unix(_) => Err(io::Error::other("a Unix socket acknowledges nothing")),
        ByteStream::Tls(stream) => set_quick_ack(stream.transport(), at_once),
    }
}
