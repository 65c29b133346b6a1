//! Latency histograms as text: HdrHistogram's V2 encoding in base64, so that a result can be read
//! by every implementation of HdrHistogram.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hdrhistogram::Histogram;
use hdrhistogram::serialization::{Deserializer, Serializer, V2Serializer};

/// Significant decimal digits that are kept: a latency is off by at most 0.1 %.
pub const SIGNIFICANT_DIGITS: u8 = 3;

/// Latencies above this are recorded as this: ten minutes, longer than any deadline of a suite.
pub const HIGHEST_NS: u64 = 600_000_000_000;

/// Why a text is not a histogram: the fault of the process that printed it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum HistogramError {
    /// The text is not base64.
    #[error("the latency histogram is not base64")]
    NotBase64,
    /// The bytes are not an HdrHistogram in V2 encoding.
    #[error("the latency histogram is not an HdrHistogram V2")]
    NotHistogram,
}

/// An empty histogram with the contract's precision and range.
pub fn empty() -> Histogram<u64> {
    Histogram::new_with_bounds(1, HIGHEST_NS, SIGNIFICANT_DIGITS)
        .expect("the bounds are constants that HdrHistogram accepts")
}

/// Adds `count` calls of `latency_ns` nanoseconds; latencies above [`HIGHEST_NS`] count as that.
pub fn record(histogram: &mut Histogram<u64>, latency_ns: u64, count: u64) {
    histogram.saturating_record_n(latency_ns, count);
}

/// The histogram as text.
pub fn encode(histogram: &Histogram<u64>) -> String {
    let mut bytes = Vec::new();
    V2Serializer::new()
        .serialize(histogram, &mut bytes)
        .expect("a vector takes every byte, and the contract's range fits the encoding");
    STANDARD.encode(bytes)
}

/// Reads what [`encode`] or another HdrHistogram has written.
///
/// # Errors
/// The text is not base64, or does not encode a histogram.
pub fn decode(text: &str) -> Result<Histogram<u64>, HistogramError> {
    let bytes = STANDARD.decode(text).map_err(|_| HistogramError::NotBase64)?;
    Deserializer::new().deserialize(&mut bytes.as_slice()).map_err(|_| HistogramError::NotHistogram)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_histogram_comes_back_with_every_bucket() {
        let mut histogram = empty();
        for latency_ns in [0, 1, 999, 1_500, 1_000_000, HIGHEST_NS] {
            record(&mut histogram, latency_ns, latency_ns % 7 + 1);
        }
        assert_eq!(decode(&encode(&histogram)), Ok(histogram));
        assert_eq!(decode(&encode(&empty())), Ok(empty()));
    }

    #[test]
    fn a_latency_beyond_the_range_is_kept_at_its_edge() {
        let mut histogram = empty();
        record(&mut histogram, u64::MAX, 2);
        assert_eq!(histogram.len(), 2);
        assert!(histogram.max() >= HIGHEST_NS);
    }

    #[test]
    fn what_is_no_histogram_is_refused() {
        assert_eq!(decode("~"), Err(HistogramError::NotBase64));
        assert_eq!(decode(""), Err(HistogramError::NotHistogram));
        assert_eq!(decode("AAAA"), Err(HistogramError::NotHistogram));
        let whole = encode(&empty());
        for end in (4..whole.len()).step_by(4) {
            assert!(decode(&whole[..end]).is_err(), "{end} bytes");
        }
    }
}
