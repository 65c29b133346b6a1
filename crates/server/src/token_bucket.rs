use crate::limits::Rate;

const NS_PER_SECOND: u64 = 1_000_000_000;

/// Tokens, one for each event, that fill up with time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TokenBucket {
    limit: Option<Rate>,
    /// When it was, or would have been, full: this one number is the bucket's whole state.
    full_at_ns: u64,
}

impl TokenBucket {
    /// A full bucket; without a limit, one that is never empty.
    pub fn new(limit: Option<Rate>) -> Self {
        TokenBucket { limit, full_at_ns: 0 }
    }

    /// Takes a token for each of so many events; false, and takes none, if there are too few.
    pub fn take(&mut self, events: u32, now_ns: impl FnOnce() -> u64) -> bool {
        let Some(limit) = self.limit else { return true };
        let now_ns = now_ns();
        let token_ns = NS_PER_SECOND / u64::from(limit.per_second.max(1));
        let full_at_ns = self.full_at_ns.max(now_ns) + token_ns * u64::from(events);
        let allowed = full_at_ns - now_ns <= token_ns * u64::from(limit.burst);
        if allowed {
            self.full_at_ns = full_at_ns;
        }
        allowed
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_burst_is_allowed_and_then_a_rate() {
        let limit = Rate { burst: 3, per_second: 2 };
        let mut bucket = TokenBucket::new(Some(limit));
        let start_ns = 77 * NS_PER_SECOND;
        let mut taken = |after_ms: u64| bucket.take(1, || start_ns + after_ms * 1_000_000);
        assert!(taken(0) && taken(0) && taken(0));
        assert!(!taken(0) && !taken(499));
        assert!(taken(500) && !taken(500));
        assert!(taken(60_000) && taken(60_000) && taken(60_000));
        assert!(!taken(60_000), "no more than a burst is saved up");
        assert!(bucket.take(2, || start_ns + 61_000_000_000));
        assert!(!bucket.take(2, || start_ns + 61_000_000_000));
    }

    #[test]
    fn without_a_limit_no_clock_is_read() {
        let mut bucket = TokenBucket::new(None);
        assert!(bucket.take(1, || panic!("not needed")));
    }
}
