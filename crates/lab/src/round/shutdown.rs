//! What a server and its backend print when they are asked to end, and what that says of their
//! rows.

use super::caller_report::ProcessNotes;
use crate::process::output::OutputLine;
use crate::process::{Process, ProcessExit};
use bookend_contract::lines::Line;
use bookend_results::audit::{CallCounts, CountMismatch, Counter};
use bookend_results::mark::Mark;
use bookend_results::measurement::{Outcome, Row};
use std::time::Duration;

/// A server that floods its output says nothing new after the first lines.
const MARKS_MAX: usize = 4;

/// The note that the lab itself adds where it could make no call: its callers must check replies.
const VERIFIED_CALLS: &str = "preparing_calls";

/// What a process prints once its standard input is closed.
#[derive(Debug)]
pub struct ShutdownReport {
    counter: Counter,
    /// Where it listens.
    port: u16,
    /// Calls that it says it answered.
    served: Option<u64>,
    notes: ProcessNotes,
    /// What is odd about its end, for all rows of the server.
    marks: Vec<Mark>,
    /// Whether it speaks the contract. Other lines are odd in one that does, and usual in others.
    said_ready: bool,
}

/// How a server ended.
#[derive(Debug)]
pub struct ServerEnd {
    server: ShutdownReport,
    backend: Option<ShutdownReport>,
    /// Counts that are not what the calling ends know.
    mismatches: Vec<CountMismatch>,
    /// What the calling ends know.
    counts: CallCounts,
}

impl ShutdownReport {
    /// Ends a process that listens on `port`, and reads what it prints until then. `said_ready`:
    /// whether it has said that itself.
    pub fn read(
        process: Process,
        counter: Counter,
        (port, said_ready): (u16, bool),
        drain: Duration,
    ) -> ShutdownReport {
        let mut report = ShutdownReport {
            counter,
            port,
            served: None,
            notes: ProcessNotes::default(),
            marks: Vec::new(),
            said_ready,
        };
        let exit = process.end(drain, |output| report.take(&output));
        report.judge(&exit, drain);
        report
    }

    fn take(&mut self, output: &OutputLine) {
        match output.parse() {
            Ok(Line::Served(count)) => self.served = Some(count),
            // It was so slow to say it that the lab had found the port by itself.
            Ok(Line::Ready(port)) if port == self.port => {}
            Ok(Line::Note { name, value }) => self.note(name, value),
            Ok(line) => {
                self.mark(Mark::other(format!("{} said `{line}` at its end", self.counter)));
            }
            Err(error) if self.said_ready => self.mark(Mark::other(error.to_string())),
            Err(_) => {}
        }
    }

    fn note(&mut self, name: String, value: f64) {
        if let Err(error) = self.notes.take(name, value) {
            self.mark(Mark::other(format!("{}: {error}", self.counter)));
        }
    }

    fn judge(&mut self, exit: &ProcessExit, drain: Duration) {
        let counter = self.counter;
        for (name, lines) in &exit.line_counts {
            self.note(name.clone(), *lines as f64);
        }
        match exit.status {
            None => self.mark(Mark::other(format!(
                "{counter} did not end within {drain:?} of its standard input's end and was killed"
            ))),
            Some(status) if !status.success() => {
                let how = exit.describe();
                self.mark(Mark::other(format!("{counter}'s end: {how}")));
            }
            Some(_) if self.served.is_none() => self.mark(Mark::NotCounted { by: counter }),
            Some(_) => {}
        }
        if let Some(survivors) = &exit.survivors {
            self.mark(Mark::other(survivors.to_string()));
        }
    }

    fn mark(&mut self, mark: Mark) {
        if self.marks.len() < MARKS_MAX {
            self.marks.push(mark);
        }
    }
}

impl ServerEnd {
    /// Compares what both say they served with `counts`.
    pub fn new(
        mut server: ShutdownReport,
        backend: Option<ShutdownReport>,
        counts: CallCounts,
        is_verified: bool,
    ) -> ServerEnd {
        let of_server = server.served.and_then(|served| counts.check(served));
        let of_backend = backend
            .as_ref()
            .and_then(|backend| backend.served)
            .and_then(|served| counts.check_backend(served));
        if !is_verified {
            server.notes.0.insert(VERIFIED_CALLS.to_owned(), 0.0);
        }
        let mismatches = of_server.into_iter().chain(of_backend).collect();
        ServerEnd { server, backend, mismatches, counts }
    }

    /// Completes all rows of the server. Calls that are in none of them, of the probe and of
    /// windows that were measured again, stand in the first.
    pub fn complete(&self, rows: &mut [&mut Row]) {
        let mut in_rows = CallCounts::default();
        for window in rows.iter().filter_map(|row| row.outcome.window()) {
            in_rows += window.counts.call_counts();
        }
        let mut elsewhere = self.counts.beyond(&in_rows, self.server.served);
        for row in rows {
            row.served = self.server.served;
            row.probe_calls = std::mem::take(&mut elsewhere);
            row.server_notes.clone_from(&self.server.notes.0);
            if let Some(backend) = &self.backend {
                row.backend_served = backend.served;
                row.backend_notes.clone_from(&backend.notes.0);
            }
            self.mark_outcome(&mut row.outcome);
        }
    }

    fn mark_outcome(&self, outcome: &mut Outcome) {
        let Some(window) = outcome.window_mut() else {
            return;
        };
        let is_large = |mismatch: &&CountMismatch| mismatch.exceeds_tolerance();
        let processes = std::iter::once(&self.server).chain(&self.backend);
        let marks = processes.flat_map(|process| process.marks.clone());
        window.marks.extend(marks);
        let small = self.mismatches.iter().filter(|found| !is_large(found));
        window.marks.extend(small.copied().map(Mark::CountsDiffer));
        if let Outcome::Measured(_) = outcome
            && let Some(large) = self.mismatches.iter().find(is_large)
        {
            outcome.fail(Mark::CountsDiffer(*large));
        }
    }
}

/// Marks the rows of a server that ended by itself, before it could say how much it served.
pub fn mark_uncounted(rows: &mut [&mut Row], reason: &str) {
    for window in rows.iter_mut().filter_map(|row| row.outcome.window_mut()) {
        window.marks.push(Mark::Died { error: reason.to_owned() });
    }
}
