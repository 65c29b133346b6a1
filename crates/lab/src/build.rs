//! Making a subject ready to be started: what it depends on is there, it is built from the sources
//! as they are now, and it has said its version.

mod known_dependencies;
mod profile;
mod sources;

pub use known_dependencies::KnownDependencies;
pub use sources::BuildState;

use crate::cell_error::CellError;
use crate::invocation::Invocation;
use crate::process::command_output::CommandOutput;
use crate::spawner::Spawner;
use crate::subject::{CommandTemplate, Dependency, Subject, Variant};
use bookend_results::measurement::Outcome;
use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

/// How long one build command may take: a C++ library with its dependencies on two cores.
const BUILD_TIMEOUT: Duration = Duration::from_secs(3600);

/// How long a program may take to say its version. A Java virtual machine starts in a second, but
/// ghz is fetched and built in the version that is asked for, when that is asked for first.
const VERSION_TIMEOUT: Duration = Duration::from_secs(300);

/// A version is printed in a table's foot, so it is cut here.
const VERSION_CHARS: usize = 200;

/// A subject that can be started.
#[derive(Clone, Debug)]
pub struct PreparedSubject {
    /// The subject.
    pub subject: Subject,
    /// The variant that runs.
    pub variant: Variant,
    /// What its version command printed first.
    pub version: String,
}

/// The programs of a run by name, each prepared, or with what its rows say instead.
#[derive(Clone, Debug, Default)]
pub struct PreparedSubjects(pub BTreeMap<String, Result<PreparedSubject, Outcome>>);

impl PreparedSubject {
    /// What a row calls it.
    pub fn row_name(&self) -> String {
        self.subject.row_name(&self.variant)
    }
}

impl PreparedSubjects {
    /// The program of that name.
    ///
    /// # Errors
    /// What the row says: why it could not be prepared.
    pub fn get(&self, name: &str) -> Result<&PreparedSubject, CellError> {
        match self.0.get(name) {
            Some(Ok(prepared)) => Ok(prepared),
            Some(Err(outcome)) => Err(CellError::Outcome(outcome.clone())),
            None => Err(CellError::failed(format!("{name} was never prepared"))),
        }
    }

    /// Those that are prepared, with their names.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &PreparedSubject)> {
        self.0.iter().filter_map(|(name, prepared)| Some((name.as_str(), prepared.as_ref().ok()?)))
    }
}

/// Finds the subject `name` (`rust-tonic`, `rust-bookend/epoll`) among `subjects` and prepares it.
/// `on_build` receives a sentence before each build, which can take long.
///
/// # Errors
/// What the rows of the subject say: it is missing, and what to do about it.
pub fn prepare(
    spawner: &Spawner,
    subjects: &Path,
    name: &str,
    on_build: &mut dyn FnMut(&str),
) -> Result<PreparedSubject, CellError> {
    let (folder, variant) = match name.split_once('/') {
        Some((folder, variant)) => (folder, Some(variant)),
        None => (name, None),
    };
    let subject = Subject::read(&subjects.join(folder)).map_err(CellError::missing)?;
    let variant = subject.variant(variant).map_err(CellError::missing)?.clone();
    for dependency in &subject.dependencies {
        check(spawner, &subject, dependency)?;
    }
    build(spawner, &subject, &variant, name, on_build)?;
    let version = version(spawner, &subject, &variant)?;
    Ok(PreparedSubject { subject, variant, version })
}

/// What `subject` depends on and is not here, a line each with the command that installs it.
///
/// # Errors
/// It was interrupted.
pub fn missing_dependencies(
    spawner: &Spawner,
    subject: &Subject,
) -> Result<Vec<String>, CellError> {
    let mut missing = Vec::new();
    for dependency in &subject.dependencies {
        match check(spawner, subject, dependency) {
            Ok(()) => {}
            Err(CellError::Interrupted) => return Err(CellError::Interrupted),
            Err(error) => missing.push(error.to_string()),
        }
    }
    Ok(missing)
}

fn check(spawner: &Spawner, subject: &Subject, dependency: &Dependency) -> Result<(), CellError> {
    let found = run(spawner, subject, &dependency.command, VERSION_TIMEOUT)?;
    let last_error = found.exit.last_error.as_deref().unwrap_or("");
    let printed = format!("{}\n{last_error}", found.text);
    let state = match (found.succeeded(), dependency.accepts(&printed)) {
        (true, true) => return Ok(()),
        (true, false) => "is another version",
        (false, _) => "does not run",
    };
    let (program, install) = (dependency.command.join(" "), &dependency.install);
    let reason = format!("`{program}` {state}: {install}");
    Err(CellError::missing(reason))
}

fn build(
    spawner: &Spawner,
    subject: &Subject,
    variant: &Variant,
    name: &str,
    on_build: &mut dyn FnMut(&str),
) -> Result<(), CellError> {
    let state = subject.build_state(variant).map_err(CellError::missing)?;
    let BuildState::Stale(why) = state else {
        return Ok(());
    };
    on_build(&format!("building {name} ({why})"));
    for command in &variant.build {
        let built = run(spawner, subject, command, BUILD_TIMEOUT)?;
        if !built.succeeded() {
            let error = built.exit.first_error.clone().unwrap_or_else(|| built.describe());
            return Err(CellError::missing(format!("`{}` failed: {error}", command.join(" "))));
        }
    }
    subject.note_built(variant).map_err(CellError::missing)
}

/// A program that cannot say its version is measured all the same; the report says so.
fn version(spawner: &Spawner, subject: &Subject, variant: &Variant) -> Result<String, CellError> {
    if variant.version.is_empty() {
        return Ok("unknown".to_owned());
    }
    let found = run(spawner, subject, &variant.version, VERSION_TIMEOUT)?;
    let known = found
        .text
        .lines()
        .map(str::trim)
        .find(|line| !line.is_empty())
        .filter(|_| found.succeeded())
        .unwrap_or("unknown");
    Ok(known.chars().take(VERSION_CHARS).collect())
}

fn run(
    spawner: &Spawner,
    subject: &Subject,
    command: &CommandTemplate,
    timeout: Duration,
) -> Result<CommandOutput, CellError> {
    let invocation = Invocation::of_tool(command, &subject.folder);
    spawner.output(&invocation, timeout).map_err(|error| error.into_cell_error(CellError::missing))
}
