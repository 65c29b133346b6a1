//! What a client or an instrument says that it measured: in the contract's lines, or in the
//! document of an instrument that knows nothing of the contract.

use bookend_contract::count::{self, TooMany};
use bookend_contract::latency;
use bookend_contract::lines::{Line, NOTES_LIMIT};
use bookend_contract::report::{Extension, LoadReport};
use bookend_results::measurement::WindowCounts;
use hdrhistogram::Histogram;
use serde::Deserialize;
use std::collections::BTreeMap;
use thiserror::Error;

/// Counts and latencies of one run.
#[derive(Clone, Debug, PartialEq)]
pub struct CallerReport {
    /// Length of the window as the instrument measured it, seconds.
    pub window_seconds: Option<f64>,
    /// The calls.
    pub counts: WindowCounts,
    /// Latencies of OK calls, nanoseconds. Empty where the instrument does not tell.
    pub latencies: Histogram<u64>,
    /// What only our own generator reports.
    pub own: Option<Box<Extension>>,
    /// Facts in addition to the figures.
    pub notes: ProcessNotes,
}

/// Facts that a process prints in addition to its figures (`note goroutines_peak 10012`), by name.
/// A name that comes again has its last number.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ProcessNotes(pub BTreeMap<String, f64>);

/// A process noted more facts than are kept: it is logging.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("it noted more than {NOTES_LIMIT} facts")]
pub struct TooManyNotes;

/// What a caller printed cannot be used.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum CallerReportError {
    /// A line of the contract that this role does not print.
    #[error("`{0}` is out of place")]
    OutOfPlace(String),
    /// The latencies in the report are no histogram.
    #[error(transparent)]
    Histogram(#[from] latency::HistogramError),
    /// There is no `ok` line and no report.
    #[error("it ended without saying `ok N`")]
    NoCounts,
    /// The latencies do not add up to the OK calls.
    #[error("it told {latencies} latencies of {ok} OK calls")]
    Latencies {
        /// Calls that the `LATENCY_NS COUNT` lines add up to.
        latencies: u64,
        /// Calls that the `ok` line says.
        ok: u64,
    },
    /// Counts beyond all reason.
    #[error("{0}")]
    TooMany(#[from] TooMany),
    /// More notes than are kept.
    #[error(transparent)]
    Notes(#[from] TooManyNotes),
    /// The document of an instrument lacks what it always has.
    #[error("its output lacks `{}`", .0.trim_end())]
    Document(&'static str),
    /// The document is no JSON of ghz.
    #[error("its output is no report of ghz: {0}")]
    Json(String),
}

impl ProcessNotes {
    /// Takes the next note.
    ///
    /// # Errors
    /// There are [`NOTES_LIMIT`] others already.
    pub fn take(&mut self, name: String, value: f64) -> Result<(), TooManyNotes> {
        if self.0.len() >= NOTES_LIMIT && !self.0.contains_key(&name) {
            return Err(TooManyNotes);
        }
        self.0.insert(name, value);
        Ok(())
    }
}

impl Default for CallerReport {
    fn default() -> CallerReport {
        CallerReport {
            window_seconds: None,
            counts: WindowCounts::default(),
            latencies: latency::empty(),
            own: None,
            notes: ProcessNotes::default(),
        }
    }
}

/// The lines of one run as they come.
#[derive(Clone, Debug, Default)]
pub struct CallerReportParser {
    report: CallerReport,
    has_counts: bool,
}

impl CallerReportParser {
    /// Takes the next line that is not about the window.
    ///
    /// # Errors
    /// It is a line that no instrument says, or its report is broken.
    pub fn take(&mut self, line: Line) -> Result<(), CallerReportError> {
        let counts = &mut self.report.counts;
        match line {
            Line::Latency { latency_ns, count } => {
                count::sum(self.report.latencies.len(), count)?;
                latency::record(&mut self.report.latencies, latency_ns, count);
            }
            Line::Warmup(count) => add(&mut counts.warmup, count)?,
            Line::Ok(count) => {
                add(&mut counts.ok, count)?;
                self.has_counts = true;
            }
            Line::Error { code, count } => self.report.add_error(code, count)?,
            Line::Drained(count) => add(&mut counts.drained, count)?,
            Line::Unfinished(count) => add(&mut counts.unfinished, count)?,
            Line::InFlight(in_flight) => counts.in_flight_at_end = Some(in_flight),
            Line::Report(report) => {
                let notes = std::mem::take(&mut self.report.notes);
                self.report = CallerReport { notes, ..CallerReport::of_report(&report)? };
                self.has_counts = true;
            }
            Line::Note { name, value } => self.report.notes.take(name, value)?,
            Line::Ready(_)
            | Line::Served(_)
            | Line::WindowStart
            | Line::WindowEnd
            | Line::Lap(_) => {
                return Err(CallerReportError::OutOfPlace(line.to_string()));
            }
        }
        Ok(())
    }

    /// Everything has been said.
    ///
    /// # Errors
    /// The counts are missing, or the latencies do not add up to them.
    pub fn finish(self) -> Result<CallerReport, CallerReportError> {
        if !self.has_counts {
            return Err(CallerReportError::NoCounts);
        }
        let (latencies, ok) = (self.report.latencies.len(), self.report.counts.ok);
        if self.report.own.is_none() && latencies != ok {
            return Err(CallerReportError::Latencies { latencies, ok });
        }
        Ok(self.report)
    }
}

impl CallerReport {
    /// What the report of `bookend load` says.
    ///
    /// # Errors
    /// Its histogram cannot be read.
    pub fn of_report(report: &LoadReport) -> Result<CallerReport, CallerReportError> {
        let own = &report.bookend;
        let latencies = latency::decode(&own.latency_histogram)?;
        count::checked(latencies.len())?;
        Ok(CallerReport {
            window_seconds: Some(own.window_seconds),
            counts: WindowCounts::from(own),
            latencies,
            own: Some(Box::new(own.clone())),
            ..CallerReport::default()
        })
    }

    /// Reads the JSON document of ghz, or of `bookend load`, which has all of ghz's fields.
    ///
    /// # Errors
    /// It is not such a document.
    pub fn of_ghz(text: &str) -> Result<CallerReport, CallerReportError> {
        if let Ok(report) = serde_json::from_str::<LoadReport>(text) {
            return CallerReport::of_report(&report);
        }
        let report: GhzReport = serde_json::from_str(text)
            .map_err(|error| CallerReportError::Json(error.to_string()))?;
        report.said()
    }

    /// Reads what h2load prints at its end. It tells no latencies and does not read `grpc-status`:
    /// answered with HTTP status 200 is all it knows.
    ///
    /// # Errors
    /// It is not such a text.
    pub fn of_h2load(text: &str) -> Result<CallerReport, CallerReportError> {
        let finished = rest_after(text, "finished in ")?;
        let requests = rest_after(text, "requests: ")?;
        let statuses = rest_after(text, "status codes: ")?;
        let (duration, _) = finished.split_once(',').unwrap_or((finished, ""));
        let done =
            count_before(requests, "done").ok_or(CallerReportError::Document("requests done"))?;
        let started = count::checked(count_before(requests, "started").unwrap_or(done))?;
        let ok =
            count_before(statuses, "2xx").ok_or(CallerReportError::Document("status codes"))?;
        let (done, ok) = (count::checked(done)?, count::checked(ok)?);
        let failed = done.saturating_sub(ok);
        let errors = (failed > 0).then(|| ("UNKNOWN".to_owned(), failed));
        Ok(CallerReport {
            window_seconds: h2load_seconds(duration),
            counts: WindowCounts {
                ok,
                errors: errors.into_iter().collect(),
                unfinished: started.saturating_sub(done),
                ..WindowCounts::default()
            },
            ..CallerReport::default()
        })
    }

    fn add_error(&mut self, code: String, count: u64) -> Result<(), TooMany> {
        count::sum(self.counts.failed(), count)?;
        *self.counts.errors.entry(code).or_default() += count;
        Ok(())
    }
}

/// What is needed of ghz's report.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct GhzReport {
    total: u64,
    #[serde(default)]
    status_code_distribution: BTreeMap<String, u64>,
    #[serde(default)]
    details: Option<Vec<GhzCall>>,
}

#[derive(Deserialize)]
struct GhzCall {
    latency: u64,
    status: String,
}

impl GhzReport {
    fn said(self) -> Result<CallerReport, CallerReportError> {
        let mut said = CallerReport {
            window_seconds: Some(self.total as f64 / 1e9),
            ..CallerReport::default()
        };
        for (status, count) in self.status_code_distribution {
            match status.as_str() {
                "OK" => add(&mut said.counts.ok, count)?,
                _ => said.add_error(code_of_ghz(&status), count)?,
            }
        }
        for call in self.details.unwrap_or_default() {
            if call.status == "OK" {
                latency::record(&mut said.latencies, call.latency, 1);
            }
        }
        Ok(said)
    }
}

fn add(total: &mut u64, count: u64) -> Result<(), TooMany> {
    *total = count::sum(*total, count)?;
    Ok(())
}

/// ghz prints codes as Go does: `DeadlineExceeded`, `Canceled`.
fn code_of_ghz(status: &str) -> String {
    let mut name = String::new();
    for character in status.chars() {
        if character.is_ascii_uppercase() && !name.is_empty() {
            name.push('_');
        }
        name.push(character.to_ascii_uppercase());
    }
    match name.as_str() {
        "CANCELED" => "CANCELLED".to_owned(),
        known if bookend_contract::code::number(known).is_some() => name,
        _ => "UNKNOWN".to_owned(),
    }
}

fn rest_after<'a>(text: &'a str, start: &'static str) -> Result<&'a str, CallerReportError> {
    text.lines()
        .rev()
        .find_map(|line| line.trim_start().strip_prefix(start))
        .ok_or(CallerReportError::Document(start))
}

/// The number before `name` in `10 total, 9 started`.
fn count_before(list: &str, name: &str) -> Option<u64> {
    list.split(',').map(str::trim).find_map(|part| part.strip_suffix(name)?.trim().parse().ok())
}

/// `1.5s`, `250.31ms`, `999us`.
fn h2load_seconds(text: &str) -> Option<f64> {
    [("us", 1e-6), ("ms", 1e-3), ("s", 1.0)].iter().find_map(|(unit, seconds)| {
        let number: f64 = text.trim().strip_suffix(unit)?.parse().ok()?;
        Some(number * seconds)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn say(text: &str) -> Result<CallerReport, CallerReportError> {
        let mut parser = CallerReportParser::default();
        for line in text.lines() {
            parser.take(line.parse().expect("a line of the contract"))?;
        }
        parser.finish()
    }

    #[test]
    fn lines_add_up_in_whatever_order_they_come() {
        let said = say("1000 2\nok 5\n1000 1\nerror INTERNAL 1\n2000 2\nwarmup 7\nunfinished 3\n")
            .unwrap();
        assert_eq!((said.counts.ok, said.counts.warmup, said.counts.unfinished), (5, 7, 3));
        assert_eq!(said.counts.errors, BTreeMap::from([("INTERNAL".to_owned(), 1)]));
        assert_eq!(said.latencies.len(), 5);
    }

    #[test]
    fn latencies_that_do_not_add_up_are_told_with_both_numbers() {
        let error = say("1000 4\nok 5\n").unwrap_err();
        assert_eq!(error, CallerReportError::Latencies { latencies: 4, ok: 5 });
        assert_eq!(say("1000 4\n").unwrap_err(), CallerReportError::NoCounts);
    }

    #[test]
    fn counts_that_would_wrap_are_refused_however_they_are_told() {
        let half = count::COUNT_MAX / 2 + 1;
        for line in ["ok #", "5 #", "warmup #", "error INTERNAL #", "drained #", "unfinished #"] {
            let line = line.replace('#', &half.to_string());
            let error = say(&format!("ok 0\n{line}\n{line}\n")).unwrap_err();
            assert_eq!(error, CallerReportError::TooMany(TooMany), "{line}");
        }
        let ghz =
            format!(r#"{{"total":1,"statusCodeDistribution":{{"Odd":{half},"Strange":{half}}}}}"#);
        assert_eq!(CallerReport::of_ghz(&ghz), Err(CallerReportError::TooMany(TooMany)));
        let h2load = "finished in 1s,\nrequests: 18446744073709551615 done\nstatus codes: 1 2xx\n";
        assert_eq!(CallerReport::of_h2load(h2load), Err(CallerReportError::TooMany(TooMany)));
    }

    #[test]
    fn a_server_has_nothing_to_say_here() {
        let error = say("served 5\n").unwrap_err();
        assert_eq!(error.to_string(), "`served 5` is out of place");
    }

    #[test]
    fn ghz_says_codes_in_its_own_way() {
        let text = r#"{"count":4,"total":2000000000,"statusCodeDistribution":
            {"OK":2,"Canceled":1,"DeadlineExceeded":1,"Odd":1},
            "details":[{"timestamp":"x","latency":1000,"error":"","status":"OK"},
                       {"timestamp":"x","latency":9000,"error":"y","status":"Canceled"},
                       {"timestamp":"x","latency":3000,"error":"","status":"OK"}]}"#;
        let said = CallerReport::of_ghz(text).unwrap();
        assert_eq!(said.counts.ok, 2);
        assert_eq!(said.latencies.len(), 2);
        assert_eq!(said.window_seconds, Some(2.0));
        let codes: Vec<&str> = said.counts.errors.keys().map(String::as_str).collect();
        assert_eq!(codes, ["CANCELLED", "DEADLINE_EXCEEDED", "UNKNOWN"]);
        assert!(matches!(CallerReport::of_ghz("ghz: oh"), Err(CallerReportError::Json(_))));
    }

    #[test]
    fn h2load_says_how_many_were_answered_but_not_how_fast() {
        let text = "starting benchmark...\n\nfinished in 2.50s, 40.00 req/s, 3.42KB/s\n\
             requests: 100 total, 110 started, 100 done, 98 succeeded, 2 failed, 0 errored, 0 \
             timeout\nstatus codes: 98 2xx, 0 3xx, 0 4xx, 2 5xx\ntraffic: 1KB\n";
        let said = CallerReport::of_h2load(text).unwrap();
        assert_eq!((said.counts.ok, said.counts.failed(), said.counts.unfinished), (98, 2, 10));
        assert_eq!(said.window_seconds, Some(2.5));
        assert!(said.latencies.is_empty());
        let error = CallerReport::of_h2load("oh").unwrap_err();
        assert_eq!(error.to_string(), "its output lacks `finished in`");
    }

    #[test]
    fn h2load_has_three_units_of_time() {
        assert_eq!(h2load_seconds("250.5ms"), Some(0.2505));
        assert_eq!(h2load_seconds(" 10.01s"), Some(10.01));
        assert_eq!(h2load_seconds("500us"), Some(0.0005));
        assert_eq!(h2load_seconds("1h"), None);
    }

    #[test]
    fn a_name_that_comes_again_takes_no_more_room() {
        let mut notes = ProcessNotes::default();
        for number in 0..NOTES_LIMIT {
            assert_eq!(notes.take(format!("fact_{number}"), 1.0), Ok(()));
        }
        assert_eq!(notes.take("fact_0".to_owned(), 2.0), Ok(()));
        assert_eq!(notes.take("one_more".to_owned(), 1.0), Err(TooManyNotes));
        assert_eq!(notes.0["fact_0"], 2.0);
    }
}
