//! Numbers as JSON writes them, in quotation marks or without.

use serde::de::IgnoredAny;

/// Why a number is not the integer that it should be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NoInteger {
    Fraction,
    TooLarge,
}

/// More digits than the largest integer of 64 bits has.
const MOST_DIGITS: usize = 20;

/// Whether a text is a number of JSON and nothing else.
pub(super) fn is_number(text: &str) -> bool {
    let bytes = text.as_bytes();
    bytes.first().is_some_and(|byte| *byte == b'-' || byte.is_ascii_digit())
        && bytes.last().is_some_and(u8::is_ascii_digit)
        && serde_json::from_str::<IgnoredAny>(text).is_ok()
}

/// The value of a number without a fraction, however it is written: `1000`, `1e3`, `1000.0`.
///
/// # Errors
/// Where there is a fraction, or where it is in no integer's range.
pub(crate) fn integer(number: &str) -> Result<i128, NoInteger> {
    if let Ok(small) = number.parse::<i64>() {
        return Ok(i128::from(small));
    }
    let (sign, number) = match number.strip_prefix('-') {
        Some(rest) => (-1, rest),
        None => (1, number),
    };
    let (mantissa, exponent) = number.split_once(['e', 'E']).unwrap_or((number, "0"));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let (whole, fraction) = (whole.trim_start_matches('0'), fraction.trim_end_matches('0'));
    if whole.is_empty() && fraction.is_empty() {
        return Ok(0);
    }
    let exponent: i32 = exponent.parse().map_err(|_| NoInteger::TooLarge)?;
    // Where the point is among all digits.
    let point = whole.len() as i64 + i64::from(exponent);
    let digits = [whole, fraction].concat();
    let digits = digits.trim_end_matches('0');
    if point < digits.len() as i64 {
        return Err(NoInteger::Fraction);
    }
    if point > MOST_DIGITS as i64 {
        return Err(NoInteger::TooLarge);
    }
    let digits = format!("{digits:0<width$}", width = point as usize);
    digits.parse::<i128>().map(|value| sign * value).map_err(|_| NoInteger::TooLarge)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_integer_may_be_written_with_a_point_or_an_exponent() {
        for (text, value) in [
            ("0", 0),
            ("-0", 0),
            ("-0.0e99", 0),
            ("1.0", 1),
            ("1e3", 1_000),
            ("1.50e1", 15),
            ("-1200E-2", -12),
            ("0.0001e4", 1),
            ("18446744073709551615", 18_446_744_073_709_551_615),
            ("1.8446744073709551615e19", 18_446_744_073_709_551_615),
            ("9007199254740993.000", 9_007_199_254_740_993),
        ] {
            assert_eq!(integer(text), Ok(value), "{text}");
        }
    }

    #[test]
    fn a_fraction_is_not_dropped_nor_a_size() {
        for text in ["1.5", "1e-1", "0.5e0", "12e-400", "1.000000000000000000001"] {
            assert_eq!(integer(text), Err(NoInteger::Fraction), "{text}");
        }
        for text in ["1e400", "1e99999999999999", "-123456789012345678901"] {
            assert_eq!(integer(text), Err(NoInteger::TooLarge), "{text}");
        }
    }

    #[test]
    fn in_quotation_marks_stands_a_number_and_nothing_else() {
        for text in ["1", "-0", "1e3", "1.5E-7"] {
            assert!(is_number(text), "{text}");
        }
        for text in ["", " 1", "1 ", "+1", "01", "0x1", "1.", "1e", ".5", "1_0", "NaN", "\"1\""] {
            assert!(!is_number(text), "{text}");
        }
    }
}
