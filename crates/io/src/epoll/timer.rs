//! A timer in the epoll set, so that a wait has no timeout of its own.
//!
//! A timeout costs each wait a timer of the kernel that is started and cancelled, and a shard
//! nearly always has a deadline, seconds away. This timer is set once for it. It may ring too
//! early, since it is not set anew when the nearest deadline moves back: then the driver looks
//! again.

use crate::clock::clock_ns;
use crate::kernel;
use rustix::event::epoll::EventFlags;
use rustix::fd::OwnedFd;

/// Nearer deadlines are the timeout of the wait: a generator has one for nearly each call, for
/// which the timer would have to be set each time.
const NEAR_NS: u64 = 10_000_000;

/// When a timer that is not set rings.
const NEVER: u64 = u64::MAX;

/// A timer that wakes its epoll.
#[derive(Debug)]
pub(super) struct EpollTimer {
    /// `None` where none can be had: waits have timeouts then.
    timer: Option<OwnedFd>,
    rings_at_ns: u64,
}

impl EpollTimer {
    /// A timer in that set, which reports it by `key`.
    pub fn new(poll: &OwnedFd, key: u64) -> Self {
        // Reported once for each time it rings, so that it need not be read.
        let interest = EventFlags::IN | EventFlags::ET;
        let timer = kernel::timer().and_then(|timer| {
            kernel::epoll_add(poll, &timer, key, interest)?;
            Ok(timer)
        });
        Self { timer: timer.ok(), rings_at_ns: NEVER }
    }

    /// The timeout that a wait until then needs, nanoseconds; `None` where the timer ends it.
    /// `now_ns` is the clock, if it was read just now.
    #[inline]
    pub fn timeout_ns(&mut self, until_ns: u64, now_ns: Option<u64>) -> Option<u64> {
        if self.rings_at_ns <= until_ns {
            return None;
        }
        let timeout_ns = until_ns.saturating_sub(now_ns.unwrap_or_else(clock_ns));
        (timeout_ns < NEAR_NS || !self.set(until_ns)).then_some(timeout_ns)
    }

    /// It has rung.
    pub fn rang(&mut self) {
        self.rings_at_ns = NEVER;
    }

    /// Whether it rings then.
    #[cold]
    fn set(&mut self, at_ns: u64) -> bool {
        let is_set =
            self.timer.as_ref().is_some_and(|timer| kernel::set_timer(timer, at_ns).is_ok());
        self.rings_at_ns = if is_set { at_ns } else { NEVER };
        is_set
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::timespec;

    const KEY: u64 = 7;

    /// What a wait of that length on the set reports.
    fn waited(poll: &OwnedFd, timeout_ns: u64) -> Vec<u64> {
        let mut events = Vec::with_capacity(4);
        kernel::epoll_wait(poll, &mut events, Some(&timespec(timeout_ns))).unwrap();
        events.iter().map(|event| event.data.u64()).collect()
    }

    #[test]
    fn a_far_deadline_is_the_timers_and_a_near_one_the_waits() {
        let poll = kernel::epoll_create().unwrap();
        let mut timer = EpollTimer::new(&poll, KEY);
        let now_ns = clock_ns();
        let far_ns = now_ns + 3_600 * 1_000_000_000;
        assert_eq!(timer.timeout_ns(far_ns, Some(now_ns)), None);
        assert_eq!(timer.rings_at_ns, far_ns);
        assert_eq!(timer.timeout_ns(far_ns + 1, None), None, "it rings early enough");
        assert_eq!(timer.rings_at_ns, far_ns);
        assert_eq!(timer.timeout_ns(now_ns + 1_000, Some(now_ns)), Some(1_000));
        assert_eq!(timer.timeout_ns(far_ns - 1, Some(now_ns)), None);
        assert_eq!(timer.rings_at_ns, far_ns - 1, "what is due earlier comes first");
        assert_eq!(waited(&poll, 0), []);
    }

    #[test]
    fn it_rings_once_and_can_be_set_again() {
        let poll = kernel::epoll_create().unwrap();
        let mut timer = EpollTimer::new(&poll, KEY);
        for _ in 0..3 {
            assert!(timer.set(clock_ns()));
            assert_eq!(waited(&poll, NEAR_NS * 1_000), [KEY]);
            timer.rang();
            assert_eq!(waited(&poll, 0), [], "nobody has read it");
        }
    }

    #[test]
    fn where_there_is_none_waits_have_timeouts() {
        let mut timer = EpollTimer { timer: None, rings_at_ns: NEVER };
        assert_eq!(timer.timeout_ns(20 * NEAR_NS, Some(NEAR_NS)), Some(19 * NEAR_NS));
    }
}
