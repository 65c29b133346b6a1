//! Points in time as they are stored and printed.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;
use std::time::{SystemTime, UNIX_EPOCH};

const DAY_MS: i64 = 24 * 3600 * 1000;

/// Milliseconds since 1970 in UTC. `Display` prints RFC 3339 to the second.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Timestamp(i64);

impl Timestamp {
    /// From milliseconds since 1970.
    pub fn from_unix_ms(unix_ms: i64) -> Self {
        Self(unix_ms)
    }

    /// Milliseconds since 1970.
    pub fn unix_ms(self) -> i64 {
        self.0
    }
}

impl From<SystemTime> for Timestamp {
    /// A clock that is set before 1970 counts as 1970.
    fn from(time: SystemTime) -> Self {
        let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
        Self(i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
    }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (year, month, day) = civil_from_days(self.0.div_euclid(DAY_MS));
        let second = self.0.rem_euclid(DAY_MS) / 1000;
        let (hour, minute, second) = (second / 3600, second / 60 % 60, second % 60);
        write!(f, "{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z")
    }
}

impl FromStr for Timestamp {
    type Err = &'static str;

    /// Reads what `Display` prints.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        const EXPECTED: &str = "not a time like 2024-01-31T00:00:00Z";
        let number = |from: usize, to: usize| {
            let digits = text.get(from..to)?;
            digits.bytes().all(|byte| byte.is_ascii_digit()).then(|| digits.parse::<i64>().ok())?
        };
        let parts =
            [(0, 4), (5, 7), (8, 10), (11, 13), (14, 16), (17, 19)].map(|(a, b)| number(a, b));
        let [Some(year), Some(month), Some(day), Some(hour), Some(minute), Some(second)] = parts
        else {
            return Err(EXPECTED);
        };
        let time = Self(
            (days_from_civil(year, month, day) * 86_400 + hour * 3600 + minute * 60 + second)
                * 1000,
        );
        if time.to_string() == text { Ok(time) } else { Err(EXPECTED) }
    }
}

/// Days from 1970-01-01 to a day: the inverse of [`civil_from_days`].
fn days_from_civil(year: i64, month: i64, day: i64) -> i64 {
    let year = year - i64::from(month <= 2);
    let (era, year_of_era) = (year.div_euclid(400), year.rem_euclid(400));
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    era * 146_097 + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year - 719_468
}

/// Nanoseconds since 1970 in UTC. `Display` prints RFC 3339 to the nanosecond, as Go writes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TimestampNs(pub u64);

impl fmt::Display for TimestampNs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(TimestampText::default().of(*self))
    }
}

/// Prints one time after another. Times of the same second share its text, so that each costs only
/// its nanoseconds.
#[derive(Clone, Debug, Default)]
pub struct TimestampText {
    /// The second whose text is kept, since 1970.
    second: Option<u64>,
    /// The last time. It begins with that second, whose length is stored here.
    text: String,
    second_bytes: usize,
}

impl TimestampText {
    /// What [`TimestampNs`] prints.
    pub fn of(&mut self, time: TimestampNs) -> &str {
        const SECOND_NS: u64 = 1_000_000_000;
        let second = time.0 / SECOND_NS;
        if self.second != Some(second) {
            self.second = Some(second);
            self.text = Timestamp((second * 1000) as i64).to_string();
            self.second_bytes = self.text.trim_end_matches('Z').len();
        }
        self.text.truncate(self.second_bytes);
        push_fraction(&mut self.text, (time.0 % SECOND_NS) as u32);
        self.text.push('Z');
        &self.text
    }
}

/// The point and the digits behind it, without zeros at the end.
fn push_fraction(text: &mut String, mut fraction_ns: u32) {
    let mut digits = *b".000000000";
    for digit in digits[1..].iter_mut().rev() {
        *digit = b'0' + (fraction_ns % 10) as u8;
        fraction_ns /= 10;
    }
    let digits = str::from_utf8(&digits).expect("digits are ASCII");
    text.push_str(digits.trim_end_matches('0').trim_end_matches('.'));
}

impl FromStr for TimestampNs {
    type Err = &'static str;

    /// Reads what `Display` prints.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        const EXPECTED: &str = "not a time like 2024-01-31T00:00:00.123456789Z";
        let whole = text.strip_suffix('Z').ok_or(EXPECTED)?;
        let (second, fraction) = whole.split_once('.').unwrap_or((whole, ""));
        let second: Timestamp = format!("{second}Z").parse().map_err(|_| EXPECTED)?;
        let fraction = format!("{fraction:0<9}").parse::<u64>().map_err(|_| EXPECTED)?;
        let second_ns = u64::try_from(second.unix_ms()).map_err(|_| EXPECTED)? * 1_000_000;
        let time = Self(second_ns + fraction);
        if time.to_string() == text { Ok(time) } else { Err(EXPECTED) }
    }
}

/// Year, month and day of a day counted from 1970-01-01 (Hinnant's algorithm: years begin in
/// March, so that the leap day is the last, and come in eras of 400).
fn civil_from_days(days: i64) -> (i64, i64, i64) {
    const ERA_DAYS: i64 = 146_097;
    let days = days + 719_468;
    let era = days.div_euclid(ERA_DAYS);
    let day_of_era = days.rem_euclid(ERA_DAYS);
    let year_of_era =
        (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted_month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * shifted_month + 2) / 5 + 1;
    let month = (shifted_month + 2) % 12 + 1;
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    (year, month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_those_of_the_calendar() {
        // `date -u -d DATE +%s` of GNU coreutils.
        let known = [
            (0, "1970-01-01T00:00:00Z"),
            (951_782_399, "2000-02-28T23:59:59Z"),
            (951_782_400, "2000-02-29T00:00:00Z"),
            (1_234_567_890, "2009-02-13T23:31:30Z"),
            (1_709_210_096, "2024-02-29T12:34:56Z"),
            (1_735_689_599, "2024-12-31T23:59:59Z"),
            (4_107_542_400, "2100-03-01T00:00:00Z"),
            (-1, "1969-12-31T23:59:59Z"),
        ];
        for (second, expected) in known {
            assert_eq!(Timestamp::from_unix_ms(second * 1000).to_string(), expected);
        }
    }

    #[test]
    fn nanoseconds_are_read_as_they_are_printed() {
        for time in [0, 1, 500_000_000, 1_795_605_397_000_000_000, 1_795_605_397_011_257_669] {
            assert_eq!(TimestampNs(time).to_string().parse(), Ok(TimestampNs(time)));
        }
        for text in
            ["", "Z", "1970-01-01T00:00:00", "1970-01-01T00:00:00.x1Z", "1969-12-31T23:59:59Z"]
        {
            assert!(text.parse::<TimestampNs>().is_err(), "{text}");
        }
    }

    #[test]
    fn a_time_is_printed_alike_after_any_other() {
        let times = [
            (0, "1970-01-01T00:00:00Z"),
            (1_795_605_397_011_257_669, "2026-11-25T11:16:37.011257669Z"),
            (1_795_605_397_900_000_000, "2026-11-25T11:16:37.9Z"),
            (1_795_605_397_000_000_000, "2026-11-25T11:16:37Z"),
            (1_795_605_397_000_000_001, "2026-11-25T11:16:37.000000001Z"),
            (1_795_605_398_000_000_010, "2026-11-25T11:16:38.00000001Z"),
            (1_795_605_397_120_000_000, "2026-11-25T11:16:37.12Z"),
        ];
        let mut text = TimestampText::default();
        for (time, expected) in times {
            assert_eq!(text.of(TimestampNs(time)), expected);
            assert_eq!(TimestampNs(time).to_string(), expected);
        }
    }

    #[test]
    fn every_day_of_four_centuries_follows_the_one_before() {
        let mut expected = (1970, 1, 1);
        for day in 0..146_097 {
            assert_eq!(civil_from_days(day), expected);
            expected = next(expected);
        }
    }

    fn next((year, month, day): (i64, i64, i64)) -> (i64, i64, i64) {
        let is_leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
        let days = match month {
            2 => 28 + i64::from(is_leap),
            4 | 6 | 9 | 11 => 30,
            _ => 31,
        };
        match (day == days, month) {
            (false, _) => (year, month, day + 1),
            (true, 12) => (year + 1, 1, 1),
            (true, _) => (year, month + 1, 1),
        }
    }
}
