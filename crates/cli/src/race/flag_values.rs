//! Values of flags of `bookend race`, as typed.

use bookend_contract::{duration, secrets};
use bookend_load::flags::whole;
use bookend_results::race::STARTS_MIN;
use std::time::Duration;

/// One start, or enough of them for an interval.
///
/// # Errors
/// It is neither.
pub fn starts(text: &str) -> Result<u32, String> {
    let starts = whole::<u32>(text)?;
    if starts != 1 && u64::from(starts) < STARTS_MIN {
        return Err(format!("an interval needs {STARTS_MIN} starts, or 1 with all its rounds"));
    }
    Ok(starts)
}

/// `NAME=VALUE`, with a name that a shell takes.
///
/// # Errors
/// It has no such name.
pub fn variable(text: &str) -> Result<(String, String), String> {
    let fits = |name: &str| {
        let is_letter = |letter: char| letter == '_' || letter.is_ascii_alphabetic();
        let is_part = |letter: char| is_letter(letter) || letter.is_ascii_digit();
        name.starts_with(is_letter) && name.chars().all(is_part)
    };
    text.split_once('=')
        .filter(|(name, _)| fits(name))
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .ok_or_else(|| format!("\"{}\" is no variable: write NAME=VALUE", unnamed(text)))
}

/// A value of `--env` that is refused. One without a name may be a secret as a whole.
fn unnamed(text: &str) -> String {
    if text.contains('=') { secrets::in_command(text) } else { secrets::masked(text) }
}

/// How long a lap is: the contract with whatever makes the calls tells it in milliseconds.
///
/// # Errors
/// It is no whole number of milliseconds.
pub fn lap_length(text: &str) -> Result<Duration, String> {
    let length = duration::parse(text).map_err(|error| error.to_string())?;
    let is_whole = length.subsec_nanos() % 1_000_000 == 0;
    match is_whole && !length.is_zero() {
        true => Ok(length),
        false => Err("a lap is a whole number of milliseconds, and at least one".to_owned()),
    }
}

/// `1%` or `0.01`.
///
/// # Errors
/// It is no share.
pub fn share(text: &str) -> Result<f64, String> {
    let (number, unit) = match text.strip_suffix('%') {
        Some(number) => (number, 0.01),
        None => (text, 1.0),
    };
    number
        .trim()
        .parse::<f64>()
        .ok()
        .map(|number| number * unit)
        .filter(|share| *share > 0.0 && *share < 1.0)
        .ok_or_else(|| format!("\"{text}\" is not a share: write one like 1% or 0.01"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lap_is_as_long_as_whatever_makes_its_calls_can_be_told() {
        for (text, length_ms) in [("1ms", 1), ("100ms", 100), ("1.5s", 1_500)] {
            assert_eq!(lap_length(text).map(|length| length.as_millis()), Ok(length_ms), "{text}");
        }
        for text in ["0", "0s", "999us", "1500us", "1ns", "x"] {
            assert!(lap_length(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_share_is_a_percentage_or_a_fraction() {
        assert_eq!(share("1%"), Ok(0.01));
        assert_eq!(share("0.25"), Ok(0.25));
        for text in ["", "%", "1", "0%", "-1%", "200%", "nan", "x%"] {
            assert!(share(text).is_err(), "{text}");
        }
    }
}
