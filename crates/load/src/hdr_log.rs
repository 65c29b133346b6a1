//! Latencies second by second, in the log format that the tools of HdrHistogram read
//! (`HistogramLogWriter` of HdrHistogram, version 1.3).

use crate::record::RunInterval;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use hdrhistogram::serialization::{Serializer, V2DeflateSerializer};
use std::time::{SystemTime, UNIX_EPOCH};

/// A log that grows as a window goes on. Its latencies are nanoseconds, its maxima milliseconds.
pub struct HdrLog {
    text: String,
    serializer: V2DeflateSerializer,
}

impl HdrLog {
    /// The log of a window that begins at `start`.
    pub fn new(start: SystemTime) -> Self {
        let start = start.duration_since(UNIX_EPOCH).unwrap_or_default().as_secs_f64();
        let text = format!(
            "#[Histogram log format version 1.3]\n\
             #[StartTime: {start:.3} (seconds since epoch)]\n\
             #[BaseTime: {start:.3} (seconds since epoch)]\n\
             #[Latencies in nanoseconds, maxima in milliseconds]\n\
             \"StartTimestamp\",\"Interval_Length\",\"Interval_Max\",\
             \"Interval_Compressed_Histogram\"\n"
        );
        Self { text, serializer: V2DeflateSerializer::new() }
    }

    /// Adds an interval.
    pub fn add(&mut self, interval: &RunInterval) {
        let mut bytes = Vec::new();
        self.serializer
            .serialize(&interval.latencies.histogram, &mut bytes)
            .expect("a vector takes every byte, and the bounds of latencies fit the encoding");
        let seconds = |nanoseconds: u64| nanoseconds as f64 / 1e9;
        self.text.push_str(&format!(
            "{:.3},{:.3},{:.3},{}\n",
            seconds(interval.start_ns),
            seconds(interval.end_ns.saturating_sub(interval.start_ns)),
            interval.latencies.max_ns as f64 / 1e6,
            BASE64.encode(bytes)
        ));
    }

    /// The log so far.
    pub fn text(&self) -> &str {
        &self.text
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::Latencies;
    use hdrhistogram::Histogram;
    use hdrhistogram::serialization::Deserializer;
    use hdrhistogram::serialization::interval_log::{IntervalLogIterator, LogEntry};
    use std::time::Duration;

    #[test]
    fn a_log_has_a_line_an_interval_and_can_be_read_again() {
        let mut latencies = Latencies::default();
        latencies.record(3_000_000);
        let mut log = HdrLog::new(UNIX_EPOCH);
        log.add(&RunInterval { end_ns: 1_000_000_000, latencies, ..RunInterval::default() });
        let (start_ns, end_ns) = (1_000_000_000, 1_500_000_000);
        log.add(&RunInterval { start_ns, end_ns, ..RunInterval::default() });
        let intervals: Vec<_> = IntervalLogIterator::new(log.text().as_bytes())
            .filter_map(|entry| match entry {
                Ok(LogEntry::Interval(interval)) => Some(interval),
                _ => None,
            })
            .collect();
        assert_eq!(intervals.len(), 2, "{}", log.text());
        assert_eq!(intervals[0].duration(), Duration::from_secs(1));
        assert!((intervals[0].max() - 3.0).abs() < 0.01);
        let bytes = BASE64.decode(intervals[0].encoded_histogram()).unwrap();
        let first: Histogram<u64> = Deserializer::new().deserialize(&mut &bytes[..]).unwrap();
        assert_eq!(first.len(), 1);
    }
}
