//! A published document: its tables, with every figure as the range that its digits leave open, and
//! the circumstances that it states.

use crate::from_text;
use crate::published::Place;
use bookend_results::audit::{Rounding, RowFigures, Span};
use bookend_results::measurement::CellId;
use bookend_results::suite::Case;
use serde::Deserialize;
use std::collections::BTreeMap;

/// The tables of a published document, and the circumstances that it states.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Document {
    /// Every row of its tables.
    pub rows: Vec<PrintedRow>,
    /// How it was measured.
    pub conditions: Conditions,
}

impl Document {
    /// The rows that our subject repeats under that case, with any instrument.
    pub fn rows_of<'a>(
        &'a self,
        subject: &'a str,
        case: Case,
    ) -> impl Iterator<Item = &'a PrintedRow> {
        self.rows.iter().filter(move |row| {
            let cell = row.cell.as_ref();
            cell.is_some_and(|cell| cell.subject == subject && cell.case == case)
        })
    }
}

/// The title of a document, and what it states, or what is known from its tools, about how it was
/// measured: the table `[document]` of `claims.toml`.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Conditions {
    /// A name of the document, for a heading.
    pub title: String,
    /// There is no document: the claims are our own expectations, from sources that they name.
    #[serde(default, rename = "expectations")]
    pub are_expectations: bool,
    /// Where it stands among the documents.
    #[serde(default)]
    pub place: u32,
    /// The subjects that answer each of the two questions: prose.
    #[serde(default)]
    pub asked: String,
    /// The stand-in for a system that cannot be had, by the name of our subject: a sentence.
    #[serde(default)]
    pub stand_ins: BTreeMap<String, String>,
    /// CPUs that the server may use.
    pub server_cpus: Option<f64>,
    /// Memory that the server may use, bytes.
    #[serde(default, rename = "server_memory", deserialize_with = "from_text::bytes")]
    pub server_memory_bytes: Option<f64>,
    /// CPUs that the client may use.
    pub client_cpus: Option<f64>,
    /// CPUs of the machine on either end.
    pub machine_cpus: Option<f64>,
    /// The client's time-out for a call, seconds.
    #[serde(default, rename = "time_out", deserialize_with = "from_text::seconds")]
    pub time_out_seconds: Option<f64>,
    /// How printed latencies were rounded.
    #[serde(default)]
    pub latency_rounding: Rounding,
    /// The steps in which the client waits, seconds.
    #[serde(default, rename = "latency_resolution", deserialize_with = "from_text::seconds")]
    pub latency_resolution_seconds: Option<f64>,
    /// Whether the programs that are compared were measured by turns.
    pub interleaved: Option<bool>,
    /// Of how many runs the best is printed.
    pub best_of: Option<u32>,
    /// How often the programs were started.
    pub starts: Option<u32>,
    /// Whether each end had CPUs of its own.
    pub pinned: Option<bool>,
    /// At a rate: whether latencies count from when calls were due.
    pub waiting_counted: Option<bool>,
}

/// A row of a published table.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PrintedRow {
    /// Its place in the document.
    pub place: Place,
    /// Which of our cells repeats it. `None`: no cell does.
    pub cell: Option<CellId>,
    /// Figures by the name of their column, in base units: nanoseconds, bytes, calls a second,
    /// shares of one CPU, counts.
    pub figures: BTreeMap<String, Span>,
    /// The histogram printed with it, in ascending order.
    pub histogram: Vec<PrintedBucket>,
}

/// A line of a printed histogram: calls that took at most `upper_ns`, and longer than the line
/// before allows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PrintedBucket {
    /// Upper end, nanoseconds.
    pub upper_ns: Span,
    /// Number of calls.
    pub count: f64,
}

impl PrintedRow {
    /// A figure by the name of its column.
    pub fn figure(&self, name: &str) -> Option<Span> {
        self.figures.get(name).copied()
    }

    /// The first of these figures that is printed.
    fn first_of(&self, names: &[&str]) -> Option<Span> {
        names.iter().find_map(|name| self.figure(name))
    }

    /// CPU of the server, 1.0 = one CPU.
    pub fn server_cpu(&self) -> Option<Span> {
        self.first_of(&["server_cpu_mean", "server_cpu_max", "cpu"])
    }

    /// CPU of the client, 1.0 = one CPU.
    pub fn client_cpu(&self) -> Option<Span> {
        self.first_of(&["client_cpu_mean", "client_cpu_max"])
    }

    /// Calls that failed; 0 if successes are printed and failures are not.
    pub fn failures(&self) -> Option<Span> {
        let sum = self
            .figures
            .iter()
            .filter(|(name, _)| name.starts_with("errors"))
            .fold(Span::exact(0.0), |sum, (_, &count)| sum.plus(count));
        (sum.value > 0.0 || self.figures.contains_key("ok")).then_some(sum)
    }

    /// Rate times mean latency, in calls, if both are printed: over all calls, if the mean is.
    pub fn calls_in_flight(&self) -> Option<Span> {
        let mean_ns = self.first_of(&["latency_mean", "latency_mean_all"])?;
        let seconds = mean_ns.times(Span::exact(1e-9));
        Some(self.figure("requests_per_second")?.times(seconds))
    }

    /// Total streams in flight.
    pub fn streams(&self) -> Option<f64> {
        self.figure("concurrency").map(|streams| streams.value)
    }

    /// Requests per CPU-second of the server.
    pub fn requests_per_cpu_second(&self) -> Option<Span> {
        self.figure("requests_per_second")?.over(self.server_cpu()?)
    }

    /// Which of our cases repeats it.
    pub fn case(&self) -> Option<Case> {
        self.cell.as_ref().map(|cell| cell.case)
    }

    /// The figures that the rules for any row check.
    pub(crate) fn row_figures(&self, conditions: &Conditions) -> RowFigures {
        // A mean that may count failed calls says nothing about the percentiles of the others.
        let failed = self.failures().is_some_and(|failed| failed.value > 0.0);
        let mean_of_all = self.figure("latency_mean_all").filter(|_| !failed);
        RowFigures {
            // With a fixed number of calls the streams run dry at the end, whatever the cause.
            streams: self.streams().filter(|_| self.figure("calls").is_none()),
            requests_per_second: self.figure("requests_per_second"),
            mean_ns: self.figure("latency_mean").or(mean_of_all),
            min_ns: self.figure("latency_min"),
            max_ns: self.figure("latency_max"),
            percentiles_ns: self.percentiles_ns(),
            cpu: self.server_cpu(),
            cpu_limit: conditions.server_cpus,
            memory_bytes: self.figure("memory_mean"),
            memory_limit_bytes: conditions.server_memory_bytes,
            ..RowFigures::default()
        }
    }

    /// Latencies by percentile, in ascending order of percent.
    pub(crate) fn percentiles_ns(&self) -> Vec<(f64, Span)> {
        let percent =
            |name: &str| name.strip_prefix("latency_p")?.replace('_', ".").parse::<f64>().ok();
        let mut all: Vec<(f64, Span)> = self
            .figures
            .iter()
            .filter_map(|(name, &value)| Some((percent(name)?, value)))
            .collect();
        all.sort_by(|a, b| a.0.total_cmp(&b.0));
        all
    }
}
