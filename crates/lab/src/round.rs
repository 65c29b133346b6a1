//! One round: every server started afresh, every cell measured once in random order, every server
//! asked at the end how much it served.

mod cell;
mod instrument;
mod marks;
mod notes;
mod said;
mod server;
mod shuffle;
mod tally;
mod watch;

pub use marks::{FOREIGN_LIMIT, STEAL_LIMIT};
pub use server::{RunningServer, ServerEnd};
pub use tally::{CountMismatch, Tally};

use crate::build::Prepared;
use crate::control_group::{ControlGroups, Limits};
use crate::cpu::Placement;
use crate::launch::Launcher;
use crate::measurement::{CellId, Outcome, Row};
use crate::probe::Probe;
use crate::process::DRAIN_TIMEOUT;
use crate::process::interrupt::Interrupt;
use crate::stop::Stop;
use crate::subject::{Placeholders, Role};
use crate::suite::{Case, Plan, PlannedCell, Side};
use cell::Cell;
use shuffle::Shuffle;
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::time::Duration;

/// How much longer than warm-up and window an instrument may take: connecting, draining, printing.
pub const INSTRUMENT_GRACE: Duration = Duration::from_secs(10);

/// How often a disturbed window is measured again. A neighbour who stays that long stays longer;
/// then the mark stays too.
pub const REPEATS: u32 = 2;

/// After so many cells in a row whose repeats were in vain, the machine is not going to be quiet
/// in this round, and repeating would only make it take three times as long.
pub const VAIN_REPEATS: u32 = 3;

/// Processes and threads of one subject: more than the largest published cell needs with a thread
/// a call, and where a fork bomb ends.
pub const PROCESSES_LIMIT: u32 = 131_072;

/// Everything that all rounds of a run share.
#[derive(Debug)]
pub struct Bench {
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
    /// Whether somebody wants the lab to end.
    pub interrupt: Interrupt,
    /// The running `bookend`: what `{bookend}` stands for.
    pub bookend: PathBuf,
    /// How a call to a server is verified before it is measured.
    pub probe: Option<Probe>,
    /// The call that is made.
    pub request: RequestFiles,
    /// How long the lab waits.
    pub patience: Patience,
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
pub struct Patience {
    /// For `ready`; `None` leaves it to the subject's language.
    pub ready: Option<Duration>,
    /// For the end, once standard input is closed.
    pub drain: Duration,
    /// For an instrument beyond its warm-up and window.
    pub grace: Duration,
}

/// The load of one cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Load {
    /// C and S.
    pub case: Case,
    /// Length of the warm-up, milliseconds.
    pub warmup_ms: u64,
    /// Length of the window, milliseconds.
    pub window_ms: u64,
}

/// Everybody who takes part, by name: prepared, or what their rows say instead.
pub type Crew = BTreeMap<String, Result<Prepared, Outcome>>;

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
    bench: &Bench,
    plan: &Plan,
    crew: &Crew,
    round: u32,
    seed: u64,
    told: &mut dyn FnMut(&CellId),
) -> RoundResult {
    let mut cells = plan.cells();
    Shuffle::of_round(seed, round).shuffle(&mut cells);
    let mut measuring = Round {
        bench,
        plan,
        crew,
        round,
        servers: BTreeMap::new(),
        result: RoundResult::default(),
        sides: BTreeMap::new(),
        vain: 0,
    };
    if measuring.start_servers(&cells).is_ok() {
        measuring.measure_all(&cells, told);
    }
    measuring.finish()
}

struct Round<'a> {
    bench: &'a Bench,
    plan: &'a Plan,
    crew: &'a Crew,
    round: u32,
    servers: BTreeMap<String, Result<RunningServer, Outcome>>,
    result: RoundResult,
    /// For every row that has a server, its name and which end was measured.
    sides: BTreeMap<usize, (String, Side)>,
    /// Cells in a row that were repeated in vain.
    vain: u32,
}

/// The two ends of a cell.
struct Ends<'a> {
    side: Side,
    server: &'a str,
    caller: &'a Prepared,
}

impl Round<'_> {
    fn start_servers(&mut self, cells: &[PlannedCell]) -> Result<(), Interrupted> {
        let mut names = BTreeSet::new();
        for cell in cells {
            if let Ok(ends) = self.ends(cell) {
                names.insert((ends.server.to_owned(), ends.side == Side::Server));
            }
        }
        for (name, is_tested) in names {
            self.start_server(name, is_tested)?;
        }
        Ok(())
    }

    fn start_server(&mut self, name: String, is_tested: bool) -> Result<(), Interrupted> {
        let prepared = match self.prepared(&name) {
            Ok(prepared) => prepared,
            Err(outcome) => {
                self.servers.insert(name, Err(outcome));
                return Ok(());
            }
        };
        let limits = self.bench.server_limits(is_tested);
        let started = match RunningServer::start(self.bench, prepared, &limits) {
            Ok(server) => Ok(server),
            Err(Stop::Row(outcome)) => Err(outcome),
            Err(Stop::Interrupted) => {
                self.result.interrupted = true;
                return Err(Interrupted);
            }
        };
        self.servers.insert(name, started);
        Ok(())
    }

    fn measure_all(&mut self, cells: &[PlannedCell], told: &mut dyn FnMut(&CellId)) {
        for cell in cells {
            told(&cell.id);
            match self.measure(cell) {
                Ok(outcome) => self.add_row(cell, outcome),
                Err(Interrupted) => {
                    self.result.interrupted = true;
                    return;
                }
            }
        }
    }

    fn measure(&mut self, cell: &PlannedCell) -> Result<Outcome, Interrupted> {
        let bench = self.bench;
        let (name, side, caller) = match self.ends(cell) {
            Ok(ends) => (ends.server.to_owned(), ends.side, ends.caller.clone()),
            Err(outcome) => return Ok(outcome),
        };
        let Some(server) = self.servers.get_mut(&name) else {
            return Ok(failed("its server was never started"));
        };
        let server = match server {
            Ok(server) => server,
            Err(outcome) => return Ok(outcome.clone()),
        };
        let cell = Cell {
            bench,
            caller: &caller,
            load: Load {
                case: cell.case,
                warmup_ms: self.plan.warmup_ms,
                window_ms: self.plan.window_ms,
            },
            under_test: side,
            repeats: if self.vain < VAIN_REPEATS { REPEATS } else { 0 },
        };
        let measured = cell.measure(server);
        self.sides
            .insert(self.result.rows.len(), (name.clone(), side));
        if let Some(outcome) = self.bury(&name) {
            return Ok(outcome);
        }
        match measured {
            Ok(measurement) => {
                self.vain = if measurement.marks.is_empty() {
                    0
                } else {
                    self.vain + 1
                };
                Ok(Outcome::Measured(Box::new(measurement)))
            }
            Err(Stop::Row(outcome)) => Ok(outcome),
            Err(Stop::Interrupted) => Err(Interrupted),
        }
    }

    /// If the server has ended in the middle of its cells, says how; so do its other cells.
    fn bury(&mut self, name: &str) -> Option<Outcome> {
        let is_dead = |server: &Result<RunningServer, Outcome>| {
            let started = server.as_ref();
            started.is_ok_and(|server| server.process().has_ended())
        };
        if !self.servers.get(name).is_some_and(is_dead) {
            return None;
        }
        let server = self.servers.remove(name)?.ok()?;
        let how = server
            .into_process()
            .end(Duration::ZERO, |_| {})
            .complaint();
        let outcome = failed(&format!("the server ended while it was measured: {how}"));
        self.servers.insert(name.to_owned(), Err(outcome.clone()));
        Some(outcome)
    }

    fn add_row(&mut self, cell: &PlannedCell, outcome: Outcome) {
        let row = Row::new(self.round, cell.id.clone(), outcome);
        self.result.rows.push(row);
    }

    fn finish(mut self) -> RoundResult {
        // All are told first, so that they drain at the same time.
        for server in self.servers.values_mut().flatten() {
            server.close_input();
        }
        for (name, server) in std::mem::take(&mut self.servers) {
            if let Ok(server) = server {
                let tally = server.tally;
                let end = server.end(self.bench.patience.drain);
                self.close(&name, &end, &tally);
            }
        }
        self.result
    }

    /// Writes what a server said at its end into its rows. Calls that are in none of them, of the
    /// probe and of windows that were measured again, stand in the first.
    fn close(&mut self, name: &str, end: &ServerEnd, tally: &Tally) {
        let sides = &self.sides;
        let side_of = |index: usize| sides.get(&index).filter(|(server, _)| server == name);
        let rows = self.result.rows.iter_mut().enumerate();
        let rows = rows.filter_map(|(index, row)| Some((side_of(index)?.1, row)));
        let mut rows: Vec<(Side, &mut Row)> = rows.collect();
        let mut in_rows = Tally::default();
        for (_, row) in &rows {
            in_rows.add_row(row);
        }
        let mut elsewhere = tally.beyond(&in_rows, end.served);
        for (side, row) in &mut rows {
            if *side == Side::Server {
                row.served = end.served;
                row.probe_calls = std::mem::take(&mut elsewhere);
            }
            close_row(row, end);
        }
    }

    fn ends(&self, cell: &PlannedCell) -> Result<Ends<'_>, Outcome> {
        let subject = self.prepared(&cell.id.subject)?;
        let other = self.prepared(&cell.id.instrument)?;
        let side = side(subject, other).ok_or_else(|| {
            let (subject, other) = (&cell.id.subject, &cell.id.instrument);
            failed(&format!(
                "{subject} and {other} cannot talk: one must be a server"
            ))
        })?;
        let known = |name: &str| self.crew.get_key_value(name).map(|(name, _)| name.as_str());
        let (server, caller) = match side {
            Side::Server => (known(&cell.id.subject), other),
            Side::Client => (known(&cell.id.instrument), subject),
        };
        Ok(Ends {
            side,
            server: server.unwrap_or_default(),
            caller,
        })
    }

    fn prepared(&self, name: &str) -> Result<&Prepared, Outcome> {
        match self.crew.get(name) {
            Some(Ok(prepared)) => Ok(prepared),
            Some(Err(outcome)) => Err(outcome.clone()),
            None => Err(failed(&format!("{name} was never prepared"))),
        }
    }
}

struct Interrupted;

impl Bench {
    /// The words that stand for the same in every command of this bench.
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
    pub fn server_limits(&self, is_tested: bool) -> Limits {
        let rationed = is_tested && self.server_cpu_limit.fract() != 0.0;
        Limits {
            cpus: self.placement.server.clone(),
            cpu_time: rationed.then_some(self.server_cpu_limit),
            memory_bytes: self.server_memory_bytes.filter(|_| is_tested),
            processes: Some(PROCESSES_LIMIT),
        }
    }

    /// A caller has its CPUs to itself and takes what it needs.
    pub fn caller_limits(&self) -> Limits {
        Limits {
            cpus: self.placement.generator.clone(),
            processes: Some(PROCESSES_LIMIT),
            ..Limits::default()
        }
    }
}

impl Default for Patience {
    fn default() -> Patience {
        Patience {
            ready: None,
            drain: DRAIN_TIMEOUT,
            grace: INSTRUMENT_GRACE,
        }
    }
}

impl Load {
    /// An instrument that knows no warm-up is run once for the warm-up.
    fn warmup_alone(&self) -> Load {
        Load {
            warmup_ms: 0,
            window_ms: self.warmup_ms.max(1),
            ..*self
        }
    }

    /// And once for the window.
    fn window_alone(&self) -> Load {
        Load {
            warmup_ms: 0,
            ..*self
        }
    }
}

/// Which end is measured when `subject` meets `other`.
fn side(subject: &Prepared, other: &Prepared) -> Option<Side> {
    let (subject, other) = (&subject.subject, &other.subject);
    let calls = other.plays(Role::Instrument) || other.plays(Role::Client);
    if subject.plays(Role::Server) && calls {
        Some(Side::Server)
    } else if subject.plays(Role::Client) && other.plays(Role::Server) {
        Some(Side::Client)
    } else {
        None
    }
}

fn close_row(row: &mut Row, end: &ServerEnd) {
    let Outcome::Measured(measurement) = &mut row.outcome else {
        return;
    };
    measurement.marks.extend(end.marks.iter().cloned());
    match end.mismatch {
        Some(mismatch) if mismatch.is_grave() => row.outcome = failed(&mismatch.to_string()),
        Some(mismatch) => measurement.marks.push(mismatch.to_string()),
        None => {}
    }
}

fn failed(error: &str) -> Outcome {
    Outcome::Failed {
        error: error.to_owned(),
    }
}
