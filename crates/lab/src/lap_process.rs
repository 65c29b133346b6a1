//! A process that makes calls in laps, when it is told to (docs/extend/subject-contract.md): the
//! lab's side of it.

use crate::cell_error::CellError;
use crate::process::interrupt::Interrupt;
use crate::process::output::OutputLine;
use crate::process::{Process, ProcessEvent, ProcessExit};
use crate::round::{CallerReport, CallerReportParser};
use bookend_contract::laps::LapCommand;
use bookend_contract::lines::Line;
use std::time::{Duration, Instant};

/// A process that makes calls in laps. It is killed when this is dropped.
#[derive(Debug)]
pub struct LapProcess {
    process: Process,
    /// Has its notes, which may come before any answer.
    parser: CallerReportParser,
}

/// Why a process in laps gave no answer.
#[derive(Debug)]
pub enum LapProcessError {
    /// It has ended, and how.
    Ended(Box<ProcessExit>),
    /// The user wants the lab to end.
    Interrupted,
    /// It took too long or said something else, in words for a row.
    Failed(String),
}

impl LapProcess {
    /// One that has just been started.
    pub fn new(process: Process) -> LapProcess {
        LapProcess { process, parser: CallerReportParser::default() }
    }

    /// The process.
    pub fn process(&self) -> &Process {
        &self.process
    }

    /// Keeps what belongs to its report.
    ///
    /// # Errors
    /// [`LapProcessError::Failed`]: it is out of place.
    pub fn keep(&mut self, line: Line) -> Result<(), LapProcessError> {
        self.parser.take(line).map_err(failed)
    }

    /// Writes a command and waits for its answer, no longer than `timeout`. `meanwhile` is done
    /// before each wait; it returns when it has to be done again, if it has to.
    ///
    /// # Errors
    /// See [`LapProcessError`]. The process is gone then.
    pub fn tell(
        mut self,
        command: LapCommand,
        timeout: Duration,
        interrupt: &Interrupt,
        mut meanwhile: impl FnMut() -> Option<Instant>,
    ) -> Result<(LapProcess, Line), LapProcessError> {
        // If it no longer reads, it has ended, and the code below reports how.
        let _ = self.process.write_line(&command.to_string());
        let deadline = Instant::now() + timeout;
        loop {
            let next = meanwhile().map_or(deadline, |next| next.min(deadline));
            match self.process.next_event(next, interrupt) {
                ProcessEvent::Output(output) => match parse(&output)? {
                    note @ Line::Note { .. } => self.keep(note)?,
                    line => return Ok((self, line)),
                },
                ProcessEvent::Exited => {
                    let exit = self.process.end(Duration::ZERO, |_| {});
                    return Err(LapProcessError::Ended(Box::new(exit)));
                }
                ProcessEvent::Interrupted => return Err(LapProcessError::Interrupted),
                ProcessEvent::TimedOut if Instant::now() >= deadline => {
                    let error = format!("`{command}` was not done after {timeout:?}");
                    return Err(failed(self.process.with_last_error(error)));
                }
                ProcessEvent::TimedOut => {}
            }
        }
    }

    /// Asks it for its report, and ends it: it has `drain` for that.
    ///
    /// # Errors
    /// See [`LapProcessError`].
    pub fn finish(self, drain: Duration) -> Result<CallerReport, LapProcessError> {
        let LapProcess { process, mut parser } = self;
        let mut taken = Ok(());
        let exit = process.end(drain, |output| {
            if taken.is_ok() {
                taken = parse(&output).and_then(|line| parser.take(line).map_err(failed));
            }
        });
        if exit.code() != Some(0) {
            return Err(LapProcessError::Ended(Box::new(exit)));
        }
        taken?;
        parser.finish().map_err(failed)
    }
}

/// An answer to another command.
pub fn out_of_place(line: &Line) -> LapProcessError {
    failed(format!("`{line}` is out of place"))
}

fn parse(output: &OutputLine) -> Result<Line, LapProcessError> {
    output.parse().map_err(failed)
}

fn failed(error: impl ToString) -> LapProcessError {
    LapProcessError::Failed(error.to_string())
}

impl From<LapProcessError> for CellError {
    fn from(error: LapProcessError) -> CellError {
        match error {
            LapProcessError::Ended(exit) => CellError::from_exit(&exit),
            LapProcessError::Interrupted => CellError::Interrupted,
            LapProcessError::Failed(error) => CellError::failed(error),
        }
    }
}
