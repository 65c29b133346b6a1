//! Durations in Go's notation (`4s`, `1m30s`, `200ms`, `1h`, `0`), as ghz's flags and suites write
//! them.

use std::time::Duration;

/// The longest duration that Go can represent, and the longest accepted here: 2^63 - 1 nanoseconds.
const LONGEST_NS: u128 = i64::MAX as u128;

/// Units in the order in which a prefix cannot hide a longer one.
const UNITS_NS: [(&str, u128); 8] = [
    ("ns", 1),
    ("us", 1_000),
    ("\u{b5}s", 1_000),
    ("\u{3bc}s", 1_000),
    ("ms", 1_000_000),
    ("s", 1_000_000_000),
    ("m", 60_000_000_000),
    ("h", 3_600_000_000_000),
];

/// Why a text is not a duration. Always the user's fault; `Display` says what to write instead.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DurationError {
    /// Nothing was given.
    #[error("empty duration: write one like 10s, 200ms or 1m30s")]
    Empty,
    /// A number without a unit.
    #[error("the unit is missing after {0}: write {0}s or {0}ms")]
    UnitMissing(String),
    /// A unit that does not exist.
    #[error("unknown unit \"{0}\": the units are ns, us, ms, s, m, h")]
    UnitUnknown(String),
    /// Something that is no number where a number should be: the whole text.
    #[error("\"{0}\" is not a duration: write one like 10s, 200ms or 1m30s")]
    NumberMissing(String),
    /// Below zero: the whole text.
    #[error("\"{0}\" is below zero")]
    Negative(String),
    /// Longer than 292 years: the whole text.
    #[error("\"{0}\" is longer than 292 years")]
    TooLong(String),
}

/// The duration, unless it is zero, which ghz's flags have for none.
pub fn unless_zero(duration: Duration) -> Option<Duration> {
    Some(duration).filter(|duration| !duration.is_zero())
}

/// Its nanoseconds: at most the 584 years that 64 bits hold.
pub fn nanoseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}

/// Reads a duration in Go's notation. `0` needs no unit; fractions are cut to whole nanoseconds.
///
/// # Errors
/// [`DurationError`] when the text is not a duration or is below zero.
pub fn parse(text: &str) -> Result<Duration, DurationError> {
    let unsigned = text.strip_prefix('+').unwrap_or(text);
    match unsigned {
        "" => return Err(DurationError::Empty),
        "0" => return Ok(Duration::ZERO),
        _ if unsigned.starts_with('-') => {
            return Err(DurationError::Negative(text.into()));
        }
        _ => {}
    }
    let mut rest = unsigned;
    let mut total_ns = 0u128;
    while !rest.is_empty() {
        let (part_ns, after) = parse_part(rest, text)?;
        total_ns = total_ns.saturating_add(part_ns);
        rest = after;
    }
    if total_ns > LONGEST_NS {
        return Err(DurationError::TooLong(text.into()));
    }
    Ok(Duration::from_nanos(total_ns as u64))
}

/// One number with its unit, in nanoseconds, and what follows it.
fn parse_part<'a>(rest: &'a str, text: &str) -> Result<(u128, &'a str), DurationError> {
    let number_end = rest.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(rest.len());
    let (number, after) = rest.split_at(number_end);
    let unit_end = after.find(|c: char| c.is_ascii_digit() || c == '.').unwrap_or(after.len());
    let (unit, after) = after.split_at(unit_end);
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    if (whole.is_empty() && fraction.is_empty()) || fraction.contains('.') {
        return Err(DurationError::NumberMissing(text.into()));
    }
    if unit.is_empty() {
        return Err(DurationError::UnitMissing(number.into()));
    }
    let (_, unit_ns) = UNITS_NS
        .iter()
        .find(|(name, _)| *name == unit)
        .ok_or_else(|| DurationError::UnitUnknown(unit.into()))?;
    let too_long = || DurationError::TooLong(text.into());
    let whole: u128 = if whole.is_empty() { 0 } else { whole.parse().map_err(|_| too_long())? };
    let whole_ns = whole.checked_mul(*unit_ns).ok_or_else(too_long)?;
    Ok((whole_ns.saturating_add(fraction_ns(fraction, *unit_ns)), after))
}

fn fraction_ns(digits: &str, unit_ns: u128) -> u128 {
    // An hour has fewer than 10^13 nanoseconds: digits after the thirteenth are worth less than
    // one.
    let digits = &digits[..digits.len().min(13)];
    let numerator = digits.bytes().fold(0, |sum, digit| sum * 10 + u128::from(digit - b'0'));
    numerator * unit_ns / 10u128.pow(digits.len() as u32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_durations_of_ghz_manuals_are_read() {
        for (text, nanoseconds) in [
            ("4s", 4_000_000_000),
            ("1m30s", 90_000_000_000),
            ("200ms", 200_000_000),
            ("1h", 3_600_000_000_000),
            ("0", 0),
            ("0s", 0),
            ("+5s", 5_000_000_000),
            ("1.5s", 1_500_000_000),
            (".5s", 500_000_000),
            ("1.s", 1_000_000_000),
            ("0.000000001s", 1),
            ("0.0000000019s", 1),
            ("7us", 7_000),
            ("7\u{b5}s", 7_000),
            ("7\u{3bc}s", 7_000),
            ("3ns", 3),
            ("1h0m0.25s", 3_600_250_000_000),
            ("1.5\u{b5}s", 1_500),
            ("1h0m0s", 3_600_000_000_000),
            ("1h0m0.000000001s", 3_600_000_000_001),
        ] {
            assert_eq!(parse(text), Ok(Duration::from_nanos(nanoseconds)), "{text}");
        }
    }

    #[test]
    fn what_is_no_duration_is_refused_with_advice() {
        for (text, advice) in [
            ("", "empty duration: write one like 10s, 200ms or 1m30s"),
            ("10", "the unit is missing after 10: write 10s or 10ms"),
            ("1m30", "the unit is missing after 30: write 30s or 30ms"),
            ("5sec", "unknown unit \"sec\": the units are ns, us, ms, s, m, h"),
            ("1d", "unknown unit \"d\": the units are ns, us, ms, s, m, h"),
            ("fast", "\"fast\" is not a duration: write one like 10s, 200ms or 1m30s"),
            ("1..5s", "\"1..5s\" is not a duration: write one like 10s, 200ms or 1m30s"),
            (".s", "\".s\" is not a duration: write one like 10s, 200ms or 1m30s"),
            ("-1s", "\"-1s\" is below zero"),
            ("9999999h", "\"9999999h\" is longer than 292 years"),
        ] {
            assert_eq!(parse(text).map_err(|error| error.to_string()), Err(advice.to_owned()));
        }
    }

    #[test]
    fn endless_digits_neither_overflow_nor_panic() {
        let digits = "9".repeat(200);
        assert!(matches!(parse(&format!("{digits}h")), Err(DurationError::TooLong(_))));
        let parts = "9999999h".repeat(50);
        assert!(matches!(parse(&parts), Err(DurationError::TooLong(_))));
        assert_eq!(parse(&format!("0.{digits}s")), Ok(Duration::from_nanos(999_999_999)));
    }
}
