//! One `perf record` of processes that run already, from one moment to another.

use super::tool::{Perf, Recorded};
use crate::cell_error::CellError;
use crate::launch::Launcher;
use crate::process::interrupt::Interrupt;
use crate::process::{Process, ProcessEvent, ProcessSpec};
use std::ffi::OsString;
use std::path::Path;
use std::time::{Duration, Instant};

/// How long `perf` may take to begin, and to write at the end what it has.
const PERF_TIMEOUT: Duration = Duration::from_secs(30);

/// What `perf` starts besides recording others: it says that recording has begun, and ends, and
/// the recording with it, when standard input closes.
const STDIN_GUARD: [&str; 3] = ["sh", "-c", "echo recording && exec cat"];

/// A recording that goes on. Dropping it ends it.
#[derive(Debug)]
pub struct Recording {
    process: Process,
}

impl Recording {
    /// Begins to record processes, threads that they start later included. `cpus` are those of
    /// `perf` itself.
    ///
    /// # Errors
    /// `perf` did not begin.
    pub fn begin(
        perf: &Perf,
        launcher: &Launcher,
        cpus: &[usize],
        recorded: &Recorded<'_>,
        file: &Path,
    ) -> Result<Recording, CellError> {
        let mut words = perf.record(recorded, file);
        words.extend(STDIN_GUARD.map(str::to_owned));
        let plan = ProcessSpec {
            command: words.into_iter().map(OsString::from).collect(),
            folder: std::env::current_dir().map_err(CellError::failed)?,
            cpus: cpus.to_vec(),
            ..ProcessSpec::default()
        };
        let process = Process::start(launcher, &plan, None).map_err(CellError::failed)?;
        let mut recording = Recording { process };
        // It takes a few hundredths of a second, and an interrupt is seen right after.
        let deadline = Instant::now() + PERF_TIMEOUT;
        match recording.process.next_event(deadline, &Interrupt::new()) {
            ProcessEvent::Output(_) => Ok(recording),
            ProcessEvent::Exited | ProcessEvent::TimedOut | ProcessEvent::Interrupted => {
                Err(recording.describe())
            }
        }
    }

    /// Pairing the recording and waits until it is written.
    ///
    /// # Errors
    /// `perf` could not write it.
    pub fn end(self) -> Result<(), CellError> {
        let ended = self.process.end(PERF_TIMEOUT, |_| {});
        match ended.code() {
            Some(0) => Ok(()),
            _ => Err(CellError::failed(format!("perf: {}", ended.describe()))),
        }
    }

    fn describe(self) -> CellError {
        let ended = self.process.end(Duration::ZERO, |_| {});
        CellError::failed(format!("perf did not begin: {}", ended.describe()))
    }
}
