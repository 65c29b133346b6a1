//! `bookend doctor`: what can be measured here, and what is missing for the rest.

mod findings;

use crate::lab;
use crate::names::Named;
use crate::terminal::Failure;
use bookend_lab::build::Workshop;
use bookend_lab::cell_error::CellError;
use bookend_lab::control_group::ControlGroups;
use bookend_lab::doctor::{CheckUp, check_ups, definitions, name_of};
use bookend_lab::machine::this_machine;
use bookend_lab::process::interrupt::Interrupt;
use bookend_lab::process::tree::kill_group;
use bookend_lab::progress::ProgressReporter;
use bookend_lab::run::{RunSettings, run};
use bookend_lab::subject::Subject;
use bookend_load::contract::exit;
use bookend_load::output;
use bookend_results::store::Store;
use bookend_results::suite::{Overrides, Selection};
use clap::Args;
use findings::{Finding, Findings};
use std::collections::BTreeMap;
use std::io::IsTerminal as _;
use std::path::PathBuf;

/// What stands after `bookend doctor`.
#[derive(Debug, Args)]
pub struct DoctorArguments {
    /// Only these subjects, separated by blanks [default: every subject]
    #[arg(value_name = "SUBJECT")]
    subjects: Vec<String>,
    /// Build every variant and make one verified call through it
    #[arg(long)]
    call: bool,
    /// Count what is missing as failed: for CI
    #[arg(long)]
    strict: bool,
    /// Where subjects are
    #[arg(long, value_name = "DIR", default_value = "subjects")]
    subjects_dir: PathBuf,
    /// Where the service definitions are
    #[arg(long, value_name = "DIR", default_value = "proto")]
    proto_dir: PathBuf,
}

/// Looks, calls if asked to, and prints a line a subject.
///
/// # Errors
/// [`Failure`] when a name is wrong or a declaration cannot be read.
pub fn start(arguments: &DoctorArguments) -> Result<u8, Failure> {
    for name in &arguments.subjects {
        Named::Subject.require(name, &arguments.subjects_dir)?;
    }
    let interrupt = Interrupt::on_signals().map_err(Failure::nothing_measured)?;
    let patient = Patient::read(arguments, interrupt)?;
    output::write(&machine(), None).map_err(Failure::nothing_measured)?;
    let mut findings = Findings::default();
    let interrupted = patient.look(&mut findings).is_err()
        || (arguments.call && patient.call(&mut findings)?.is_err());
    output::write(&findings.to_string(), None).map_err(Failure::nothing_measured)?;
    if interrupted {
        return Ok(exit::INTERRUPTED);
    }
    Ok(findings.exit_status(arguments.strict))
}

/// What decides how well anything can be measured here.
fn machine() -> String {
    let limits = ControlGroups::prepare(kill_group)
        .capabilities()
        .to_string();
    format!("{}Limits: {limits}\n\n", this_machine())
}

/// The subjects, and what is needed to start them.
struct Patient<'a> {
    arguments: &'a DoctorArguments,
    all: Vec<Subject>,
    workshop: Workshop,
}

/// Somebody wants the lab to end.
struct Interrupted;

impl Patient<'_> {
    fn read(arguments: &DoctorArguments, interrupt: Interrupt) -> Result<Patient<'_>, Failure> {
        let names = Named::Subject.all(&arguments.subjects_dir)?;
        let folders = names.iter().map(|name| arguments.subjects_dir.join(name));
        let all: Result<Vec<Subject>, _> = folders.map(|folder| Subject::read(&folder)).collect();
        let bookend = std::env::current_exe().map_err(Failure::nothing_measured)?;
        Ok(Patient {
            arguments,
            all: all.map_err(Failure::usage)?,
            workshop: Workshop {
                launcher: lab::launcher(&bookend),
                bookend,
                interrupt,
            },
        })
    }

    fn wanted(&self) -> impl Iterator<Item = &Subject> {
        let names = &self.arguments.subjects;
        let is_wanted = |subject: &&Subject| names.is_empty() || names.contains(&subject.name);
        self.all.iter().filter(is_wanted)
    }

    /// Whether what each subject depends on is there.
    fn look(&self, findings: &mut Findings) -> Result<(), Interrupted> {
        for subject in self.wanted() {
            let missing = self.workshop.missing(subject);
            let missing = missing.map_err(|_: CellError| Interrupted)?;
            for variant in &subject.variants {
                let finding = match missing.first() {
                    None => Finding::Ready(String::new()),
                    Some(_) => Finding::Missing(missing.join("; ")),
                };
                findings.note(name_of(subject, variant), finding);
            }
        }
        Ok(())
    }

    /// Builds every variant that is not missing anything, and calls it.
    fn call(&self, findings: &mut Findings) -> Result<Result<(), Interrupted>, Failure> {
        let folder = &self.arguments.proto_dir;
        let known = definitions(folder).map_err(Failure::usage)?;
        let wanted: Vec<&Subject> = self.wanted().collect();
        let (check_ups, unchecked) = check_ups(&wanted, &self.all, &known, folder);
        for each in unchecked {
            findings.note(each.variant, Finding::Failed(each.reason));
        }
        let mut called = Ok(());
        for check_up in check_ups {
            match called {
                Ok(()) => called = self.call_all(check_up, findings)?,
                // What was not reached must not stay ready.
                Err(Interrupted) => findings.judge(&check_up.about, &[], &BTreeMap::new()),
            }
        }
        Ok(called)
    }

    fn call_all(
        &self,
        check_up: CheckUp,
        findings: &mut Findings,
    ) -> Result<Result<(), Interrupted>, Failure> {
        let CheckUp { suite, about } = check_up;
        let plan = suite
            .plan(&Selection::default(), &Overrides::default(), lab::cpus())
            .map_err(Failure::usage)?;
        let subjects = &self.arguments.subjects_dir;
        let interrupt = self.workshop.interrupt.clone();
        let settings = RunSettings {
            semantics: None,
            ..lab::settings(suite, plan, subjects, interrupt)?
        };
        let mut store = Store::in_memory().map_err(Failure::nothing_measured)?;
        let mut stderr = std::io::stderr();
        let is_terminal = stderr.is_terminal();
        let mut progress = ProgressReporter::new(&mut stderr, is_terminal);
        let summary = run(&settings, &mut store, &mut progress);
        let summary = summary.map_err(Failure::nothing_measured)?;
        let Some(id) = summary.id else {
            findings.judge(&about, &[], &BTreeMap::new());
            return Ok(Err(Interrupted));
        };
        let known = store.run(id).map_err(Failure::nothing_measured)?;
        let rows = store.rows(id).map_err(Failure::nothing_measured)?;
        findings.judge(&about, &rows, &known.new.versions);
        Ok(if summary.interrupted {
            Err(Interrupted)
        } else {
            Ok(())
        })
    }
}
