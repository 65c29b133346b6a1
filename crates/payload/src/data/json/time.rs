//! The texts of timestamps, durations and field masks.

use prost_types::Timestamp;

/// From the year 1 to the year 9999.
const TIMESTAMP_SECONDS: std::ops::RangeInclusive<i64> = -62_135_596_800..=253_402_300_799;
/// Ten thousand years.
const MOST_DURATION_SECONDS: i64 = 315_576_000_000;
/// Digits behind the point that a number of nanoseconds has.
const NANO_DIGITS: usize = 9;

/// Seconds since 1970 and nanoseconds, of a text as RFC 3339 has it with `T` and `Z` in capitals.
pub(super) fn timestamp(text: &str) -> Option<(i64, i32)> {
    let (local, offset_s) = offset(text)?;
    let (date, time) = local.split_once('T')?;
    let (clock, nanos) = match time.split_once('.') {
        Some((clock, fraction)) if !fraction.is_empty() => (clock, nanos(fraction)?),
        Some(_) => return None,
        None => (time, 0),
    };
    // Go and Python read an hour of one digit.
    let clock = if clock.find(':') == Some(1) { format!("0{clock}") } else { clock.to_owned() };
    // The library also reads forms that protobuf does not have.
    let is_strict = has_shape(date, "0000-00-00") && has_shape(&clock, "00:00:00");
    if !is_strict || clock.ends_with("60") {
        return None;
    }
    let utc: Timestamp = format!("{date}T{clock}Z").parse().ok()?;
    let seconds = utc.seconds - offset_s;
    TIMESTAMP_SECONDS.contains(&seconds).then_some((seconds, nanos))
}

/// A text without its offset from UTC, and that in seconds.
fn offset(text: &str) -> Option<(&str, i64)> {
    if let Some(utc) = text.strip_suffix('Z') {
        return Some((utc, 0));
    }
    let (local, offset) = text.split_at_checked(text.len().checked_sub("+00:00".len())?)?;
    let sign = match offset.as_bytes()[0] {
        b'+' => 1,
        b'-' => -1,
        _ => return None,
    };
    let (hours, minutes) = offset[1..].split_once(':').filter(|_| has_shape(offset, "+00:00"))?;
    let (hours, minutes): (i64, i64) = (hours.parse().ok()?, minutes.parse().ok()?);
    (hours < 24 && minutes < 60).then_some((local, sign * (hours * 60 + minutes) * 60))
}

/// Whether a text has digits where the other has zeros, and is the same elsewhere but for its sign.
fn has_shape(text: &str, shape: &str) -> bool {
    let alike = |(byte, of_shape): (u8, u8)| match of_shape {
        b'0' => byte.is_ascii_digit(),
        b'+' => byte == b'+' || byte == b'-',
        _ => byte == of_shape,
    };
    text.len() == shape.len() && text.bytes().zip(shape.bytes()).all(alike)
}

/// The digits behind a point as nanoseconds.
fn nanos(fraction: &str) -> Option<i32> {
    let digits = fraction.len() <= NANO_DIGITS && fraction.bytes().all(|it| it.is_ascii_digit());
    let padded = digits.then(|| format!("{fraction:0<NANO_DIGITS$}"))?;
    padded.parse().ok()
}

/// Seconds and nanoseconds, both of one sign.
pub(super) fn duration(text: &str) -> Option<(i64, i32)> {
    let number = text.strip_suffix('s')?;
    let sign = if number.starts_with('-') { -1 } else { 1 };
    let number = number.strip_prefix(['-', '+']).unwrap_or(number);
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    let is_whole = whole.bytes().all(|byte| byte.is_ascii_digit())
        && (whole.len() < 2 || !whole.starts_with('0'));
    if !is_whole || whole.len() + fraction.len() == 0 {
        return None;
    }
    let seconds: i64 = if whole.is_empty() { 0 } else { whole.parse().ok()? };
    let nanos = nanos(fraction)?;
    (seconds <= MOST_DURATION_SECONDS).then_some((i64::from(sign) * seconds, sign * nanos))
}

/// The paths of a field mask, as names are written in `.proto` files.
///
/// # Errors
/// The path that is not valid.
pub(super) fn field_mask(text: &str) -> Result<Vec<String>, &str> {
    let text = text.trim();
    if text.is_empty() {
        return Ok(Vec::new());
    }
    text.split(',').map(|path| snake_case(path).ok_or(path)).collect()
}

fn snake_case(path: &str) -> Option<String> {
    let mut snake = String::with_capacity(path.len());
    for letter in path.chars() {
        if letter.is_ascii_uppercase() {
            snake.push('_');
        }
        snake.push(letter.to_ascii_lowercase());
    }
    let is_name = |name: &str| {
        name.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_')
            && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
    };
    // An underscore would not come back from camel case.
    (!path.contains('_') && snake.split('.').all(is_name)).then_some(snake)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_timestamp_is_a_moment_of_a_day_that_there_is() {
        assert_eq!(timestamp("1970-01-01T00:00:01.5Z"), Some((1, 500_000_000)));
        assert_eq!(timestamp("1970-01-01T01:00:00+01:00"), Some((0, 0)));
        assert_eq!(timestamp("1969-12-31T23:59:59.000000001-00:01"), Some((59, 1)));
        assert_eq!(timestamp("0001-01-01T00:00:00Z"), Some((-62_135_596_800, 0)));
        for text in [
            "0001-01-01T00:00:00+00:01",
            "9999-12-31T23:59:59-00:01",
            "2016-12-31T23:59:60Z",
            "2016-02-30T00:00:00Z",
            "2016-12-31t23:59:59Z",
            "2016-12-31T23:59:59z",
            "2016-12-31 23:59:59Z",
            "2016-12-31T23:59Z",
            "2016-12-31T24:00:00Z",
            "2016-12-31T23:59:59",
            "2016-12-31T23:59:59.Z",
            "2016-12-31T23:59:59.1234567890Z",
            "2016-12-31T23:59:59+0100",
            "2016-12-31T23:59:59+24:00",
            "2016-12-31T23:59:59+00:60",
            "2016-12-31T23:59:59\u{e9}",
            "",
        ] {
            assert_eq!(timestamp(text), None, "{text}");
        }
    }

    #[test]
    fn a_duration_has_seconds_and_no_more_than_nine_digits_behind_them() {
        assert_eq!(duration("1.5s"), Some((1, 500_000_000)));
        assert_eq!(duration("-0.000000001s"), Some((0, -1)));
        assert_eq!(duration("+315576000000s"), Some((315_576_000_000, 0)));
        assert_eq!(duration(".5s"), Some((0, 500_000_000)));
        for text in ["", "s", "-s", ".s", "1", "1 s", "01s", "1e3s", "315576000001s", "1.5.5s"] {
            assert_eq!(duration(text), None, "{text}");
        }
        assert_eq!(duration("1.1234567890s"), None);
    }

    #[test]
    fn a_field_mask_has_paths_in_camel_case() {
        let paths = field_mask("fooBar,a.b1").map(|paths| paths.join(" "));
        assert_eq!(paths, Ok("foo_bar a.b1".to_owned()));
        assert_eq!(field_mask(""), Ok(Vec::new()));
        for (text, wrong) in [("a,,b", ""), ("foo_bar", "foo_bar"), ("a,b..c", "b..c"), ("1", "1")]
        {
            assert_eq!(field_mask(text), Err(wrong));
        }
    }
}
