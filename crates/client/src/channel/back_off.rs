//! When the next connection is made.

use super::options::nanoseconds;
use std::time::Duration;

/// Doubling waits between connections that came to nothing, each counted from when the connection
/// was asked for: one that has lived long enough is replaced at once.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BackOff {
    min_ns: u64,
    max_ns: u64,
    wait_ns: u64,
    asked_at_ns: u64,
}

impl BackOff {
    pub fn new(min: Duration, max: Duration) -> Self {
        let (min_ns, max_ns) = (nanoseconds(min), nanoseconds(max));
        Self {
            min_ns,
            max_ns,
            wait_ns: min_ns,
            asked_at_ns: 0,
        }
    }

    /// A connection is asked for.
    pub fn asked(&mut self, now_ns: u64) {
        self.asked_at_ns = now_ns;
    }

    /// The connection has answered a call: it was good for something.
    pub fn succeeded(&mut self) {
        self.wait_ns = self.min_ns;
    }

    /// The connection is gone. When the next one is to be asked for.
    pub fn lost(&mut self) -> u64 {
        let at_ns = self.asked_at_ns.saturating_add(self.wait_ns);
        self.wait_ns = self.wait_ns.saturating_mul(2).min(self.max_ns);
        at_ns
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_double_up_to_a_cap_until_a_call_is_answered() {
        let (min, max) = (Duration::from_nanos(100), Duration::from_nanos(500));
        let mut back_off = BackOff::new(min, max);
        back_off.asked(7);
        let waits = [(); 5].map(|()| back_off.lost() - 7);
        assert_eq!(waits, [100, 200, 400, 500, 500]);
        back_off.succeeded();
        back_off.asked(1_000);
        assert_eq!(back_off.lost(), 1_100);
    }
}
