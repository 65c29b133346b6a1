//! What a server or a backend says when it is told to end.

use super::notes::ProcessNotes;
use super::server::parse;
use crate::process::Process;
use crate::process::output::OutputLine;
use bookend_contract::lines::Line;
use bookend_results::audit::Counter;
use bookend_results::mark::Mark;
use std::time::Duration;

/// What a process says once its standard input is closed.
#[derive(Debug)]
pub struct ShutdownReport {
    who: Counter,
    /// Where it listens.
    port: u16,
    /// `served N`.
    pub served: Option<u64>,
    /// Facts beside it.
    pub notes: ProcessNotes,
    /// What is odd about its end, one line each.
    pub marks: Vec<Mark>,
}

impl ShutdownReport {
    /// Of `the server` or `the backend` that listens on `port`, nothing yet.
    pub fn of(who: Counter, port: u16) -> ShutdownReport {
        ShutdownReport {
            who,
            port,
            served: None,
            notes: ProcessNotes::default(),
            marks: Vec::new(),
        }
    }

    /// Pairing the process and listens.
    pub fn hear(&mut self, process: Process, drain: Duration) {
        let ended = process.end(drain, |output| self.take(&output));
        let who = self.who;
        match ended.status {
            None => self.mark_other(format!(
                "{who} did not end within {drain:?} of its standard input's end and was killed"
            )),
            Some(status) if !status.success() => {
                self.mark_other(format!("{who}'s end: {}", ended.describe()));
            }
            Some(_) if self.served.is_none() => {
                self.mark(Mark::NotCounted { by: who });
            }
            Some(_) => {}
        }
        if let Some(survivors) = ended.survivors {
            self.mark_other(survivors.to_string());
        }
    }

    fn take(&mut self, output: &OutputLine) {
        let line = match parse(output) {
            Ok(Line::Served(count)) => {
                self.served = Some(count);
                return;
            }
            // It was so slow to say it that the lab had found the port by itself.
            Ok(Line::Ready(port)) if port == self.port => return,
            Ok(Line::Note { name, value }) => match self.notes.take(name, value) {
                Ok(()) => return,
                Err(error) => format!("{}: {error}", self.who),
            },
            Ok(line) => format!("{} said `{line}` at its end", self.who),
            Err(error) => error.to_string(),
        };
        self.mark_other(line);
    }

    fn mark_other(&mut self, text: String) {
        self.mark(Mark::other(text));
    }

    /// A server that floods its output says nothing new after the first line.
    fn mark(&mut self, mark: Mark) {
        const MARKS: usize = 4;
        if self.marks.len() < MARKS {
            self.marks.push(mark);
        }
    }
}
