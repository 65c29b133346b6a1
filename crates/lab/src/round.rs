//! One round: every server started afresh, for each cell or for all its cells, every cell measured
//! once in random order, every server asked at its end how much it served.

mod caller_report;
mod caller_run;
mod cell;
mod laps;
mod marks;
mod pairing;
mod raw_output;
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
use bookend_contract::mutant::Mutant;
use bookend_results::measurement::{CellId, Outcome, Row};
use bookend_results::random::Random;
use bookend_results::suite::{Case, PlannedCell};
use shared::{RoundServers, SharedServer};
use shutdown::mark_uncounted;
use together::CellGroup;

/// How often a disturbed window is measured again. What disturbs it that long disturbs it longer;
/// then the mark stays.
pub const RETRIES_MAX: u32 = 2;

/// After so many cells in a row that stayed disturbed, the machine is not going to be quiet in this
/// round, and measuring again would only make it take three times as long.
pub const FAILED_RETRIES_MAX: u32 = 3;

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
    let paired = cells.iter().map(|cell| (cell, Pairing::of(context, cell)));
    let paired: Vec<PairedCell<'_>> = paired.collect();
    let (servers, rows) = (RoundServers::default(), Vec::new());
    let mut runner = RoundRunner { context, round, windows, servers, rows, failed_retries: 0, random };
    let measured = runner.measure_cells(&paired, on_cell);
    runner.end_servers();
    let rows: Vec<Row> = runner.rows.into_iter().map(|(row, _)| row).collect();
    rows.iter().for_each(|row| windows.keep(row));
    RoundResult { rows, interrupted: measured.is_err() }
}

/// A cell with its two ends, or why they do not meet.
type PairedCell<'a> = (&'a PlannedCell, Result<Pairing<'a>, CellError>);

struct RoundRunner<'a> {
    context: &'a RunContext,
    round: u32,
    windows: &'a WindowChoices,
    servers: RoundServers<'a>,
    /// Every row, and of a server that serves several cells the life that it was measured in.
    rows: Vec<(Row, Option<u32>)>,
    /// Cells in a row that stayed disturbed, however often they were measured.
    failed_retries: u32,
    /// Says in which order cells have their laps.
    random: Random,
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

    /// The server of the round; another, if it has died since its last cell.
    fn take_server(
        &mut self,
        pairing: &Pairing<'a>,
    ) -> Result<Result<SharedServer, Outcome>, Interrupted> {
        if let Some(dead) = self.servers.take_dead(pairing.server_key()) {
            let reason = dead.server.exit_reason("between two cells");
            self.mark_life(dead.life, &reason);
        }
        self.servers.take(self.context, pairing)
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

    /// A cell, or those that were measured by turns, could be measured so often again.
    fn note_retries(&mut self, retries: u32, is_disturbed: bool) {
        let more = self.failed_retries + u32::from(retries > 0);
        self.failed_retries = if is_disturbed { more } else { 0 };
    }

    /// A fixed number of calls is for a server that has seen nothing before: no second time.
    fn retries(&self, case: Case) -> u32 {
        let is_hopeless = self.failed_retries >= FAILED_RETRIES_MAX;
        let has_one_try = case.calls.is_some() || is_hopeless;
        if has_one_try { 0 } else { RETRIES_MAX }
    }

    fn row(&self, cell: &PlannedCell, outcome: Outcome) -> Row {
        Row::new(self.round, cell.id.clone(), outcome)
    }

    fn end_servers(&mut self) {
        let mut servers = self.servers.take_all();
        // All are asked to end before any is waited for, so that they drain at the same time.
        for shared in &mut servers {
            shared.server.close_stdin();
        }
        for shared in servers {
            let end = shared.server.end(self.context.timeouts.drain);
            end.complete(&mut self.rows_of(shared.life));
        }
    }

    /// Says in the rows of a server that died how it did, before it could tell what it had served.
    fn mark_life(&mut self, life: u32, reason: &str) {
        mark_uncounted(&mut self.rows_of(life), reason);
    }

    fn rows_of(&mut self, life: u32) -> Vec<&mut Row> {
        let rows = self.rows.iter_mut();
        rows.filter(|(_, of)| *of == Some(life)).map(|(row, _)| row).collect()
    }
}

/// What the row says of a server that has died.
fn died(measured: Result<Outcome, Interrupted>, reason: &str) -> Outcome {
    let mut own = measured.unwrap_or_else(|_| Outcome::failed(reason));
    own.fail(reason);
    own
}

/// Every round has its own random numbers, so that a resumed run goes on as it would have.
fn random_of(seed: u64, round: u32) -> Random {
    let mut seeds = Random::new(seed ^ u64::from(round).rotate_left(32));
    // Seeds that differ in one bit give first numbers that differ in half of theirs.
    Random::new(seeds.bits())
}

/// Puts `items` into a random order; each order is as likely as every other. A seed brings it back.
fn shuffle<T>(items: &mut [T], random: &mut Random) {
    if Mutant::OrderedRounds.is_on() {
        return;
    }
    for last in (1..items.len()).rev() {
        items.swap(last, below(random, last + 1));
    }
}

/// The multiplication maps 64 random bits to the range; for ranges of this size the bias is below
/// one in 2^50.
fn below(random: &mut Random, range: usize) -> usize {
    let product = u128::from(random.bits()) * range as u128;
    (product >> 64) as usize
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    fn order(seed: u64, round: u32) -> Vec<u32> {
        let mut items: Vec<u32> = (0..20).collect();
        shuffle(&mut items, &mut random_of(seed, round));
        items
    }

    #[test]
    fn a_seed_brings_an_order_back_and_rounds_differ() {
        assert_eq!(order(7, 3), order(7, 3));
        assert_ne!(order(7, 3), order(7, 4));
        assert_ne!(order(7, 3), order(8, 3));
        let mut sorted = order(7, 3);
        sorted.sort_unstable();
        assert_eq!(sorted, (0..20).collect::<Vec<u32>>());
    }

    #[test]
    fn every_order_of_three_comes_about_equally_often() {
        let mut counts: BTreeMap<[u8; 3], u32> = BTreeMap::new();
        for round in 0..6000 {
            let mut items = [0, 1, 2];
            shuffle(&mut items, &mut random_of(42, round));
            *counts.entry(items).or_default() += 1;
        }
        assert_eq!(counts.len(), 6);
        // Five standard deviations of a binomial with 6000 draws and one in six are 144.
        assert!(counts.values().all(|count| count.abs_diff(1000) < 144));
    }

    #[test]
    fn nothing_and_one_thing_stay_as_they_are() {
        shuffle::<u8>(&mut [], &mut random_of(0, 0));
        let mut one = [5];
        shuffle(&mut one, &mut random_of(0, 0));
        assert_eq!(one, [5]);
    }
}
