//! Making a subject ready to be started: what it depends on is there, it is built from the sources
//! as they are now, and it has said its version.

use crate::launch::Launcher;
use crate::process::collected::{Collected, CutShort};
use crate::process::interrupt::Interrupt;
use crate::process::{Process, ProcessPlan};
use crate::stop::Stop;
use crate::subject::{BuildState, Command, Dependency, Placeholders, Subject, Variant};
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
pub struct Prepared {
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
    ) -> Result<Prepared, Stop> {
        let (folder, variant) = match name.split_once('/') {
            Some((folder, variant)) => (folder, Some(variant)),
            None => (name, None),
        };
        let subject = Subject::read(&subjects.join(folder)).map_err(Stop::missing)?;
        let variant = subject.variant(variant).map_err(Stop::missing)?;
        let variant = variant.clone();
        for dependency in &subject.dependencies {
            self.check(&subject, dependency)?;
        }
        self.build(&subject, &variant, name, tell)?;
        let version = self.version(&subject, &variant)?;
        Ok(Prepared {
            subject,
            variant,
            version,
        })
    }

    /// What `subject` depends on and is not here, a line each with the command that installs it.
    ///
    /// # Errors
    /// Somebody wants the lab to end.
    pub fn missing(&self, subject: &Subject) -> Result<Vec<String>, Stop> {
        let mut missing = Vec::new();
        for dependency in &subject.dependencies {
            match self.check(subject, dependency) {
                Ok(()) => {}
                Err(Stop::Interrupted) => return Err(Stop::Interrupted),
                Err(stop) => missing.push(stop.to_string()),
            }
        }
        Ok(missing)
    }

    fn check(&self, subject: &Subject, dependency: &Dependency) -> Result<(), Stop> {
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
        Err(Stop::missing(format!("`{program}` {state}: {install}")))
    }

    fn build(
        &self,
        subject: &Subject,
        variant: &Variant,
        name: &str,
        tell: &mut dyn FnMut(&str),
    ) -> Result<(), Stop> {
        let state = subject.build_state(variant).map_err(Stop::missing)?;
        let BuildState::Stale(why) = state else {
            return Ok(());
        };
        tell(&format!("building {name} ({why})"));
        for command in &variant.build {
            let built = self.run(subject, command, BUILD_TIMEOUT)?;
            if !built.succeeded() {
                let complaint = built.ended.first_error.clone();
                let complaint = complaint.unwrap_or_else(|| built.complaint());
                let command = command.join(" ");
                return Err(Stop::missing(format!("`{command}` failed: {complaint}")));
            }
        }
        subject.note_built(variant).map_err(Stop::missing)
    }

    /// A program that cannot say its version is measured all the same; the report says so.
    fn version(&self, subject: &Subject, variant: &Variant) -> Result<String, Stop> {
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
        command: &Command,
        timeout: Duration,
    ) -> Result<Collected, Stop> {
        let words = Placeholders {
            bookend: Some(self.bookend.display().to_string()),
            ..Placeholders::default()
        };
        let command = words.fill(command).map_err(Stop::missing)?;
        let plan = ProcessPlan {
            command: command.into_iter().map(OsString::from).collect(),
            folder: subject.folder.clone(),
            ..ProcessPlan::default()
        };
        let process = Process::start(&self.launcher, &plan, None).map_err(Stop::missing)?;
        let deadline = Instant::now() + timeout;
        let found = process.collect(deadline, TEXT_LIMIT_BYTES, &self.interrupt);
        match found.cut_short {
            Some(CutShort::Interrupted) => Err(Stop::Interrupted),
            _ => Ok(found),
        }
    }
}
