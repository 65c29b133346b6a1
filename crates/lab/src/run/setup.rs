//! What must be there before the first round: files, limits, and every program built.

use super::leftovers::remove_leftovers;
use super::programs;
use super::settings::{RunSettings, SuiteRunError};
use super::temporary_folder::TemporaryFolder;
use crate::build::PreparedSubjects;
use crate::context::{ProcessTimeouts, RunContext};
use crate::control_group::ControlGroups;
use crate::cpu::Placement;
use crate::process::interrupt::Interrupted;
use crate::process::tree::kill_group;
use crate::progress::ProgressReporter;
use crate::replies::FirstReplies;
use crate::round::{backend_name, side};
use bookend_results::grouping::each_once;
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
        let drain = plan.drain_ms.map(Duration::from_millis).unwrap_or(settings.timeouts.drain);
        let context = RunContext {
            plan: plan.clone(),
            prepared,
            spawner: settings.spawner.clone(),
            groups,
            placement,
            probe: settings.probe.clone(),
            replies: FirstReplies::default(),
            request: folder.request.clone(),
            transports,
            timeouts: ProcessTimeouts { drain, ..settings.timeouts },
            fleet: settings.fleet.clone(),
            profile: false,
        };
        Ok(Some(RunSetup { context, _folder: folder }))
    }
}

/// Prepares both ends of every cell, then the backends that their servers need.
fn prepare_all(
    settings: &RunSettings,
    plan: &Plan,
    progress: &mut ProgressReporter<'_>,
) -> Result<PreparedSubjects, Interrupted> {
    let mut all = PreparedSubjects::default();
    // An instrument that no case of this run has need not be there.
    let ends = plan.cells().into_iter().flat_map(|cell| [cell.id.subject, cell.id.instrument]);
    programs::prepare(settings, &each_once(ends), &mut all, progress)?;
    let backends = Vec::from_iter(backends(plan, &all));
    programs::prepare(settings, &backends, &mut all, progress)?;
    Ok(all)
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
