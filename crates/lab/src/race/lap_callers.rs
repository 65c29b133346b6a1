//! The processes that make the calls of a race of servers, one for each start, server and cell: the
//! lab knows no protocol.

use super::error::RaceRunError;
use super::host::RaceHost;
use super::server::RaceServer;
use crate::control_group::ControlGroup;
use crate::invocation::Invocation;
use crate::lap_process::{LapProcess, LapProcessError, out_of_place};
use bookend_contract::environment::{Environment, Role, WindowLength};
use bookend_contract::exit;
use bookend_contract::laps::{LapCommand, LapFigures};
use bookend_contract::lines::Line;
use bookend_results::race::RaceCell;
use std::ffi::OsString;
use std::path::Path;
use std::time::Duration;

/// How the processes that call servers are started.
pub struct LapCallerSpec<'a> {
    /// The program and its arguments.
    pub command: Vec<OsString>,
    /// Variables that it gets in addition to those of the contract.
    pub variables: Vec<(OsString, OsString)>,
    /// The ways in which servers are called.
    pub cells: &'a [RaceCell],
    /// How much longer than a lap its answer may take: connections are made, and calls awaited.
    pub timeout: Duration,
    /// The reply of a server to one call, which it has to answer before any process calls it.
    pub verify: &'a VerifyServer<'a>,
}

/// Makes one call to a server, and returns the messages of its reply.
pub type VerifyServer<'a> = dyn Fn(&RaceServer) -> Result<Vec<Vec<u8>>, RaceRunError> + 'a;

/// The processes that call the servers of one start. They are killed when this is dropped.
pub(super) struct LapCallers<'a> {
    host: &'a RaceHost,
    spec: &'a LapCallerSpec<'a>,
    /// By cell, then by server. One that has failed is gone.
    processes: Vec<Vec<Option<LapProcess>>>,
    /// Whether two servers have ever answered the first call differently.
    replies_differ: bool,
}

impl<'a> LapCallers<'a> {
    /// None has been started yet.
    pub(super) fn new(host: &'a RaceHost, spec: &'a LapCallerSpec<'a>) -> Self {
        LapCallers { host, spec, processes: Vec::new(), replies_differ: false }
    }

    /// Starts them, and waits until all have made their connections: that costs servers CPU time,
    /// which would count for laps.
    pub(super) fn connect(&mut self, servers: &[RaceServer]) -> Result<(), RaceRunError> {
        let replies: Vec<_> = servers.iter().map(self.spec.verify).collect::<Result<_, _>>()?;
        self.replies_differ |= replies.iter().any(|reply| *reply != replies[0]);
        for cell in self.spec.cells {
            let start = |server| self.start(cell, server).map(Some);
            let of_cell = servers.iter().map(start).collect::<Result<_, _>>()?;
            self.processes.push(of_cell);
        }
        for cell in 0..self.processes.len() {
            for (number, server) in servers.iter().enumerate() {
                let told = self.tell(cell, number, LapCommand::WarmUp(0), Duration::ZERO);
                told.map_err(|error| blame(server, error))?;
            }
        }
        Ok(())
    }

    /// Whether the servers have answered the first call of a start differently.
    pub(super) fn replies_differ(&self) -> bool {
        self.replies_differ
    }

    /// Ends them: no server ends before the connections to it.
    pub(super) fn end(&mut self) {
        self.processes.clear();
    }

    /// Has the server of a number called in a cell for `length`, until no call is in flight.
    pub(super) fn lap(
        &mut self,
        cell: usize,
        server: usize,
        length: Duration,
    ) -> Result<LapFigures, LapProcessError> {
        let length_ms = u64::try_from(length.as_micros().div_ceil(1_000)).unwrap_or(u64::MAX);
        match self.tell(cell, server, LapCommand::Lap(length_ms), length)? {
            Line::Lap(figures) => Ok(figures),
            line => Err(out_of_place(&line)),
        }
    }

    fn tell(
        &mut self,
        cell: usize,
        server: usize,
        command: LapCommand,
        length: Duration,
    ) -> Result<Line, LapProcessError> {
        let place = &mut self.processes[cell][server];
        let process = place.take().expect("a race ends with the first process that fails");
        let timeout = length.saturating_add(self.spec.timeout);
        let interrupt = &self.host.spawner.interrupt;
        let (process, line) = process.tell(command, timeout, interrupt, || None)?;
        *place = Some(process);
        Ok(line)
    }

    /// One that calls `server` as in `cell`.
    fn start(&self, cell: &RaceCell, server: &RaceServer) -> Result<LapProcess, RaceRunError> {
        let environment = Environment {
            cpus: Some(self.host.generator_cpus()),
            target: Some(server.address().to_string()),
            connections: Some(cell.connections),
            concurrency: Some(cell.concurrency),
            window_length: Some(WindowLength::Laps),
            ..Environment::of(Role::Instrument)
        };
        let mut invocation = Invocation::of_subject(&[], Path::new("."), environment);
        invocation.cpus.clone_from(&self.host.placement.generator);
        invocation.more_variables.clone_from(&self.spec.variables);
        let command = self.spec.command.clone();
        self.host
            .spawner
            .spawn_as_is(command, &invocation, ControlGroup::default())
            .map(LapProcess::new)
            .map_err(|error| RaceRunError::NotCalled(server.name().to_owned(), error.to_string()))
    }
}

/// What a race says where calls to `server` could not be made.
pub(super) fn blame(server: &RaceServer, error: LapProcessError) -> RaceRunError {
    match error {
        LapProcessError::Interrupted => RaceRunError::Interrupted,
        LapProcessError::Failed(reason) => server.not_called(reason),
        LapProcessError::Ended(exit) => {
            let reason = exit.last_error.clone().unwrap_or_else(|| exit.describe());
            match exit.code().and_then(|code| u8::try_from(code).ok()) {
                Some(exit::USAGE) => RaceRunError::Usage(reason),
                Some(exit::AGENT_LOST) => RaceRunError::AgentLost(reason),
                _ => server.not_called(reason),
            }
        }
    }
}
