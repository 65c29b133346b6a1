//! RST_STREAM at a pace that no server takes for an attack.
//!
//! Servers count resets since CVE-2023-44487, each in its own way: h2 allows 20 of streams that it
//! has not yet handed on, netty 200 in 30 seconds, nghttp2 1,000 and then 33 a second. Each of them
//! would disconnect a client whose deadlines expire by the thousand, and all its other calls with
//! it. Therefore few resets go out at once, and few a second after that; a client that owes more
//! waits, or closes the connection.

/// Resets that may go out at once after a time without any: below the 20 of h2.
pub const RESETS_AT_ONCE: u32 = 16;
/// Time between resets after that: together with the burst 166 in any 30 seconds, below the 200 of
/// netty.
pub const RESET_INTERVAL_NS: u64 = 200_000_000;

/// How many streams of a connection its client may reset now.
#[derive(Clone, Copy, Debug)]
pub struct ResetPace {
    allowed: u32,
    /// When one was last added to `allowed`.
    raised_at_ns: u64,
}

impl Default for ResetPace {
    fn default() -> Self {
        Self { allowed: RESETS_AT_ONCE, raised_at_ns: 0 }
    }
}

impl ResetPace {
    /// Resets that may go out now.
    pub fn allowed(&mut self, now_ns: u64) -> u32 {
        let intervals = now_ns.saturating_sub(self.raised_at_ns) / RESET_INTERVAL_NS;
        let missing = u64::from(RESETS_AT_ONCE - self.allowed);
        if intervals >= missing {
            self.allowed = RESETS_AT_ONCE;
            self.raised_at_ns = now_ns;
        } else {
            self.allowed += intervals as u32;
            self.raised_at_ns += intervals * RESET_INTERVAL_NS;
        }
        self.allowed
    }

    /// Counts a reset that went out.
    pub fn spend(&mut self) {
        self.allowed = self.allowed.saturating_sub(1);
    }

    /// When one more reset will be allowed than now.
    pub fn next_ns(&self) -> u64 {
        self.raised_at_ns.saturating_add(RESET_INTERVAL_NS)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND_NS: u64 = 1_000_000_000;

    /// Spends all that are allowed, and returns how many.
    fn spent(pace: &mut ResetPace, now_ns: u64) -> u32 {
        let allowed = pace.allowed(now_ns);
        (0..allowed).for_each(|_| pace.spend());
        allowed
    }

    #[test]
    fn no_window_of_thirty_seconds_sees_what_netty_forbids() {
        let mut pace = ResetPace::default();
        let start_ns = 77 * SECOND_NS;
        assert_eq!(spent(&mut pace, start_ns), RESETS_AT_ONCE);
        assert_eq!(spent(&mut pace, start_ns), 0);
        let later = (1..=300).map(|step| spent(&mut pace, start_ns + step * SECOND_NS / 10));
        assert_eq!(later.sum::<u32>(), 150);
    }

    #[test]
    fn a_pause_saves_no_more_than_a_burst() {
        let mut pace = ResetPace::default();
        spent(&mut pace, SECOND_NS);
        assert_eq!(spent(&mut pace, u64::MAX), RESETS_AT_ONCE);
    }

    #[test]
    fn the_next_one_is_allowed_when_it_is_said_to_be() {
        let mut pace = ResetPace::default();
        spent(&mut pace, SECOND_NS);
        let next_ns = pace.next_ns();
        assert_eq!(pace.allowed(next_ns - 1), 0);
        assert_eq!(pace.allowed(next_ns), 1);
    }
}
