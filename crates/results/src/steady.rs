//! When the rate of a run became steady, and so how long its warm-up should have been.
//!
//! After Barrett et al., *Virtual machine warmup blows hot and cold* (2017): the series of counts
//! is cut where its mean changes, and the run is steady from the first segment after which all
//! means are close to the last one.

mod segments;

use bookend_contract::report::Intervals;
use segments::segments;
use serde::{Deserialize, Deserializer, Serialize};

/// Means are alike if they differ by at most this share of the last one.
pub const TOLERANCE: f64 = 0.05;

/// A window with fewer intervals than this is not judged.
pub const WINDOW_INTERVALS_MIN: usize = 10;

/// A rate must be steady for at least this share of the window: after a shorter time, the next
/// change may be imminent.
pub const STEADY_PART_MIN: f64 = 0.25;

/// When a rate became steady.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Steady {
    /// It was steady from this moment on.
    From {
        /// Seconds after the start of the window; negative during the warm-up.
        seconds: f64,
    },
    /// It still changed in the last quarter of the window.
    Never,
}

impl Steady {
    /// Decides from the counts of a run; `None` of a window that is too short to be judged.
    pub fn of(intervals: &Intervals) -> Option<Steady> {
        let window = intervals.counts.len().checked_sub(intervals.window_start)?;
        if window < WINDOW_INTERVALS_MIN {
            return None;
        }
        let counts: Vec<f64> = intervals.counts.iter().map(|count| *count as f64).collect();
        let start = steady_from(&counts);
        let steady = counts.len() - start;
        if (steady as f64) < STEADY_PART_MIN * window as f64 {
            return Some(Steady::Never);
        }
        let after = start as f64 - intervals.window_start as f64;
        Some(Steady::From { seconds: after * intervals.interval_ms as f64 / 1e3 })
    }
}

/// The position from which all segments are like the last one.
fn steady_from(counts: &[f64]) -> usize {
    let segments = segments(counts);
    let mean = |range: &std::ops::Range<usize>| {
        let values = &counts[range.clone()];
        values.iter().sum::<f64>() / values.len().max(1) as f64
    };
    let last = segments.last().map_or(0.0, mean);
    let alike = |range: &&std::ops::Range<usize>| (mean(range) - last).abs() <= TOLERANCE * last;
    segments.iter().rev().take_while(alike).last().map_or(0, |range| range.start)
}

/// Reads it from a row. Rows were written that carry the word `unknown`, where nothing was judged.
///
/// # Errors
/// When it is neither.
pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Steady>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Written {
        Judged(Steady),
        Not(NotJudged),
    }
    #[derive(Deserialize)]
    #[serde(rename_all = "snake_case")]
    enum NotJudged {
        Unknown,
    }
    Ok(match Option::deserialize(from)? {
        Some(Written::Judged(steady)) => Some(steady),
        Some(Written::Not(NotJudged::Unknown)) | None => None,
    })
}

/// Given when the rate of each round became steady, where that was judged, returns the mark of a
/// cell with windows that began earlier.
pub fn mark(rounds: impl Iterator<Item = Option<Steady>>) -> Option<String> {
    let judged: Vec<Steady> = rounds.flatten().collect();
    let never = judged.iter().filter(|round| **round == Steady::Never).count();
    let late = judged.iter().filter_map(|round| match round {
        Steady::From { seconds } if *seconds > 0.0 => Some(*seconds),
        _ => None,
    });
    let (late, longest) = late.fold((0, 0.0_f64), |(n, longest), one| (n + 1, longest.max(one)));
    let of_judged = format!("of {} rounds", judged.len());
    let late_clause = (late > 0).then(|| {
        format!(
            "the window began up to {longest:.1} s before the rate was steady ({late} {of_judged})"
        )
    });
    let never_clause = (never > 0).then(|| format!("never steady ({never} {of_judged})"));
    let clauses: Vec<String> = late_clause.into_iter().chain(never_clause).collect();
    (!clauses.is_empty()).then(|| clauses.join(", "))
}
