//! One load test: its figures, and its latencies by one clock or by two.

use bookend_contract::latency::{self, HistogramError};
use bookend_contract::limit::limit;
use bookend_contract::report::{LoadReport, OpenLoopReport, SplitPart};
use bookend_results::failed_share::FailedShare;
use bookend_results::quoted::{cut_in_the_middle, quoted_line};
use hdrhistogram::Histogram;
use serde_json::Value;
use std::collections::BTreeMap;

/// Most characters of a result's name, which legends and rows have to hold.
const NAME_CHARS: usize = 40;

/// A result, read.
#[derive(Clone, Debug)]
pub(super) struct LoadTest {
    /// Its name, which no other of the page has.
    pub(super) name: String,
    pub(super) report: LoadReport,
    /// Latencies from when calls were due, in an open loop.
    pub(super) from_due: Option<Clock>,
    /// Latencies from when they were made.
    pub(super) from_start: Clock,
}

/// Latencies of the OK calls by one clock.
#[derive(Clone, Debug)]
pub(super) struct Clock {
    pub(super) mean_ns: u64,
    pub(super) max_ns: u64,
    /// What the generator knows exactly: percentages with nanoseconds.
    known: Vec<(f64, u64)>,
    pub(super) histogram: Histogram<u64>,
}

impl LoadTest {
    /// The result, under its own name or that of its file.
    pub(super) fn of(file: &str, report: LoadReport) -> Result<Self, HistogramError> {
        let name = report
            .name
            .as_deref()
            .map(quoted_line)
            .filter(|name| !name.is_empty())
            .unwrap_or_else(|| quoted_line(file));
        let (from_due, from_start) = match &report.bookend.open_loop {
            Some(calls) => {
                (Some(Clock::of_part(&calls.from_intended)?), Clock::of_part(&calls.from_start)?)
            }
            None => (None, Clock::of_all(&report)?),
        };
        let name = cut_in_the_middle(&name, NAME_CHARS);
        let mut test = Self { name, report, from_due, from_start };
        // Behind a sign in tables, legends and sentences alike.
        test.name = FailedShare::marked(test.failed_share(), &test.name);
        Ok(test)
    }

    /// The same with a number behind its name where that is taken.
    pub(super) fn named_beside(mut self, taken: &[&str]) -> Self {
        let numbered = (2..).map(|number| format!("{} ({number})", self.name));
        let mut names = std::iter::once(self.name.clone()).chain(numbered);
        if let Some(free) = names.find(|name| !taken.contains(&name.as_str())) {
            self.name = free;
        }
        self
    }

    /// The clock that its user has: from when calls were due, where that is known.
    pub(super) fn clock(&self) -> &Clock {
        self.from_due.as_ref().unwrap_or(&self.from_start)
    }

    /// The clocks with their names, that of its user first.
    pub(super) fn clocks(&self) -> Vec<(&'static str, &Clock)> {
        let due = self.from_due.as_ref().map(|clock| (FROM_DUE, clock));
        due.into_iter().chain([(FROM_START, &self.from_start)]).collect()
    }

    pub(super) fn open_loop(&self) -> Option<&OpenLoopReport> {
        self.report.bookend.open_loop.as_ref()
    }

    /// Calls that were due a second, in an open loop.
    pub(super) fn offered_per_second(&self) -> Option<f64> {
        let offered = self.open_loop()?.due as f64 / self.report.bookend.window_seconds;
        (offered.is_finite() && offered > 0.0).then_some(offered)
    }

    /// Calls that ended with OK a second; 0 without a window.
    pub(super) fn ok_per_second(&self) -> f64 {
        let rate = self.report.bookend.ok as f64 / self.report.bookend.window_seconds;
        if rate.is_finite() { rate.max(0.0) } else { 0.0 }
    }

    /// Calls that ended in the window without OK.
    pub(super) fn failed(&self) -> u64 {
        sum(&self.report.bookend.errors)
    }

    /// The share of the calls that ended without OK. `None`: none did.
    pub(super) fn failed_share(&self) -> Option<FailedShare> {
        FailedShare::of_calls(self.failed(), self.report.bookend.ok)
    }

    /// Calls that were due in the window and never made.
    pub(super) fn not_made(&self) -> u64 {
        self.open_loop().map_or(0, |calls| sum(&calls.not_made))
    }

    /// Calls that never came back.
    pub(super) fn never_came_back(&self) -> u64 {
        self.report.bookend.never_came_back
    }

    /// What became of calls that did not end with OK: codes, and why calls were not made.
    pub(super) fn misfortunes(&self) -> BTreeMap<String, u64> {
        let not_made = self
            .open_loop()
            .into_iter()
            .flat_map(|calls| &calls.not_made)
            .map(|(why, calls)| (format!("not made: {}", quoted_line(why)), *calls));
        self.report
            .bookend
            .errors
            .iter()
            .map(|(code, calls)| (quoted_line(code), *calls))
            .chain(not_made)
            .chain([("never came back".to_owned(), self.never_came_back())])
            .filter(|(_, calls)| *calls > 0)
            .collect()
    }

    /// Whether the calls that were due, or in a closed loop made, ended with OK as they came: fewer
    /// are missing than the ends of a window may cut off.
    pub(super) fn is_carried(&self) -> bool {
        const OK_MIN: f64 = 0.99;
        let ended = self.report.count + self.never_came_back();
        let load = self.open_loop().map_or(ended, |calls| calls.due);
        self.report.bookend.ok as f64 >= load as f64 * OK_MIN
    }

    /// Calls that may be in flight at once.
    pub(super) fn in_flight_max(&self) -> Option<f64> {
        self.report.options.get("concurrency").and_then(Value::as_f64)
    }

    /// What kept it from more, in words.
    pub(super) fn limit(&self) -> String {
        // It may name an agent, as that calls itself.
        limit(&self.report).map_or_else(|| "no call ended".to_owned(), |limit| quoted_line(&limit))
    }
}

pub(super) const FROM_DUE: &str = "from when calls were due";
pub(super) const FROM_START: &str = "from when they were made";

impl Clock {
    fn of_part(part: &SplitPart) -> Result<Self, HistogramError> {
        let known = vec![(50.0, part.p50_ns), (90.0, part.p90_ns), (99.0, part.p99_ns)];
        let histogram = latency::decode(&part.histogram)?;
        Ok(Self { mean_ns: part.mean_ns, max_ns: part.max_ns, known, histogram })
    }

    fn of_all(report: &LoadReport) -> Result<Self, HistogramError> {
        let known = report.latency_distribution.iter().map(|at| (at.percentage, at.latency));
        let histogram = latency::decode(&report.bookend.latency_histogram)?;
        let (mean_ns, max_ns) = (report.average, report.slowest);
        Ok(Self { mean_ns, max_ns, known: known.collect(), histogram })
    }

    /// The latency that this percentage of the calls did not exceed, nanoseconds.
    pub(super) fn at(&self, percentage: f64) -> u64 {
        self.known
            .iter()
            .find(|(known, _)| *known == percentage)
            .map_or_else(|| self.histogram.value_at_percentile(percentage), |(_, ns)| *ns)
    }

    /// The same where at least ten calls took longer, so that no single call decides.
    pub(super) fn at_if_told(&self, percentage: f64) -> Option<u64> {
        let longer = self.histogram.len() as f64 * (100.0 - percentage) / 100.0;
        (longer.round() >= 10.0).then(|| self.at(percentage))
    }

    /// Whether it has no latency, because no call ended with OK.
    pub(super) fn is_empty(&self) -> bool {
        self.histogram.is_empty()
    }
}

fn sum(counts: &BTreeMap<String, u64>) -> u64 {
    counts.values().fold(0, |sum, count| sum.saturating_add(*count))
}
