//! `bookend doctor`: what can be measured here, and what is missing for the rest.

mod variant_states;

use crate::check::kept_line;
use crate::lab;
use crate::names::Named;
use crate::terminal::{Failure, print, with_progress};
use bookend_contract::exit;
use bookend_lab::build::missing_dependencies;
use bookend_lab::context::ProcessTimeouts;
use bookend_lab::control_group::ControlGroups;
use bookend_lab::doctor::{CheckSuite, check_suites, definitions, name_of};
use bookend_lab::lock::LockTarget;
use bookend_lab::machine::this_machine;
use bookend_lab::process::interrupt::Interrupt;
use bookend_lab::process::tree::kill_group;
use bookend_lab::run::{remove_leftovers, run};
use bookend_lab::spawner::Spawner;
use bookend_lab::subject::Subject;
use bookend_payload::error_text::reason;
use bookend_results::findings::ProbeFindings;
use bookend_results::store::Store;
use bookend_results::suite::{Overrides, Selection};
use clap::Args;
use std::collections::BTreeMap;
use std::fs;
use std::io::IsTerminal as _;
use std::path::PathBuf;
use std::time::Duration;
use variant_states::{VariantState, VariantStates};

/// How long a check waits: nothing is measured, and what else the machine does must not decide what
/// is ready. A run is as strict as ever.
const CHECK_TIMEOUTS: ProcessTimeouts = ProcessTimeouts {
    ready: Some(Duration::from_secs(60)),
    drain: Duration::from_secs(10),
    grace: Duration::from_secs(60),
};

const EXAMPLES: &str = r"Examples:
  bookend doctor
  bookend doctor --call rust-tonic go-grpc";

/// Arguments of `bookend doctor`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct DoctorArguments {
    /// Check only these subjects [default: all]
    #[arg(value_name = "SUBJECT")]
    subjects: Vec<String>,
    /// Build every variant, and make one verified call through it
    #[arg(long)]
    call: bool,
    /// Also check what every server skips, and write it to this file, as lines of JSON
    #[arg(long, value_name = "FILE", requires = "call")]
    findings: Option<PathBuf>,
    /// Wait while another lab measures on this machine, instead of exiting
    #[arg(long, requires = "call")]
    wait_for_lock: bool,
    /// Count what is missing as failed, as suits CI
    #[arg(long)]
    strict: bool,
    /// Folder of subjects
    #[arg(long, value_name = "DIR", default_value = "subjects")]
    subjects_dir: PathBuf,
    /// Folder of service definitions
    #[arg(long, value_name = "DIR", default_value = "proto")]
    proto_dir: PathBuf,
}

/// Looks, calls if asked to, and prints a line a subject.
///
/// # Errors
/// [`Failure`] when a name is wrong or a declaration cannot be read.
pub fn start(arguments: &DoctorArguments) -> Result<u8, Failure> {
    for name in &arguments.subjects {
        Named::SUBJECT.require(name, &arguments.subjects_dir)?;
    }
    let interrupt = Interrupt::on_signals().map_err(Failure::nothing_measured)?;
    let mut lock = None;
    if arguments.call {
        lock = lab::lock(&LockTarget::Machine, arguments.wait_for_lock, &interrupt)?;
        if lock.is_none() {
            return Ok(exit::INTERRUPTED);
        }
    }
    let doctor = Doctor::new(arguments, interrupt)?;
    let leftovers: String =
        remove_leftovers().into_iter().map(|sentence| format!("{sentence}\n")).collect();
    print(&(machine() + &leftovers))?;
    let mut states = VariantStates::default();
    let interrupted =
        doctor.check_dependencies(&mut states) || (arguments.call && doctor.call(&mut states)?);
    drop(lock);
    print(&states.to_string())?;
    if interrupted {
        return Ok(exit::INTERRUPTED);
    }
    Ok(states.exit_status(arguments.strict))
}

/// What decides how well anything can be measured here.
fn machine() -> String {
    let limits = ControlGroups::prepare(kill_group).capabilities().to_string();
    format!("{}Limits: {limits}\n{}\n\n", this_machine(), kept_line())
}

/// The subjects, and what is needed to start them.
struct Doctor<'a> {
    arguments: &'a DoctorArguments,
    all: Vec<Subject>,
    spawner: Spawner,
}

impl Doctor<'_> {
    fn new(arguments: &DoctorArguments, interrupt: Interrupt) -> Result<Doctor<'_>, Failure> {
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
    fn check_dependencies(&self, states: &mut VariantStates) -> bool {
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
    fn call(&self, states: &mut VariantStates) -> Result<bool, Failure> {
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
