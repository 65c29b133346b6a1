//! The lines that a measured process prints on standard output, one fact on each.

use crate::code;
use crate::count::{self, TooMany};
use crate::in_flight::InFlightAtEnd;
use crate::laps::{LapFigures, RatedCalls};
use crate::printable;
use crate::report::LoadReport;
use std::fmt;
use std::str::FromStr;

/// A line longer than this is junk. A `report` carries one HDR histogram: at three significant
/// digits it stays below 400 KiB even when every bucket is used.
pub const LINE_LIMIT_BYTES: usize = 4 * 1024 * 1024;

/// A longer name of a note would be a sentence.
pub const NOTE_NAME_LIMIT_BYTES: usize = 64;

/// Notes of one process that are kept; a process with more is logging.
pub const NOTES_LIMIT: usize = 64;

/// How much of a malformed line an error shows.
const SHOWN_CHARS: usize = 80;

/// One line of a measured process. `Display` writes it, `FromStr` reads it.
#[derive(Clone, Debug, PartialEq)]
pub enum Line {
    /// `ready PORT`: the server listens on that port of the IPv4 loopback, or, with 0, on the Unix
    /// socket of its environment. The line itself does not show whether there is one.
    Ready(u16),
    /// `served N`: calls that the server answered, printed at its end.
    Served(u64),
    /// `window start`: the measured window begins now.
    WindowStart,
    /// `window end`: the measured window is over; calls in flight may still be drained.
    WindowEnd,
    /// `LATENCY_NS COUNT`: that many answered calls of the window took that long.
    Latency {
        /// Nanoseconds from actual start to end.
        latency_ns: u64,
        /// Calls with that latency.
        count: u64,
    },
    /// `warmup N`: calls answered before the window.
    Warmup(u64),
    /// `ok N`: calls answered with status OK inside the window.
    Ok(u64),
    /// `error CODE N`: calls that ended with that gRPC code name, such as `UNAVAILABLE`.
    Error {
        /// The gRPC status code's name.
        code: String,
        /// Calls that ended so.
        count: u64,
    },
    /// `drained N`: calls answered after the window, printed by processes that can tell them apart
    /// from `unfinished`.
    Drained(u64),
    /// `unfinished N`: calls sent that are in none of the other lines: without an answer when the
    /// process stopped waiting, or failed outside the window.
    Unfinished(u64),
    /// `in_flight CALLS MEAN_AGE_NS MAX_AGE_NS`: calls in flight when the window ended, however
    /// they ended later, and how long they had been.
    InFlight(InFlightAtEnd),
    /// `lap OK FAILED LENGTH_NS [DUE HELD_BACK LAG_NS P50_NS P99_NS]`: what was called in a lap, in
    /// answer to its [`LapCommand`](crate::laps::LapCommand).
    Lap(LapFigures),
    /// `note NAME NUMBER`: a fact in addition to the figures, such as `note goroutines_peak 10012`.
    Note {
        /// Lower-case words joined by `_`, the unit last.
        name: String,
        /// In the unit that the name says; never negative.
        value: f64,
    },
    /// `report JSON`: the whole [`LoadReport`] on one line, printed by processes that have one.
    Report(Box<LoadReport>),
}

/// A line that the contract does not have: the fault of the process that printed it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("standard output is not of the contract: {line:?}: {kind}")]
pub struct LineError {
    /// The line, cut after 80 characters.
    pub line: String,
    /// What is wrong with it.
    pub kind: LineErrorKind,
}

/// What is wrong with a line.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LineErrorKind {
    /// It begins like none of the contract's lines.
    #[error("no line begins like this")]
    UnknownWord,
    /// A number is missing, is not written in digits, or is too large.
    #[error("a number is missing, too large or not written in digits")]
    BadNumber,
    /// A count of calls is above [`count::COUNT_MAX`].
    #[error("{TooMany}")]
    TooMany,
    /// The code after `error` is not the name of a gRPC status code, or it is `OK`.
    #[error("no such gRPC error code")]
    UnknownCode,
    /// The name after `note` is not made of lower-case words joined by `_`.
    #[error("a note's name is lower-case words joined by _, as gc_pause_max_ns")]
    BadName,
    /// There is more on the line than the contract allows.
    #[error("too many words")]
    TooManyWords,
    /// The JSON after `report` cannot be read; the text is the JSON reader's.
    #[error("the report cannot be read: {0}")]
    BadReport(String),
}

impl fmt::Display for Line {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Line::Ready(port) => write!(out, "ready {port}"),
            Line::Served(count) => write!(out, "served {count}"),
            Line::WindowStart => out.write_str("window start"),
            Line::WindowEnd => out.write_str("window end"),
            Line::Latency { latency_ns, count } => write!(out, "{latency_ns} {count}"),
            Line::Warmup(count) => write!(out, "warmup {count}"),
            Line::Ok(count) => write!(out, "ok {count}"),
            Line::Error { code, count } => write!(out, "error {code} {count}"),
            Line::Drained(count) => write!(out, "drained {count}"),
            Line::Unfinished(count) => write!(out, "unfinished {count}"),
            Line::InFlight(InFlightAtEnd { calls, age_mean_ns, age_max_ns }) => {
                write!(out, "in_flight {calls} {age_mean_ns} {age_max_ns}")
            }
            Line::Lap(LapFigures { ok, failed, length_ns, rated }) => {
                write!(out, "lap {ok} {failed} {length_ns}")?;
                let Some(RatedCalls { due, held_back, lag_ns, p50_ns, p99_ns }) = rated else {
                    return Ok(());
                };
                write!(out, " {due} {held_back} {lag_ns} {p50_ns} {p99_ns}")
            }
            Line::Note { name, value } => write!(out, "note {name} {value}"),
            Line::Report(report) => {
                let json = serde_json::to_string(report).map_err(|_| fmt::Error)?;
                write!(out, "report {}", printable::json(&json))
            }
        }
    }
}

impl FromStr for Line {
    type Err = LineError;

    fn from_str(text: &str) -> Result<Line, LineError> {
        let text = text.trim_end_matches(['\r', '\n']);
        parse(text).map_err(|kind| LineError { line: shortened(text), kind })
    }
}

fn parse(text: &str) -> Result<Line, LineErrorKind> {
    if let Some(json) = text.strip_prefix("report ") {
        let report = serde_json::from_str(json)
            .map_err(|error| LineErrorKind::BadReport(error.to_string()))?;
        return Ok(Line::Report(Box::new(report)));
    }
    let mut words = text.split_ascii_whitespace();
    let line = parse_words(&mut words)?;
    match words.next() {
        None => Ok(line),
        Some(_) => Err(LineErrorKind::TooManyWords),
    }
}

fn parse_words<'a>(words: &mut impl Iterator<Item = &'a str>) -> Result<Line, LineErrorKind> {
    let first = words.next().ok_or(LineErrorKind::UnknownWord)?;
    match first {
        "ready" => Ok(Line::Ready(parse_port(words.next())?)),
        "served" => Ok(Line::Served(parse_count(words.next())?)),
        "window" => parse_window(words.next()),
        "warmup" => Ok(Line::Warmup(parse_count(words.next())?)),
        "ok" => Ok(Line::Ok(parse_count(words.next())?)),
        "error" => parse_error(words.next(), words.next()),
        "drained" => Ok(Line::Drained(parse_count(words.next())?)),
        "unfinished" => Ok(Line::Unfinished(parse_count(words.next())?)),
        "in_flight" => Ok(Line::InFlight(InFlightAtEnd {
            calls: parse_count(words.next())?,
            age_mean_ns: parse_number(words.next())?,
            age_max_ns: parse_number(words.next())?,
        })),
        "lap" => Ok(Line::Lap(LapFigures {
            ok: parse_count(words.next())?,
            failed: parse_count(words.next())?,
            length_ns: parse_number(words.next())?,
            rated: words.next().map(|due| parse_rated(due, words)).transpose()?,
        })),
        "note" => parse_note(words.next(), words.next()),
        number if number.starts_with(|first: char| first.is_ascii_digit()) => Ok(Line::Latency {
            latency_ns: parse_number(Some(number))?,
            count: parse_count(words.next())?,
        }),
        _ => Err(LineErrorKind::UnknownWord),
    }
}

/// All of it or nothing: a part of it is more than a lap without a rate has.
fn parse_rated<'a>(
    due: &str,
    words: &mut impl Iterator<Item = &'a str>,
) -> Result<RatedCalls, LineErrorKind> {
    let mut next = || words.next().ok_or(LineErrorKind::TooManyWords).map(Some);
    Ok(RatedCalls {
        due: parse_count(Some(due))?,
        held_back: parse_count(next()?)?,
        lag_ns: parse_number(next()?)?,
        p50_ns: parse_number(next()?)?,
        p99_ns: parse_number(next()?)?,
    })
}

fn parse_window(word: Option<&str>) -> Result<Line, LineErrorKind> {
    match word {
        Some("start") => Ok(Line::WindowStart),
        Some("end") => Ok(Line::WindowEnd),
        _ => Err(LineErrorKind::UnknownWord),
    }
}

fn parse_error(name: Option<&str>, count: Option<&str>) -> Result<Line, LineErrorKind> {
    let code = name.ok_or(LineErrorKind::UnknownCode)?;
    match code::number(code) {
        None | Some(0) => Err(LineErrorKind::UnknownCode),
        Some(_) => Ok(Line::Error { code: code.to_owned(), count: parse_count(count)? }),
    }
}

fn parse_note(name: Option<&str>, value: Option<&str>) -> Result<Line, LineErrorKind> {
    let checked = name.filter(|name| is_note_name(name)).ok_or(LineErrorKind::BadName)?;
    Ok(Line::Note { name: checked.to_owned(), value: parse_decimal(value)? })
}

/// Whether a note may have this name: lower-case words joined by `_`.
pub fn is_note_name(name: &str) -> bool {
    let is_word = |word: &str| {
        let fits = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
        !word.is_empty() && word.bytes().all(fits)
    };
    let begins = name.starts_with(|first: char| first.is_ascii_lowercase());
    begins && name.len() <= NOTE_NAME_LIMIT_BYTES && name.split('_').all(is_word)
}

/// Digits, and at most one point between them: no sign, no exponent, no infinity.
fn parse_decimal(word: Option<&str>) -> Result<f64, LineErrorKind> {
    let text = word.ok_or(LineErrorKind::BadNumber)?;
    let is_digits = |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit());
    let fits = match text.split_once('.') {
        Some((whole, fraction)) => is_digits(whole) && is_digits(fraction),
        None => is_digits(text),
    };
    text.parse()
        .ok()
        .filter(|value: &f64| fits && value.is_finite())
        .ok_or(LineErrorKind::BadNumber)
}

fn parse_port(word: Option<&str>) -> Result<u16, LineErrorKind> {
    u16::try_from(parse_number(word)?).map_err(|_| LineErrorKind::BadNumber)
}

fn parse_number(word: Option<&str>) -> Result<u64, LineErrorKind> {
    // `u64::from_str` would take a leading plus sign.
    word.filter(|word| word.bytes().all(|byte| byte.is_ascii_digit()))
        .and_then(|digits| digits.parse().ok())
        .ok_or(LineErrorKind::BadNumber)
}

fn parse_count(word: Option<&str>) -> Result<u64, LineErrorKind> {
    count::checked(parse_number(word)?).map_err(|TooMany| LineErrorKind::TooMany)
}

fn shortened(text: &str) -> String {
    let mut shown: String = text.chars().take(SHOWN_CHARS).collect();
    if text.chars().nth(SHOWN_CHARS).is_some() {
        shown.push('…');
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::tests::example;

    fn every_line() -> Vec<(Line, &'static str)> {
        vec![
            (Line::Ready(43127), "ready 43127"),
            (Line::Ready(0), "ready 0"),
            (Line::Served(0), "served 0"),
            (Line::WindowStart, "window start"),
            (Line::WindowEnd, "window end"),
            (Line::Latency { latency_ns: 1500, count: 3 }, "1500 3"),
            (Line::Warmup(17), "warmup 17"),
            (Line::Ok(1 << 53), "ok 9007199254740992"),
            (Line::Error { code: "UNAVAILABLE".to_owned(), count: 2 }, "error UNAVAILABLE 2"),
            (Line::Drained(100), "drained 100"),
            (Line::Unfinished(1), "unfinished 1"),
            (
                Line::InFlight(InFlightAtEnd { calls: 7, age_mean_ns: 40, age_max_ns: 90 }),
                "in_flight 7 40 90",
            ),
            (lap(None), "lap 7 0 101"),
            (lap(Some(RATED)), "lap 7 0 101 20 1 30 40 90"),
            (note("connections_accepted", 64.0), "note connections_accepted 64"),
            (note("gc_share", 0.125), "note gc_share 0.125"),
        ]
    }

    const RATED: RatedCalls =
        RatedCalls { due: 20, held_back: 1, lag_ns: 30, p50_ns: 40, p99_ns: 90 };

    fn lap(rated: Option<RatedCalls>) -> Line {
        Line::Lap(LapFigures { ok: 7, failed: 0, length_ns: 101, rated })
    }

    fn note(name: &str, value: f64) -> Line {
        let name = name.to_owned();
        Line::Note { name, value }
    }

    fn kind_of(text: &str) -> LineErrorKind {
        text.parse::<Line>().unwrap_err().kind
    }

    #[test]
    fn every_line_reads_as_it_is_written() {
        for (line, text) in every_line() {
            assert_eq!(line.to_string(), text);
            assert_eq!(text.parse(), Ok(line.clone()));
            assert_eq!(format!("{text}\r\n").parse(), Ok(line));
        }
    }

    #[test]
    fn a_report_is_one_line_and_comes_back_whole() {
        let line = Line::Report(Box::new(example()));
        let text = line.to_string();
        assert!(!text.contains('\n'));
        assert_eq!(text.parse(), Ok(line));
    }

    #[test]
    fn the_rate_of_a_lap_has_all_its_numbers_or_none() {
        let words: Vec<&str> = "lap 7 0 101 20 1 30 40 90".split(' ').collect();
        for count in 0..words.len() {
            let is_whole = words[..count].join(" ").parse::<Line>().is_ok();
            assert_eq!(is_whole, count == 4, "{:?}", &words[..count]);
        }
        for (text, kind) in [
            ("lap 7 0 101 20 1 30 40 90 1", LineErrorKind::TooManyWords),
            ("lap 7 0 101 20 1 30 40 -9", LineErrorKind::BadNumber),
            ("lap 7 0 101 +20 1 30 40 90", LineErrorKind::BadNumber),
            ("lap 7 0 101 9007199254740993 1 30 40 90", LineErrorKind::TooMany),
        ] {
            assert_eq!(kind_of(text), kind, "{text}");
        }
    }

    #[test]
    fn no_shorter_part_of_a_line_is_taken_for_another_kind() {
        for (line, text) in every_line() {
            for end in 0..text.len() {
                if let Ok(part) = text[..end].parse::<Line>() {
                    let same = std::mem::discriminant(&part) == std::mem::discriminant(&line);
                    assert!(same, "{:?}", &text[..end]);
                }
            }
        }
    }

    #[test]
    fn junk_is_an_error_that_says_what_is_wrong() {
        assert_eq!(kind_of(""), LineErrorKind::UnknownWord);
        assert_eq!(kind_of("Server listening"), LineErrorKind::UnknownWord);
        assert_eq!(kind_of("window"), LineErrorKind::UnknownWord);
        assert_eq!(kind_of("ready"), LineErrorKind::BadNumber);
        assert_eq!(kind_of("ready -0"), LineErrorKind::BadNumber);
        assert_eq!(kind_of("ready 65536"), LineErrorKind::BadNumber);
        assert_eq!(kind_of("ok -1"), LineErrorKind::BadNumber);
        assert_eq!(kind_of("ok +1"), LineErrorKind::BadNumber);
        assert_eq!(kind_of("ok 1.5"), LineErrorKind::BadNumber);
        assert_eq!(kind_of("ok 18446744073709551616"), LineErrorKind::BadNumber);
        assert_eq!(kind_of("1500"), LineErrorKind::BadNumber);
        assert_eq!(kind_of("error TIRED 1"), LineErrorKind::UnknownCode);
        assert_eq!(kind_of("error OK 1"), LineErrorKind::UnknownCode);
        assert_eq!(kind_of("in_flight 1 2"), LineErrorKind::BadNumber);
        assert_eq!(kind_of("lap 1 2"), LineErrorKind::BadNumber);
        assert_eq!(kind_of("lap 1 2 3 4"), LineErrorKind::TooManyWords);
        assert_eq!(kind_of("ok 1 2"), LineErrorKind::TooManyWords);
        assert!(matches!(kind_of("report {}"), LineErrorKind::BadReport(_)));
    }

    #[test]
    fn a_count_beyond_all_reason_is_the_printers_fault() {
        for line in [
            "served #",
            "warmup #",
            "ok #",
            "error ABORTED #",
            "drained #",
            "unfinished #",
            "in_flight # 1 1",
            "lap # 0 1",
            "lap 0 # 1",
            "7 #",
        ] {
            for count in ["9007199254740993", "18446744073709551615"] {
                let text = line.replace('#', count);
                assert_eq!(kind_of(&text), LineErrorKind::TooMany, "{text}");
            }
        }
        let error = "ok 18446744073709551615".parse::<Line>().unwrap_err();
        assert!(error.to_string().ends_with("it counts wrongly"), "{error}");
        // How long a call took is no count.
        assert!("18446744073709551615 1".parse::<Line>().is_ok());
    }

    #[test]
    fn a_note_has_a_name_of_lower_case_words_and_a_decimal_number() {
        assert_eq!("note p99_ns 7.50".parse(), Ok(note("p99_ns", 7.5)));
        let long = format!("note {} 1", "x".repeat(NOTE_NAME_LIMIT_BYTES + 1));
        for text in
            ["note", "note _ 1", "note GC 1", "note gc__pause 1", "note 9 1", "note gc_ 1", &long]
        {
            assert_eq!(kind_of(text), LineErrorKind::BadName, "{text}");
        }
        let huge = format!("note gc {}", "9".repeat(400));
        for text in [
            "note gc",
            "note gc -1",
            "note gc +1",
            "note gc 1e3",
            "note gc .5",
            "note gc 5.",
            "note gc NaN",
            "note gc 1.2.3",
            &huge,
        ] {
            assert_eq!(kind_of(text), LineErrorKind::BadNumber, "{text}");
        }
        assert_eq!(kind_of("note gc 1 2"), LineErrorKind::TooManyWords);
    }

    #[test]
    fn an_error_shows_the_line_but_not_a_megabyte_of_it() {
        let error = "é".repeat(1 << 20).parse::<Line>().unwrap_err();
        assert_eq!(error.line.chars().count(), SHOWN_CHARS + 1);
        let short = "hello".parse::<Line>().unwrap_err();
        assert!(short.to_string().contains("\"hello\""));
    }
}
