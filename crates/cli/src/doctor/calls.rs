//! The subjects that a doctor looks at, and calls.

use super::arguments::DoctorArguments;
use crate::lab;
use crate::names::Named;
use crate::terminal::{Failure, with_progress};
use bookend_lab::build::missing_dependencies;
use bookend_lab::context::ProcessTimeouts;
use bookend_lab::doctor::{
    CheckSuite, VariantState, VariantStates, check_suites, definitions, name_of,
};
use bookend_lab::process::interrupt::Interrupt;
use bookend_lab::run::run;
use bookend_lab::spawner::Spawner;
use bookend_lab::subject::Subject;
use bookend_payload::error_text::reason;
use bookend_results::findings::ProbeFindings;
use bookend_results::store::Store;
use bookend_results::suite::{Overrides, Selection};
use std::collections::BTreeMap;
use std::fs;
use std::io::IsTerminal as _;
use std::time::Duration;

/// How long a check waits: nothing is measured, and what else the machine does must not decide what
/// is ready. A run is as strict as ever.
const CHECK_TIMEOUTS: ProcessTimeouts = ProcessTimeouts {
    ready: Some(Duration::from_secs(60)),
    drain: Duration::from_secs(10),
    grace: Duration::from_secs(60),
};

/// The subjects, and what is needed to start them.
pub struct Doctor<'a> {
    arguments: &'a DoctorArguments,
    all: Vec<Subject>,
    spawner: Spawner,
}

impl Doctor<'_> {
    /// Reads the subjects.
    ///
    /// # Errors
    /// [`Failure`] when a declaration cannot be read.
    pub fn new(arguments: &DoctorArguments, interrupt: Interrupt) -> Result<Doctor<'_>, Failure> {
        let all = Named::SUBJECT
            .all(&arguments.subjects_dir)?
            .iter()
            .map(|name| Subject::read(&arguments.subjects_dir.join(name)))
            .collect::<Result<_, _>>()
            .map_err(Failure::usage)?;
        Ok(Doctor { arguments, all, spawner: lab::spawner(interrupt)? })
    }

    fn wanted(&self) -> impl Iterator<Item = &Subject> {
        let names = &self.arguments.subjects;
        let is_wanted = |subject: &&Subject| names.is_empty() || names.contains(&subject.name);
        self.all.iter().filter(is_wanted)
    }

    /// Looks for what each subject depends on. Whether it was interrupted.
    pub fn check_dependencies(&self, states: &mut VariantStates) -> bool {
        for subject in self.wanted() {
            let Ok(missing) = missing_dependencies(&self.spawner, subject) else {
                return true;
            };
            for variant in &subject.variants {
                let state = if missing.is_empty() {
                    VariantState::Ready(String::new())
                } else {
                    VariantState::Missing(missing.join("; "))
                };
                states.note(name_of(subject, variant), state);
            }
        }
        false
    }

    /// Builds every variant that is not missing anything, and calls it. Whether it was interrupted.
    ///
    /// # Errors
    /// [`Failure`] when definitions cannot be read, or the findings cannot be written.
    pub fn call(&self, states: &mut VariantStates) -> Result<bool, Failure> {
        let folder = &self.arguments.proto_dir;
        let known = definitions(folder).map_err(Failure::usage)?;
        let wanted: Vec<&Subject> = self.wanted().collect();
        let (suites, unchecked) = check_suites(&wanted, &self.all, &known, folder);
        for each in unchecked {
            states.note(each.variant, VariantState::Failed(each.reason));
        }
        // One for all suites: a server that was checked over one transport is not checked again.
        let mut store = Store::in_memory().map_err(Failure::nothing_measured)?;
        let mut versions = BTreeMap::new();
        let mut interrupted = false;
        for suite in suites {
            if interrupted {
                // A variant that was not reached must not stay ready.
                states.add_rows(&suite.about, &[], &BTreeMap::new());
            } else {
                interrupted = self.run_suite(suite, states, (&mut store, &mut versions))?;
            }
        }
        if let Some(file) = self.arguments.findings.as_ref().filter(|_| !interrupted) {
            let first = |subject: &Subject| Some(name_of(subject, subject.variants.first()?).0);
            let firsts = self.all.iter().filter_map(first).collect();
            let found = ProbeFindings::of_store(&store, &versions, &firsts);
            let text = found.map_err(Failure::nothing_measured)?.text();
            fs::write(file, text).map_err(|error| {
                Failure::nothing_measured(format!("{}: {}", file.display(), reason(&error)))
            })?;
        }
        Ok(interrupted)
    }

    /// Runs one suite of checks. Whether it was interrupted.
    fn run_suite(
        &self,
        checks: CheckSuite,
        states: &mut VariantStates,
        (store, versions): (&mut Store, &mut BTreeMap<String, String>),
    ) -> Result<bool, Failure> {
        let CheckSuite { suite, about } = checks;
        let plan = suite
            .plan(&Selection::default(), &Overrides::default(), lab::cpus())
            .map_err(Failure::usage)?;
        let subjects = &self.arguments.subjects_dir;
        let interrupt = self.spawner.interrupt.clone();
        let mut settings = lab::settings(suite, plan, subjects, interrupt)?;
        settings.timeouts = CHECK_TIMEOUTS;
        if self.arguments.findings.is_none() {
            settings.semantics = None;
        }
        // Somebody who waits at a terminal wants to know which build takes its time; nobody else
        // does.
        let is_quiet = !std::io::stderr().is_terminal();
        let summary = with_progress(is_quiet, |progress| run(&settings, store, progress))
            .map_err(Failure::nothing_measured)?;
        let Some(id) = summary.id else {
            states.add_rows(&about, &[], &BTreeMap::new());
            return Ok(true);
        };
        let known = store.run(id).map_err(Failure::nothing_measured)?;
        let rows = store.rows(id).map_err(Failure::nothing_measured)?;
        states.add_rows(&about, &rows, &known.new.versions);
        versions.extend(known.new.versions);
        Ok(summary.interrupted)
    }
}
