//! Latencies with fewer digits, where a record would be large.
//!
//! A histogram of two digits has an eighth of the buckets of one of three. Reports read histograms
//! of the contract's precision, so reading a record converts them back to it: each call then counts
//! at the middle of the wider bucket that it was in.

use bookend_contract::latency;
use hdrhistogram::Histogram;

/// Digits of a histogram as the lab stores it.
pub(super) const DIGITS: u8 = latency::SIGNIFICANT_DIGITS;

/// The histogram with `digits` significant digits. Invalid text is unchanged: reports name it.
pub(super) fn reduced(text: &str, digits: u8) -> String {
    converted(text, digits, Histogram::new_with_bounds(1, latency::HIGHEST_NS, digits).ok())
}

/// A histogram of `digits`, converted back to the contract's precision.
pub(super) fn expanded(text: &str, digits: u8) -> String {
    converted(text, digits, Some(latency::empty()))
}

fn converted(text: &str, digits: u8, into: Option<Histogram<u64>>) -> String {
    if digits >= DIGITS {
        return text.to_owned();
    }
    match (latency::decode(text), into) {
        (Ok(histogram), Some(into)) => latency::encode(&refilled(&histogram, into)),
        _ => text.to_owned(),
    }
}

/// Fills `into` with every call of `from`, at the middle of its bucket.
fn refilled(from: &Histogram<u64>, mut into: Histogram<u64>) -> Histogram<u64> {
    for bucket in from.iter_recorded() {
        let middle = from.median_equivalent(bucket.value_iterated_to());
        into.saturating_record_n(middle, bucket.count_at_value());
    }
    into
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample() -> Histogram<u64> {
        let mut histogram = latency::empty();
        for step in 0..2_000_u64 {
            latency::record(&mut histogram, 50_000 + step * step, 1 + step % 3);
        }
        histogram
    }

    #[test]
    fn fewer_digits_lose_no_call_and_little_of_its_time() {
        let whole = sample();
        let text = latency::encode(&whole);
        let short = reduced(&text, 2);
        assert!(short.len() * 3 < text.len(), "{} of {}", short.len(), text.len());
        let back = latency::decode(&expanded(&short, 2)).expect("a histogram");
        assert_eq!(back.len(), whole.len());
        assert!((back.mean() / whole.mean() - 1.0).abs() < 0.002);
        for percent in [50.0, 90.0, 99.0, 100.0] {
            let at = |histogram: &Histogram<u64>| histogram.value_at_percentile(percent) as f64;
            assert!((at(&back) / at(&whole) - 1.0).abs() < 0.01, "{percent}");
        }
    }

    #[test]
    fn what_was_reduced_once_is_reduced_to_the_same_again() {
        for digits in [1, 2] {
            let short = reduced(&latency::encode(&sample()), digits);
            assert_eq!(reduced(&expanded(&short, digits), digits), short);
        }
    }

    #[test]
    fn what_is_no_histogram_is_left_for_reports_to_name() {
        assert_eq!(reduced("???", 2), "???");
        assert_eq!(expanded("???", 2), "???");
    }
}
