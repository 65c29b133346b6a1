//! Everybody who takes part in a run, built and asked for a version.

use super::RunSettings;
use crate::build::Workshop;
use crate::progress::Progress;
use crate::round::{Crew, backend_name, side};
use crate::stop::Stop;
use bookend_results::measurement::Outcome;
use bookend_results::suite::{Plan, Side};
use std::collections::BTreeSet;

/// Somebody wants the lab to end.
pub struct Interrupted;

/// Makes everybody ready: subjects, what is at their other end, and what stands behind servers.
///
/// # Errors
/// It was interrupted. Who could not be made ready is told by the rows.
pub fn prepare(
    settings: &RunSettings,
    plan: &Plan,
    progress: &mut Progress<'_>,
) -> Result<Crew, Interrupted> {
    let workshop = Workshop {
        launcher: settings.launcher.clone(),
        bookend: settings.bookend.clone(),
        interrupt: settings.interrupt.clone(),
    };
    let mut crew = Crew::new();
    let mut enlist = |crew: &mut Crew, name: &String| {
        if crew.contains_key(name) {
            return Ok(());
        }
        let mut tell = |sentence: &str| progress.say(sentence);
        let prepared = match workshop.prepare(&settings.subjects, name, &mut tell) {
            Ok(prepared) => Ok(prepared),
            Err(Stop::Row(outcome)) => Err(outcome),
            Err(Stop::Interrupted) => return Err(Interrupted),
        };
        if let Err(Outcome::Missing { reason }) = &prepared {
            progress.say(&format!("{name} is missing: {reason}"));
        }
        crew.insert(name.clone(), prepared);
        Ok(())
    };
    for subject in &plan.subjects {
        for name in std::iter::once(&subject.name).chain(&subject.instruments) {
            enlist(&mut crew, name)?;
        }
    }
    for name in backends(plan, &crew) {
        enlist(&mut crew, &name)?;
    }
    Ok(crew)
}

/// The names of all that stand behind servers of this run.
pub fn backends(plan: &Plan, crew: &Crew) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    for planned in &plan.subjects {
        for instrument in &planned.instruments {
            let (Some(Ok(subject)), Some(Ok(other))) =
                (crew.get(&planned.name), crew.get(instrument))
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
