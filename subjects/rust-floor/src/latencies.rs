//! Latencies in log-linear buckets, as HdrHistogram has them.

/// 32 buckets for each doubling: a latency is known to 3 %.
const BITS: u32 = 5;

/// A count for each bucket.
pub struct Latencies(Vec<u64>);

impl Latencies {
    /// Room for every latency there can be.
    pub fn new() -> Self {
        Latencies(vec![0; ((u64::BITS - BITS + 1) << BITS) as usize])
    }

    /// Counts calls that took `latency_ns`.
    pub fn record(&mut self, latency_ns: u64, count: u64) {
        let magnitude = (latency_ns >> BITS).checked_ilog2().map_or(0, |log| log + 1);
        let shift = magnitude.saturating_sub(1);
        let within = (latency_ns >> shift) & ((1 << BITS) - 1);
        self.0[(magnitude << BITS) as usize + within as usize] += count;
    }

    /// The middle of each bucket that holds anything, in nanoseconds, and its count.
    pub fn counts(&self) -> impl Iterator<Item = (u64, u64)> {
        let filled = (0u64..).zip(&self.0).filter(|(_, count)| **count > 0);
        filled.map(|(bucket, count)| {
            let (magnitude, within) = (bucket >> BITS, bucket & ((1 << BITS) - 1));
            match magnitude.checked_sub(1) {
                None => (within, *count),
                Some(shift) => (((within + (1 << BITS)) << shift) + (1 << shift) / 2, *count),
            }
        })
    }
}
