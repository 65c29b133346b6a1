//! The servers of a round, which are its contestants: each from its start to its end, with the rows
//! of the cells that it has served. What it says at its end completes them.

use super::pairing::{Pairing, ServerKey};
use super::server::RunningServer;
use super::shutdown::mark_uncounted;
use crate::cell_error::CellError;
use crate::context::RunContext;
use bookend_results::measurement::Row;
use std::collections::BTreeMap;
use std::time::Duration;

/// Failed starts in a row after which a server is not started again in the round: it may take a
/// minute to fail.
pub const FAILED_STARTS_MAX: u32 = 2;

/// A server that was started in this round.
#[derive(Debug)]
pub struct Contestant<'a> {
    key: ServerKey<'a>,
    /// While it lives.
    pub server: Option<RunningServer>,
    /// The number of this start in the round: the rows of one start have the same.
    start: u32,
    /// Whether it is there for one group of cells, and ends with it.
    is_own: bool,
    /// Where its rows are among those of the round.
    rows: Vec<usize>,
}

/// Every server that was started in a round, and every row that was measured.
#[derive(Debug, Default)]
pub struct RoundContestants<'a> {
    all: Vec<Contestant<'a>>,
    rows: Vec<Row>,
    failed_starts: BTreeMap<ServerKey<'a>, u32>,
    starts: u32,
}

impl<'a> RoundContestants<'a> {
    /// The number of the server for a cell. It is started, unless it serves several cells and runs;
    /// and again, if it has died since its last cell.
    ///
    /// # Errors
    /// What the row of the cell says: it does not start, or has failed to start too often.
    pub fn enter(
        &mut self,
        context: &RunContext,
        pairing: &Pairing<'a>,
    ) -> Result<usize, CellError> {
        let key = pairing.server_key();
        let is_it = |each: &Contestant<'_>| each.key == key && each.server.is_some();
        let running = self.all.iter().position(|each| !each.is_own && is_it(each));
        if let Some(running) = running.filter(|_| !pairing.has_own_server)
            && self.note_death(running, "between two cells").is_none()
        {
            return Ok(running);
        }
        let server = self.start(context, pairing)?;
        self.all.push(Contestant {
            key,
            server: Some(server),
            start: self.starts,
            is_own: pairing.has_own_server,
            rows: Vec::new(),
        });
        Ok(self.all.len() - 1)
    }

    /// All of them, by number.
    pub fn all_mut(&mut self) -> &mut [Contestant<'a>] {
        &mut self.all
    }

    /// How a server has ended by itself, and `when`. Its rows say so, since it could not tell how
    /// much it had served. `None`: it lives.
    pub fn note_death(&mut self, number: usize, when: &str) -> Option<String> {
        let contestant = &mut self.all[number];
        let reason = contestant.server.take_if(|server| server.has_exited())?.exit_reason(when);
        mark_uncounted(&mut rows_of(&mut self.rows, contestant), &reason);
        Some(reason)
    }

    /// Keeps a row that no server was started for.
    pub fn keep_unserved(&mut self, row: Row) {
        self.rows.push(row);
    }

    /// Keeps a row of that server.
    pub fn keep(&mut self, number: usize, row: Row) {
        let Contestant { start, is_own, rows, .. } = &mut self.all[number];
        let cells = u32::try_from(rows.len()).unwrap_or(u32::MAX);
        rows.push(self.rows.len());
        self.rows.push(if *is_own {
            Row { has_own_server: true, ..row }
        } else {
            Row { server_life: *start, cells_before: Some(cells), ..row }
        });
    }

    /// Ends the servers that were there for one group, and completes their rows.
    pub fn end_own(&mut self, drain: Duration) {
        self.end(drain, |contestant| contestant.is_own);
    }

    /// Kills the servers that were there for one group: after an interruption, nobody waits for
    /// them.
    pub fn kill_own(&mut self) {
        self.all.iter_mut().filter(|each| each.is_own).for_each(|each| drop(each.server.take()));
    }

    /// Ends all servers and completes their rows; returns the rows of the round, in the order of
    /// measuring.
    pub fn into_rows(mut self, drain: Duration) -> Vec<Row> {
        self.end(drain, |_| true);
        self.rows
    }

    fn end(&mut self, drain: Duration, is_meant: impl Fn(&Contestant<'_>) -> bool) {
        // All are asked to end before any is waited for, so that they drain at the same time.
        for contestant in self.all.iter_mut().filter(|each| is_meant(each)) {
            contestant.server.as_mut().map(RunningServer::close_stdin);
        }
        for contestant in self.all.iter_mut().filter(|each| is_meant(each)) {
            if let Some(server) = contestant.server.take() {
                server.end(drain).complete(&mut rows_of(&mut self.rows, contestant));
            }
        }
    }

    fn start(
        &mut self,
        context: &RunContext,
        pairing: &Pairing<'a>,
    ) -> Result<RunningServer, CellError> {
        let failed = self.failed_starts.entry(pairing.server_key()).or_default();
        if *failed >= FAILED_STARTS_MAX {
            let error = format!("not measured: its server failed to start {failed} times");
            return Err(CellError::failed(error));
        }
        self.starts += 1;
        let started = RunningServer::start(context, &pairing.server);
        let has_failed = started.as_ref().is_err_and(CellError::is_failure);
        *failed = if has_failed { *failed + 1 } else { 0 };
        started
    }
}

/// The rows of that server, in the order of measuring.
fn rows_of<'r>(rows: &'r mut [Row], contestant: &Contestant<'_>) -> Vec<&'r mut Row> {
    let are_its = |(index, _): &(usize, &mut Row)| contestant.rows.contains(index);
    rows.iter_mut().enumerate().filter(are_its).map(|(_, row)| row).collect()
}
