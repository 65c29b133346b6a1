//! Servers that serve several cells of a round: each is started for the first of them, and again
//! after it has died.

use super::pairing::{Pairing, ServerKey};
use super::server::RunningServer;
use crate::cell_error::CellError;
use crate::context::RunContext;
use crate::process::interrupt::Interrupted;
use bookend_results::measurement::Outcome;
use std::collections::BTreeMap;

/// Failed starts in a row after which a server is not started again in the round: it may take a
/// minute to fail.
pub const FAILED_STARTS_MAX: u32 = 2;

/// A server that runs, or what the row of its cell says instead.
pub type ServerState = Result<RunningServer, Outcome>;

/// A server that serves several cells.
#[derive(Debug)]
pub struct SharedServer {
    /// The server.
    pub server: RunningServer,
    /// The number of this start in the round: the rows of one life have the same.
    pub life: u32,
    /// Cells that it has served.
    pub cells: u32,
}

/// The servers of one round: those that run for more than a cell, and starts that failed.
#[derive(Debug, Default)]
pub struct RoundServers<'a> {
    running: BTreeMap<ServerKey<'a>, SharedServer>,
    failed_starts: BTreeMap<ServerKey<'a>, u32>,
    lives: u32,
}

impl<'a> RoundServers<'a> {
    /// The server of that cell, started unless it runs. The caller returns it with
    /// [`RoundServers::put_back`].
    ///
    /// # Errors
    /// The user wants the lab to end.
    pub fn take(
        &mut self,
        context: &RunContext,
        pairing: &Pairing<'a>,
    ) -> Result<Result<SharedServer, Outcome>, Interrupted> {
        if let Some(running) = self.running.remove(&pairing.server_key()) {
            return Ok(Ok(running));
        }
        let started = self.start(context, pairing)?;
        let life = self.lives;
        Ok(started.map(|server| SharedServer { server, life, cells: 0 }))
    }

    /// Keeps a server for the next cells.
    pub fn put_back(&mut self, key: ServerKey<'a>, server: SharedServer) {
        self.running.insert(key, server);
    }

    /// A server that died since its last cell, taken out.
    pub fn take_dead(&mut self, key: ServerKey<'a>) -> Option<SharedServer> {
        let has_exited = self.running.get(&key).is_some_and(|shared| shared.server.has_exited());
        if has_exited { self.running.remove(&key) } else { None }
    }

    /// All that still run, taken out.
    pub fn take_all(&mut self) -> Vec<SharedServer> {
        std::mem::take(&mut self.running).into_values().collect()
    }

    /// Starts a server. One that has failed to start too often is not tried again.
    ///
    /// # Errors
    /// The user wants the lab to end.
    pub fn start(
        &mut self,
        context: &RunContext,
        pairing: &Pairing<'a>,
    ) -> Result<ServerState, Interrupted> {
        let failed = self.failed_starts.entry(pairing.server_key()).or_default();
        if *failed >= FAILED_STARTS_MAX {
            let error = format!("not measured: its server failed to start {failed} times");
            return Ok(Err(Outcome::failed(error)));
        }
        self.lives += 1;
        let started = CellError::or_outcome(RunningServer::start(context, &pairing.server))?;
        let has_failed = started.as_ref().is_err_and(Outcome::has_failed);
        *failed = if has_failed { *failed + 1 } else { 0 };
        Ok(started)
    }
}
