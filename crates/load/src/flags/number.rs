//! Numbers on the command line.

use std::str::FromStr;

/// Reads a whole number.
///
/// # Errors
/// When the text is not a whole number, or one that `N` does not have.
pub fn whole<N: FromStr>(text: &str) -> Result<N, &'static str> {
    text.parse().map_err(|_| {
        let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
        let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
        let may_be_negative = "-1".parse::<N>().is_ok();
        match (is_number, text.starts_with('-')) {
            (false, _) => "not a whole number",
            (true, true) if !may_be_negative => "it is below zero",
            (true, true) => "too far below zero",
            (true, false) => "too large",
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_wrong_with_a_number_is_said() {
        assert_eq!([whole::<u16>("7"), whole("+7"), whole("65535")], [Ok(7), Ok(7), Ok(65_535)]);
        assert_eq!(whole::<i32>("-7"), Ok(-7));
        for text in ["", "-", "x", "1.5", "1e3", " 1", "-x", "0x10"] {
            assert_eq!(whole::<u16>(text), Err("not a whole number"), "{text}");
        }
        assert_eq!(whole::<u16>("65536"), Err("too large"));
        assert_eq!(whole::<u16>("-1"), Err("it is below zero"));
        assert_eq!(whole::<u16>("-0"), Err("it is below zero"));
        assert_eq!(whole::<i32>("-99999999999"), Err("too far below zero"));
        assert_eq!(whole::<i32>("99999999999"), Err("too large"));
    }
}
