//! What is in a store: every run in a row, the newest first.

use super::StorePages;
use crate::first_few::first_few;
use crate::html::{scrolled, whole_table};
use crate::run::{Report, Winner};
use bookend_results::measurement::Row;
use bookend_results::quoted::quoted_line;
use bookend_results::store::{Run, RunId, UnreadableRun};
use maud::{Markup, html};

/// A run as the list shows it.
#[derive(Clone, Debug, PartialEq)]
pub struct ListedRun {
    /// The run.
    pub run: Run,
    /// How many of its rounds are stored.
    pub rounds: usize,
    /// What came of it. `None`: it has not ended, or its rows were not looked at.
    pub outcome: Option<RunOutcome>,
}

/// What came of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunOutcome {
    /// The first line of its answer.
    pub answer: String,
    /// The subject that needs the least CPU. `None`: nothing is compared.
    pub winner: Option<Winner>,
}

impl RunOutcome {
    /// Of a run with its rows.
    pub fn of(run: &Run, rows: &[Row]) -> Self {
        let report = Report::new(run, rows);
        let answer = report.answer().into_iter().next().unwrap_or_default();
        Self { answer, winner: report.winner() }
    }
}

/// The columns, and whether they hold text.
const HEADINGS: [(&str, bool); 10] = [
    ("run", true),
    ("started", true),
    ("suite", true),
    ("extent", true),
    ("subjects", true),
    ("commit", true),
    ("least CPU a request", true),
    ("requests per CPU-second", true),
    ("rounds", false),
    ("state", true),
];

impl StorePages {
    /// The list of `runs`, oldest first, of the file of that name.
    pub fn list(&self, file: &str, runs: &[Result<ListedRun, UnreadableRun>]) -> String {
        let progress = self.progress(runs.iter().flatten().next_back());
        let can_compare = runs.iter().flatten().count() > 1;
        let body = html! {
            (progress.html(&self.events_address()))
            form class="compare" action=(self.comparison_address()) {
                (self.table(runs))
                @if can_compare { button { "Compare the two that are ticked" } }
            } "\n"
        };
        let origin = format!("{file}: {}", counted(runs.len()));
        let newest =
            runs.iter().rev().flatten().find_map(|listed| Some((listed, outcome(listed)?)));
        let answer = newest.map(|(listed, outcome)| {
            format!("Run {}, {}: {}", listed.run.id, listed.run.new.plan.suite, outcome.answer)
        });
        self.page("Results", &origin, answer.as_slice(), &body)
    }

    fn table(&self, runs: &[Result<ListedRun, UnreadableRun>]) -> Markup {
        let ticked = newest_pair(runs);
        let heads = html! {
            @for (heading, is_text) in HEADINGS {
                th scope="col" class=[is_text.then_some("text")]; (heading)
            }
        };
        let rows = html! {
            @for run in runs.iter().rev() {
                @match run {
                    Ok(listed) => (self.row(listed, ticked.contains(&Some(listed.run.id)))),
                    Err(unreadable) => (self.gap(unreadable)),
                }
            }
        };
        let table = whole_table("sorts runs cards", &heads, &rows);
        html! { @if !runs.is_empty() { (scrolled("Results", &table)) } }
    }

    fn row(&self, listed: &ListedRun, is_ticked: bool) -> Markup {
        let id = listed.run.id;
        html! {
            tr; th scope="row";
            input type="checkbox" name="run" value=(id)
                aria-label={ "compare run " (id) } checked[is_ticked];
            " " a href=(self.run_address(id)) { (id) }
            @for ((heading, is_text), field) in HEADINGS[1..].iter().zip(fields(listed)) {
                td class=[is_text.then_some("text")] data-label=(heading); (field)
            } "\n"
        }
    }

    /// The row of a run that cannot be read: why.
    fn gap(&self, UnreadableRun { id, reason }: &UnreadableRun) -> Markup {
        html! {
            tr; th scope="row"; a href=(self.run_address(id)) { (id) }
            td class="words" colspan=(HEADINGS.len() - 1);
            "cannot be read: " (quoted_line(reason)) "\n"
        }
    }
}

/// The fields after the number of a run.
fn fields(listed: &ListedRun) -> [String; HEADINGS.len() - 1] {
    let ListedRun { run, rounds, .. } = listed;
    let plan = &run.new.plan;
    let dash = || "-".to_owned();
    let subjects = plan.subjects.iter().filter(|one| !one.calibration);
    let subjects: Vec<String> = subjects.map(|one| quoted_line(&one.name)).collect();
    let winner = outcome(listed).and_then(|outcome| outcome.winner.as_ref());
    let won = |text: fn(&Winner) -> &String| winner.map_or_else(dash, |one| quoted_line(text(one)));
    [
        minute(run),
        quoted_line(&plan.suite),
        plan.extent.to_string(),
        first_few(&subjects),
        run.new.revision.as_deref().map_or_else(dash, quoted_line),
        won(|winner| &winner.name),
        won(|winner| &winner.over_next),
        format!("{rounds} of {}", plan.rounds),
        if run.finished.is_some() { "ended" } else { "not finished" }.to_owned(),
    ]
}

fn outcome(listed: &ListedRun) -> Option<&RunOutcome> {
    listed.outcome.as_ref()
}

/// When a run started: `2026-11-23 12:34`.
fn minute(run: &Run) -> String {
    let started = run.new.started.to_string();
    let until_seconds = started.rsplit_once(':').map_or(started.as_str(), |(minute, _)| minute);
    until_seconds.replace('T', " ")
}

fn counted(runs: usize) -> String {
    match runs {
        0 => "there is no result yet, bookend run makes one".to_owned(),
        1 => "one result".to_owned(),
        several => format!("{several} results, the newest first"),
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
