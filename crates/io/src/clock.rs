//! The one clock of every driver.

use rustix::time::Timespec;

pub(crate) const NANOSECONDS_PER_SECOND: u64 = 1_000_000_000;

/// Nanoseconds of `CLOCK_MONOTONIC`: the clock of [`crate::IoContext::now_ns`] and of
/// [`crate::Shard::next_deadline`]. Never zero on a machine that has booted.
///
/// Answered by the kernel's shared page (vDSO) without a system call. The C library is asked, as
/// rustix finds that page neither in a static program (its weak `getauxval` is null there) nor,
/// without `use-libc-auxv`, below valgrind.
#[inline]
pub fn clock_ns() -> u64 {
    let mut now = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the call fills in a timespec of ours. It cannot fail: every Linux has this clock.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &raw mut now) };
    now.tv_sec as u64 * NANOSECONDS_PER_SECOND + now.tv_nsec as u64
}

/// A span of time as the system calls want it.
#[inline]
pub(crate) fn timespec(span_ns: u64) -> Timespec {
    Timespec {
        tv_sec: (span_ns / NANOSECONDS_PER_SECOND) as i64,
        tv_nsec: (span_ns % NANOSECONDS_PER_SECOND) as i64,
    }
}
