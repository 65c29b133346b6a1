//! Latency histograms as text: HdrHistogram's V2 encoding in base64, so that a result can be read
//! by every implementation of HdrHistogram.

use crate::count::{self, TooMany};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hdrhistogram::Histogram;
use hdrhistogram::serialization::{Deserializer, Serializer, V2Serializer};
use miniz_oxide::inflate::{TINFLStatus, decompress_to_vec_zlib_with_limit};

/// Significant decimal digits that are kept: a latency is off by at most 0.1 %.
pub const SIGNIFICANT_DIGITS: u8 = 3;

/// Latencies above this are recorded as this: ten minutes, longer than any deadline of a suite.
pub const HIGHEST_NS: u64 = 600_000_000_000;

/// A histogram that is read has no more counters: 8 MiB, in which four digits of every latency have
/// room. Those of the contract have a thirtieth of it.
const COUNTERS_MAX: u64 = 1 << 20;

/// Why a text is not a histogram: the fault of the process that printed it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum HistogramError {
    /// The text is not base64.
    #[error("the latency histogram is not base64")]
    NotBase64,
    /// The bytes are not an HdrHistogram in V2 encoding.
    #[error("the latency histogram is not an HdrHistogram V2")]
    NotHistogram,
    /// It would take more memory than any precision that is needed does.
    #[error(
        "the latency histogram has room for more than {COUNTERS_MAX} counts: write it with \
         {SIGNIFICANT_DIGITS} significant digits"
    )]
    TooLarge,
    /// Its counts add up to more calls than are plausible. The library adds them unchecked, and
    /// finds no percentile where a sum is not exact in a floating-point number.
    #[error(transparent)]
    TooMany(#[from] TooMany),
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
/// The text is not base64, or does not encode a histogram, or one that is too large or counts more
/// calls than are plausible.
pub fn decode(text: &str) -> Result<Histogram<u64>, HistogramError> {
    let mut bytes = STANDARD.decode(text).map_err(|_| HistogramError::NotBase64)?;
    if let Some(payload) = bytes.strip_prefix(&COMPRESSED_COOKIE) {
        bytes = inflated(payload)?;
    }
    check(&bytes)?;
    Deserializer::new().deserialize(&mut bytes.as_slice()).map_err(|_| HistogramError::NotHistogram)
}

// The encodings of HdrHistogram: a cookie, the number of bytes behind the header, the header, and
// counts as varints (zigzag, little endian), in which a negative number stands for as many zeros.

const COOKIE: [u8; 4] = [0x1c, 0x84, 0x93, 0x13];
/// What follows is the number of bytes behind it, and a histogram in zlib.
const COMPRESSED_COOKIE: [u8; 4] = [0x1c, 0x84, 0x93, 0x14];
/// The most bytes that a varint has: the ninth has eight bits of the number.
const VARINT_MAX_BYTES: usize = 9;

fn inflated(payload: &[u8]) -> Result<Vec<u8>, HistogramError> {
    const HISTOGRAM_MAX_BYTES: usize = VARINT_MAX_BYTES * COUNTERS_MAX as usize;
    let zlib = payload.get(4..).ok_or(HistogramError::NotHistogram)?;
    decompress_to_vec_zlib_with_limit(zlib, HISTOGRAM_MAX_BYTES).map_err(|error| {
        match error.status {
            TINFLStatus::HasMoreOutput => HistogramError::TooLarge,
            _ => HistogramError::NotHistogram,
        }
    })
}

/// Compares what a histogram claims with what is there and with what it may be. The library
/// allocates what is claimed.
fn check(bytes: &[u8]) -> Result<(), HistogramError> {
    check_claims(bytes).unwrap_or(Err(HistogramError::NotHistogram))
}

/// `None` where it is too short.
fn check_claims(bytes: &[u8]) -> Option<Result<(), HistogramError>> {
    let mut rest = bytes.strip_prefix(&COOKIE)?;
    let payload_bytes = u32::from_be_bytes(taken(&mut rest)?);
    let _normalizing_index_offset: [u8; 4] = taken(&mut rest)?;
    let digits = u32::from_be_bytes(taken(&mut rest)?);
    let [lowest, highest] = [taken(&mut rest)?, taken(&mut rest)?].map(u64::from_be_bytes);
    let _integer_to_double_ratio: [u8; 8] = taken(&mut rest)?;
    let payload = rest.get(..payload_bytes as usize)?;
    let is_small = counters(lowest, highest, digits)? <= COUNTERS_MAX;
    Some(if is_small { check_counts(payload) } else { Err(HistogramError::TooLarge) })
}

fn taken<const N: usize>(bytes: &mut &[u8]) -> Option<[u8; N]> {
    let (first, rest) = bytes.split_first_chunk()?;
    *bytes = rest;
    Some(*first)
}

/// How many counters a histogram has: half a range of single steps, and as much again each time
/// that the highest value is twice as high. `None` where there is no such histogram.
fn counters(lowest: u64, highest: u64, digits: u32) -> Option<u64> {
    const DIGITS_MAX: u32 = 5;
    let unit_magnitude = lowest.checked_ilog2()?;
    let steps =
        (2 * 10_u64.pow(Some(digits).filter(|digits| *digits <= DIGITS_MAX)?)).next_power_of_two();
    let ranges = (highest >> unit_magnitude) / steps;
    let doublings = u64::from(u64::BITS - ranges.leading_zeros());
    Some((doublings + 2) * (steps / 2))
}

/// Whether no number stands for more zeros than there may be counters, for the library negates it,
/// and all counts add up.
fn check_counts(payload: &[u8]) -> Result<(), HistogramError> {
    let (mut number, mut place, mut total) = (0_u64, 0, 0);
    for byte in payload {
        let is_last = *byte < 0x80 || place == VARINT_MAX_BYTES - 1;
        let bits = if place == VARINT_MAX_BYTES - 1 { *byte } else { *byte & 0x7f };
        number |= u64::from(bits) << (7 * place);
        place += 1;
        if is_last {
            let (is_run, amount) = (number & 1 == 1, number >> 1);
            match is_run {
                true if amount >= COUNTERS_MAX => return Err(HistogramError::TooLarge),
                true => {}
                false => total = count::sum(total, amount)?,
            }
            (number, place) = (0, 0);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use hdrhistogram::serialization::V2DeflateSerializer;
    use miniz_oxide::deflate::compress_to_vec_zlib;

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

    /// A histogram of one call of the highest latency, with the parameters that are given.
    fn claiming(payload_bytes: u32, digits: u32, lowest: u64, highest: u64) -> Vec<u8> {
        [
            &COOKIE[..],
            &payload_bytes.to_be_bytes(),
            &[0; 4],
            &digits.to_be_bytes(),
            &lowest.to_be_bytes(),
            &highest.to_be_bytes(),
            &1_f64.to_be_bytes(),
            &[2],
        ]
        .concat()
    }

    fn decoded(bytes: &[u8]) -> Result<u64, HistogramError> {
        decode(&STANDARD.encode(bytes)).map(|histogram| histogram.len())
    }

    #[test]
    fn what_a_histogram_claims_is_compared_with_what_is_there() {
        assert_eq!(decoded(&claiming(1, 3, 1, HIGHEST_NS)), Ok(1));
        for payload_bytes in [2, 1_000, u32::MAX] {
            let claims = claiming(payload_bytes, 3, 1, HIGHEST_NS);
            assert_eq!(decoded(&claims), Err(HistogramError::NotHistogram), "{payload_bytes}");
        }
    }

    #[test]
    fn no_histogram_has_more_counters_than_are_needed() {
        assert_eq!(decoded(&claiming(1, 3, 1, u64::MAX / 2)), Ok(1));
        assert_eq!(decoded(&claiming(1, 4, 1, u64::MAX / 2)), Ok(1));
        assert_eq!(decoded(&claiming(1, 5, 1, 1_000_000)), Ok(1));
        for (digits, highest) in [(5, HIGHEST_NS), (5, u64::MAX)] {
            let claims = claiming(1, digits, 1, highest);
            assert_eq!(decoded(&claims), Err(HistogramError::TooLarge), "{digits} {highest}");
        }
        for (digits, lowest, highest) in
            [(6, 1, 9), (u32::MAX, 1, 9), (3, 0, 9), (3, 9, 9), (3, u64::MAX, u64::MAX), (0, 1, 0)]
        {
            let claims = claiming(1, digits, lowest, highest);
            assert_eq!(decoded(&claims), Err(HistogramError::NotHistogram), "{claims:?}");
        }
    }

    #[test]
    fn counters_are_counted_as_the_library_makes_them() {
        for digits in 0..=4 {
            for (lowest, highest) in
                [(1, 2), (1, 2_047), (1, 2_048), (1, 1 << 40), (1_000, HIGHEST_NS), (7, u64::MAX)]
            {
                let made = Histogram::<u64>::new_with_bounds(lowest, highest, digits).unwrap();
                let counted = counters(lowest, highest, digits.into());
                assert_eq!(counted, Some(made.distinct_values() as u64), "{lowest} {highest}");
            }
        }
    }

    fn with(payload: &[u8]) -> Vec<u8> {
        let mut bytes = claiming(payload.len() as u32, 3, 1, HIGHEST_NS);
        bytes.pop();
        bytes.extend(payload);
        bytes
    }

    #[test]
    fn a_run_of_zeros_is_no_longer_than_the_histogram_may_be() {
        let with = |payload: &[u8]| decoded(&with(payload));
        assert_eq!(with(&[19, 2]), Ok(1));
        assert_eq!(with(&[&[0xff; 9][..], &[2]].concat()), Err(HistogramError::TooLarge));
        assert_eq!(with(&[0xff, 0xff, 0xff, 0xff, 0x7f, 2]), Err(HistogramError::TooLarge));
        // A count, as large as there is one, and no run.
        let largest = [0xfe, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff];
        assert_eq!(with(&largest), Err(TooMany.into()));
        assert_eq!(with(&[0xff]), Err(HistogramError::NotHistogram));
    }

    #[test]
    fn counts_add_up_to_no_more_than_is_plausible_wherever_they_stand() {
        // 2^53 and 2^52 as varints of the library.
        let whole = [0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x20];
        let half = [0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x10];
        let histogram = decode(&STANDARD.encode(with(&whole))).expect("it is plausible");
        assert_eq!(histogram.len(), count::COUNT_MAX);
        for payload in [
            [&whole[..], &[2]].concat(),
            [&[2][..], &whole].concat(),
            [&half[..], &[19], &half, &[19, 2]].concat(),
            half.repeat(3),
            [0xfe, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff].repeat(9),
        ] {
            assert_eq!(decoded(&with(&payload)), Err(TooMany.into()), "{payload:x?}");
        }
    }

    #[test]
    fn the_highest_percentile_is_the_highest_latency_however_many_calls_there_are() {
        // The rest of the largest plausible number of calls, and one in front of it.
        let most = [0xfe, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x1f];
        for payload in [[&[2][..], &[19], &most].concat(), [&most[..], &[19, 2]].concat()] {
            let histogram = decode(&STANDARD.encode(with(&payload))).expect("it is plausible");
            assert_eq!(histogram.len(), count::COUNT_MAX);
            assert_eq!(histogram.value_at_percentile(100.0), histogram.max());
        }
    }

    #[test]
    fn a_compressed_histogram_is_read_and_a_bomb_is_not() {
        let mut histogram = empty();
        record(&mut histogram, 1_500, 7);
        let mut bytes = Vec::new();
        V2DeflateSerializer::new().serialize(&histogram, &mut bytes).unwrap();
        assert_eq!(decode(&STANDARD.encode(&bytes)), Ok(histogram));
        for end in 4..bytes.len() {
            assert_eq!(decoded(&bytes[..end]), Err(HistogramError::NotHistogram), "{end} bytes");
        }
        let zeros = compress_to_vec_zlib(&vec![0; 16 << 20], 6);
        let bomb = [&COMPRESSED_COOKIE[..], &[0, 0, 0x40, 0], &zeros].concat();
        assert_eq!(decoded(&bomb), Err(HistogramError::TooLarge));
    }
}
