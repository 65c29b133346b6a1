//! What a driver counts.

use std::ops::{AddAssign, Sub};

/// What one driver has done so far. It knows bytes and system calls, no requests.
///
/// Subtract an earlier snapshot from a later one to leave a warm-up out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct IoStatistics {
    /// Times that the driver woke up and had something to do.
    pub turns: u64,
    /// Reads that brought bytes.
    pub reads: u64,
    /// Writes of which the kernel took bytes.
    pub writes: u64,
    /// Bytes read.
    pub received_bytes: u64,
    /// Bytes written.
    pub sent_bytes: u64,
    /// Time in turns that did work, the kernel's part of reading and writing included, nanoseconds.
    ///
    /// Epoll: from each wake-up until the next wait. io_uring: the same, sends included; reads that
    /// the kernel makes while the thread waits are not. Blocking: from the return of a read until
    /// the entry of the next one, so the copying inside the read is not in it. 0 where
    /// [`crate::IoOptions::counts_busy_time`] is false.
    pub busy_ns: u64,
    /// Connections accepted.
    pub accepted: u64,
    /// Connections that could not be accepted at all, or at the first try: there were no
    /// descriptors, no memory or no threads.
    pub accept_errors: u64,
}

impl IoStatistics {
    /// Combines two counts field by field.
    fn combine(self, other: Self, combine: impl Fn(u64, u64) -> u64) -> Self {
        Self {
            turns: combine(self.turns, other.turns),
            reads: combine(self.reads, other.reads),
            writes: combine(self.writes, other.writes),
            received_bytes: combine(self.received_bytes, other.received_bytes),
            sent_bytes: combine(self.sent_bytes, other.sent_bytes),
            busy_ns: combine(self.busy_ns, other.busy_ns),
            accepted: combine(self.accepted, other.accepted),
            accept_errors: combine(self.accept_errors, other.accept_errors),
        }
    }
}

impl AddAssign for IoStatistics {
    fn add_assign(&mut self, other: Self) {
        *self = self.combine(other, |mine, theirs| mine + theirs);
    }
}

impl Sub for IoStatistics {
    type Output = Self;

    /// What happened between an earlier snapshot and this one.
    fn sub(self, earlier: Self) -> Self {
        self.combine(earlier, u64::saturating_sub)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_warm_up_is_left_out_by_subtracting() {
        let warm_up = IoStatistics { reads: 3, busy_ns: 70, ..IoStatistics::default() };
        let mut whole = warm_up;
        whole += IoStatistics { reads: 2, busy_ns: 30, ..IoStatistics::default() };
        let window = whole - warm_up;
        assert_eq!(window, IoStatistics { reads: 2, busy_ns: 30, ..IoStatistics::default() });
    }
}
