//! How long warm-up and window of a cell are: as the suite says, or longer where that does not hold
//! what is measured. The first window of a cell in a run tells how long its calls take; what is
//! chosen then stays for all its rounds.
//!
//! ```text
//! a window <---------------------------------------+
//!    |                                             |
//!    v                                             |
//! does it hold ten latencies and 1,000 calls?      |
//!    | no                             | yes        |
//!    v                                v            |
//! was it as long as `window_max`?   Enough: kept   |
//!    | yes             | no         for all rounds |
//!    v                 v                           |
//! Refuse: kept,      Longer: measured again -------+
//! and no later round measures the cell;
//! Enough, where the suite keeps short windows
//! ```
//!
//! Nothing is chosen without a `window_max`, with a fixed number of calls, or where a row failed
//! for another reason than that no call had ended yet.

use super::caller_run::CallerRun;
use crate::cell_error::CellError;
use bookend_contract::latency;
use bookend_results::measurement::{CellId, Measurement, Outcome, Row};
use bookend_results::suite::{Plan, ShortWindows};
use bookend_results::window::{AskedTimes, CALLS_MIN, LATENCIES_MIN, WindowFigures};
use std::collections::BTreeMap;

/// Factor by which a window is longer than the first one says is needed: later rounds are slower.
const MARGIN: f64 = 1.25;

/// Mean latencies that pass at least before a window begins: where no call takes longer, the window
/// loses none of them at its end that it has not gained at its start.
const WARMUP_LATENCIES: f64 = 3.0;

/// Windows are chosen in whole multiples of this.
const STEP_MS: f64 = 100.0;

/// The warm-up and the window that cells of a run have been given, by cell.
#[derive(Clone, Debug, Default)]
pub struct WindowChoices(BTreeMap<CellId, WindowChoice>);

#[derive(Clone, Debug)]
enum WindowChoice {
    Times(AskedTimes),
    /// No window that the suite allows is long enough; what the row says.
    Refused(Outcome),
}

impl WindowChoices {
    /// Those of rows that are stored, for a run that is resumed.
    pub fn of_rows<'a>(rows: impl IntoIterator<Item = &'a Row>) -> Self {
        let mut choices = Self::default();
        rows.into_iter().for_each(|row| choices.keep(row));
        choices
    }

    /// What the row was given is kept for its cell. A row that failed says nothing.
    pub fn keep(&mut self, row: &Row) {
        let choice = match &row.outcome {
            Outcome::Measured(window) => window.asked.map(WindowChoice::Times),
            refused @ Outcome::Refused { .. } => Some(WindowChoice::Refused(refused.clone())),
            _ => None,
        };
        if let Some(choice) = choice {
            self.0.insert(row.cell.clone(), choice);
        }
    }

    /// The window that a cell has been given. `None`: it is to be found.
    ///
    /// # Errors
    /// No window that the suite allows is long enough.
    pub fn given(&self, cell: &CellId) -> Result<Option<AskedTimes>, CellError> {
        match self.0.get(cell) {
            Some(WindowChoice::Times(asked)) => Ok(Some(*asked)),
            Some(WindowChoice::Refused(outcome)) => {
                let mut outcome = outcome.clone();
                // What was measured stands in the row of the round that measured it.
                if let Outcome::Refused { window, .. } = &mut outcome {
                    *window = None;
                }
                Err(CellError::Outcome(outcome))
            }
            None => Ok(None),
        }
    }
}

/// The window of a row that failed because no call had ended yet, with an error or without.
fn too_early(outcome: &Outcome) -> Option<&Measurement> {
    outcome.window().filter(|window| window.counts.ok == 0 && window.counts.errors.is_empty())
}

/// What follows from a window.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Next {
    Enough,
    Longer(AskedTimes),
    Refuse(String),
}

/// What follows from what a cell's row would say.
pub(super) fn after_outcome(run: &CallerRun<'_>, outcome: &Outcome) -> Next {
    let window = match outcome {
        Outcome::Measured(window) => Some(&**window),
        outcome => too_early(outcome),
    };
    window.map_or(Next::Enough, |window| after(run, window))
}

fn after(run: &CallerRun<'_>, window: &Measurement) -> Next {
    let mean_seconds = latency::decode(&window.latency_histogram)
        .ok()
        .filter(|latencies| !latencies.is_empty())
        .map(|latencies| latencies.mean() / 1e9);
    let figures = window.figures(run.workload.case.concurrency, mean_seconds);
    next(&run.context.plan, run.workload.times(), run.workload.case.calls, &figures)
}

fn next(plan: &Plan, asked: AskedTimes, calls: Option<u64>, figures: &WindowFigures) -> Next {
    let Some(longest_ms) = plan.window_max_ms.filter(|_| calls.is_none()) else {
        return Next::Enough;
    };
    if figures.holds() {
        return Next::Enough;
    }
    if asked.window_ms >= longest_ms {
        return match plan.short_windows {
            ShortWindows::Refused => Next::Refuse(refusal(longest_ms, figures)),
            ShortWindows::Kept => Next::Enough,
        };
    }
    Next::Longer(longer(plan, asked, longest_ms, figures))
}

fn longer(plan: &Plan, asked: AskedTimes, longest_ms: u64, figures: &WindowFigures) -> AskedTimes {
    let steps = |seconds: f64| ((seconds * 1e3 / STEP_MS).ceil() * STEP_MS) as u64;
    // Longer in any case, so that it ends at `longest_ms`: a window that was shorter than asked for
    // may need no more than was asked for.
    let window_ms = steps(figures.needed_seconds() * MARGIN).max(asked.window_ms + 1);
    // A suite without a warm-up measures the cold start itself.
    let warmup_ms = if plan.warmup_ms == 0 {
        0
    } else {
        steps(figures.call_seconds() * WARMUP_LATENCIES).max(asked.warmup_ms)
    };
    AskedTimes { warmup_ms: warmup_ms.min(longest_ms), window_ms: window_ms.min(longest_ms) }
}

fn refusal(longest_ms: u64, figures: &WindowFigures) -> String {
    let (call, needed) = (figures.call_seconds(), figures.needed_seconds());
    let why = if LATENCIES_MIN * call >= needed {
        format!("a call takes {call:.2} s, and a window must hold {LATENCIES_MIN} of them")
    } else {
        let rate = figures.answered / figures.seconds;
        format!("{rate:.1} calls a second are answered, and a window must hold {CALLS_MIN}")
    };
    format!(
        "{why}: it would have to be {needed:.0} s long, and the suite allows {:.1} s: raise \
         `window_max` in suite.toml, or measure fewer streams",
        longest_ms as f64 / 1e3
    )
}
