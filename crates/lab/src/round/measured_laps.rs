//! What was called lap by lap.

use super::caller_report::CallerReport;
use crate::cell_error::CellError;
use bookend_contract::laps::LapFigures;
use bookend_contract::report::Intervals;

/// What was called lap by lap, by one instrument.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MeasuredLaps {
    /// Those of the warm-up.
    pub warmup: Vec<LapFigures>,
    /// Those of the window.
    pub window: Vec<LapFigures>,
    /// How long one of the window was to be, milliseconds.
    pub lap_ms: u64,
}

impl MeasuredLaps {
    /// Laps of the window.
    pub fn count(&self) -> u32 {
        u32::try_from(self.window.len()).unwrap_or(u32::MAX)
    }

    /// Calls by lap as if each had been as long as it was to be.
    pub fn intervals(&self) -> Intervals {
        let lap_ns = self.lap_ms as f64 * 1e6;
        let counts = self.warmup.iter().chain(&self.window).map(|lap| {
            let calls = lap.ok as f64 * lap_ns / (lap.length_ns.max(1) as f64);
            calls.round() as u64
        });
        Intervals {
            interval_ms: self.lap_ms,
            window_start: self.warmup.len(),
            counts: counts.collect(),
        }
    }

    /// Length of all of them together, seconds.
    pub fn window_seconds(&self) -> f64 {
        self.window.iter().map(|lap| lap.length_ns as f64 / 1e9).sum()
    }

    /// Whether the report is of the same calls.
    ///
    /// # Errors
    /// It is not; what the row says.
    pub fn check(&self, report: &CallerReport) -> Result<(), CellError> {
        let ok: u64 = self.window.iter().fold(0, |sum, lap| sum.saturating_add(lap.ok));
        let failed: u64 = self.window.iter().fold(0, |sum, lap| sum.saturating_add(lap.failed));
        if (ok, failed) == (report.counts.ok, report.counts.failed()) {
            return Ok(());
        }
        Err(CellError::failed(format!(
            "its laps add up to {ok} calls that ended OK and {failed} that did not, its report to \
             {} and {}",
            report.counts.ok,
            report.counts.failed()
        )))
    }
}
