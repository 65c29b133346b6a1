//! The sections of a page: what a reader wants to know first, then, folded, what it rests on.

use super::circumstances::circumstances;
use super::figures::Cells;
use super::overview::Overview;
use super::page::Page;
use super::presentation::{Look, PublishedCommand, ResultTable};
use super::rows::{RowLine, lines, markdown_table};
use super::text::{fenced, section};
use super::verdicts::not_quotable;
use super::{besides, grid, marked, notes, profiled, provenance, quoted, second_opinion, summary};
use bookend_report::chart::Theme;
use bookend_report::markdown::{self, folded, wrapped};
use bookend_report::profile::notes as profile_notes;
use bookend_report::profile::{estimates, split_table};
use bookend_report::run::Report;
use bookend_results::profile::Profile;
use bookend_results::record::{Facts, PROFILE_FOLDER, file_of, raw_folder};
use bookend_results::suite::{Extent, Plan};
use std::collections::BTreeSet;

/// The picture next to a page.
pub const PICTURE_FILE: &str = "RESULTS.svg";

/// A page, and the picture that it shows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PageFiles {
    /// The page, in Markdown.
    pub text: String,
    /// The picture, as SVG. `None`: there is nothing to draw.
    pub picture: Option<String>,
}

/// Tables that the page leaves to the command which prints them all.
const LEFT_TO_THE_REPORT: [&str; 3] =
    ["What a request costs the instrument", "Latency and memory", "Where the machine's CPU went"];

impl Page<'_> {
    /// The page and its picture. The same inputs always give the same.
    pub fn files(&self) -> PageFiles {
        let cells = Cells::of(self.record);
        let overview =
            self.presentation.overview.clone().unwrap_or_else(|| Overview::of_plan(self, &cells));
        let drawn = overview.drawn(self, &cells);
        let picture = drawn.picture();
        let figures = picture.as_ref().map_or_else(String::new, |picture| {
            let left_out = drawn
                .left_out()
                .map_or_else(String::new, |line| format!("\n{}", wrapped(&line, "")));
            format!("![{}]({PICTURE_FILE})\n\n{}{left_out}", picture.title, drawn.table())
        });
        let sections = [
            section("Verdicts", &verdicts(self)),
            section("Figures", &(figures + &conclusion(self))),
            section("What differs here", &departures(self)),
        ];
        let head = format!("# {}\n\n{}", self.presentation.title, sentences(self, &cells));
        let text = head + &sections.concat() + &folds(self, &cells);
        PageFiles { text, picture: picture.map(|picture| picture.svg(Theme::Both)) }
    }
}

impl Page<'_> {
    /// What was found, or why no finding is printed.
    pub(super) fn found(&self, cells: &Cells<'_>) -> String {
        let shown = &self.presentation;
        quoted::filled_in(&shown.found, &shown.figures, cells)
            .unwrap_or_else(|why| format!("No finding is printed: {why}."))
    }
}

/// What is said, what was found, what differs, and what the page is made of.
fn sentences(page: &Page<'_>, cells: &Cells<'_>) -> String {
    let shown = &page.presentation;
    let found = page.found(cells);
    let joined = cells.table.joined().unwrap_or_default();
    let sentences = [joined, shown.said.clone(), found, shown.differs.clone(), origin(page)];
    sentences
        .iter()
        .filter(|text| !text.trim().is_empty())
        .map(|text| wrapped(text, ""))
        .collect::<Vec<_>>()
        .join("\n")
}

/// What the page is made of, and how far it can be trusted.
fn origin(page: &Page<'_>) -> String {
    let facts = &page.record.facts;
    let record = file_of(&page.records, &facts.suite, facts.extent);
    let quick = match facts.extent {
        Extent::Quick => page.presentation.quick.trim(),
        Extent::Full => "",
    };
    format!(
        "Measured on {}, at {}{}. Made by `publication results {}` from `{}`{}. \
         [metrics](../../docs/measure/metrics.md#resultsmd) defines every figure. {quick}",
        circumstances(page.record),
        provenance::revision(facts),
        not_quotable(page.record),
        facts.suite,
        record.display(),
        kept_digits(facts)
    )
}

/// That latencies were kept with fewer digits than they were measured with.
fn kept_digits(facts: &Facts) -> &'static str {
    match facts.latency_digits {
        1 => ", which keeps one significant digit of latencies",
        2 => ", which keeps two significant digits of latencies",
        _ => "",
    }
}

fn verdicts(page: &Page<'_>) -> String {
    page.verdicts.as_ref().map_or_else(String::new, |all| {
        let found: String =
            all.probed().iter().map(|one| wrapped(&format!("- {one}"), "  ")).collect();
        let found = if found.is_empty() { found } else { format!("\n{found}") };
        let asked = wrapped(&format!("{} {}", all.asked(), all.where_reasons_are()), "");
        let told: String =
            all.findings().iter().map(|one| wrapped(&format!("- {one}"), "  ")).collect();
        let told = if told.is_empty() { told } else { format!("{told}\n") };
        format!("{told}{}\n{}\n{asked}{found}", wrapped(all.tally(), ""), all.table())
    })
}

fn conclusion(page: &Page<'_>) -> String {
    match page.presentation.conclusion.trim() {
        "" => String::new(),
        prose => format!("\n{prose}\n"),
    }
}

fn departures(page: &Page<'_>) -> String {
    page.presentation
        .departures
        .iter()
        .map(|item| wrapped(&format!("- {}", item.trim()), "  "))
        .collect()
}

/// What the open part rests on, the environment and the command last.
fn folds(page: &Page<'_>, cells: &Cells<'_>) -> String {
    let mut folds = Vec::new();
    let run = page.record.run();
    if page.presentation.tables.is_empty() {
        let report = Report::new(&run, &page.record.rows);
        let is_shown = |title: &str| !LEFT_TO_THE_REPORT.contains(&title);
        folds.extend(report.tables().into_iter().filter(|(title, _)| is_shown(title)));
    } else {
        folds.push(("The tables of the document, ours next to each row", results(page, cells)));
        folds.push(("Measured besides", besides::table(page, cells)));
    }
    folds.extend([
        ("A second opinion: the same cells by clients of others", second_opinion::table(cells)),
        ("Where the time goes", where_time_goes(page, cells)),
        ("Noted besides", notes::table(page)),
        ("Marks: doubts about single rows", marked::table(page, cells)),
        ("Environment, parameters and the command", environment(page)),
    ]);
    let open =
        folds.iter().map(|(title, body)| folded(title, body)).filter(|fold| !fold.is_empty());
    open.map(|fold| format!("\n{fold}")).collect()
}

/// The document's own profile with ours next to it, then all of ours.
fn where_time_goes(page: &Page<'_>, cells: &Cells<'_>) -> String {
    let own = page.profile.as_ref().map(|profile| own_profile(page, cells, profile));
    let own = own.unwrap_or_default();
    let mut parts = vec![profiled::table(page), own];
    parts.retain(|part| !part.is_empty());
    parts.join("\n")
}

/// Samples by layer, and the ratio of costs that follows from work which all subjects do alike.
fn own_profile(page: &Page<'_>, cells: &Cells<'_>, profile: &Profile) -> String {
    let folder = page.records.join(&page.record.facts.suite).join(PROFILE_FOLDER);
    let mut compared = profile.clone();
    compared.cells.retain(|one| {
        let cell = cells.find_with(&one.subject, one.case, Some(&one.instrument));
        cell.is_none_or(|cell| cell.run == 0)
    });
    let lines = [estimates(&compared), profile_notes(profile)].concat();
    let table = format!("{}\n{}", split_table(profile), markdown::lines(&lines));
    let introduction = format!(
        "Percent of the samples of [a separate pass](../../{}), from which no figure above is.",
        folder.display()
    );
    format!("{}\n{}", wrapped(&introduction, ""), fenced(&table))
}

/// Machines and parameters of both, what else was kept, and the command that repeats the run.
fn environment(page: &Page<'_>) -> String {
    let facts = &page.record.facts;
    let shown = &page.presentation;
    let versions: Vec<String> = facts
        .versions
        .iter()
        .map(|(name, version)| format!("{name}: {}", version.trim()))
        .collect();
    let machine = page.record.run().new.provenance_text() + &markdown::lines(&versions);
    let mut parts = vec![
        published_and_here("Environment", &shown.environment, &machine),
        published_and_here("Parameters", &shown.parameters, &parameters(page)),
    ];
    parts.extend(Some(provenance::list(&page.provenance)).filter(|list| !list.is_empty()));
    parts.extend(shown.commands.iter().map(|PublishedCommand { what, published, here }| {
        let both = fenced(&format!("published  {published}\nhere       {here}"));
        format!("{what}:\n\n{both}")
    }));
    parts.extend(page.raw_cut_off.as_ref().map(|cut_off| raw_output(page, cut_off)));
    let record = file_of(&page.records, &facts.suite, facts.extent);
    let report = format!("bookend report --record {} --format text", record.display());
    let commands = fenced(&format!("{}\n{report}", facts.command));
    parts
        .push(format!("Repeats the run; prints every table and mark of its record:\n\n{commands}"));
    parts.join("\n")
}

/// Where what instruments of others printed is, and what of it was cut.
fn raw_output(page: &Page<'_>, cut_off: &[String]) -> String {
    let facts = &page.record.facts;
    let folder = raw_folder(&page.records, &facts.suite, facts.extent);
    let folder = folder.display();
    let cut_off: Vec<String> = cut_off.iter().map(|name| format!("`{name}`")).collect();
    let said = match cut_off.as_slice() {
        [] => String::new(),
        [one] => format!(" Of these {one} was cut off at 64 KiB: its end is missing."),
        all => {
            format!(" Of these {} were cut off at 64 KiB: their ends are missing.", all.join(", "))
        }
    };
    let text = format!("The output of other load generators is in [raw](../../{folder}).{said}");
    wrapped(&text, "")
}

fn published_and_here(what: &str, published: &[String], here: &str) -> String {
    let here = fenced(here);
    if published.is_empty() {
        return format!("{what}:\n\n{here}");
    }
    let published = fenced(&markdown::lines(published));
    format!("{what}, published:\n\n{published}\n{what}, here:\n\n{here}")
}

fn parameters(page: &Page<'_>) -> String {
    let run = page.record.run();
    let report = Report::new(&run, &page.record.rows);
    let mut own = report.parameters();
    own.extend(waits(&run.new.plan));
    own.extend(report.notes().iter().map(|note| format!("note: {note}")));
    markdown::lines(&own)
}

/// What calls wait for, if the suite states it.
fn waits(plan: &Plan) -> Vec<String> {
    let deadline = plan.deadline_ms.map(|ms| format!("deadline of a call: {ms} ms"));
    let backends: BTreeSet<&String> =
        plan.subjects.iter().filter_map(|subject| subject.backend.as_ref()).collect();
    let processes = plan
        .limits
        .server_processes
        .map(|most| format!("server: at most {most} processes and threads"));
    deadline
        .into_iter()
        .chain(backends.into_iter().map(|name| format!("backend: {name}")))
        .chain(processes)
        .collect()
}

fn results(page: &Page<'_>, cells: &Cells<'_>) -> String {
    let mut text = match page.presentation.reading.trim() {
        "" => String::new(),
        reading => format!("{reading}\n\n"),
    };
    for table in &page.presentation.tables {
        let shaped = shaped(page, cells, table);
        text.push_str(&format!("### {}\n\n{shaped}\n", table.title));
    }
    text
}

fn shaped(page: &Page<'_>, cells: &Cells<'_>, table: &ResultTable) -> String {
    match table.look {
        Look::Table => table_of_lines(page, cells, table),
        Look::Grid => fenced(&grid::table(page, cells, table)),
        Look::Summary => summary::table(page, cells, table),
    }
}

/// A published row, followed by a line for each cell.
fn table_of_lines(page: &Page<'_>, cells: &Cells<'_>, table: &ResultTable) -> String {
    let keys = [&table.subject, &table.label].map(Option::as_deref);
    let rows = page.rows_of(table).flat_map(|row| {
        let names: Vec<String> = [&row.place.subject, &row.place.label]
            .into_iter()
            .zip(keys)
            .filter(|(_, heading)| heading.is_some())
            .map(|(name, _)| name.clone())
            .collect();
        let line = move |line: RowLine| ([names.as_slice(), &[line.whose]].concat(), line.fields);
        lines(page, cells, table, row).into_iter().map(line)
    });
    let names: Vec<&str> = keys.into_iter().flatten().chain(["whose"]).collect();
    markdown_table(&names, cells, &table.columns, rows)
}
