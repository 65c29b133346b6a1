//! Running a process to its end and keeping what it said: for builds, versions and the probe.

use super::interrupt::Interrupt;
use super::output::OutputLine;
use super::{DRAIN_TIMEOUT, Process, ProcessEvent, ProcessExit};
use std::fmt;
use std::time::Instant;

/// What a process printed, and how it ended.
#[derive(Clone, Debug)]
pub struct CommandOutput {
    /// Standard output, cut off at the limit.
    pub text: String,
    /// How it ended.
    pub ended: ProcessExit,
    /// Why it did not end by itself.
    pub cut_short: Option<KillReason>,
}

/// Why a process was ended before it was done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KillReason {
    /// It took too long.
    TimedOut,
    /// Somebody wants the lab to end.
    Interrupted,
    /// It printed more than anybody wants to read.
    TooMuch,
}

impl Process {
    /// Waits for the end, until `deadline`, keeping up to `limit_bytes` of standard output.
    pub fn collect(
        mut self,
        deadline: Instant,
        limit_bytes: usize,
        interrupt: &Interrupt,
    ) -> CommandOutput {
        let mut text = String::new();
        let cut_short = loop {
            match self.next_event(deadline, interrupt) {
                ProcessEvent::Output(output) => keep(&mut text, output, limit_bytes),
                ProcessEvent::Exited => break None,
                ProcessEvent::Interrupted => break Some(KillReason::Interrupted),
                ProcessEvent::TimedOut => break Some(KillReason::TimedOut),
            }
            if text.len() > limit_bytes {
                break Some(KillReason::TooMuch);
            }
        };
        let drain = match cut_short {
            None => DRAIN_TIMEOUT,
            Some(_) => std::time::Duration::ZERO,
        };
        let ended = self.end(drain, |output| keep(&mut text, output, limit_bytes));
        CommandOutput {
            text,
            ended,
            cut_short,
        }
    }
}

impl CommandOutput {
    /// Whether it ended by itself with status 0.
    pub fn succeeded(&self) -> bool {
        let status = self.ended.status.filter(|_| self.cut_short.is_none());
        status.is_some_and(|status| status.success())
    }

    /// One line on why it did not succeed.
    pub fn describe(&self) -> String {
        match self.cut_short {
            Some(why) => why.to_string(),
            None => self.ended.describe(),
        }
    }
}

fn keep(text: &mut String, output: OutputLine, limit_bytes: usize) {
    if text.len() > limit_bytes {
        return;
    }
    let (OutputLine::Complete(line) | OutputLine::Truncated(line)) = output;
    text.push_str(&line);
    text.push('\n');
}

impl fmt::Display for KillReason {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            KillReason::TimedOut => "took too long",
            KillReason::Interrupted => "was interrupted",
            KillReason::TooMuch => "printed too much",
        })
    }
}
