//! Running a process to its end and keeping what it said: for builds, versions and the probe.

use super::interrupt::Interrupt;
use super::output::Output;
use super::{DRAIN_TIMEOUT, Ended, Event, Process};
use std::fmt;
use std::time::Instant;

/// What a process printed, and how it ended.
#[derive(Clone, Debug)]
pub struct Collected {
    /// Standard output, cut off at the limit.
    pub text: String,
    /// How it ended.
    pub ended: Ended,
    /// Why it did not end by itself.
    pub cut_short: Option<CutShort>,
}

/// Why a process was ended before it was done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CutShort {
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
    ) -> Collected {
        let mut text = String::new();
        let cut_short = loop {
            match self.next_event(deadline, interrupt) {
                Event::Output(output) => keep(&mut text, output, limit_bytes),
                Event::Ended => break None,
                Event::Interrupted => break Some(CutShort::Interrupted),
                Event::TimedOut => break Some(CutShort::TimedOut),
            }
            if text.len() > limit_bytes {
                break Some(CutShort::TooMuch);
            }
        };
        let drain = match cut_short {
            None => DRAIN_TIMEOUT,
            Some(_) => std::time::Duration::ZERO,
        };
        let ended = self.end(drain, |output| keep(&mut text, output, limit_bytes));
        Collected {
            text,
            ended,
            cut_short,
        }
    }
}

impl Collected {
    /// Whether it ended by itself with status 0.
    pub fn succeeded(&self) -> bool {
        let status = self.ended.status.filter(|_| self.cut_short.is_none());
        status.is_some_and(|status| status.success())
    }

    /// One line on why it did not succeed.
    pub fn complaint(&self) -> String {
        match self.cut_short {
            Some(why) => why.to_string(),
            None => self.ended.complaint(),
        }
    }
}

fn keep(text: &mut String, output: Output, limit_bytes: usize) {
    if text.len() > limit_bytes {
        return;
    }
    let (Output::Line(line) | Output::TooLong(line)) = output;
    text.push_str(&line);
    text.push('\n');
}

impl fmt::Display for CutShort {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            CutShort::TimedOut => "took too long",
            CutShort::Interrupted => "was interrupted",
            CutShort::TooMuch => "printed too much",
        })
    }
}
