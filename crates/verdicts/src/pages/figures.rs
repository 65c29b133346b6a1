//! The figures of one cell over its rounds, as far as pages want more than the run's own tables.

use bookend_results::latency;
use bookend_results::measurement::{CellId, Measurement, Outcome, Row};
use bookend_results::record::Record;
use bookend_results::statistics::{Interval, median};
use bookend_results::suite::{Case, Side};
use bookend_results::table::{Cell, CellResult, LatencySummary, Summary, Table};
use hdrhistogram::Histogram;
use std::cell::OnceCell;

/// Below so many rounds an interval says more about luck than about the cell.
const INTERVAL_ROUNDS_MIN: usize = 3;

/// The cells of a record.
pub(super) struct Cells<'a> {
    record: &'a Record,
    pub(super) table: Table,
}

/// A measured cell.
pub(super) struct CellFigures<'a> {
    pub(super) case: Case,
    pub(super) summary: &'a Summary,
    rounds: Vec<&'a Measurement>,
    deadline_ns: Option<f64>,
    histogram: OnceCell<Histogram<u64>>,
}

impl<'a> Cells<'a> {
    pub(super) fn of(record: &'a Record) -> Self {
        let table = Table::new(&record.facts.plan, &record.rows);
        let table = table.with_skips(record.facts.skips.clone());
        Self { record, table }
    }

    /// The planned cell of that name.
    pub(super) fn find(&self, id: &CellId) -> Option<&Cell> {
        self.table.cells.iter().find(|cell| cell.id == *id)
    }

    /// The figures of a cell, or the word for why there are none.
    pub(super) fn figures<'b>(&'b self, cell: &'b Cell) -> Result<CellFigures<'b>, String> {
        match &cell.result {
            CellResult::NotMeasured { why, .. } => Err(why.to_string()),
            CellResult::Measured(summary) => Ok(CellFigures {
                case: cell.case,
                summary,
                rounds: measurements(&self.record.rows, &cell.id),
                deadline_ns: self.record.facts.plan.deadline_ms.map(|ms| ms as f64 * 1e6),
                histogram: OnceCell::new(),
            }),
        }
    }
}

fn measurements<'a>(rows: &'a [Row], cell: &CellId) -> Vec<&'a Measurement> {
    let own = rows.iter().filter(|row| row.cell == *cell);
    own.filter_map(|row| match &row.outcome {
        Outcome::Measured(measurement) => Some(measurement.as_ref()),
        _ => None,
    })
    .collect()
}

impl CellFigures<'_> {
    /// The median over the rounds that have the figure.
    pub(super) fn middle(&self, of: impl Fn(&Measurement) -> Option<f64>) -> Option<f64> {
        let values: Vec<f64> = self.rounds.iter().filter_map(|round| of(round)).collect();
        median(&values)
    }

    /// The latencies of all rounds together.
    pub(super) fn histogram(&self) -> &Histogram<u64> {
        self.histogram.get_or_init(|| {
            let mut merged = latency::empty();
            let texts = self.rounds.iter().map(|round| &round.latency_histogram);
            for histogram in texts.filter_map(|text| latency::decode(text).ok()) {
                // One of another range is named among the marks.
                let _ = merged.add(&histogram);
            }
            merged
        })
    }

    pub(super) fn latency(&self) -> Option<&LatencySummary> {
        self.summary.latency.as_ref()
    }

    pub(super) fn percentile_ns(&self, percent: f64) -> Option<f64> {
        let histogram = self.histogram();
        (!histogram.is_empty()).then(|| histogram.value_at_percentile(percent) as f64)
    }

    /// The mean over all calls, with the deadline as the time of each call that it ended: what a
    /// client reports that counts failed calls in. `None` where calls failed otherwise, or the
    /// deadline is not known.
    pub(super) fn mean_of_all_ns(&self) -> Option<f64> {
        let summary = self.summary;
        let mean_ns = self.latency().map_or(0.0, |latency| latency.mean_ns);
        let failed: u64 = summary.errors.values().sum();
        if failed == 0 {
            return self.latency().map(|latency| latency.mean_ns);
        }
        let timed_out = summary.errors.get("DEADLINE_EXCEEDED").copied();
        if timed_out != Some(failed) {
            return None;
        }
        let (ok, failed) = (summary.ok as f64, failed as f64);
        Some((mean_ns * ok + self.deadline_ns? * failed) / (ok + failed))
    }

    /// Whether the server is the end under test: the caller is then an instrument.
    pub(super) fn tests_the_server(&self) -> bool {
        self.rounds.iter().all(|round| round.side == Side::Server)
    }

    /// Whether there are rounds enough for intervals.
    pub(super) fn has_intervals(&self) -> bool {
        self.rounds.len() >= INTERVAL_ROUNDS_MIN
    }

    /// Requests per CPU-second with the interval of the rounds' mean, where there are enough.
    pub(super) fn cost(&self) -> (Option<f64>, Option<Interval>) {
        let interval = self.summary.requests_per_cpu_second_interval;
        (
            self.summary.requests_per_cpu_second,
            interval.filter(|_| self.has_intervals()),
        )
    }
}
