//! The programs of a run, several prepared at a time: much of a build keeps one CPU busy, and most
//! machines have more.

use super::settings::RunSettings;
use crate::build::{self, PreparedSubject, PreparedSubjects};
use crate::cell_error::CellError;
use crate::process::interrupt::Interrupted;
use crate::progress::{Clock, ProgressReporter};
use bookend_results::grouping::grouped;
use bookend_results::measurement::Outcome;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::thread;
use std::time::Instant;

/// What is reported of a program.
enum Told {
    /// It is being built, and why.
    Building(String),
    /// It is ready, or its rows say why not.
    Done(String, Box<Result<PreparedSubject, CellError>>),
}

/// Adds the programs of these names that `all` does not have.
///
/// # Errors
/// The user wants the lab to end.
pub fn prepare(
    settings: &RunSettings,
    names: &[String],
    all: &mut PreparedSubjects,
    progress: &mut ProgressReporter<'_>,
) -> Result<(), Interrupted> {
    let new = names.iter().filter(|name| !all.0.contains_key(*name));
    // Two builds in one folder would be in each other's way.
    let folder = |name: &String| name.split('/').next().unwrap_or(name).to_owned();
    let folders = grouped(new.map(|name| (folder(name), name.clone())));
    let mut left: usize = folders.iter().map(|(_, names)| names.len()).sum();
    let cpus = thread::available_parallelism().map_or(1, usize::from);
    let (next, (tell, told)) = (AtomicUsize::new(0), channel());
    let (begin, mut was_built) = (Instant::now(), false);
    thread::scope(|scope| {
        for _ in 0..cpus.min(folders.len()) {
            let (tell, folders, next) = (tell.clone(), &folders, &next);
            // The kernel ends a process with the thread that started it; a build has ended before.
            scope.spawn(move || {
                while let Some((_, names)) = folders.get(next.fetch_add(1, Ordering::Relaxed)) {
                    names.iter().for_each(|name| prepare_one(settings, name, &tell));
                }
            });
        }
        drop(tell);
        let mut result = Ok(());
        for told in told {
            match told {
                Told::Building(sentence) => {
                    was_built = true;
                    progress.println(&format!("{sentence}, {left} left to prepare"));
                }
                Told::Done(name, prepared) => {
                    left -= 1;
                    result = result.and(keep(name, *prepared, all, progress));
                }
            }
        }
        if was_built && result.is_ok() {
            progress.println(&format!("built in {}", Clock(begin.elapsed())));
        }
        result
    })
}

fn prepare_one(settings: &RunSettings, name: &str, tell: &Sender<Told>) {
    // The receiver lives until all senders are done.
    let mut on_build = |sentence: &str| drop(tell.send(Told::Building(sentence.to_owned())));
    let prepared = build::prepare(&settings.spawner, &settings.subjects, name, &mut on_build);
    let _ = tell.send(Told::Done(name.to_owned(), Box::new(prepared)));
}

fn keep(
    name: String,
    prepared: Result<PreparedSubject, CellError>,
    all: &mut PreparedSubjects,
    progress: &mut ProgressReporter<'_>,
) -> Result<(), Interrupted> {
    let prepared = CellError::or_outcome(prepared)?;
    if let Err(Outcome::Missing { reason }) = &prepared {
        progress.println(&format!("{name} is missing: {reason}"));
    }
    all.0.insert(name, prepared);
    Ok(())
}
