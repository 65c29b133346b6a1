//! Running a process to its end and keeping what it printed: for builds, versions and the probe.

use super::interrupt::Interrupt;
use super::output::OutputLine;
use super::{DRAIN_TIMEOUT, Process, ProcessEvent, ProcessExit};
use std::time::{Duration, Instant};
use thiserror::Error;

/// What a process printed, and how it ended.
#[derive(Clone, Debug)]
pub struct CommandOutput {
    /// Standard output, cut off at the limit.
    pub text: String,
    /// How it ended.
    pub exit: ProcessExit,
    /// Why it was killed, if it was.
    pub killed: Option<KillReason>,
}

/// Why a process was killed before it was done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum KillReason {
    /// It took too long.
    #[error("took too long")]
    TimedOut,
    /// The user wants the lab to end.
    #[error("was interrupted")]
    Interrupted,
    /// It printed more than is kept.
    #[error("printed too much")]
    TooMuchOutput,
}

impl Process {
    /// Waits for the end, until `deadline`, keeping up to `limit_bytes` of standard output.
    pub fn collect(
        self,
        deadline: Instant,
        limit_bytes: usize,
        interrupt: &Interrupt,
    ) -> CommandOutput {
        self.collect_then(deadline, limit_bytes, interrupt, || {})
    }

    /// The same. `read_meters` is called once it has ended, while the kernel's accounts of it are
    /// still there.
    pub fn collect_then(
        mut self,
        deadline: Instant,
        limit_bytes: usize,
        interrupt: &Interrupt,
        read_meters: impl FnOnce(),
    ) -> CommandOutput {
        let mut text = String::new();
        let killed = loop {
            match self.next_event(deadline, interrupt) {
                ProcessEvent::Output(output) => keep(&mut text, output, limit_bytes),
                ProcessEvent::Exited => break None,
                ProcessEvent::Interrupted => break Some(KillReason::Interrupted),
                ProcessEvent::TimedOut => break Some(KillReason::TimedOut),
            }
            if text.len() > limit_bytes {
                break Some(KillReason::TooMuchOutput);
            }
        };
        read_meters();
        let drain = if killed.is_none() { DRAIN_TIMEOUT } else { Duration::ZERO };
        let exit = self.end(drain, |output| keep(&mut text, output, limit_bytes));
        CommandOutput { text, exit, killed }
    }
}

impl CommandOutput {
    /// Whether it ended by itself with status 0.
    pub fn succeeded(&self) -> bool {
        let status = self.exit.status.filter(|_| self.killed.is_none());
        status.is_some_and(|status| status.success())
    }

    /// One line on how it ended.
    pub fn describe(&self) -> String {
        match self.killed {
            Some(why) => why.to_string(),
            None => self.exit.describe(),
        }
    }
}

fn keep(text: &mut String, output: OutputLine, limit_bytes: usize) {
    if text.len() > limit_bytes {
        return;
    }
    text.push_str(output.text());
    text.push('\n');
}
