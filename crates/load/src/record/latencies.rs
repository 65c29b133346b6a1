//! Latencies: a histogram, and their exact sum and extremes.

use hdrhistogram::Histogram;

/// The longest latency that the histogram distinguishes, nanoseconds: one hour. Longer ones count
/// as that.
pub(super) const LATENCY_MAX_NS: u64 = 3_600_000_000_000;
/// Digits that the histogram keeps: a latency is known to one in a thousand.
const LATENCY_DIGITS: u8 = 3;

/// Latencies of one or more workers.
#[derive(Clone, Debug)]
pub struct Latencies {
    /// All of them, to three digits.
    pub histogram: Histogram<u64>,
    /// Their sum, exact, nanoseconds.
    pub sum_ns: u128,
    /// The smallest, exact, nanoseconds; `u64::MAX` where no latency was recorded.
    pub min_ns: u64,
    /// The largest, exact, nanoseconds.
    pub max_ns: u64,
}

impl Default for Latencies {
    fn default() -> Self {
        Self {
            histogram: Histogram::new_with_bounds(1, LATENCY_MAX_NS, LATENCY_DIGITS)
                .expect("the bounds are constants that the crate allows"),
            sum_ns: 0,
            min_ns: u64::MAX,
            max_ns: 0,
        }
    }
}

impl Latencies {
    /// Records one latency.
    pub fn record(&mut self, latency_ns: u64) {
        self.record_n(latency_ns, 1);
    }

    /// Records `count` equal latencies.
    #[inline]
    pub(super) fn record_n(&mut self, latency_ns: u64, count: u64) {
        self.sum_ns += u128::from(latency_ns) * u128::from(count);
        self.min_ns = self.min_ns.min(latency_ns);
        self.max_ns = self.max_ns.max(latency_ns);
        self.histogram.saturating_record_n(latency_ns, count);
    }

    /// The latency that so many percent do not exceed, nanoseconds; 0 where none was recorded. The
    /// histogram rounds up to its next step, the extremes are exact.
    pub fn at(&self, percentage: f64) -> u64 {
        if self.histogram.is_empty() {
            return 0;
        }
        self.histogram.value_at_percentile(percentage).clamp(self.min_ns, self.max_ns)
    }

    /// The arithmetic mean, nanoseconds; 0 where none was recorded.
    pub fn mean_ns(&self) -> u64 {
        let count = u128::from(self.histogram.len());
        let mean_ns = self.sum_ns.checked_div(count).unwrap_or(0);
        u64::try_from(mean_ns).unwrap_or(u64::MAX)
    }

    /// Adds those of another worker.
    pub fn merge(&mut self, other: &Self) {
        self.histogram.add(&other.histogram).expect("all workers' histograms have the same bounds");
        self.sum_ns += other.sum_ns;
        self.min_ns = self.min_ns.min(other.min_ns);
        self.max_ns = self.max_ns.max(other.max_ns);
    }
}
