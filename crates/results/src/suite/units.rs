//! Durations in Go's notation and sizes in Docker's: what people already type.

use bookend_contract::duration;
use std::time::Duration;

/// Why a duration or a size cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum UnitError {
    /// Not a duration.
    #[error("`{_0}` is not a duration: write a number and a unit, as 500ms, 20s or 1m30s")]
    Duration(String),
    /// Not a size.
    #[error("`{_0}` is not a size: write a number and b, k, m or g (of 1024), as 512m")]
    Size(String),
}

/// A year, longer than any run.
const DURATION_MAX: Duration = Duration::from_secs(365 * 24 * 3600);

/// Parses a duration in Go's notation: numbers with units, one after the other, as in `1m30s`. A
/// bare `0` is a duration too. A duration cannot be negative.
///
/// # Errors
/// When a number or its unit is missing, or the sum is longer than a year.
pub fn parse_duration(text: &str) -> Result<Duration, UnitError> {
    let length = duration::parse(text).ok();
    length
        .filter(|length| *length <= DURATION_MAX)
        .ok_or_else(|| UnitError::Duration(text.to_owned()))
}

/// Parses a size in Docker's notation: a number and one of b, k, m, g (powers of 1024, in either
/// case, optionally followed by `b` or `ib`). Without a unit, the number is in bytes.
///
/// # Errors
/// When there is no number, the unit does not exist, or the size is beyond 64 bits.
pub fn parse_size(text: &str) -> Result<u64, UnitError> {
    let malformed = || UnitError::Size(text.to_owned());
    let (number, unit) = leading_number(text).ok_or_else(malformed)?;
    let factor: f64 = match unit.trim().to_ascii_lowercase().as_str() {
        "" | "b" => 1.0,
        "k" | "kb" | "kib" => 1024.0,
        "m" | "mb" | "mib" => 1024.0 * 1024.0,
        "g" | "gb" | "gib" => 1024.0 * 1024.0 * 1024.0,
        _ => return Err(malformed()),
    };
    let bytes = number * factor;
    if bytes >= u64::MAX as f64 {
        return Err(malformed());
    }
    Ok(bytes as u64)
}

/// Splits off a decimal number without sign or exponent, and returns the rest.
fn leading_number(text: &str) -> Option<(f64, &str)> {
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    Some((text[..end].parse().ok()?, &text[end..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_read_as_go_reads_them() {
        let read = |text| parse_duration(text).map(|duration| duration.as_nanos());
        assert_eq!(read("20s"), Ok(20_000_000_000));
        assert_eq!(read("1m30s"), Ok(90_000_000_000));
        assert_eq!(read("1.5s"), Ok(1_500_000_000));
        assert_eq!(read("450ms"), Ok(450_000_000));
        assert_eq!(read("7us"), Ok(7_000));
        assert_eq!(read("7µs"), Ok(7_000));
        assert_eq!(read("3ns"), Ok(3));
        assert_eq!(read("2h"), Ok(7_200_000_000_000));
        assert_eq!(read("0"), Ok(0));
    }

    #[test]
    fn what_is_no_duration_is_refused() {
        for text in ["", "20", "s", "-1s", "1 s", "1.2.3s", "9999999h", "1e9s", "1x", ".s"] {
            assert_eq!(parse_duration(text), Err(UnitError::Duration(text.to_owned())));
        }
    }

    #[test]
    fn sizes_are_read_as_docker_reads_them() {
        assert_eq!(parse_size("512m"), Ok(512 << 20));
        assert_eq!(parse_size("1G"), Ok(1 << 30));
        assert_eq!(parse_size("64KiB"), Ok(64 << 10));
        assert_eq!(parse_size("1.07 MiB"), Ok(1_121_976));
        assert_eq!(parse_size("100"), Ok(100));
        for text in ["", "m", "-1m", "5x", "99999999999g"] {
            assert_eq!(parse_size(text), Err(UnitError::Size(text.to_owned())));
        }
    }
}
