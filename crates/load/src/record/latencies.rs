//! Latencies: a histogram, and their exact sum and extremes.

use super::serialized;
use hdrhistogram::Histogram;
use serde::{Deserialize, Serialize};

/// The longest latency that the histogram distinguishes, nanoseconds: one hour. Longer ones count
/// as that.
pub(super) const LATENCY_MAX_NS: u64 = 3_600_000_000_000;
/// Digits that the histogram keeps: a latency is known to one in a thousand.
pub(super) const LATENCY_DIGITS: u8 = 3;

/// Latencies that are kept as they are, in 128 KiB: a run of few calls has percentiles without the
/// histogram's steps, which at 100 ms are 65 µs wide.
const EXACT_MAX: usize = 1 << 14;

/// Latencies of one or more workers.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Latencies {
    /// All of them, to three digits.
    #[serde(with = "serialized::histogram")]
    pub histogram: Histogram<u64>,
    /// Their sum, exact, nanoseconds.
    #[serde(with = "serialized::sum")]
    pub sum_ns: u128,
    /// The smallest, exact, nanoseconds; `u64::MAX` where no latency was recorded.
    pub min_ns: u64,
    /// The largest, exact, nanoseconds.
    pub max_ns: u64,
    /// All of them, as long as they are few.
    exact_ns: Option<Vec<u64>>,
}

impl Default for Latencies {
    fn default() -> Self {
        Self {
            histogram: Histogram::new_with_bounds(1, LATENCY_MAX_NS, LATENCY_DIGITS)
                .expect("the bounds are constants that the crate allows"),
            sum_ns: 0,
            min_ns: u64::MAX,
            max_ns: 0,
            exact_ns: Some(Vec::new()),
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
        if self.exact_ns.is_some() {
            self.keep(latency_ns, count);
        }
    }

    #[cold]
    fn keep(&mut self, latency_ns: u64, count: u64) {
        let fits = |kept: &Vec<u64>| count <= (EXACT_MAX - kept.len()) as u64;
        self.exact_ns = self.exact_ns.take().filter(fits).map(|mut kept| {
            kept.extend(std::iter::repeat_n(latency_ns, count as usize));
            kept
        });
    }

    /// The latency that `percentage` percent do not exceed, nanoseconds; 0 where none was recorded.
    /// Exact for few latencies; of many, the histogram rounds up to its next step, and the extremes
    /// are exact.
    pub fn at(&self, percentage: f64) -> u64 {
        if self.histogram.is_empty() {
            return 0;
        }
        if let Some(kept) = &self.exact_ns {
            return exact(kept.clone(), percentage);
        }
        self.histogram.value_at_percentile(percentage).clamp(self.min_ns, self.max_ns)
    }

    /// The arithmetic mean, nanoseconds; 0 where none was recorded.
    pub fn mean_ns(&self) -> u64 {
        let count = u128::from(self.histogram.len());
        let mean_ns = self.sum_ns.checked_div(count).unwrap_or(0);
        u64::try_from(mean_ns).unwrap_or(u64::MAX)
    }

    /// Adds the latencies of a histogram of the same bounds, which knows sum and extremes to three
    /// digits.
    pub(super) fn add_histogram(&mut self, other: &Histogram<u64>) {
        if other.is_empty() {
            return;
        }
        self.histogram.add(other).expect("all histograms of a run have the same bounds");
        self.sum_ns += (other.mean() * other.len() as f64) as u128;
        self.min_ns = self.min_ns.min(other.min());
        self.max_ns = self.max_ns.max(other.max());
        self.exact_ns = None;
    }

    /// Those that were recorded after `before`, which are a part of them. Their extremes are known
    /// to three digits.
    pub(super) fn since(&self, before: &Self) -> Self {
        let mut histogram = self.histogram.clone();
        // What was recorded is never taken back.
        let _ = histogram.subtract(&before.histogram);
        let (min_ns, max_ns) = match histogram.is_empty() {
            true => (u64::MAX, 0),
            false => (histogram.min().max(self.min_ns), histogram.max().min(self.max_ns)),
        };
        let sum_ns = self.sum_ns - before.sum_ns;
        Self { histogram, sum_ns, min_ns, max_ns, exact_ns: None }
    }

    /// Adds those of another worker.
    pub fn merge(&mut self, other: &Self) {
        self.histogram.add(&other.histogram).expect("all workers' histograms have the same bounds");
        self.sum_ns += other.sum_ns;
        self.min_ns = self.min_ns.min(other.min_ns);
        self.max_ns = self.max_ns.max(other.max_ns);
        self.exact_ns = self
            .exact_ns
            .take()
            .zip(other.exact_ns.as_ref())
            .filter(|(own, others)| own.len() + others.len() <= EXACT_MAX)
            .map(|(own, others)| [own.as_slice(), others].concat());
    }
}

/// The smallest value that `percentage` percent do not exceed.
fn exact(mut kept_ns: Vec<u64>, percentage: f64) -> u64 {
    kept_ns.sort_unstable();
    let rank = (kept_ns.len() as f64 * percentage / 100.0).ceil() as usize;
    kept_ns[rank.clamp(1, kept_ns.len()) - 1]
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    fn of(latencies_ns: impl IntoIterator<Item = u64>) -> Latencies {
        let mut latencies = Latencies::default();
        latencies_ns.into_iter().for_each(|latency_ns| latencies.record(latency_ns));
        latencies
    }

    #[test]
    fn percentiles_of_few_calls_have_no_steps() {
        let mut latencies = of((1..=1000).map(|nth| 100 * MS + nth));
        assert_eq!(
            [50.0, 99.0, 99.9].map(|percent| latencies.at(percent) - 100 * MS),
            [500, 990, 999]
        );
        latencies.merge(&of([1]));
        assert_eq!(latencies.at(50.0), 100 * MS + 500);
        assert_eq!((latencies.at(0.0), latencies.at(100.0)), (1, 100 * MS + 1000));
    }

    #[test]
    fn many_calls_are_known_to_the_steps_of_the_histogram() {
        let mut latencies = of([100 * MS; EXACT_MAX]);
        assert_eq!(latencies.at(50.0), 100 * MS);
        latencies.record_n(200 * MS, 1);
        assert!(latencies.exact_ns.is_none());
        let step_ns = latencies.at(50.0) - 100 * MS;
        assert!(step_ns > 0 && step_ns < MS / 10, "{step_ns}");
        let mut both = of([100 * MS; EXACT_MAX]);
        both.merge(&of([100 * MS]));
        assert!(both.exact_ns.is_none());
        let mut of_histogram = of([100 * MS]);
        of_histogram.add_histogram(&of([300 * MS]).histogram);
        assert!(of_histogram.exact_ns.is_none() && of_histogram.at(100.0) >= 300 * MS);
    }
}
