//! The io_uring driver where the feature `uring` is off: it has the methods of the real one, and
//! cannot be made.

use crate::listener::Listener;
use crate::mailbox::Mailbox;
use crate::options::IoOptions;
use crate::shard::Shard;
use crate::statistics::IoStatistics;
use crate::waker::Waker;
use rustix::fd::OwnedFd;
use rustix::io::Errno;
use std::convert::Infallible;
use std::io;

pub use NoUring as Uring;

/// The io_uring driver of a build without it.
#[derive(Debug)]
pub struct NoUring {
    never: Infallible,
}

impl NoUring {
    /// Never makes one.
    ///
    /// # Errors
    /// Always: [`crate::UringRefusal::LeftOut`].
    pub fn new(_: Waker, _: IoOptions) -> io::Result<Self> {
        Err(Errno::OPNOTSUPP.into())
    }

    /// As of the driver.
    pub fn accept_from(self, _: Listener) -> Self {
        match self.never {}
    }

    /// As of the driver.
    pub(crate) fn take_from(self, _: Mailbox<OwnedFd>) -> Self {
        match self.never {}
    }

    /// As of the driver.
    ///
    /// # Errors
    /// None: it cannot be called.
    pub fn run<S: Shard>(self, _: S) -> io::Result<(S, IoStatistics)> {
        match self.never {}
    }

    /// As of the driver: whether a ring can be made.
    pub(crate) fn ask() -> io::Result<()> {
        Err(Errno::OPNOTSUPP.into())
    }
}
