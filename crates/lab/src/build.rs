//! Making a subject ready to be started: what it depends on is there, it is built from the sources
//! as they are now, and it has said its version.

use crate::cell_error::CellError;
use crate::launch::Launcher;
use crate::process::command_output::{CommandOutput, KillReason};
use crate::process::interrupt::Interrupt;
use crate::process::{Process, ProcessSpec};
use crate::subject::{BuildState, CommandTemplate, Dependency, Placeholders, Subject, Variant};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// How long one build command may take: a C++ library with its dependencies on two cores.
const BUILD_TIMEOUT: Duration = Duration::from_secs(3600);

/// How long a program may take to say its version. A Java virtual machine starts in a second, but
/// ghz is fetched and built in the version that is asked for, when that is asked for first.
const VERSION_TIMEOUT: Duration = Duration::from_secs(300);

/// Output of a version command beyond this is not a version.
const TEXT_LIMIT_BYTES: usize = 1 << 20;

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

/// What builds need to know of the lab.
#[derive(Clone, Debug)]
pub struct Workshop {
    /// How processes are started.
    pub launcher: Launcher,
    /// The running `bookend`: what `{bookend}` stands for.
    pub bookend: PathBuf,
    /// Whether somebody wants the lab to end.
    pub interrupt: Interrupt,
}

impl Workshop {
    /// Finds the subject `name` (`rust-tonic`, `rust-bookend/epoll`) among `subjects` and makes it
    /// ready. `tell` is told of builds, which can take long.
    ///
    /// # Errors
    /// What the rows of the subject are to say: it is missing, and what to do about it.
    pub fn prepare(
        &self,
        subjects: &Path,
        name: &str,
        tell: &mut dyn FnMut(&str),
    ) -> Result<PreparedSubject, CellError> {
        let (folder, variant) = match name.split_once('/') {
            Some((folder, variant)) => (folder, Some(variant)),
            None => (name, None),
        };
        let subject = Subject::read(&subjects.join(folder)).map_err(CellError::missing)?;
        let variant = subject.variant(variant).map_err(CellError::missing)?;
        let variant = variant.clone();
        for dependency in &subject.dependencies {
            self.check(&subject, dependency)?;
        }
        self.build(&subject, &variant, name, tell)?;
        let version = self.version(&subject, &variant)?;
        Ok(PreparedSubject {
            subject,
            variant,
            version,
        })
    }

    /// What `subject` depends on and is not here, a line each with the command that installs it.
    ///
    /// # Errors
    /// Somebody wants the lab to end.
    pub fn missing(&self, subject: &Subject) -> Result<Vec<String>, CellError> {
        let mut missing = Vec::new();
        for dependency in &subject.dependencies {
            match self.check(subject, dependency) {
                Ok(()) => {}
                Err(CellError::Interrupted) => return Err(CellError::Interrupted),
                Err(stop) => missing.push(stop.to_string()),
            }
        }
        Ok(missing)
    }

    fn check(&self, subject: &Subject, dependency: &Dependency) -> Result<(), CellError> {
        let found = self.run(subject, &dependency.command, VERSION_TIMEOUT)?;
        let said = [
            found.text.as_str(),
            found.ended.last_error.as_deref().unwrap_or(""),
        ]
        .join("\n");
        if found.succeeded() && dependency.accepts(&said) {
            return Ok(());
        }
        let program = dependency.command.join(" ");
        let state = if found.succeeded() {
            "is another version"
        } else {
            "does not run"
        };
        let install = &dependency.install;
        Err(CellError::missing(format!(
            "`{program}` {state}: {install}"
        )))
    }

    fn build(
        &self,
        subject: &Subject,
        variant: &Variant,
        name: &str,
        tell: &mut dyn FnMut(&str),
    ) -> Result<(), CellError> {
        let state = subject.build_state(variant).map_err(CellError::missing)?;
        let BuildState::Stale(why) = state else {
            return Ok(());
        };
        tell(&format!("building {name} ({why})"));
        for command in &variant.build {
            let built = self.run(subject, command, BUILD_TIMEOUT)?;
            if !built.succeeded() {
                let describe = built.ended.first_error.clone();
                let describe = describe.unwrap_or_else(|| built.describe());
                let command = command.join(" ");
                return Err(CellError::missing(format!(
                    "`{command}` failed: {describe}"
                )));
            }
        }
        subject.note_built(variant).map_err(CellError::missing)
    }

    /// A program that cannot say its version is measured all the same; the report says so.
    fn version(&self, subject: &Subject, variant: &Variant) -> Result<String, CellError> {
        if variant.version.is_empty() {
            return Ok("unknown".to_owned());
        }
        let found = self.run(subject, &variant.version, VERSION_TIMEOUT)?;
        let mut lines = found.text.lines().map(str::trim);
        let first = lines.find(|line| !line.is_empty());
        let known = first.filter(|_| found.succeeded()).unwrap_or("unknown");
        Ok(known.chars().take(VERSION_CHARS).collect())
    }

    fn run(
        &self,
        subject: &Subject,
        command: &CommandTemplate,
        timeout: Duration,
    ) -> Result<CommandOutput, CellError> {
        let words = Placeholders {
            bookend: Some(self.bookend.display().to_string()),
            ..Placeholders::default()
        };
        let command = words.fill(command).map_err(CellError::missing)?;
        let plan = ProcessSpec {
            command: command.into_iter().map(OsString::from).collect(),
            folder: subject.folder.clone(),
            ..ProcessSpec::default()
        };
        let process = Process::start(&self.launcher, &plan, None).map_err(CellError::missing)?;
        let deadline = Instant::now() + timeout;
        let found = process.collect(deadline, TEXT_LIMIT_BYTES, &self.interrupt);
        match found.cut_short {
            Some(KillReason::Interrupted) => Err(CellError::Interrupted),
            _ => Ok(found),
        }
    }
}
