//! Whether cells are measured by turns, in laps, and how long a lap is.

use super::parse_duration;
use std::str::FromStr;
use std::time::Duration;

/// A shorter lap would be made of its edges: calls that start together, and calls that are awaited.
pub const LAP_MIN: Duration = Duration::from_millis(10);

/// Whether cells are measured in laps.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LapSetting {
    /// Each cell in one window.
    #[default]
    Off,
    /// By turns, in laps of at least this length.
    Length(Duration),
}

impl LapSetting {
    /// The length of a lap, milliseconds.
    pub fn milliseconds(self) -> Option<u64> {
        match self {
            LapSetting::Off => None,
            LapSetting::Length(length) => u64::try_from(length.as_millis()).ok(),
        }
    }
}

impl FromStr for LapSetting {
    type Err = String;

    fn from_str(text: &str) -> Result<LapSetting, String> {
        if text == "off" {
            return Ok(LapSetting::Off);
        }
        let length = parse_duration(text).map_err(|error| error.to_string())?;
        let message = || format!("a lap of {text} is too short: give at least 10ms, or `off`");
        (length >= LAP_MIN).then_some(LapSetting::Length(length)).ok_or_else(message)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn laps_are_off_or_have_a_length() {
        let read = |text: &str| text.parse::<LapSetting>().map(LapSetting::milliseconds);
        assert_eq!(read("off"), Ok(None));
        assert_eq!(read("100ms"), Ok(Some(100)));
        assert_eq!(read("1.5s"), Ok(Some(1500)));
        assert!(read("9ms").is_err_and(|error| error.contains("at least 10ms")));
        assert!(read("on").is_err_and(|error| error.contains("is not a duration")));
    }
}
