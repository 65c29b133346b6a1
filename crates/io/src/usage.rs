//! The resources that this process has used.

use std::mem::MaybeUninit;

/// The resources that this process has used since it started.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Usage {
    /// CPU time in user mode, seconds.
    pub user_seconds: f64,
    /// CPU time in the kernel, seconds.
    pub system_seconds: f64,
    /// The largest resident set so far, bytes.
    pub memory_peak_bytes: u64,
}

/// The resources that this process has used so far, all threads together.
pub fn usage() -> Usage {
    let mut usage = MaybeUninit::<libc::rusage>::uninit();
    // SAFETY: the pointer is to a whole rusage that lives until the end of this function.
    let result = unsafe { libc::getrusage(libc::RUSAGE_SELF, usage.as_mut_ptr()) };
    if result != 0 {
        // getrusage(2) fails only for a bad pointer or a bad `who`, and both are constants here.
        return Usage::default();
    }
    // SAFETY: getrusage succeeded, so the kernel has filled in the whole structure.
    let usage = unsafe { usage.assume_init() };
    Usage {
        user_seconds: seconds(usage.ru_utime),
        system_seconds: seconds(usage.ru_stime),
        // The kernel tells it in KiB (getrusage(2)).
        memory_peak_bytes: usage.ru_maxrss as u64 * 1024,
    }
}

fn seconds(time: libc::timeval) -> f64 {
    time.tv_sec as f64 + time.tv_usec as f64 / 1e6
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_and_memory_are_on_the_bill() {
        let before = usage();
        let work = |bill: &Usage| bill.user_seconds + bill.system_seconds;
        let mut memory = Vec::new();
        while work(&usage()) <= work(&before) {
            memory.extend_from_slice(&[1_u8; 4096]);
        }
        assert!(usage().memory_peak_bytes >= memory.len() as u64);
    }
}
