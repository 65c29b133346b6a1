//! The calls of a race: a session of the load generator for each server.

use super::arguments::RaceArguments;
use crate::terminal::Failure;
use bookend_lab::process::interrupt::Interrupt;
use bookend_lab::race::{CalledLap, RaceCaller, RaceHost, RaceServer};
use bookend_load::flags::LoadFlags;
use bookend_load::options::CallOptions;
use bookend_load::plan::LoadPlan;
use bookend_load::probe::{self, ProbeDepth, ProbeRequest};
use bookend_load::record::OpenLoopCalls;
use bookend_load::run::{LapCalls, LoadSession};
use bookend_payload::data;
use bookend_results::race::{RaceCell, RatedCalls};
use std::time::Duration;

/// Makes the calls to all servers.
pub struct Callers {
    /// By cell, then by server.
    sessions: Vec<Vec<LoadSession>>,
    interrupt: Interrupt,
    /// The cell of the laps that come next.
    pub cell: usize,
    /// What is odd about the servers' answers, a sentence each.
    pub doubts: Vec<String>,
}

impl Callers {
    /// Has one call to each server answered, and makes all connections.
    ///
    /// # Errors
    /// [`Failure`] when the flags make no sense, or a server does not answer.
    pub fn connect(
        arguments: &RaceArguments,
        cells: &[RaceCell],
        servers: &[RaceServer],
        host: &RaceHost,
        input: &[u8],
    ) -> Result<Callers, Failure> {
        let cpus = u32::try_from(host.placement.generator.len().max(1)).unwrap_or(u32::MAX);
        let replies: Vec<_> = servers
            .iter()
            .map(|server| {
                let flags = arguments.load_flags(server.address(), cells[0]);
                verify(server, &flags, input)
            })
            .collect::<Result<_, _>>()?;
        let connect = |server: &RaceServer, cell: &RaceCell| {
            let flags = arguments.load_flags(server.address(), *cell);
            let plan =
                LoadPlan::from_flags(&flags, &mut { input }, cpus).map_err(Failure::unprepared)?;
            LoadSession::start(plan).map_err(|error| failed(server, error))
        };
        let of_cell = |cell| servers.iter().map(|server| connect(server, cell)).collect();
        let sessions = cells.iter().map(of_cell);
        let differ = replies.iter().any(|reply| *reply != replies[0]);
        Ok(Callers {
            sessions: sessions.collect::<Result<_, _>>()?,
            interrupt: host.spawner.interrupt.clone(),
            cell: 0,
            doubts: differ
                .then(|| "their replies to the first call differ".to_owned())
                .into_iter()
                .collect(),
        })
    }
}

impl RaceCaller for Callers {
    fn call(&mut self, server: usize, length: Duration) -> Result<Option<CalledLap>, String> {
        if self.interrupt.is_raised() {
            return Ok(None);
        }
        let session = &mut self.sessions[self.cell][server];
        let lap = session
            .lap(length, || self.interrupt.is_raised())
            .map_err(|error| error.to_string())?;
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
/// [`Failure`] when the flags make no sense, or the server does not answer.
pub fn verify(
    server: &RaceServer,
    flags: &LoadFlags,
    mut input: &[u8],
) -> Result<Vec<Vec<u8>>, Failure> {
    let options = CallOptions::from_flags(&flags.call).map_err(Failure::usage)?;
    let request = ProbeRequest::of_first_call(&options, &mut input).map_err(Failure::unprepared)?;
    let reply =
        probe::probe(&request, ProbeDepth::Call).call.map_err(|error| failed(server, error))?;
    Ok(reply.messages)
}

fn failed(server: &RaceServer, error: impl ToString) -> Failure {
    Failure::nothing_measured(server.not_called(error.to_string()))
}
