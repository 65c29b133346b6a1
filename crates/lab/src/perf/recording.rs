//! One `perf record` of processes that run already, from one moment to another.

use crate::cell_error::CellError;
use crate::process::interrupt::Interrupt;
use crate::process::{Process, ProcessEvent};
use crate::spawner::Spawner;
use std::time::{Duration, Instant};

/// How long `perf` may take to begin, and to write at the end what it has.
const PERF_TIMEOUT: Duration = Duration::from_secs(30);

/// The command for whose life `perf` records. It prints that recording has begun, and ends when its
/// standard input closes.
const STDIN_GUARD: [&str; 3] = ["sh", "-c", "echo recording && exec cat"];

/// A recording that goes on. Dropping it ends it.
#[derive(Debug)]
pub struct Recording {
    process: Process,
}

impl Recording {
    /// Begins to record with a command of [`super::tool::Perf::record`]. `cpus` are those of
    /// `perf` itself.
    ///
    /// # Errors
    /// `perf` did not begin.
    pub fn begin(
        mut command: Vec<String>,
        spawner: &Spawner,
        cpus: &[usize],
    ) -> Result<Recording, CellError> {
        command.extend(STDIN_GUARD.map(str::to_owned));
        let process = spawner.spawn_tool(command, cpus);
        let mut recording = Recording { process: process.map_err(CellError::failed)? };
        // It takes a few hundredths of a second, and an interrupt is seen right after.
        let deadline = Instant::now() + PERF_TIMEOUT;
        match recording.process.next_event(deadline, &Interrupt::new()) {
            ProcessEvent::Output(_) => Ok(recording),
            ProcessEvent::Exited | ProcessEvent::TimedOut | ProcessEvent::Interrupted => {
                let exit = recording.process.end(Duration::ZERO, |_| {});
                let how = exit.describe();
                Err(CellError::failed(format!("perf did not begin: {how}")))
            }
        }
    }

    /// Ends the recording and waits until it is written.
    ///
    /// # Errors
    /// `perf` could not write it.
    pub fn end(self) -> Result<(), CellError> {
        let exit = self.process.end(PERF_TIMEOUT, |_| {});
        if exit.code() == Some(0) {
            Ok(())
        } else {
            Err(CellError::failed(format!("perf: {}", exit.describe())))
        }
    }
}
