//! The measured rounds of a cell, each histogram decoded once.

use crate::cut_off::CutOff;
use crate::measurement::{Measurement, Outcome, Row};
use crate::record::refilled;
use crate::suite::Case;
use crate::window::WindowFigures;
use bookend_contract::count;
use bookend_contract::latency::{self, HistogramError};
use hdrhistogram::Histogram;
use std::cell::OnceCell;

/// The measured rounds of a cell.
pub struct MeasuredRounds<'a> {
    each: Vec<MeasuredRound<'a>>,
    merged: OnceCell<(Histogram<u64>, Vec<String>)>,
}

/// A measured round.
pub struct MeasuredRound<'a> {
    /// The stored row.
    pub row: &'a Row,
    /// Its window.
    pub window: &'a Measurement,
    /// The time after which its calls were given up, nanoseconds. `None`: never.
    pub deadline_ns: Option<f64>,
    histogram: OnceCell<Result<Histogram<u64>, HistogramError>>,
}

impl<'a> MeasuredRounds<'a> {
    /// Takes the measured rows of a cell, with the deadline of their calls.
    pub fn of(rows: impl IntoIterator<Item = &'a Row>, deadline_ns: Option<f64>) -> Self {
        Self {
            each: rows.into_iter().filter_map(|row| MeasuredRound::of(row, deadline_ns)).collect(),
            merged: OnceCell::new(),
        }
    }

    /// The measured rounds.
    pub fn each(&self) -> &[MeasuredRound<'a>] {
        &self.each
    }

    /// The latencies of all rounds merged. `None` where no histogram can be read.
    pub fn latencies(&self) -> Option<&Histogram<u64>> {
        let (merged, _) = self.merged();
        (!merged.is_empty()).then_some(merged)
    }

    /// What the ends of the windows cut off. `None` where they ended with their last call.
    pub fn cut_off(&self) -> Option<CutOff> {
        self.each.iter().filter_map(MeasuredRound::cut_off).reduce(CutOff::and)
    }

    /// A clause for each histogram that cannot be read.
    pub fn unreadable(&self) -> &[String] {
        &self.merged().1
    }

    fn merged(&self) -> &(Histogram<u64>, Vec<String>) {
        self.merged.get_or_init(|| {
            let mut merged = latency::empty();
            let mut unreadable = Vec::new();
            for round in self.each.iter() {
                let added = match round.histogram() {
                    Ok(histogram) => add(&mut merged, histogram),
                    Err(error) => Err(error.to_string()),
                };
                if let Err(reason) = added {
                    unreadable.push(format!("{reason} (round {})", round.row.round));
                }
            }
            (merged, unreadable)
        })
    }
}

impl<'a> MeasuredRound<'a> {
    /// Takes a row, if it was measured.
    pub fn of(row: &'a Row, deadline_ns: Option<f64>) -> Option<Self> {
        let window = measurement(row)?;
        Some(Self { row, window, deadline_ns, histogram: OnceCell::new() })
    }

    /// The latencies of the round. `None` where the histogram cannot be read.
    pub fn latencies(&self) -> Option<&Histogram<u64>> {
        let histogram = self.histogram().as_ref().ok()?;
        (!histogram.is_empty()).then_some(histogram)
    }

    /// What the end of the window cut off. `None` where it ended with its last call.
    pub fn cut_off(&self) -> Option<CutOff> {
        let is_timed = self.row.cell.case.calls.is_none();
        is_timed.then(|| CutOff::of(self.window))
    }

    /// What the window shows of the time that it needs. `None` where its calls are counted.
    pub fn window_figures(&self) -> Option<WindowFigures> {
        let Case { calls, concurrency, .. } = self.row.cell.case;
        let mean_seconds = self.latencies().map(|latencies| latencies.mean() / 1e9);
        calls.is_none().then(|| self.window.figures(concurrency, mean_seconds))
    }

    fn histogram(&self) -> &Result<Histogram<u64>, HistogramError> {
        self.histogram.get_or_init(|| latency::decode(&self.window.latency_histogram).map(kept))
    }

    /// Time in which the generator did work, seconds: as it reports, otherwise its CPU time. NaN
    /// where it spins and does not report its work.
    pub fn generator_worked(&self) -> f64 {
        let used = if self.window.spinning.generator {
            f64::NAN
        } else {
            self.window.ends.caller.cpu_seconds
        };
        let worked = self.window.generator.busy_seconds.unwrap_or(used);
        // A thread that is kept from running in the middle of a turn seems to work all the while.
        let has_quota = self.window.generator.cpu_quota.is_some();
        if has_quota { worked.min(self.generator_could()) } else { worked }
    }

    /// Time in which the generator could have worked: that of its threads on the CPUs that it was
    /// pinned to, or what a quota left of it; for a client under test, its CPU limit.
    pub fn generator_could(&self) -> f64 {
        let window = self.window;
        if let Some(limit) = window.ends.caller.cpu_limit {
            return window.window_seconds * limit;
        }
        let cpus = window.machine.total_seconds() / window.window_seconds;
        let left = cpus - window.ends.server.cpu_limit.unwrap_or_default();
        let given = window.ends.caller.cpus.map_or(left, f64::from);
        let used = window.generator.threads.map_or(given, f64::from);
        let cpus = used.min(given.max(1.0)).max(1.0);
        window.window_seconds * window.generator.cpu_quota.map_or(cpus, |quota| quota.min(cpus))
    }

    /// CPU time of the machine and the length of the window, as dividend and divisor. `None`
    /// without a CPU account of the machine.
    pub fn of_machine(&self, cpu_seconds: f64) -> Option<(f64, f64)> {
        let has_account = self.window.machine.total_seconds() > 0.0;
        has_account.then_some((cpu_seconds, self.window.window_seconds))
    }

    /// CPU time that neither end accounts for.
    pub fn unattributed_seconds(&self) -> f64 {
        let window = self.window;
        window.machine.busy_seconds()
            - window.ends.server.cpu_seconds
            - window.ends.caller.cpu_seconds
    }
}

/// Adds the calls of a round to those of others. The library's own sums would wrap.
fn add(merged: &mut Histogram<u64>, round: &Histogram<u64>) -> Result<(), String> {
    count::sum(merged.len(), round.len()).map_err(|error| error.to_string())?;
    merged.add(round).map_err(|_| "the latency histogram is of another range".to_owned())
}

/// The histogram with no more digits than the contract's have: those of all rounds are kept.
fn kept(histogram: Histogram<u64>) -> Histogram<u64> {
    match histogram.sigfig() > latency::SIGNIFICANT_DIGITS {
        true => refilled(&histogram, latency::empty()),
        false => histogram,
    }
}

pub(crate) fn measurement(row: &Row) -> Option<&Measurement> {
    match &row.outcome {
        Outcome::Measured(measurement) => Some(measurement),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounds_together_have_no_more_calls_than_are_plausible() {
        let round = |calls: u64| {
            let mut histogram = latency::empty();
            latency::record(&mut histogram, 1_000, calls);
            histogram
        };
        let mut merged = round(count::COUNT_MAX - 1);
        assert_eq!(add(&mut merged, &round(1)), Ok(()));
        let refused = add(&mut merged, &round(1)).unwrap_err();
        assert!(refused.contains("more than 2^53"), "{refused}");
        assert_eq!(merged.len(), count::COUNT_MAX);
    }

    #[test]
    fn rounds_keep_no_more_digits_than_the_contract_has() {
        let mut fine = Histogram::new_with_bounds(1, u64::MAX / 2, 4).expect("bounds");
        fine.record_n(1_234_567, 5).expect("in its range");
        fine.record_n(u64::MAX / 4, 1).expect("in its range");
        let own = kept(fine);
        assert_eq!(own.distinct_values(), latency::empty().distinct_values());
        assert_eq!((own.len(), own.count_at(1_234_567)), (6, 5));
        assert_eq!(own.count_at(latency::HIGHEST_NS), 1);
    }
}
