//! The sections of a page, in the order of the original documents.

use super::figures::Cells;
use super::page::Page;
use super::presentation::{Look, PublishedCommand, ResultTable};
use super::text::{fenced, section};
use super::{besides, grid, lines, notes, profiled, summary};
use bookend_results::export::Report;
use bookend_results::markdown;
use bookend_results::profile::{Profile, estimates, notes as profile_notes, split_table};
use bookend_results::record::{Facts, file_of, profile_folder};
use bookend_results::suite::{Extent, Plan};
use bookend_results::table::{marks, skipped_lines, window_lines};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

impl Page<'_> {
    /// The text of the page. The same inputs always give the same text.
    pub fn text(&self) -> String {
        let cells = Cells::of(self.record);
        let windows = window_lines(&self.record.facts.plan, &cells.table);
        let marked = [marks(&cells.table), windows, skipped_lines(&cells.table)].concat();
        let marked =
            if marked.is_empty() { String::new() } else { fenced(&markdown::lines(&marked)) };
        let sections = [
            ("Environment", environment(self)),
            ("Parameters", parameters(self)),
            ("Commands", commands(self)),
            ("Results", results(self, &cells)),
            ("Measured besides", besides::table(self, &cells)),
            ("Noted besides", notes::table(self)),
            ("Where the time goes", where_time_goes(self)),
            ("Marks", marked),
            ("Conclusion", conclusion(self)),
        ];
        let sections = sections.iter().map(|(title, body)| section(title, body));
        let head = format!("# {}\n\n{}", self.presentation.title, origin(self));
        head + &sections.collect::<String>()
    }
}

/// What the page is made of, and the command that makes it again.
fn origin(page: &Page<'_>) -> String {
    let facts = &page.record.facts;
    let (day, suite) = (day_of(facts), &facts.suite);
    format!(
        "Published figures and what was measured here on {day}, side by side. Made by \
         `bookend results {suite}`\nfrom `{}` and the published table beside this page; every \
         figure is defined in\n[docs/measure/metrics.md](../../docs/measure/metrics.md).\n",
        record_of(facts).display()
    )
}

/// The day on which the run began.
pub(super) fn day_of(facts: &Facts) -> String {
    let started = facts.started.to_string();
    started.split('T').next().unwrap_or_default().to_owned()
}

/// The path of the record in the project.
pub(super) fn record_of(facts: &Facts) -> PathBuf {
    file_of(Path::new("records"), &facts.suite, facts.extent)
}

/// The document's own profile with ours beside it, then all of ours.
fn where_time_goes(page: &Page<'_>) -> String {
    let own = page.profile.as_ref();
    let own = own.map(|profile| own_profile(page, profile));
    let mut parts = vec![profiled::table(page), own.unwrap_or_default()];
    parts.retain(|part| !part.is_empty());
    parts.join("\n")
}

/// Samples by layer, and the ratio of costs that follows from work which all subjects do alike.
fn own_profile(page: &Page<'_>, profile: &Profile) -> String {
    let folder = profile_folder(Path::new("../../records"), &page.record.facts.suite);
    let lines = [estimates(profile), profile_notes(profile)].concat();
    let table = format!("{}\n{}", split_table(profile), markdown::lines(&lines));
    format!(
        "Percent of the samples of a profile; a pass of its own, so no figure above is from it. The \
         flame\ngraphs are in [{0}]({0}).\n\n{1}",
        folder.display(),
        fenced(&table)
    )
}

fn environment(page: &Page<'_>) -> String {
    let facts = &page.record.facts;
    let versions = facts.versions.iter();
    let versions = versions.map(|(name, version)| format!("{name}: {}", version.trim()));
    let versions: Vec<String> = versions.collect();
    let here = format!("{}{}", facts.machine, markdown::lines(&versions));
    published_and_here(&page.presentation.environment, &here)
}

fn published_and_here(published: &[String], here: &str) -> String {
    let published = fenced(&markdown::lines(published));
    format!("Published:\n\n{published}\nHere:\n\n{}", fenced(here))
}

fn parameters(page: &Page<'_>) -> String {
    let run = page.record.run();
    let report = Report::new(&run, &page.record.rows);
    let mut own = report.parameters();
    own.extend(waits(&run.new.plan));
    own.extend(report.notes().iter().map(|note| format!("note: {note}")));
    published_and_here(&page.presentation.parameters, &markdown::lines(&own))
}

/// What calls wait for, if the suite states it.
fn waits(plan: &Plan) -> Vec<String> {
    let (deadline, processes) = (plan.deadline_ms, plan.limits.server_processes);
    let deadline = deadline.map(|ms| format!("deadline of a call: {ms} ms"));
    let processes = processes.map(|most| format!("server: at most {most} processes and threads"));
    let subjects = plan.subjects.iter();
    let backends = subjects.filter_map(|subject| subject.backend.as_ref());
    let backends: BTreeSet<&String> = backends.collect();
    let backends = backends.into_iter().map(|name| format!("backend: {name}"));
    let waits = deadline.into_iter().chain(backends);
    waits.chain(processes).collect()
}

fn commands(page: &Page<'_>) -> String {
    let all = fenced(&page.record.facts.command);
    let mut text = format!("All of it here, as it was recorded:\n\n{all}");
    for PublishedCommand { what, published, here } in &page.presentation.commands {
        let both = fenced(&format!("published  {published}\nhere       {here}"));
        text.push_str(&format!("\n{what}:\n\n{both}"));
    }
    text
}

fn results(page: &Page<'_>, cells: &Cells<'_>) -> String {
    let mut text = String::new();
    let quick = match page.record.facts.extent {
        Extent::Quick => page.presentation.quick.as_str(),
        Extent::Full => "",
    };
    for prose in [quick, page.presentation.reading.as_str()] {
        if !prose.trim().is_empty() {
            text.push_str(&format!("{}\n\n", prose.trim()));
        }
    }
    for table in &page.presentation.tables {
        let shaped = shaped(page, cells, table);
        text.push_str(&format!("### {}\n\n{shaped}\n", table.title));
    }
    text
}

fn shaped(page: &Page<'_>, cells: &Cells<'_>, table: &ResultTable) -> String {
    match table.look {
        Look::Table => lines::table(page, cells, table),
        Look::Grid => fenced(&grid::table(page, cells, table)),
        Look::Summary => summary::table(page, cells, table),
    }
}

fn conclusion(page: &Page<'_>) -> String {
    let prose = page.presentation.conclusion.trim();
    match page.verdicts.trim() {
        "" => format!("{prose}\n"),
        verdicts => format!("{prose}\n\n{verdicts}\n"),
    }
}
