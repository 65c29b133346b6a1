//! The calls of a race: a session of the load generator for each server.

use super::arguments::RaceArguments;
use crate::terminal::Failure;
use bookend_lab::race::{CalledLap, RaceCaller, RaceHost, RaceRunError, RaceServer};
use bookend_load::options::CallOptions;
use bookend_load::plan::LoadPlan;
use bookend_load::prepare::PrepareError;
use bookend_load::probe::{self, ProbeDepth, ProbeRequest};
use bookend_load::record::OpenLoopCalls;
use bookend_load::run::{LapCalls, LoadSession};
use bookend_payload::data;
use bookend_results::race::{RaceCell, RatedCalls};
use std::time::Duration;

/// Makes the calls to all servers.
pub struct Callers<'a> {
    arguments: &'a RaceArguments,
    cells: &'a [RaceCell],
    host: &'a RaceHost,
    /// What was on standard input.
    input: &'a [u8],
    /// By cell, then by server.
    sessions: Vec<Vec<LoadSession>>,
    /// Whether the servers of some start replied differently to the first call.
    pub replies_differ: bool,
}

impl<'a> Callers<'a> {
    /// There are no connections yet.
    pub fn new(
        arguments: &'a RaceArguments,
        cells: &'a [RaceCell],
        host: &'a RaceHost,
        input: &'a [u8],
    ) -> Self {
        let (sessions, replies_differ) = (Vec::new(), false);
        Callers { arguments, cells, host, input, sessions, replies_differ }
    }

    fn session(&self, server: &RaceServer, cell: RaceCell) -> Result<LoadSession, RaceRunError> {
        let flags = self.arguments.load_flags(server.address(), cell);
        let plan = LoadPlan::from_flags(&flags, &mut { self.input }, self.host.generator_cpus())
            .map_err(unprepared)?;
        LoadSession::start(plan).map_err(|error| server.not_called(error.to_string()))
    }
}

impl RaceCaller for Callers<'_> {
    fn connect(&mut self, servers: &[RaceServer]) -> Result<(), RaceRunError> {
        let of_first = |server| verify(self.arguments, server, self.cells[0], self.input);
        let replies: Vec<_> = servers.iter().map(of_first).collect::<Result<_, _>>()?;
        self.replies_differ |= replies.iter().any(|reply| *reply != replies[0]);
        let of_cell = |cell| servers.iter().map(|server| self.session(server, cell)).collect();
        self.sessions = self.cells.iter().copied().map(of_cell).collect::<Result<_, _>>()?;
        Ok(())
    }

    fn disconnect(&mut self) {
        self.sessions.clear();
    }

    fn call(
        &mut self,
        cell: usize,
        server: usize,
        length: Duration,
    ) -> Result<Option<CalledLap>, String> {
        let interrupt = &self.host.spawner.interrupt;
        if interrupt.is_raised() {
            return Ok(None);
        }
        let session = &mut self.sessions[cell][server];
        let lap =
            session.lap(length, || interrupt.is_raised()).map_err(|error| error.to_string())?;
        Ok(lap.map(|LapCalls { ok, failed, length_ns, open_loop }| CalledLap {
            ok,
            failed,
            length_ns,
            rated: open_loop.as_deref().map(rated),
        }))
    }
}

fn rated(calls: &OpenLoopCalls) -> RatedCalls {
    let not_made: u64 = calls.not_made().map(|(_, count)| count).sum();
    RatedCalls {
        due: calls.due(),
        held_back: calls.waited + not_made,
        lag_ns: calls.lag.at(99.0),
        p50_ns: calls.from_intended.at(50.0),
        p99_ns: calls.from_intended.at(99.0),
    }
}

/// What `@`, `-` and `--binary` stand for: read once, and sent to all servers.
///
/// # Errors
/// [`Failure`] when it cannot be read.
pub fn standard_input(arguments: &RaceArguments) -> Result<Vec<u8>, Failure> {
    if !arguments.call.reads_standard_input() {
        return Ok(Vec::new());
    }
    data::standard_input(&mut std::io::stdin().lock()).map_err(Failure::usage)
}

/// The reply to one call, every message of it what the method promises.
///
/// # Errors
/// The flags make no sense, or the server does not answer.
pub fn verify(
    arguments: &RaceArguments,
    server: &RaceServer,
    cell: RaceCell,
    mut input: &[u8],
) -> Result<Vec<Vec<u8>>, RaceRunError> {
    let flags = arguments.load_flags(server.address(), cell);
    let options = CallOptions::from_flags(&flags.call).map_err(usage)?;
    let request = ProbeRequest::of_first_call(&options, &mut input).map_err(unprepared)?;
    let call = probe::probe(&request, ProbeDepth::Call).call;
    Ok(call.map_err(|error| server.not_called(error.to_string()))?.messages)
}

/// What is wrong with the flags of the calls.
pub fn usage(error: impl ToString) -> RaceRunError {
    RaceRunError::Usage(error.to_string())
}

/// Why there is nothing to call.
pub fn unprepared(error: PrepareError) -> RaceRunError {
    if error.is_usage() { usage(error) } else { RaceRunError::Unprepared(error.to_string()) }
}
