//! What is in a store: every run in a row, the newest first.

use super::{StorePages, titled_links};
use crate::html::HtmlRow;
use bookend_results::quoted::quoted_line;
use bookend_results::store::{Run, RunId, UnreadableRun};
use maud::html;

/// A run as the list shows it.
#[derive(Clone, Debug, PartialEq)]
pub struct ListedRun {
    /// The run.
    pub run: Run,
    /// How many of its rounds are stored.
    pub rounds: usize,
}

const HEADINGS: [&str; 7] = ["run", "started", "suite", "extent", "cells", "rounds", "state"];

impl StorePages {
    /// The list of `runs`, oldest first, of the file of that name.
    pub fn list(&self, file: &str, runs: &[Result<ListedRun, UnreadableRun>]) -> String {
        let row = |run: &Result<ListedRun, UnreadableRun>| match run {
            Ok(run) => self.row(run),
            Err(unreadable) => self.gap(unreadable),
        };
        let rows: Vec<_> = runs.iter().rev().map(row).collect();
        let progress = self.progress(runs.iter().flatten().next_back());
        let body = html! {
            (progress.html(&self.events_address()))
            (self.others(newest_pair(runs)))
            (titled_links("Results", &HEADINGS, &rows))
        };
        self.page("Results", file, &[answer(runs.len())], &body)
    }

    fn row(&self, ListedRun { run, rounds }: &ListedRun) -> (String, HtmlRow) {
        let plan = &run.new.plan;
        let state = if run.finished.is_some() { "ended" } else { "not finished" };
        let row = HtmlRow {
            names: vec![run.id.to_string()],
            figures: Ok(vec![
                run.new.started.to_string(),
                quoted_line(&plan.suite),
                plan.extent.to_string(),
                plan.cells().len().to_string(),
                format!("{rounds} of {}", plan.rounds),
                state.to_owned(),
            ]),
        };
        (self.run_address(run.id), row)
    }

    /// The row of a run that cannot be read: why.
    fn gap(&self, UnreadableRun { id, reason }: &UnreadableRun) -> (String, HtmlRow) {
        let mut fields = vec!["-".to_owned(); HEADINGS.len() - 2];
        fields.push(format!("cannot be read: {}", quoted_line(reason)));
        (self.run_address(id), HtmlRow { names: vec![id.to_string()], figures: Ok(fields) })
    }
}

fn answer(runs: usize) -> String {
    match runs {
        0 => "There is no result yet: bookend run makes one.".to_owned(),
        1 => "There is one result.".to_owned(),
        several => format!("There are {several} results, the newest first."),
    }
}

/// The newest run, and before it the newest of the same suite that it can be compared with.
fn newest_pair(runs: &[Result<ListedRun, UnreadableRun>]) -> [Option<RunId>; 2] {
    let mut newest_first = runs.iter().rev().flatten().map(|listed| &listed.run);
    let newest = newest_first.next();
    let before = newest.and_then(|newest| {
        let is_alike = |run: &&Run| run.new.plan.suite == newest.new.plan.suite;
        newest_first.find(is_alike)
    });
    [newest, before].map(|run| run.map(|run| run.id))
}
