//! One round: every server started afresh, for each cell or for all its cells, every cell measured
//! once in random order, every server asked at its end how much it served.

mod caller_report;
mod caller_run;
mod contestant;
mod group;
mod laps;
mod marks;
mod measured_laps;
mod order;
mod pairing;
mod raw_output;
mod runner;
mod served_run;
mod server;
mod shutdown;
mod window;
mod window_choice;
mod workload;

pub(crate) use caller_report::{CallerReport, CallerReportParser};
pub use caller_run::{CallerRun, Profiler};
pub use marks::{AccountedCpu, FOREIGN_LIMIT, STEAL_LIMIT, marks};
pub use pairing::{Pairing, backend_name, side};
pub use served_run::ServedRun;
pub use server::{RunningServer, ServerSpec};
pub use window_choice::WindowChoices;
pub use workload::{CALL_TIMEOUT, Workload};

use crate::context::RunContext;
use bookend_results::measurement::{CellId, Row};
use contestant::RoundContestants;
use group::{PairedCell, groups};
use order::{random_of, shuffle};
use runner::RoundRunner;

/// What one round yields.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RoundResult {
    /// One row a cell, in the order of measuring; fewer if it was interrupted.
    pub rows: Vec<Row>,
    /// The user wants the lab to end.
    pub interrupted: bool,
}

/// Measures one round, with the windows that earlier rounds have chosen. `on_cell` is called before
/// each cell.
pub fn measure_round(
    context: &RunContext,
    round: u32,
    seed: u64,
    windows: &mut WindowChoices,
    on_cell: &mut dyn FnMut(&CellId),
) -> RoundResult {
    let mut cells = context.plan.cells();
    let mut random = random_of(seed, round);
    shuffle(&mut cells, &mut random);
    let paired: Vec<PairedCell<'_>> =
        cells.iter().map(|cell| (cell, Pairing::of(context, cell))).collect();
    let contestants = RoundContestants::default();
    let mut runner =
        RoundRunner { context, round, windows, contestants, failed_retries: 0, random };
    let measured = groups(context, &paired).iter().try_for_each(|group| {
        group.cells.iter().for_each(|(cell, _)| on_cell(&cell.id));
        runner.measure(group)
    });
    let rows = runner.contestants.into_rows(context.timeouts.drain);
    rows.iter().for_each(|row| windows.keep(row));
    RoundResult { rows, interrupted: measured.is_err() }
}
