//! Time, as the kernel tells it.

use rustix::time::{ClockId, Timespec, clock_gettime};

/// CLOCK_MONOTONIC, nanoseconds.
pub fn now_ns() -> u64 {
    nanoseconds(clock_gettime(ClockId::Monotonic))
}

/// Uses `length_ns` of CPU time of this thread, whatever else the CPU does meanwhile.
pub fn burn(length_ns: u64) {
    let used_ns = || nanoseconds(clock_gettime(ClockId::ThreadCPUTime));
    let end_ns = used_ns() + length_ns;
    while used_ns() < end_ns {}
}

/// Does nothing until then, and lets nobody else of this thread do anything.
pub fn stop_until(end_ns: u64) {
    while now_ns() < end_ns {
        std::hint::spin_loop();
    }
}

fn nanoseconds(time: Timespec) -> u64 {
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}
