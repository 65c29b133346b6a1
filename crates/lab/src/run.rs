//! A whole run: every program built, a call to each server verified, round after round measured and
//! stored.

mod leftovers;
mod notes;
mod origin;
mod programs;
mod resumed;
mod settings;
mod setup;
mod summary;
mod temporary_folder;

pub use leftovers::remove_leftovers;
pub use settings::{RunSettings, SuiteRunError};
pub use summary::RunSummary;

use crate::build::PreparedSubjects;
use crate::cell_error::CellError;
use crate::context::RunContext;
use crate::machine::this_machine;
use crate::perf::{self, PerfUnavailable, ProfileSettings};
use crate::progress::ProgressReporter;
use crate::round::{RunningServer, ServerSpec, WindowChoices, measure_round};
use crate::subject::{Protocol, Variant};
use bookend_contract::environment::Role;
use bookend_contract::machine::MachineFacts;
use bookend_contract::timestamp::Timestamp;
use bookend_results::measurement::{CellId, Row};
use bookend_results::profile::Profile;
use bookend_results::store::{NewRun, RunId, Store};
use bookend_results::suite::{PlannedSubject, TestedEnd};
use origin::RunOrigin;
use resumed::find_unfinished;
use setup::RunSetup;
use std::collections::BTreeMap;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::time::{Duration, Instant, SystemTime};

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
    let machine = this_machine();
    let resumed = find_unfinished(settings, store, &machine)?;
    let origin = RunOrigin::here(settings, progress);
    let plan = resumed.as_ref().map_or(&settings.plan, |run| &run.new.plan);
    let Some(setup) = RunSetup::new(settings, plan, progress)? else {
        return Ok(RunSummary::interrupted_before_it_began());
    };
    let origin = origin.with_profiles(&setup.context.prepared);
    let id = match &resumed {
        Some(run) => {
            store.write_provenance(run.id, &origin.of_resumed(&run.new))?;
            run.id
        }
        None => store.begin_run(&new_run(settings, &setup.context, machine, origin))?,
    };
    let seed = store.run(id)?.new.seed;
    let run = SuiteRun { settings, context: &setup.context, id, seed };
    run.add_notes(store)?;
    run.check_semantics(store, progress)?;
    run.measure(store, progress)
}

/// The pass after the measured rounds: starts every program of the plan again and records where
/// its CPU time goes. `None`: it was interrupted before it began.
///
/// The calling thread must live as long as this, as with [`run`].
///
/// # Errors
/// See [`SuiteRunError`]. That nothing can be recorded here is no error of the run.
pub fn profile(
    settings: &RunSettings,
    profile: &ProfileSettings,
    progress: &mut ProgressReporter<'_>,
) -> Result<Option<Result<Profile, PerfUnavailable>>, SuiteRunError> {
    let Some(mut setup) = RunSetup::new(settings, &settings.plan, progress)? else {
        return Ok(None);
    };
    setup.context.profile = true;
    Ok(Some(perf::run(&setup.context, profile, progress)))
}

fn new_run(
    settings: &RunSettings,
    context: &RunContext,
    machine: MachineFacts,
    origin: RunOrigin,
) -> NewRun {
    NewRun {
        started: SystemTime::now().into(),
        plan: context.plan.clone(),
        suite_text: settings.suite.text.clone(),
        // The standard library seeds its hash maps from the system's random numbers.
        seed: settings.seed.unwrap_or_else(|| RandomState::new().build_hasher().finish()),
        machine,
        versions: versions(&context.prepared),
        command: settings.command.clone(),
        revision: origin.revision,
        provenance: Some(origin.provenance),
    }
}

fn versions(prepared: &PreparedSubjects) -> BTreeMap<String, String> {
    prepared.iter().map(|(name, prepared)| (name.to_owned(), prepared.version.clone())).collect()
}

struct SuiteRun<'a> {
    settings: &'a RunSettings,
    context: &'a RunContext,
    id: RunId,
    seed: u64,
}

impl SuiteRun<'_> {
    /// Where limits and accounting come from, and what is wrong with the placement. A resumed run
    /// does not repeat its notes, but adds what has changed.
    fn add_notes(&self, store: &mut Store) -> Result<(), SuiteRunError> {
        let known = store.run(self.id)?;
        let mut notes = notes::notes(self.context);
        let provenance = known.new.provenance.iter();
        notes.extend(provenance.flat_map(|known| &known.doubts).map(|doubt| origin::note(doubt)));
        for (name, version) in versions(&self.context.prepared) {
            let before = known.new.versions.get(&name);
            if let Some(before) = before.filter(|before| **before != version) {
                notes.push(format!("{name} was {before} and is {version} since it was resumed"));
            }
        }
        for note in notes.iter().filter(|note| !known.notes.contains(note)) {
            store.add_note(self.id, note)?;
        }
        Ok(())
    }

    /// Checks the semantics of every server whose version was never checked.
    fn check_semantics(
        &self,
        store: &mut Store,
        progress: &mut ProgressReporter<'_>,
    ) -> Result<(), SuiteRunError> {
        let Some(command) = &self.settings.semantics else {
            return Ok(());
        };
        for subject in &self.context.plan.subjects {
            let Ok(prepared) = self.context.prepared.get(&subject.name) else {
                continue;
            };
            let known = store.semantics(&subject.name, &prepared.version)?;
            if known.is_some() || !self.can_be_checked(subject, &prepared.variant) {
                continue;
            }
            progress.println(&format!("checking the semantics of {}", subject.name));
            match self.semantics_of(subject, command) {
                Ok(findings) => {
                    store.write_semantics(&subject.name, &prepared.version, &findings)?;
                }
                Err(CellError::Interrupted) => return Ok(()),
                Err(error) => progress.println(&format!("{}: {error}", subject.name)),
            }
        }
        Ok(())
    }

    /// Only servers under test can be checked, and only by the protocol of the check.
    fn can_be_checked(&self, subject: &PlannedSubject, variant: &Variant) -> bool {
        let is_server = variant.has_role(Role::Server) && subject.side != Some(TestedEnd::Client);
        let is_grpc = variant.protocol == Protocol::Grpc;
        is_server && is_grpc && variant.supports_method(&self.context.plan.request.method)
    }

    fn semantics_of(
        &self,
        subject: &PlannedSubject,
        command: &[String],
    ) -> Result<serde_json::Value, CellError> {
        let spec = ServerSpec::of(&self.context.prepared, subject)?;
        let server = RunningServer::start(self.context, &spec)?;
        let probed = server.probe(self.context, command);
        server.end(self.context.timeouts.drain);
        Ok(probed?.findings)
    }

    fn measure(
        &self,
        store: &mut Store,
        progress: &mut ProgressReporter<'_>,
    ) -> Result<RunSummary, SuiteRunError> {
        let plan = &self.context.plan;
        let cells = plan.cells().len();
        let mut summary = RunSummary::new(self.id);
        let complete = self.complete_rounds(store, cells, &mut summary)?;
        let done = u32::try_from(complete.len()).unwrap_or(u32::MAX);
        // A first estimate: warm-up and window, and a second for starting and ending.
        let cell_ms = plan.warmup_ms + plan.window_ms + 1000;
        progress.start(plan.rounds, done, cells, Duration::from_millis(cell_ms));
        progress.println(&format!("seed {}", self.seed));
        let mut windows = WindowChoices::of_rows(&store.rows(self.id)?);
        for round in (0..plan.rounds).filter(|round| !complete.contains(round)) {
            self.measure_round(round, &mut windows, store, progress, &mut summary)?;
            if summary.interrupted {
                break;
            }
        }
        progress.clear();
        self.note_replies(store)?;
        if !summary.interrupted {
            store.finish_run(self.id, Timestamp::from(SystemTime::now()))?;
        }
        Ok(summary)
    }

    /// Servers that do not answer alike are not compared without a word about it.
    fn note_replies(&self, store: &mut Store) -> Result<(), SuiteRunError> {
        let known = store.run(self.id)?.notes;
        let difference = self.context.replies.difference();
        if let Some(difference) = difference.filter(|difference| !known.contains(difference)) {
            store.add_note(self.id, &difference)?;
        }
        Ok(())
    }

    fn measure_round(
        &self,
        round: u32,
        windows: &mut WindowChoices,
        store: &mut Store,
        progress: &mut ProgressReporter<'_>,
        summary: &mut RunSummary,
    ) -> Result<(), SuiteRunError> {
        let began = Instant::now();
        let mut index = 0;
        let mut on_cell = |cell: &CellId| {
            progress.show_cell(index, cell);
            index += 1;
        };
        let result = measure_round(self.context, round, self.seed, windows, &mut on_cell);
        if !result.rows.is_empty() {
            store.write_round(self.id, round, &result.rows)?;
        }
        summary.add(&result.rows);
        summary.interrupted = result.interrupted;
        if !result.interrupted {
            summary.rounds += 1;
            progress.finish_round(began.elapsed());
        }
        Ok(())
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
}
