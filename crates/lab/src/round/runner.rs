//! What is kept while a round is measured: its servers, and its rows so far.

use super::pairing::Pairing;
use super::shared::{RoundServers, SharedServer};
use super::shutdown::mark_uncounted;
use super::window_choice::WindowChoices;
use crate::cell_error::CellError;
use crate::context::RunContext;
use crate::process::interrupt::Interrupted;
use bookend_results::measurement::{Outcome, Row};
use bookend_results::suite::{Case, PlannedCell};
use fastrand::Rng;

/// How often a disturbed window is measured again. What disturbs it that long disturbs it longer;
/// then the mark stays.
pub const RETRIES_MAX: u32 = 2;

/// Cells in a row that stayed disturbed; after them the machine is not going to be quiet in this
/// round, and measuring again would only make it take three times as long.
pub const FAILED_RETRIES_MAX: u32 = 3;

/// A cell with its two ends, or why they do not meet.
pub type PairedCell<'a> = (&'a PlannedCell, Result<Pairing<'a>, CellError>);

/// A round that is being measured.
pub struct RoundRunner<'a> {
    /// What all rounds share.
    pub context: &'a RunContext,
    /// Its number.
    pub round: u32,
    /// The windows that earlier rounds have chosen.
    pub windows: &'a WindowChoices,
    /// Servers that live for more than a cell.
    pub servers: RoundServers<'a>,
    /// Every row, and of a server that serves several cells the life that it was measured in.
    pub rows: Vec<(Row, Option<u32>)>,
    /// Cells in a row that stayed disturbed, however often they were measured.
    pub failed_retries: u32,
    /// Says in which order cells have their laps.
    pub random: Rng,
}

impl<'a> RoundRunner<'a> {
    /// The server of the round; another, if it has died since its last cell.
    pub fn take_server(
        &mut self,
        pairing: &Pairing<'a>,
    ) -> Result<Result<SharedServer, Outcome>, Interrupted> {
        if let Some(dead) = self.servers.take_dead(pairing.server_key()) {
            let reason = dead.server.exit_reason("between two cells");
            self.mark_life(dead.life, &reason);
        }
        self.servers.take(self.context, pairing)
    }

    /// A cell, or those that were measured by turns, could be measured again `retries` times.
    pub fn note_retries(&mut self, retries: u32, is_disturbed: bool) {
        let more = self.failed_retries + u32::from(retries > 0);
        self.failed_retries = if is_disturbed { more } else { 0 };
    }

    /// A fixed number of calls is for a server that has seen nothing before: no second time.
    pub fn retries(&self, case: Case) -> u32 {
        let is_hopeless = self.failed_retries >= FAILED_RETRIES_MAX;
        let has_one_try = case.calls.is_some() || is_hopeless;
        if has_one_try { 0 } else { RETRIES_MAX }
    }

    /// A row of this round.
    pub fn row(&self, cell: &PlannedCell, outcome: Outcome) -> Row {
        Row::new(self.round, cell.id.clone(), outcome)
    }

    /// Ends all servers that run, and completes their rows.
    pub fn end_servers(&mut self) {
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
    pub fn mark_life(&mut self, life: u32, reason: &str) {
        mark_uncounted(&mut self.rows_of(life), reason);
    }

    /// The rows that were measured in that life of a server.
    pub fn rows_of(&mut self, life: u32) -> Vec<&mut Row> {
        self.rows.iter_mut().filter(|(_, of)| *of == Some(life)).map(|(row, _)| row).collect()
    }
}

/// What the row says of a server that has died.
pub fn died(measured: Result<Outcome, Interrupted>, reason: &str) -> Outcome {
    let mut own = measured.unwrap_or_else(|_| Outcome::failed(reason));
    own.fail(reason);
    own
}
