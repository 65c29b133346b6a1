//! When the next connection is made.

use super::options::nanoseconds;
use std::hash::{BuildHasher, BuildHasherDefault, DefaultHasher, RandomState};
use std::time::Duration;

/// A wait is drawn from within a fifth of its nominal length on either side, as in gRPC's document
/// on connection backoff: the clients of a server that went away should not all come back at the
/// same moments.
const JITTER_DIVISOR: u64 = 5;

/// Doubling waits between connections that came to nothing, each counted from when the connection
/// was asked for: one that has lived longer is replaced at once.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Backoff {
    min_ns: u64,
    max_ns: u64,
    wait_ns: u64,
    asked_at_ns: u64,
    random: u64,
}

impl Backoff {
    /// Each has random waits of its own.
    pub fn new(min: Duration, max: Duration) -> Self {
        Self::seeded(min, max, RandomState::new().hash_one(()))
    }

    /// The same `seed` gives the same waits.
    fn seeded(min: Duration, max: Duration, seed: u64) -> Self {
        let (min_ns, max_ns) = (nanoseconds(min), nanoseconds(max));
        Self { min_ns, max_ns, wait_ns: min_ns, asked_at_ns: 0, random: seed }
    }

    /// A connection is asked for.
    pub fn asked(&mut self, now_ns: u64) {
        self.asked_at_ns = now_ns;
    }

    /// The connection has brought the response of a call.
    pub fn succeeded(&mut self) {
        self.wait_ns = self.min_ns;
    }

    /// The connection is gone. Returns when the next one is to be asked for.
    pub fn lost(&mut self) -> u64 {
        let at_ns = self.asked_at_ns.saturating_add(self.jittered_ns());
        self.wait_ns = self.wait_ns.saturating_mul(2).min(self.max_ns);
        at_ns
    }

    fn jittered_ns(&mut self) -> u64 {
        self.random = BuildHasherDefault::<DefaultHasher>::new().hash_one(self.random);
        let spread_ns = self.wait_ns / JITTER_DIVISOR;
        self.wait_ns - spread_ns + self.random % (2 * spread_ns + 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    const MIN: Duration = Duration::from_nanos(1_000);
    const MAX: Duration = Duration::from_nanos(5_000);

    /// The first waits after a connection that was asked for at 7.
    fn waits(seed: u64) -> [u64; 5] {
        let mut backoff = Backoff::seeded(MIN, MAX, seed);
        backoff.asked(7);
        [(); 5].map(|()| backoff.lost() - 7)
    }

    #[test]
    fn waits_double_up_to_a_cap_until_a_call_is_answered() {
        for seed in 0..1_000 {
            let nominal = [1_000, 2_000, 4_000, 5_000, 5_000];
            for (wait, nominal) in waits(seed).into_iter().zip(nominal) {
                let around = nominal * 4 / 5..=nominal * 6 / 5;
                assert!(around.contains(&wait), "{wait} for {nominal}");
            }
        }
        let mut backoff = Backoff::seeded(MIN, MAX, 7);
        for _ in 0..5 {
            backoff.lost();
        }
        backoff.succeeded();
        backoff.asked(1_000_000);
        assert!((1_000_800..=1_001_200).contains(&backoff.lost()));
    }

    #[test]
    fn clients_that_lose_a_server_together_come_back_at_different_times() {
        let first: BTreeSet<u64> = (0..1_000).map(|seed| waits(seed)[0]).collect();
        assert!(first.len() > 300, "{} moments", first.len());
        assert!(first.first() < Some(&810) && first.last() > Some(&1_190));
        assert_eq!(waits(42), waits(42), "a seed brings them back");
        let unseeded = || Backoff::new(MIN, MAX).random;
        assert_ne!(unseeded(), unseeded());
    }

    #[test]
    fn no_wait_is_too_short_or_too_long_to_be_drawn() {
        let mut none = Backoff::new(Duration::ZERO, Duration::ZERO);
        none.asked(3);
        assert_eq!([none.lost(), none.lost()], [3, 3]);
        let mut endless = Backoff::new(Duration::MAX, Duration::MAX);
        endless.asked(u64::MAX / 2);
        assert!((0..100).all(|_| endless.lost() > u64::MAX / 2));
    }
}
