//! Operations of a ring and their completions.

use super::buffers::Filled;
use io_uring::cqueue;
use rustix::fd::{FromRawFd, OwnedFd};
use rustix::io::Errno;

/// The operation goes on, and has more completions.
pub(super) const FLAG_MORE: u32 = 1 << 1;
/// The socket holds more than was read.
const FLAG_LEFT_MORE: u32 = 1 << 2;

/// An operation in flight. Those of a connection carry its index, which is not given to another
/// connection until all of them have completed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Operation {
    /// Accepting connections.
    Accept,
    /// Waiting for a call of the waker.
    Wake,
    /// Cancelling another operation.
    Cancel,
    /// Waiting for a connect to end.
    Connect(u32),
    /// Reading.
    Receive(u32),
    /// Sending.
    Send(u32),
    /// Waiting for a connection to break.
    Watch(u32),
}

/// What a completion means to a driver.
#[derive(Debug)]
pub(crate) enum Event {
    /// A connection, or the error of the accept.
    Accepted { result: Result<OwnedFd, Errno>, goes_on: bool },
    /// The waker was called.
    Called { goes_on: bool },
    /// A connect has ended: the events that poll reports.
    Connected { index: u32, result: Result<u32, Errno> },
    /// Something has happened to an unread socket: the events that poll reports.
    Watched { index: u32, result: Result<u32, Errno> },
    /// Bytes, the end of the stream (`None`), or an error.
    Received {
        index: u32,
        result: Result<Option<Filled>, Errno>,
        /// Whether the socket held more.
        left_more: bool,
        goes_on: bool,
    },
    /// How many bytes the kernel has taken and how many are left, or an error.
    Sent { index: u32, result: Result<(usize, usize), Errno> },
}

/// A completion as it stands in the completion queue.
#[derive(Clone, Copy, Debug)]
pub(super) struct RingCompletion {
    pub operation: Operation,
    pub result: i32,
    pub flags: u32,
}

impl Operation {
    /// What the kernel gives back with the completion.
    #[inline]
    pub fn key(self) -> u64 {
        let (kind, index) = match self {
            Self::Accept => (0, 0),
            Self::Wake => (1, 0),
            Self::Cancel => (2, 0),
            Self::Connect(index) => (3, index),
            Self::Receive(index) => (4, index),
            Self::Send(index) => (5, index),
            Self::Watch(index) => (6, index),
        };
        kind << 32 | u64::from(index)
    }

    #[inline]
    fn of(key: u64) -> Self {
        let index = key as u32;
        match key >> 32 {
            0 => Self::Accept,
            1 => Self::Wake,
            2 => Self::Cancel,
            3 => Self::Connect(index),
            4 => Self::Receive(index),
            5 => Self::Send(index),
            6 => Self::Watch(index),
            _ => unreachable!("the kernel gives keys back as they are"),
        }
    }
}

impl From<cqueue::Entry> for RingCompletion {
    #[inline]
    fn from(entry: cqueue::Entry) -> Self {
        let mut flags = entry.flags();
        // The three flags stand where the crate says; here they have names.
        debug_assert_eq!(cqueue::more(flags), flags & FLAG_MORE != 0);
        debug_assert_eq!(cqueue::sock_nonempty(flags), flags & FLAG_LEFT_MORE != 0);
        let operation = Operation::of(entry.user_data());
        if operation == Operation::Cancel {
            flags &= !FLAG_MORE;
        }
        Self { operation, result: entry.result(), flags }
    }
}

impl RingCompletion {
    #[inline]
    pub fn goes_on(self) -> bool {
        self.flags & FLAG_MORE != 0
    }

    #[inline]
    pub fn left_more(self) -> bool {
        self.flags & FLAG_LEFT_MORE != 0
    }

    /// The buffer that the kernel picked.
    #[inline]
    pub fn buffer(self) -> Option<u16> {
        cqueue::buffer_select(self.flags)
    }

    #[inline]
    pub fn result(self) -> Result<u32, Errno> {
        u32::try_from(self.result).map_err(|_| Errno::from_raw_os_error(-self.result))
    }

    /// The connection that was accepted.
    pub fn into_descriptor(self) -> Result<OwnedFd, Errno> {
        let descriptor = self.result()?;
        // SAFETY: the kernel opened the descriptor for the reader of this completion, and each
        // completion is read once: an accept's either here or, if it was withheld, later.
        Ok(unsafe { OwnedFd::from_raw_fd(descriptor as i32) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_tells_the_operation_and_the_connection() {
        for operation in [
            Operation::Accept,
            Operation::Wake,
            Operation::Cancel,
            Operation::Connect(0),
            Operation::Receive(u32::MAX),
            Operation::Send(7),
            Operation::Watch(8),
        ] {
            assert_eq!(Operation::of(operation.key()), operation);
        }
    }
}
