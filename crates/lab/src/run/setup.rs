//! What must be there before the first round: files, limits, and every program built.

use super::leftovers::remove_leftovers;
use super::settings::{RunSettings, SuiteRunError};
use super::temporary_folder::TemporaryFolder;
use crate::build::{self, PreparedSubjects};
use crate::cell_error::CellError;
use crate::context::{ProcessTimeouts, RunContext};
use crate::control_group::ControlGroups;
use crate::cpu::Placement;
use crate::process::interrupt::Interrupted;
use crate::process::tree::kill_group;
use crate::progress::ProgressReporter;
use crate::round::{backend_name, side};
use bookend_results::measurement::Outcome;
use bookend_results::suite::{Plan, TestedEnd};
use std::collections::BTreeSet;
use std::time::Duration;

/// Everything that rounds need.
#[derive(Debug)]
pub struct RunSetup {
    /// What they share.
    pub context: RunContext,
    /// The files of the context; gone when this is dropped.
    _folder: TemporaryFolder,
}

impl RunSetup {
    /// Makes everything ready. `None`: it was interrupted.
    ///
    /// # Errors
    /// See [`SuiteRunError`]. A subject that could not be prepared says so in its rows.
    pub fn new(
        settings: &RunSettings,
        plan: &Plan,
        progress: &mut ProgressReporter<'_>,
    ) -> Result<Option<RunSetup>, SuiteRunError> {
        crate::process::become_subreaper().map_err(SuiteRunError::Subreaper)?;
        for sentence in remove_leftovers() {
            progress.println(&sentence);
        }
        let message = settings.message.as_deref();
        let folder = TemporaryFolder::write(&settings.suite, &plan.request, message)
            .map_err(SuiteRunError::Request)?;
        let (mut groups, mut placement) = (ControlGroups::none(), Placement::default());
        if settings.isolation {
            groups = ControlGroups::prepare(kill_group);
            placement = Placement::on_this_machine(plan.limits.server_cpus, plan.generator_cpus);
        }
        let transports = folder.transports(plan)?;
        let Ok(prepared) = prepare_all(settings, plan, progress) else {
            return Ok(None);
        };
        let drain = plan.drain_ms.map(Duration::from_millis);
        let drain = drain.unwrap_or(settings.timeouts.drain);
        let context = RunContext {
            plan: plan.clone(),
            prepared,
            spawner: settings.spawner.clone(),
            groups,
            placement,
            probe: settings.probe.clone(),
            request: folder.request.clone(),
            transports,
            timeouts: ProcessTimeouts { drain, ..settings.timeouts },
            profile: false,
        };
        Ok(Some(RunSetup { context, _folder: folder }))
    }
}

/// Prepares the subjects, the other end of each, then the backends that their servers need.
fn prepare_all(
    settings: &RunSettings,
    plan: &Plan,
    progress: &mut ProgressReporter<'_>,
) -> Result<PreparedSubjects, Interrupted> {
    let mut all = PreparedSubjects::default();
    for subject in &plan.subjects {
        for name in std::iter::once(&subject.name).chain(&subject.instruments) {
            prepare(settings, name, &mut all, progress)?;
        }
    }
    for name in backends(plan, &all) {
        prepare(settings, &name, &mut all, progress)?;
    }
    Ok(all)
}

fn prepare(
    settings: &RunSettings,
    name: &str,
    all: &mut PreparedSubjects,
    progress: &mut ProgressReporter<'_>,
) -> Result<(), Interrupted> {
    if all.0.contains_key(name) {
        return Ok(());
    }
    let mut on_build = |sentence: &str| progress.println(sentence);
    let prepared = build::prepare(&settings.spawner, &settings.subjects, name, &mut on_build);
    let prepared = CellError::or_outcome(prepared)?;
    if let Err(Outcome::Missing { reason }) = &prepared {
        progress.println(&format!("{name} is missing: {reason}"));
    }
    all.0.insert(name.to_owned(), prepared);
    Ok(())
}

/// The names of all backends of this run's servers.
pub fn backends(plan: &Plan, prepared: &PreparedSubjects) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    for planned in &plan.subjects {
        for instrument in &planned.instruments {
            let (Ok(subject), Ok(other)) = (prepared.get(&planned.name), prepared.get(instrument))
            else {
                continue;
            };
            let (subject, other) = (&subject.variant, &other.variant);
            let name = match side(planned.side, subject, other) {
                Some(TestedEnd::Server) => backend_name(Some(planned), subject),
                Some(TestedEnd::Client) => backend_name(None, other),
                None => None,
            };
            names.extend(name.cloned());
        }
    }
    names
}
