//! A measured process: started through the launcher, listened to, ended with all that it started.

pub mod command_output;
pub mod interrupt;
pub mod listening;
pub mod output;
pub mod stat;
pub mod tree;

use crate::control_group::{Account, ControlGroup};
use crate::guardian::Guardian;
use crate::invocation::Invocation;
use crate::launch::{LaunchArguments, Launcher};
use interrupt::Interrupt;
use output::{OutputLine, Tail};
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io::{self, Write as _};
use std::os::unix::process::ExitStatusExt;
use std::path::PathBuf;
use std::process::{Child, ChildStdin, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::time::{Duration, Instant};
use tree::{ProcessTree, Survivors, TOKEN_VARIABLE};

/// How long a process may take to end by itself once its standard input is closed.
pub const DRAIN_TIMEOUT: Duration = Duration::from_secs(2);

/// Between two looks at the interrupt flag and at whether the process is still there.
const POLL_INTERVAL: Duration = Duration::from_millis(20);

/// How long the rest of an ended process's output may take to arrive.
const REST_TIMEOUT: Duration = Duration::from_secs(1);

/// A process that runs, or has ended and was not yet asked how. Dropping it kills its whole tree.
#[derive(Debug)]
pub struct Process {
    child: Child,
    input: Option<ChildStdin>,
    output: Receiver<OutputLine>,
    errors: Tail,
    errors_end: Receiver<()>,
    tree: ProcessTree,
    reaped: bool,
    group: ControlGroup,
    guardian: Guardian,
    /// Raised when there is no time left to drain.
    hurry: Interrupt,
}

/// What a process did next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ProcessEvent {
    /// It printed something.
    Output(OutputLine),
    /// It has ended, and all that it printed has been seen.
    Exited,
    /// The time given to it is over.
    TimedOut,
    /// The user wants the lab to end.
    Interrupted,
}

/// How a process ended.
#[derive(Clone, Debug)]
pub struct ProcessExit {
    /// Its exit status; `None` when it did not end in time and was killed.
    pub status: Option<ExitStatus>,
    /// The last line of its standard error that says something.
    pub last_error: Option<String>,
    /// The first line of its standard error with which a compiler would begin an error.
    pub first_error: Option<String>,
    /// Lines of its standard error that were to be counted, by the name of the note.
    pub line_counts: BTreeMap<String, u64>,
    /// Processes of the tree that could not be killed.
    pub survivors: Option<Survivors>,
}

/// A process could not be started: its program is not there, or the machine refuses.
#[derive(Debug, thiserror::Error)]
#[error("cannot start {}: {}", .0.display(), .1)]
pub struct StartError(PathBuf, std::io::Error);

/// Makes the lab the parent of orphans among its descendants (`PR_SET_CHILD_SUBREAPER`). Without
/// it, a daemon that leaves its parent could only be found by its control group.
///
/// # Errors
/// The kernel refuses.
pub fn become_subreaper() -> std::io::Result<()> {
    let this = rustix::process::getpid();
    Ok(rustix::process::set_child_subreaper(Some(this))?)
}

impl Process {
    /// Starts `command`, which is that of `invocation` with its words filled in, in `group`. The
    /// kernel kills the process when the thread that called this ends, so it must be one that
    /// outlives the measurement.
    ///
    /// # Errors
    /// The launcher or the guardian could not be started. That the program itself could not be
    /// started is known only later, by its end.
    pub fn start(
        launcher: &Launcher,
        command: impl IntoIterator<Item = impl Into<OsString>>,
        invocation: &Invocation<'_>,
        group: ControlGroup,
    ) -> Result<Process, StartError> {
        let arguments = LaunchArguments {
            cpus: invocation.cpus.clone(),
            groups: group.folders.clone(),
            parent: Some(std::process::id()),
            command: command.into_iter().map(Into::into).collect(),
        };
        let token = tree::new_token();
        let failed = |error| StartError(launcher.program.clone(), error);
        // Before there is anything that it would have to end.
        let guardian = launcher.guardian().map_err(failed)?.clone();
        let mut child = launcher
            .command(&arguments)
            .current_dir(invocation.folder)
            .envs(invocation.variables())
            .env(TOKEN_VARIABLE, &token)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(failed)?;
        let tree = ProcessTree::new(child.id(), token, group.folders.clone());
        guardian.watch(tree.root());
        let output = child.stdout.take().expect("standard output is a pipe");
        let errors = child.stderr.take().expect("standard error is a pipe");
        let (errors, errors_end) = Tail::of(errors);
        Ok(Process {
            input: child.stdin.take(),
            output: output::read_lines(output, invocation.line_limit_bytes),
            errors,
            errors_end,
            child,
            tree,
            reaped: false,
            group,
            guardian,
            hurry: Interrupt::new(),
        })
    }

    /// Lets `hurry` cut short the time that it may take to end by itself.
    #[must_use]
    pub fn hurried_by(mut self, hurry: Interrupt) -> Process {
        self.hurry = hurry;
        self
    }

    /// The process and all that was started from it.
    pub fn tree(&self) -> &ProcessTree {
        &self.tree
    }

    /// What the kernel accounts for in its control group; nothing where it runs in none.
    pub fn account(&self) -> &Account {
        &self.group.account
    }

    /// Reads and forgets what it prints on standard output from now on.
    pub fn discard_output(&mut self) {
        self.output = sync_channel(0).1;
    }

    /// Waits for what the process does next, until `deadline`.
    pub fn next_event(&mut self, deadline: Instant, interrupt: &Interrupt) -> ProcessEvent {
        loop {
            if interrupt.is_raised() {
                return ProcessEvent::Interrupted;
            }
            let left = deadline.saturating_duration_since(Instant::now());
            let has_ended = self.has_ended();
            // One that prints without a pause has no more time than others.
            if left.is_zero() && !has_ended {
                return ProcessEvent::TimedOut;
            }
            // What an ended process printed is on its way, however busy the machine is. Only a
            // child that holds the pipe open keeps its end from coming.
            let poll = left.min(POLL_INTERVAL);
            let timeout = if has_ended { REST_TIMEOUT } else { poll };
            match self.output.recv_timeout(timeout) {
                Ok(output) => return ProcessEvent::Output(output),
                Err(_) if has_ended => return ProcessEvent::Exited,
                Err(RecvTimeoutError::Timeout) => {}
                // It has closed its standard output and goes on.
                Err(RecvTimeoutError::Disconnected) => std::thread::sleep(timeout),
            }
        }
    }

    /// Writes a line on its standard input.
    ///
    /// # Errors
    /// It has closed its end, or has ended.
    pub fn write_line(&mut self, line: &str) -> io::Result<()> {
        let input = self.input.as_mut().ok_or(io::ErrorKind::BrokenPipe)?;
        input.write_all(format!("{line}\n").as_bytes())
    }

    /// Closes standard input: the contract's word for "end".
    pub fn close_stdin(&mut self) {
        self.input = None;
    }

    /// Closes standard input, waits for the process to end by itself for up to `drain`, then kills
    /// whatever is left of its tree. `on_output` receives everything that it still prints.
    pub fn end(mut self, drain: Duration, mut on_output: impl FnMut(OutputLine)) -> ProcessExit {
        self.close_stdin();
        let deadline = Instant::now() + drain;
        // An interrupt does not end the ending, which is short: only a second one does.
        let hurry = self.hurry.clone();
        while let ProcessEvent::Output(printed) = self.next_event(deadline, &hurry) {
            on_output(printed);
            if Instant::now() >= deadline {
                break;
            }
        }
        let ended_alone = self.has_ended();
        let (status, survivors) = match self.kill() {
            Ok(status) => (status.filter(|_| ended_alone), None),
            Err(survivors) => (None, Some(survivors)),
        };
        self.read_rest(on_output);
        ProcessExit {
            status,
            last_error: self.errors.last_line(),
            first_error: self.errors.first_error(),
            line_counts: self.errors.line_counts(),
            survivors,
        }
    }

    /// Counts, from now on, the lines of its standard error that have one of these texts in them.
    pub fn count_error_lines(&self, texts: &BTreeMap<String, String>) {
        self.errors.count_lines(texts);
    }

    /// `message` with the last line of standard error so far that says something.
    pub fn with_last_error(&self, message: String) -> String {
        match self.errors.last_line() {
            Some(line) => format!("{message}: {line}"),
            None => message,
        }
    }

    /// Whether the process itself has ended; what it started may still run.
    ///
    /// The root is not reaped until the whole tree is gone: until then the kernel gives its process
    /// id, by which the tree is known, to no other process.
    pub fn has_ended(&self) -> bool {
        let Some(pid) = Pid::from_raw(self.tree.root()) else {
            return true;
        };
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        !matches!(rustix::process::waitid(WaitId::Pid(pid), options), Ok(None))
    }

    fn kill(&mut self) -> Result<Option<ExitStatus>, Survivors> {
        if self.reaped {
            return Ok(None);
        }
        self.tree.kill()?;
        self.guardian.release(self.tree.root());
        self.reaped = true;
        Ok(self.child.wait().ok())
    }

    /// With every writer killed, what is left in the pipes ends soon.
    fn read_rest(&self, mut on_output: impl FnMut(OutputLine)) {
        let deadline = Instant::now() + REST_TIMEOUT;
        let left = || deadline.saturating_duration_since(Instant::now());
        while let Ok(printed) = self.output.recv_timeout(left()) {
            on_output(printed);
        }
        let _ = self.errors_end.recv_timeout(REST_TIMEOUT);
    }
}

impl ProcessExit {
    /// The exit status, of one that ended by itself and was not killed by a signal.
    pub fn code(&self) -> Option<i32> {
        self.status.and_then(|status| status.code())
    }

    /// One line on how it ended, for a row: the last line of standard error, else the status.
    pub fn describe(&self) -> String {
        let status = match self.status {
            Some(status) if status.signal() == Some(Signal::KILL.as_raw()) => {
                // Nothing but the kernel kills like this, and the process itself cannot say so.
                format!("{status}: was it beyond its memory limit?")
            }
            Some(status) => status.to_string(),
            None => "it did not end by itself and was killed".to_owned(),
        };
        match &self.last_error {
            Some(line) => format!("{line} ({status})"),
            None => status,
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.input = None;
        let _ = self.kill();
    }
}
