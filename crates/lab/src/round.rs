//! One round: every server started afresh, every cell measured once in random order, every server
//! asked at the end how much it served.

mod address;
mod cell;
mod client_report;
mod client_run;
mod closing;
mod load;
mod marks;
mod notes;
mod observer;
mod pairing;
mod server;
mod shuffle;
mod shutdown;
mod window;

pub use address::TransportFiles;
pub(crate) use cell::Cell;
pub use load::{CALL_TIMEOUT, Workload};
pub use marks::{FOREIGN_LIMIT, STEAL_LIMIT};
pub use observer::Observer;
pub use pairing::{Pairing, backend_name, member, side};
pub use server::{BackendEnd, RunningServer, ServerEnd, ServerSpec};

use crate::build::PreparedSubject;
use crate::cell_error::CellError;
use crate::control_group::{ControlGroups, ResourceLimits};
use crate::cpu::Placement;
use crate::launch::Launcher;
use crate::probe::Probe;
use crate::process::DRAIN_TIMEOUT;
use crate::process::interrupt::Interrupt;
use crate::subject::Placeholders;
use bookend_contract::transport::Transport;
use bookend_results::measurement::{CellId, Outcome, Row};
use bookend_results::suite::{Case, Plan, PlannedCell, Side};
use pairing::outcome_of;
use shuffle::Shuffle;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

/// How much longer than warm-up and window an instrument may take: connecting, draining, printing.
pub const INSTRUMENT_GRACE: Duration = Duration::from_secs(10);

/// How often a disturbed window is measured again. A neighbour who stays that long stays longer;
/// then the mark stays too.
pub const RETRIES_MAX: u32 = 2;

/// After so many cells in a row whose retries were in failed_retries, the machine is not going to be quiet
/// in this round, and repeating would only make it take three times as long.
pub const FAILED_RETRIES_MAX: u32 = 3;

/// Processes and threads of one subject: more than the largest published cell needs with a thread
/// a call, and where a fork bomb ends.
pub const PROCESSES_LIMIT: u32 = 131_072;

/// Everything that all rounds of a run share.
#[derive(Debug)]
pub struct RunContext {
    /// How processes are started.
    pub launcher: Launcher,
    /// Where limits and accounts come from.
    pub groups: ControlGroups,
    /// Who runs where.
    pub placement: Placement,
    /// CPUs that the server may use, a fraction being a share of CPU time.
    pub server_cpu_limit: f64,
    /// Memory that the server may use, bytes.
    pub server_memory_bytes: Option<u64>,
    /// Processes and threads that a server under test may have.
    pub server_processes: Option<u32>,
    /// CPUs that a client under test may use, a fraction being a share of CPU time.
    pub client_cpu_limit: Option<f64>,
    /// Whether somebody wants the lab to end.
    pub interrupt: Interrupt,
    /// The running `bookend`: what `{bookend}` stands for.
    pub bookend: PathBuf,
    /// How a call to a server is verified before it is measured.
    pub probe: Option<Probe>,
    /// The call that is made.
    pub request: RequestFiles,
    /// What transports need: sockets and certificates.
    pub carriers: TransportFiles,
    /// How long the lab waits.
    pub timeouts: ProcessTimeouts,
    /// Whether the measured side is recorded with a profiler, and must keep its symbols for it.
    pub profile: bool,
}

/// The call that every cell makes, in the forms that instruments take. Paths are absolute.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RequestFiles {
    /// `pkg.Service/Method`.
    pub method: String,
    /// The service definition.
    pub proto: Option<PathBuf>,
    /// The message as protobuf JSON.
    pub json: Option<PathBuf>,
    /// The message's bytes.
    pub bytes: Option<PathBuf>,
    /// The same with the five bytes of a gRPC message before it.
    pub framed: Option<PathBuf>,
}

/// How long the lab waits for a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProcessTimeouts {
    /// For `ready`; `None` leaves it to the subject's language.
    pub ready: Option<Duration>,
    /// For the end, once standard input is closed.
    pub drain: Duration,
    /// For an instrument beyond its warm-up and window.
    pub grace: Duration,
}

/// Everybody who takes part, by name: prepared, or what their rows say instead.
pub type PreparedSubjects = BTreeMap<String, Result<PreparedSubject, Outcome>>;

/// What one round yields.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RoundResult {
    /// One row a cell, in the order of measuring; fewer if it was interrupted.
    pub rows: Vec<Row>,
    /// Somebody wants the lab to end.
    pub interrupted: bool,
}

/// Measures one round. `told` is told of every cell before it is measured.
pub fn measure_round(
    context: &RunContext,
    plan: &Plan,
    prepared: &PreparedSubjects,
    round: u32,
    seed: u64,
    told: &mut dyn FnMut(&CellId),
) -> RoundResult {
    let mut cells = plan.cells();
    Shuffle::of_round(seed, round).shuffle(&mut cells);
    let mut measuring = Round {
        context,
        plan,
        prepared,
        round,
        servers: BTreeMap::new(),
        result: RoundResult::default(),
        served_by: BTreeMap::new(),
        failed_retries: 0,
    };
    let started = measuring.start_servers(&cells);
    let measured = started.and_then(|()| measuring.measure_all(&cells, told));
    measuring.result.interrupted = measured.is_err();
    measuring.finish()
}

/// A server of a round: its name, and what carries its connections.
type ServerKey<'a> = (&'a str, Transport);

struct Round<'a> {
    context: &'a RunContext,
    plan: &'a Plan,
    prepared: &'a PreparedSubjects,
    round: u32,
    /// Servers that serve all their cells of the round.
    servers: BTreeMap<ServerKey<'a>, Result<RunningServer, Outcome>>,
    result: RoundResult,
    /// For every row with such a server, which.
    served_by: BTreeMap<usize, ServerKey<'a>>,
    /// Cells in a row that were repeated in failed_retries.
    failed_retries: u32,
}

impl<'a> Round<'a> {
    fn start_servers(&mut self, cells: &'a [PlannedCell]) -> Result<(), Interrupted> {
        let mut stations = BTreeMap::new();
        for cell in cells {
            if let Ok(ends) = Pairing::of(self.plan, self.prepared, cell)
                && !ends.has_own_server(cell.case)
            {
                stations.insert(ends.key(), ends.station);
            }
        }
        for (key, station) in stations {
            let started = self.start(&station)?;
            self.servers.insert(key, started);
        }
        Ok(())
    }

    fn start(
        &mut self,
        station: &ServerSpec<'_>,
    ) -> Result<Result<RunningServer, Outcome>, Interrupted> {
        match RunningServer::start(self.context, station) {
            Ok(server) => Ok(Ok(server)),
            Err(CellError::Outcome(outcome)) => Ok(Err(outcome)),
            Err(CellError::Interrupted) => Err(Interrupted),
        }
    }

    fn measure_all(
        &mut self,
        cells: &'a [PlannedCell],
        told: &mut dyn FnMut(&CellId),
    ) -> Result<(), Interrupted> {
        for cell in cells {
            told(&cell.id);
            match Pairing::of(self.plan, self.prepared, cell) {
                Err(stop) => self.add_row(cell, outcome_of(stop)),
                Ok(ends) if ends.has_own_server(cell.case) => self.measure_alone(cell, &ends)?,
                Ok(ends) => self.measure_shared(cell, &ends)?,
            }
        }
        Ok(())
    }

    /// With the server that serves all cells of the round.
    fn measure_shared(
        &mut self,
        cell: &PlannedCell,
        ends: &Pairing<'a>,
    ) -> Result<(), Interrupted> {
        let key = ends.key();
        let server = match self.servers.remove(&key) {
            Some(Ok(server)) => server,
            Some(Err(outcome)) => {
                self.servers.insert(key, Err(outcome.clone()));
                self.add_row(cell, outcome);
                return Ok(());
            }
            None => {
                self.add_row(cell, Outcome::failed("its server was never started"));
                return Ok(());
            }
        };
        let (measured, server) = self.measure(cell, ends, server);
        self.servers.insert(key, server);
        self.served_by.insert(self.result.rows.len(), key);
        self.add_row(cell, measured?);
        Ok(())
    }

    /// With a server that is started for this cell and ends with it.
    fn measure_alone(&mut self, cell: &PlannedCell, ends: &Pairing<'a>) -> Result<(), Interrupted> {
        let (outcome, server) = match self.start(&ends.station)? {
            Ok(server) => {
                let (measured, server) = self.measure(cell, ends, server);
                (measured?, server.ok())
            }
            Err(outcome) => (outcome, None),
        };
        let mut row = Row {
            has_own_server: true,
            ..Row::new(self.round, cell.id.clone(), outcome)
        };
        if let Some(server) = server {
            let counts = server.counts;
            let end = server.end(self.context.timeouts.drain);
            closing::close(&mut [&mut row], &end, &counts);
        }
        self.result.rows.push(row);
        Ok(())
    }

    /// What the row says, and the server, if it is still alive, or what its other rows say.
    fn measure(
        &mut self,
        planned: &PlannedCell,
        ends: &Pairing<'_>,
        mut server: RunningServer,
    ) -> (Result<Outcome, Interrupted>, Result<RunningServer, Outcome>) {
        let cell = Cell {
            context: self.context,
            caller: ends.caller,
            load: Workload {
                case: planned.case,
                warmup_ms: self.plan.warmup_ms,
                window_ms: self.plan.window_ms,
                deadline_ms: self.plan.deadline_ms,
            },
            under_test: ends.side,
            retries: self.retries(planned.case),
            observer: None,
        };
        let measured = match cell.measure(&mut server) {
            Ok(window) => Ok(Outcome::Measured(Box::new(window))),
            Err(CellError::Outcome(outcome)) => Ok(outcome),
            Err(CellError::Interrupted) => Err(Interrupted),
        };
        let server = match server.exit_reason() {
            Ok(how) => {
                let died = Outcome::failed(&how);
                let mut own = measured.unwrap_or_else(|_| died.clone());
                own.fail(how);
                return (Ok(own), Err(died));
            }
            Err(alive) => *alive,
        };
        if let Ok(Outcome::Measured(window)) = &measured {
            self.failed_retries = match window.marks.is_empty() {
                true => 0,
                false => self.failed_retries + u32::from(cell.retries > 0),
            };
        }
        (measured, Ok(server))
    }

    /// A fixed number of calls is for a server that has seen nothing before: no second time.
    fn retries(&self, case: Case) -> u32 {
        match case.calls {
            None if self.failed_retries < FAILED_RETRIES_MAX => RETRIES_MAX,
            _ => 0,
        }
    }

    fn add_row(&mut self, cell: &PlannedCell, outcome: Outcome) {
        let row = Row::new(self.round, cell.id.clone(), outcome);
        self.result.rows.push(row);
    }

    fn finish(mut self) -> RoundResult {
        // All are told first, so that they drain at the same time.
        for server in self.servers.values_mut().flatten() {
            server.close_stdin();
        }
        for (key, server) in std::mem::take(&mut self.servers) {
            match server {
                Ok(server) => {
                    let counts = server.counts;
                    let end = server.end(self.context.timeouts.drain);
                    closing::close(&mut self.rows_of(key), &end, &counts);
                }
                Err(how) => closing::close_uncounted(&mut self.rows_of(key), &how),
            }
        }
        self.result
    }

    fn rows_of(&mut self, key: ServerKey<'_>) -> Vec<&mut Row> {
        let served_by = &self.served_by;
        let rows = self.result.rows.iter_mut().enumerate();
        let of_it = rows.filter(|(index, _)| served_by.get(index) == Some(&key));
        of_it.map(|(_, row)| row).collect()
    }
}

struct Interrupted;

impl RunContext {
    /// The words that stand for the same in every command of this context.
    pub fn words(&self) -> Placeholders {
        let path = |path: &Option<PathBuf>| path.as_ref().map(|path| path.display().to_string());
        Placeholders {
            bookend: Some(self.bookend.display().to_string()),
            method: Some(self.request.method.clone()),
            proto: path(&self.request.proto),
            data_file: path(&self.request.json),
            request_file: path(&self.request.bytes),
            framed_request_file: path(&self.request.framed),
            ..Placeholders::default()
        }
    }

    /// Worker threads of the generator: one a CPU.
    pub fn generator_threads(&self) -> Option<u32> {
        let count = u32::try_from(self.placement.generator.len()).ok()?;
        (count > 0).then_some(count)
    }

    /// Worker threads of the server: one a CPU, at least one.
    pub fn server_threads(&self) -> u32 {
        self.server_cpu_limit.ceil().max(1.0) as u32
    }

    /// Only what is measured is limited. A whole number of CPUs needs no ration of their time.
    pub fn server_limits(&self, is_tested: bool) -> ResourceLimits {
        let processes = self.server_processes.filter(|_| is_tested);
        ResourceLimits {
            cpus: self.placement.server.clone(),
            cpu_time: rationed(self.server_cpu_limit).filter(|_| is_tested),
            memory_bytes: self.server_memory_bytes.filter(|_| is_tested),
            processes: processes.or(Some(PROCESSES_LIMIT)),
        }
    }

    /// A caller has its CPUs to itself and takes what it needs, unless it is what is measured.
    pub fn caller_limits(&self, under_test: Side) -> ResourceLimits {
        let limit = self.caller_cpu_limit(under_test);
        let mut cpus = self.placement.generator.clone();
        cpus.truncate(limit.map_or(usize::MAX, whole_cpus));
        ResourceLimits {
            cpus,
            cpu_time: limit.and_then(rationed),
            processes: Some(PROCESSES_LIMIT),
            ..ResourceLimits::default()
        }
    }

    /// What stands behind a server stays out of the way of both ends, where there is room.
    pub fn backend_limits(&self) -> ResourceLimits {
        let placement = &self.placement;
        let cpus = match self.backend_has_own_cpus() {
            true => &placement.spare,
            false => &placement.generator,
        };
        ResourceLimits {
            cpus: cpus.clone(),
            processes: Some(PROCESSES_LIMIT),
            ..ResourceLimits::default()
        }
    }

    /// Whether what stands behind a server has CPUs of its own.
    pub fn backend_has_own_cpus(&self) -> bool {
        !self.placement.spare.is_empty()
    }

    /// CPUs that the caller may use; `None` for an instrument and where there is no limit.
    pub fn caller_cpu_limit(&self, under_test: Side) -> Option<f64> {
        let limit = self
            .client_cpu_limit
            .filter(|_| under_test == Side::Client)?;
        match self.generator_threads() {
            Some(all) => Some(limit.min(f64::from(all))),
            None => Some(limit),
        }
    }

    /// Worker threads of the caller: one a CPU that it may use.
    pub fn caller_threads(&self, under_test: Side) -> Option<u32> {
        let limit = self.caller_cpu_limit(under_test);
        let limit = limit.map(|cpus| u32::try_from(whole_cpus(cpus)).unwrap_or(u32::MAX));
        limit.or(self.generator_threads())
    }
}

/// A whole number of CPUs needs no ration of their time.
fn rationed(cpus: f64) -> Option<f64> {
    (cpus.fract() != 0.0).then_some(cpus)
}

/// A fraction of a CPU needs a whole one to run on.
fn whole_cpus(cpus: f64) -> usize {
    cpus.ceil().max(1.0) as usize
}

impl Default for ProcessTimeouts {
    fn default() -> ProcessTimeouts {
        ProcessTimeouts {
            ready: None,
            drain: DRAIN_TIMEOUT,
            grace: INSTRUMENT_GRACE,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn context() -> RunContext {
        RunContext {
            launcher: Launcher {
                program: "launcher".into(),
                arguments: vec![],
            },
            groups: ControlGroups::none(),
            placement: Placement {
                server: vec![0],
                generator: vec![1, 2, 3],
                ..Placement::default()
            },
            server_cpu_limit: 0.5,
            server_memory_bytes: Some(512),
            server_processes: Some(300),
            client_cpu_limit: Some(1.5),
            interrupt: Interrupt::new(),
            bookend: PathBuf::new(),
            probe: None,
            request: RequestFiles::default(),
            carriers: TransportFiles::default(),
            timeouts: ProcessTimeouts::default(),
            profile: false,
        }
    }

    #[test]
    fn a_server_is_limited_only_where_it_is_what_is_measured() {
        let tested = context().server_limits(true);
        assert_eq!(tested.cpu_time, Some(0.5));
        assert_eq!(
            (tested.memory_bytes, tested.processes),
            (Some(512), Some(300))
        );
        let witness = context().server_limits(false);
        assert_eq!((witness.cpu_time, witness.memory_bytes), (None, None));
        assert_eq!(witness.processes, Some(PROCESSES_LIMIT));
        assert_eq!(witness.cpus, [0]);
    }

    #[test]
    fn a_client_is_limited_only_where_it_is_what_is_measured() {
        let tested = context().caller_limits(Side::Client);
        assert_eq!((tested.cpus, tested.cpu_time), (vec![1, 2], Some(1.5)));
        assert_eq!(context().caller_threads(Side::Client), Some(2));
        let instrument = context().caller_limits(Side::Server);
        assert_eq!(
            (instrument.cpus, instrument.cpu_time),
            (vec![1, 2, 3], None)
        );
        assert_eq!(context().caller_threads(Side::Server), Some(3));
    }

    #[test]
    fn a_client_may_not_use_more_cpus_than_there_are() {
        let greedy = RunContext {
            client_cpu_limit: Some(8.0),
            ..context()
        };
        assert_eq!(greedy.caller_limits(Side::Client).cpus, [1, 2, 3]);
        assert_eq!(greedy.caller_threads(Side::Client), Some(3));
        assert_eq!(greedy.caller_cpu_limit(Side::Client), Some(3.0));
        assert_eq!(greedy.caller_cpu_limit(Side::Server), None);
    }

    #[test]
    fn a_backend_goes_where_both_ends_are_not_if_it_can() {
        let mut context = context();
        assert_eq!(context.backend_limits().cpus, [1, 2, 3]);
        context.placement.spare = vec![4];
        assert_eq!(context.backend_limits().cpus, [4]);
    }
}
