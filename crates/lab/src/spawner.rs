//! The one place where the lab starts a process.

use crate::cell_error::CellError;
use crate::control_group::ControlGroup;
use crate::invocation::Invocation;
use crate::launch::Launcher;
use crate::process::command_output::{CommandOutput, KillReason};
use crate::process::interrupt::Interrupt;
use crate::process::{Process, StartError};
use crate::subject::template::{self, TemplateError};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use thiserror::Error;

/// The output of a tool that is read: a version is a line, and the probe's JSON a page.
const OUTPUT_LIMIT_BYTES: usize = 1 << 20;

/// Starts processes.
#[derive(Clone, Debug)]
pub struct Spawner {
    /// The first step of every process.
    pub launcher: Launcher,
    /// The running `bookend`: what `{bookend}` stands for.
    pub bookend: PathBuf,
    /// Whether the user wants the lab to end.
    pub interrupt: Interrupt,
}

/// Why a process was not started, or not run to its end.
#[derive(Debug, Error)]
pub enum SpawnError {
    /// Its command line cannot be made.
    #[error(transparent)]
    Template(#[from] TemplateError),
    /// It cannot be started.
    #[error(transparent)]
    Start(#[from] StartError),
    /// The user wants the lab to end.
    #[error("interrupted")]
    Interrupted,
}

impl SpawnError {
    /// What the row says: `why` makes it of the message, unless it was an interrupt.
    pub fn into_cell_error(self, why: impl FnOnce(String) -> CellError) -> CellError {
        match self {
            SpawnError::Interrupted => CellError::Interrupted,
            error => why(error.to_string()),
        }
    }
}

impl Spawner {
    /// Starts a process in `group`.
    ///
    /// The kernel kills it when the calling thread ends, so that must outlive the measurement.
    ///
    /// # Errors
    /// Its command line cannot be made, or the launcher cannot be started.
    pub fn spawn(
        &self,
        invocation: &Invocation<'_>,
        group: ControlGroup,
    ) -> Result<Process, SpawnError> {
        let command = self.command_line(invocation)?;
        Ok(self.spawn_as_is(command, invocation, group)?)
    }

    /// The same with a command line that is taken as it is.
    ///
    /// # Errors
    /// The launcher cannot be started.
    pub fn spawn_as_is(
        &self,
        command: impl IntoIterator<Item = impl Into<OsString>>,
        invocation: &Invocation<'_>,
        group: ControlGroup,
    ) -> Result<Process, StartError> {
        let process = Process::start(&self.launcher, command, invocation, group)?;
        Ok(process.hurried_by(self.interrupt.hurry()))
    }

    /// Starts a tool in this folder and on these CPUs, with such a command line.
    ///
    /// # Errors
    /// The launcher cannot be started.
    pub fn spawn_tool(&self, command: Vec<String>, cpus: &[usize]) -> Result<Process, StartError> {
        let tool = Invocation::of_tool(&[], Path::new("."));
        let invocation = Invocation { cpus: cpus.to_vec(), ..tool };
        self.spawn_as_is(command, &invocation, ControlGroup::default())
    }

    /// Runs a tool to its end and keeps what it printed.
    ///
    /// # Errors
    /// As [`Spawner::spawn`], or it was interrupted. How the tool ended is in its output.
    pub fn output(
        &self,
        invocation: &Invocation<'_>,
        timeout: Duration,
    ) -> Result<CommandOutput, SpawnError> {
        let process = self.spawn(invocation, ControlGroup::default())?;
        let deadline = Instant::now() + timeout;
        let output = process.collect(deadline, OUTPUT_LIMIT_BYTES, &self.interrupt);
        let was_interrupted = output.killed == Some(KillReason::Interrupted);
        if was_interrupted { Err(SpawnError::Interrupted) } else { Ok(output) }
    }

    /// The command with its words filled in.
    ///
    /// # Errors
    /// See [`TemplateError`].
    pub fn command_line(&self, invocation: &Invocation<'_>) -> Result<Vec<String>, TemplateError> {
        template::fill(invocation.command, |word| match word {
            "bookend" => Some(self.bookend.display().to_string()),
            word => invocation.value(word),
        })
    }
}
