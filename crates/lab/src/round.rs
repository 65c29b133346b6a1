//! One round: every server started afresh, for each cell or for all its cells, every cell measured
//! once in random order, every server asked at its end how much it served.

mod caller_report;
mod caller_run;
mod cell;
mod laps;
mod marks;
mod measured_laps;
mod order;
mod pairing;
mod raw_output;
mod runner;
mod server;
mod shared;
mod shutdown;
mod together;
mod window;
mod window_choice;
mod workload;

pub(crate) use caller_report::{CallerReport, CallerReportParser};
pub use caller_run::{CallerRun, Profiler};
pub use marks::{AccountedCpu, FOREIGN_LIMIT, STEAL_LIMIT, marks};
pub use pairing::{Pairing, backend_name, side};
pub use server::{RunningServer, ServerSpec};
pub use window_choice::WindowChoices;
pub use workload::{CALL_TIMEOUT, Workload};

use crate::cell_error::CellError;
use crate::context::RunContext;
use crate::process::interrupt::Interrupted;
use bookend_results::measurement::{CellId, Outcome, Row};
use bookend_results::suite::PlannedCell;
use order::{random_of, shuffle};
use runner::{PairedCell, RoundRunner, died};
use shared::{RoundServers, SharedServer};
use together::CellGroup;

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
    let (servers, rows) = (RoundServers::default(), Vec::new());
    let mut runner =
        RoundRunner { context, round, windows, servers, rows, failed_retries: 0, random };
    let measured = runner.measure_cells(&paired, on_cell);
    runner.end_servers();
    let rows: Vec<Row> = runner.rows.into_iter().map(|(row, _)| row).collect();
    rows.iter().for_each(|row| windows.keep(row));
    RoundResult { rows, interrupted: measured.is_err() }
}

impl<'a> RoundRunner<'a> {
    fn measure_cells(
        &mut self,
        cells: &[PairedCell<'a>],
        on_cell: &mut dyn FnMut(&CellId),
    ) -> Result<(), Interrupted> {
        for group in together::groups(self.context, cells) {
            match group {
                CellGroup::ByTurns(cells) => {
                    cells.iter().for_each(|(cell, _)| on_cell(&cell.id));
                    self.measure_together(&cells)?;
                }
                CellGroup::Alone((cell, pairing)) => {
                    on_cell(&cell.id);
                    let row = self.measure_by_itself(cell, pairing)?;
                    self.rows.push(row);
                }
            }
        }
        Ok(())
    }

    fn measure_by_itself(
        &mut self,
        cell: &PlannedCell,
        pairing: &Result<Pairing<'a>, CellError>,
    ) -> Result<(Row, Option<u32>), Interrupted> {
        match pairing {
            Ok(pairing) if pairing.has_own_server => Ok((self.measure_alone(cell, pairing)?, None)),
            Ok(pairing) => self.measure_shared(cell, pairing),
            Err(error) => Ok((self.row(cell, error.clone().into_outcome()?), None)),
        }
    }

    /// With a server that serves other cells of the round, too.
    fn measure_shared(
        &mut self,
        cell: &PlannedCell,
        pairing: &Pairing<'a>,
    ) -> Result<(Row, Option<u32>), Interrupted> {
        let key = pairing.server_key();
        let SharedServer { server, life, cells } = match self.take_server(pairing)? {
            Ok(shared) => shared,
            Err(outcome) => return Ok((self.row(cell, outcome), None)),
        };
        let (measured, server) = self.measure(cell, pairing, server);
        match server {
            Ok(server) => {
                let shared = SharedServer { server, life, cells: cells + 1 };
                self.servers.put_back(key, shared);
            }
            Err(reason) => self.mark_life(life, &reason),
        }
        let row = self.row(cell, measured?);
        Ok((Row { server_life: life, cells_before: Some(cells), ..row }, Some(life)))
    }

    /// With a server that is started for this cell and ends with it.
    fn measure_alone(
        &mut self,
        cell: &PlannedCell,
        pairing: &Pairing<'a>,
    ) -> Result<Row, Interrupted> {
        let (measured, server) = match self.servers.start(self.context, pairing)? {
            Ok(server) => self.measure(cell, pairing, server),
            Err(outcome) => (Ok(outcome), Err(String::new())),
        };
        let mut row = Row { has_own_server: true, ..self.row(cell, measured?) };
        if let Ok(server) = server {
            let end = server.end(self.context.timeouts.drain);
            end.complete(&mut [&mut row]);
        }
        Ok(row)
    }

    /// What the row says, and the server if it is still alive, or how it ended.
    fn measure(
        &mut self,
        cell: &PlannedCell,
        pairing: &Pairing<'_>,
        mut server: RunningServer,
    ) -> (Result<Outcome, Interrupted>, Result<RunningServer, String>) {
        let context = self.context;
        let workload = Workload::of_plan(&context.plan, cell.case);
        let run = CallerRun { context, pairing, workload, profiler: None };
        let retries = self.retries(cell.case);
        let measured = match self.windows.measure(&cell.id, run, &mut server, retries) {
            Ok(window) => Ok(Outcome::Measured(Box::new(window))),
            Err(error) => error.into_outcome(),
        };
        if server.has_exited() {
            let reason = server.exit_reason("while it was measured");
            return (Ok(died(measured, &reason)), Err(reason));
        }
        if let Ok(Outcome::Measured(window)) = &measured {
            self.note_retries(retries, !window.marks.is_empty());
        }
        (measured, Ok(server))
    }
}
