//! What a run came to, and the exit status that says so.

use bookend_contract::exit;
use bookend_results::measurement::{Outcome, Row};
use bookend_results::store::RunId;

/// What a run came to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RunSummary {
    /// Under which number it is stored; `None` when it was interrupted before it began.
    pub id: Option<RunId>,
    /// Whole rounds that are stored, those of before it was resumed included.
    pub rounds: u32,
    /// Rows that were measured.
    pub measured: u32,
    /// Rows that failed.
    pub failed: u32,
    /// Rows whose subject cannot do it.
    pub unsupported: u32,
    /// Rows for which no window that the suite allows is long enough.
    pub refused: u32,
    /// Rows whose subject is not here.
    pub missing: u32,
    /// The user wanted the lab to end.
    pub interrupted: bool,
}

impl RunSummary {
    /// Nothing yet of the run `id`.
    pub fn new(id: RunId) -> RunSummary {
        RunSummary { id: Some(id), ..RunSummary::default() }
    }

    /// Nothing was stored.
    pub fn interrupted_before_it_began() -> RunSummary {
        RunSummary { interrupted: true, ..RunSummary::default() }
    }

    /// Counts rows.
    pub fn add(&mut self, rows: &[Row]) {
        for row in rows {
            let count = match row.outcome {
                Outcome::Measured(_) => &mut self.measured,
                Outcome::Failed { .. } => &mut self.failed,
                Outcome::Unsupported { .. } => &mut self.unsupported,
                Outcome::Refused { .. } => &mut self.refused,
                Outcome::Missing { .. } => &mut self.missing,
            };
            *count += 1;
        }
    }

    /// The exit status of the command. A subject that is missing or cannot do something is no
    /// failure: the table says so.
    pub fn exit_status(&self) -> u8 {
        if self.interrupted {
            exit::INTERRUPTED
        } else if self.measured == 0 {
            exit::NOTHING_MEASURED
        } else if self.failed > 0 {
            exit::SOME_ROWS_FAILED
        } else {
            exit::MEASURED
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bookend_results::measurement::CellId;

    fn row(outcome: Outcome) -> Row {
        let cell = CellId {
            subject: "a".to_owned(),
            case: "C=1 S=1".parse().unwrap(),
            instrument: "b".to_owned(),
        };
        Row::new(0, cell, outcome)
    }

    #[test]
    fn the_exit_status_tells_the_worst() {
        let mut summary = RunSummary::new(RunId(1));
        assert_eq!(summary.exit_status(), exit::NOTHING_MEASURED);
        summary.measured = 3;
        summary.missing = 1;
        assert_eq!(summary.exit_status(), exit::MEASURED);
        summary.add(&[row(Outcome::failed("x"))]);
        assert_eq!(summary.exit_status(), exit::SOME_ROWS_FAILED);
        summary.interrupted = true;
        assert_eq!(summary.exit_status(), exit::INTERRUPTED);
    }
}
