//! A whole run: everybody built, a call to each verified, round after round measured and stored.

mod notes;
mod prepare;
mod profile;
mod summary;
mod temporary_folder;

pub use profile::profile;
pub use summary::RunSummary;

use crate::cell_error::CellError;
use crate::certificates::CertificateError;
use crate::control_group::ControlGroups;
use crate::cpu::Placement;
use crate::launch::Launcher;
use crate::machine::this_machine;
use crate::probe::Probe;
use crate::process::interrupt::Interrupt;
use crate::process::tree::kill_group;
use crate::progress::ProgressReporter;
use crate::round::{
    PreparedSubjects, ProcessTimeouts, RunContext, RunningServer, ServerSpec, measure_round,
};
use crate::subject::{CommandTemplate, Protocol, Variant};
use bookend_contract::environment::Role;
use bookend_results::measurement::{CellId, Row};
use bookend_results::store::{NewRun, Run, RunId, Store, StoreError, Timestamp};
use bookend_results::suite::{Plan, PlannedSubject, Side, Suite};
use std::collections::BTreeMap;
use std::fmt;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::path::PathBuf;
use std::time::{Duration, Instant, SystemTime};
use temporary_folder::TemporaryFolder;

/// What a run needs to be told.
#[derive(Clone, Debug)]
pub struct RunSettings {
    /// The question.
    pub suite: Suite,
    /// What is done of it. When a run is resumed, its own plan is followed.
    pub plan: Plan,
    /// Goes on with the last run of this suite that was not finished.
    pub resume: bool,
    /// The folder with a folder for every subject and instrument.
    pub subjects: PathBuf,
    /// The request message's bytes, where the suite gives it as JSON and the caller can encode it.
    pub message: Option<Vec<u8>>,
    /// The running `bookend`: what `{bookend}` stands for.
    pub bookend: PathBuf,
    /// How processes are started.
    pub launcher: Launcher,
    /// Verifies one call to every server at each start, such as [`crate::probe::CALL`].
    pub probe: Option<CommandTemplate>,
    /// Checks a server's semantics once a version, and prints JSON.
    pub semantics: Option<CommandTemplate>,
    /// The command that is kept with the result.
    pub command: String,
    /// The seed of all orders; by default a random one.
    pub seed: Option<u64>,
    /// Whether somebody wants the lab to end.
    pub interrupt: Interrupt,
    /// How long the lab waits for processes.
    pub timeouts: ProcessTimeouts,
    /// Whether control groups and affinity are used. Without them, figures say so.
    pub isolation: bool,
}

/// Why there is no result. What is wrong with a single subject is in its rows instead.
#[derive(Debug)]
pub enum SuiteRunError {
    /// The results cannot be kept.
    Store(StoreError),
    /// A file of the suite cannot be read, or the temporary folder not be written.
    Request(std::io::Error),
    /// A case is over TLS, and no certificates can be made for it.
    Certificates(CertificateError),
    /// There is no run of this suite that was not finished.
    NothingToResume(String),
    /// The kernel does not let daemons come back to the lab.
    Subreaper(std::io::Error),
}

/// Does a whole run. Every round is stored as it ends, an interrupted one as far as it came.
///
/// The calling thread must live as long as the run: the kernel kills what the lab started when the
/// thread that started it ends.
///
/// # Errors
/// See [`SuiteRunError`].
pub fn run(
    settings: &RunSettings,
    store: &mut Store,
    progress: &mut ProgressReporter<'_>,
) -> Result<RunSummary, SuiteRunError> {
    crate::process::become_subreaper().map_err(SuiteRunError::Subreaper)?;
    let resumed = resumed(settings, store)?;
    let plan = resumed.as_ref().map_or(&settings.plan, |run| &run.new.plan);
    let scratch =
        TemporaryFolder::write(&settings.suite, &plan.request, settings.message.as_deref())
            .map_err(SuiteRunError::Request)?;
    let context = context(settings, plan, &scratch)?;
    let Ok(prepared) = prepare::prepare(settings, plan, progress) else {
        return Ok(RunSummary::interrupted_before_it_began());
    };
    let id = match &resumed {
        Some(run) => run.id,
        None => begin(settings, plan, &prepared, store)?,
    };
    let running = Running {
        settings,
        plan,
        context: &context,
        prepared: &prepared,
        id,
        seed: store.run(id)?.new.seed,
    };
    running.note_circumstances(store)?;
    running.check_semantics(store, progress)?;
    running.measure(store, progress)
}

fn resumed(settings: &RunSettings, store: &Store) -> Result<Option<Run>, SuiteRunError> {
    if !settings.resume {
        return Ok(None);
    }
    let suite = &settings.suite.name;
    match store.latest_unfinished(suite)? {
        Some(run) => Ok(Some(run)),
        None => Err(SuiteRunError::NothingToResume(suite.clone())),
    }
}

fn context(
    settings: &RunSettings,
    plan: &Plan,
    scratch: &TemporaryFolder,
) -> Result<RunContext, SuiteRunError> {
    let (groups, placement) = match settings.isolation {
        true => (
            ControlGroups::prepare(kill_group),
            Placement::on_this_machine(plan.server_cpus, plan.generator_cpus),
        ),
        false => (ControlGroups::none(), Placement::default()),
    };
    let probe = settings.probe.as_ref().map(|command| Probe {
        command: command.clone(),
        launcher: settings.launcher.clone(),
        cpus: placement.generator.clone(),
    });
    Ok(RunContext {
        launcher: settings.launcher.clone(),
        groups,
        placement,
        server_cpu_limit: plan.server_cpus,
        server_memory_bytes: plan.server_memory_bytes,
        server_processes: plan.server_processes,
        client_cpu_limit: plan.client_cpus,
        interrupt: settings.interrupt.clone(),
        bookend: settings.bookend.clone(),
        probe,
        request: scratch.files().clone(),
        carriers: scratch
            .carriers(plan)
            .map_err(SuiteRunError::Certificates)?,
        timeouts: timeouts(settings, plan),
        profile: false,
    })
}

fn timeouts(settings: &RunSettings, plan: &Plan) -> ProcessTimeouts {
    let drain = plan.drain_ms.map(Duration::from_millis);
    ProcessTimeouts {
        drain: drain.unwrap_or(settings.timeouts.drain),
        ..settings.timeouts
    }
}

fn begin(
    settings: &RunSettings,
    plan: &Plan,
    prepared: &PreparedSubjects,
    store: &mut Store,
) -> Result<RunId, SuiteRunError> {
    let new = NewRun {
        started: SystemTime::now().into(),
        plan: plan.clone(),
        suite_text: settings.suite.text.clone(),
        seed: settings.seed.unwrap_or_else(random_seed),
        machine: this_machine(),
        versions: versions(prepared),
        command: settings.command.clone(),
    };
    Ok(store.begin_run(&new)?)
}

fn versions(prepared: &PreparedSubjects) -> BTreeMap<String, String> {
    let known = prepared.iter().filter_map(|(name, prepared)| {
        let prepared = prepared.as_ref().ok()?;
        Some((name.clone(), prepared.version.clone()))
    });
    known.collect()
}

/// The standard library seeds its hash maps from the system's random numbers.
fn random_seed() -> u64 {
    RandomState::new().build_hasher().finish()
}

struct Running<'a> {
    settings: &'a RunSettings,
    plan: &'a Plan,
    context: &'a RunContext,
    prepared: &'a PreparedSubjects,
    id: RunId,
    seed: u64,
}

impl Running<'_> {
    /// What limits and accounts come from, and what is wrong with the placement. A resumed run
    /// does not say it again, but says what has changed.
    fn note_circumstances(&self, store: &mut Store) -> Result<(), SuiteRunError> {
        let known = store.run(self.id)?;
        let mut notes = notes::notes(self.context, self.plan, self.prepared);
        for (name, version) in versions(self.prepared) {
            let before = known.new.versions.get(&name);
            if let Some(before) = before.filter(|before| **before != version) {
                notes.push(format!(
                    "{name} was {before} and is {version} since it was resumed"
                ));
            }
        }
        for note in notes.iter().filter(|note| !known.notes.contains(note)) {
            store.add_note(self.id, note)?;
        }
        Ok(())
    }

    fn check_semantics(
        &self,
        store: &mut Store,
        progress: &mut ProgressReporter<'_>,
    ) -> Result<(), SuiteRunError> {
        let Some(command) = &self.settings.semantics else {
            return Ok(());
        };
        for subject in &self.plan.subjects {
            let Some(Ok(prepared)) = self.prepared.get(&subject.name) else {
                continue;
            };
            let known = store.semantics(&subject.name, &prepared.version)?;
            if known.is_some() || !self.is_checked(subject, &prepared.variant) {
                continue;
            }
            progress.say(&format!("checking the semantics of {}", subject.name));
            match self.semantics_of(subject, command) {
                Ok(findings) => {
                    store.write_semantics(&subject.name, &prepared.version, &findings)?;
                }
                Err(CellError::Interrupted) => return Ok(()),
                Err(stop) => progress.say(&format!("{}: {stop}", subject.name)),
            }
        }
        Ok(())
    }

    /// Only servers under test are, of those that speak what the check speaks.
    fn is_checked(&self, subject: &PlannedSubject, variant: &Variant) -> bool {
        let serves = variant.has_role(Role::Server) && subject.side != Some(Side::Client);
        let is_spoken_to = variant.protocol == Protocol::Grpc;
        serves && is_spoken_to && variant.supports_method(&self.plan.request.method)
    }

    fn semantics_of(
        &self,
        subject: &PlannedSubject,
        command: &CommandTemplate,
    ) -> Result<serde_json::Value, CellError> {
        let station = ServerSpec::of(self.prepared, subject)?;
        let server = RunningServer::start(self.context, &station)?;
        let probe = Probe {
            command: command.clone(),
            launcher: self.context.launcher.clone(),
            cpus: self.context.placement.generator.clone(),
        };
        let probed = probe.run(&server.words(self.context), &self.context.interrupt);
        server.end(self.context.timeouts.drain);
        Ok(probed?.findings)
    }

    fn measure(
        &self,
        store: &mut Store,
        progress: &mut ProgressReporter<'_>,
    ) -> Result<RunSummary, SuiteRunError> {
        let cells = self.plan.cells().len();
        let mut summary = RunSummary::new(self.id);
        let complete = self.complete_rounds(store, cells, &mut summary)?;
        let done = u32::try_from(complete.len()).unwrap_or(u32::MAX);
        progress.begin(self.plan.rounds, done, cells, self.guess());
        progress.say(&format!("seed {}", self.seed));
        for round in (0..self.plan.rounds).filter(|round| !complete.contains(round)) {
            if !self.measure_round(round, store, progress, &mut summary)? {
                break;
            }
        }
        progress.end();
        if !summary.interrupted {
            store.finish_run(self.id, Timestamp::from(SystemTime::now()))?;
        }
        Ok(summary)
    }

    /// Whether the run goes on.
    fn measure_round(
        &self,
        round: u32,
        store: &mut Store,
        progress: &mut ProgressReporter<'_>,
        summary: &mut RunSummary,
    ) -> Result<bool, SuiteRunError> {
        let began = Instant::now();
        let mut index = 0;
        let mut told = |cell: &CellId| {
            progress.cell(index, cell);
            index += 1;
        };
        let result = measure_round(
            self.context,
            self.plan,
            self.prepared,
            round,
            self.seed,
            &mut told,
        );
        if !result.rows.is_empty() {
            store.write_round(self.id, round, &result.rows)?;
        }
        summary.add(&result.rows);
        summary.interrupted = result.interrupted;
        if !result.interrupted {
            summary.rounds += 1;
            progress.round_done(began.elapsed());
        }
        Ok(!result.interrupted)
    }

    /// Rounds of a resumed run that have all their rows; one that was interrupted is done again.
    fn complete_rounds(
        &self,
        store: &Store,
        cells: usize,
        summary: &mut RunSummary,
    ) -> Result<Vec<u32>, SuiteRunError> {
        let mut by_round: BTreeMap<u32, Vec<Row>> = BTreeMap::new();
        for row in store.rows(self.id)? {
            by_round.entry(row.round).or_default().push(row);
        }
        by_round.retain(|_, rows| rows.len() == cells);
        for rows in by_round.values() {
            summary.add(rows);
            summary.rounds += 1;
        }
        Ok(by_round.into_keys().collect())
    }

    /// A cell before one was measured: its two times, and a second for starting and ending.
    fn guess(&self) -> Duration {
        Duration::from_millis(self.plan.warmup_ms + self.plan.window_ms + 1000)
    }
}

impl From<StoreError> for SuiteRunError {
    fn from(error: StoreError) -> SuiteRunError {
        SuiteRunError::Store(error)
    }
}

impl fmt::Display for SuiteRunError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SuiteRunError::Store(error) => error.fmt(out),
            SuiteRunError::Request(error) => write!(out, "the request of the suite: {error}"),
            SuiteRunError::Certificates(error) => error.fmt(out),
            SuiteRunError::NothingToResume(suite) => {
                write!(
                    out,
                    "no run of {suite} is unfinished: start one without --resume"
                )
            }
            SuiteRunError::Subreaper(error) => {
                write!(
                    out,
                    "the kernel does not let this process adopt daemons: {error}"
                )
            }
        }
    }
}

impl std::error::Error for SuiteRunError {}
