//! Every program that takes part in a run, built and asked for its version.

use super::RunSettings;
use crate::build::Workshop;
use crate::cell_error::CellError;
use crate::progress::ProgressReporter;
use crate::round::{PreparedSubjects, backend_name, side};
use bookend_results::measurement::Outcome;
use bookend_results::suite::{Plan, Side};
use std::collections::BTreeSet;

/// The user wants the lab to end.
pub struct Interrupted;

/// Prepares the subjects, the other end of each, and the backends that servers need.
///
/// # Errors
/// It was interrupted. A subject that could not be prepared says so in its rows.
pub fn prepare(
    settings: &RunSettings,
    plan: &Plan,
    progress: &mut ProgressReporter<'_>,
) -> Result<PreparedSubjects, Interrupted> {
    let workshop = Workshop {
        launcher: settings.launcher.clone(),
        bookend: settings.bookend.clone(),
        interrupt: settings.interrupt.clone(),
    };
    let mut all = PreparedSubjects::new();
    let mut prepare_once = |all: &mut PreparedSubjects, name: &String| {
        if all.contains_key(name) {
            return Ok(());
        }
        let mut tell = |sentence: &str| progress.say(sentence);
        let prepared = match workshop.prepare(&settings.subjects, name, &mut tell) {
            Ok(prepared) => Ok(prepared),
            Err(CellError::Outcome(outcome)) => Err(outcome),
            Err(CellError::Interrupted) => return Err(Interrupted),
        };
        if let Err(Outcome::Missing { reason }) = &prepared {
            progress.say(&format!("{name} is missing: {reason}"));
        }
        all.insert(name.clone(), prepared);
        Ok(())
    };
    for subject in &plan.subjects {
        for name in std::iter::once(&subject.name).chain(&subject.instruments) {
            prepare_once(&mut all, name)?;
        }
    }
    for name in backends(plan, &all) {
        prepare_once(&mut all, &name)?;
    }
    Ok(all)
}

/// The names of all backends of this run's servers.
pub fn backends(plan: &Plan, prepared: &PreparedSubjects) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    for planned in &plan.subjects {
        for instrument in &planned.instruments {
            let (Some(Ok(subject)), Some(Ok(other))) =
                (prepared.get(&planned.name), prepared.get(instrument))
            else {
                continue;
            };
            let (subject, other) = (&subject.variant, &other.variant);
            let name = match side(planned.side, subject, other) {
                Some(Side::Server) => backend_name(Some(planned), subject),
                Some(Side::Client) => backend_name(None, other),
                None => None,
            };
            names.extend(name.cloned());
        }
    }
    names
}
