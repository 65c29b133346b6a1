//! Descriptors: one for each connection, and a few for the process itself.

use bookend_io::raise_descriptor_limit;
use thiserror::Error;

/// Descriptors besides those of connections and workers: standard streams, and files that are read
/// and written.
const OWN_DESCRIPTORS: u64 = 24;
/// Of each worker: an epoll instance and an eventfd.
const DESCRIPTORS_A_THREAD: u64 = 2;

/// More connections than the process may have descriptors for: the limit is too low, or the number
/// too high.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
#[error(
    "{connections} connections at a time take {needed} descriptors and this process may have \
     {allowed}: run `ulimit -n {needed}` before (the hard limit has to allow it)"
)]
pub struct TooFewDescriptors {
    /// Connections that were asked for.
    pub connections: u32,
    /// Descriptors that they and the process take.
    pub needed: u64,
    /// Descriptors that this process may have.
    pub allowed: u64,
}

/// Raises the limit of descriptors as far as this process may, and checks that `connections` at a
/// time on `threads` fit.
///
/// # Errors
/// [`TooFewDescriptors`].
pub fn provide(connections: u32, threads: u32) -> Result<(), TooFewDescriptors> {
    // Where even reading the limit is refused, the kernel says no when it is reached.
    let allowed = raise_descriptor_limit().unwrap_or(u64::MAX);
    check(connections, threads, allowed)
}

fn check(connections: u32, threads: u32, allowed: u64) -> Result<(), TooFewDescriptors> {
    let own = OWN_DESCRIPTORS + DESCRIPTORS_A_THREAD * u64::from(threads);
    let needed = u64::from(connections) + own;
    if needed > allowed {
        return Err(TooFewDescriptors { connections, needed, allowed });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_needed_is_named_with_the_command_that_allows_it() {
        assert_eq!(check(1_000, 1, 1_026), Ok(()));
        let refused = check(1_000, 1, 1_025).unwrap_err();
        assert_eq!(
            refused.to_string(),
            "1000 connections at a time take 1026 descriptors and this process may have 1025: run \
             `ulimit -n 1026` before (the hard limit has to allow it)"
        );
    }
}
