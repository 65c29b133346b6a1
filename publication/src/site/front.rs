//! The front page: every system of every suite in a row, with what it costs over the cheapest.

use super::address::{CLAIMS_PAGE, file_of_suite, links};
use super::measurer::{self, is_ours};
use super::result_site::ResultSite;
use super::style::own_style;
use crate::pages::{circumstances, quotable_outcomes};
use bookend_report::failed_calls::marked_name;
use bookend_report::html::{HtmlPage, PageScript, answer, note, scrolled, slug, whole_table};
use bookend_report::run::{Report, cases_text, ratio_with_interval};
use bookend_results::ranking::{InstrumentGroup, RankedSubject, Ranking, Rankings};
use bookend_results::record::Record;
use bookend_results::statistics::Ratio;
use bookend_results::suite::Case;
use bookend_results::table::{Cell, CellResult, Table};
use bookend_results::text::precise_latency_text;
use maud::{Markup, html};

/// Shows the rows of the chosen tags. The choice stands in the page's address.
pub(super) const FILTER: PageScript = PageScript {
    text: include_str!("filter.js"),
    sha256: "Lr8YxKD1sMmkRhuB7fnXb5fPwnqZubd76OHvpxC+nAM=",
};

const STYLE: &str = include_str!("front.css");

/// The factor with a bar of full length.
const BAR_FULL: f64 = 100.0;

pub(super) fn page(site: &ResultSite) -> String {
    let sections = sections(site);
    let body = html! {
        (links())
        main {
            "\n" h1 { "What RPC stacks cost" } "\n"
            (measurer::of_all(&site.records))
            (contents(&sections))
            (reading())
            div id="filters" {} "\n"
            @for section in &sections { (section.html(site)) }
            (measurer::method())
        } "\n"
    };
    let title = "What RPC stacks cost - Bookend".to_owned();
    let style = format!("{}{STYLE}", own_style());
    HtmlPage { title, style, body, script: FILTER }.document()
}

/// One suite, with the report of its record.
struct Section<'a> {
    record: &'a Record,
    title: String,
    /// How many systems are ranked.
    systems: usize,
}

/// The suite that compares the most systems comes first, then the others as they were given.
fn sections(site: &ResultSite) -> Vec<Section<'_>> {
    let mut sections: Vec<Section<'_>> = site.records.iter().map(Section::of).collect();
    // The last of equal ones would be taken.
    let places = (0..sections.len()).rev();
    if let Some(most) = places.max_by_key(|place| sections[*place].systems) {
        sections[..=most].rotate_right(1);
    }
    sections
}

fn contents(sections: &[Section<'_>]) -> Markup {
    html! {
        nav aria-label="Suites" {
            ol class="contents" {
                @for Section { record, title, systems } in sections {
                    "\n" li {
                        a href={ "#" (slug(&record.facts.suite)) } { (title) }
                        small {
                            @if *systems > 1 { (systems) " systems compared, " }
                            (circumstances(record))
                        }
                    }
                } "\n"
            }
        } "\n"
    }
}

/// How tables are read.
fn reading() -> Markup {
    html! {
        p {
            "Each row is a system, in the order of the CPU time that it needs for a request. "
            b { "\u{d7}\u{a0}2" } " needs twice as much as the first: the geometric mean over the \
             cases that every system of the table has. A system without a figure in a case stands \
             behind those that have one, however cheap it is in the others, and the case is named."
        } "\n"
        p class="note" {
            "C is connections, and S is calls in flight over all of them. A range in parentheses is a \
             ratio's 95 % interval over the rounds; ~ is not told apart from 1. Bars are logarithmic \
             and begin at \u{d7}\u{a0}1. Systems of different suites are not comparable: their calls differ. "
            a href=(CLAIMS_PAGE) { "What published benchmarks claim, and what came of it" }
            " has a page of its own."
        } "\n"
    }
}

impl<'a> Section<'a> {
    fn of(record: &'a Record) -> Self {
        let run = record.run();
        let report = Report::new(&run, &record.rows);
        let rankings = Rankings::of(&record.facts.plan, report.table(), &record.rows);
        let ranking = rankings.main().and_then(|group| rankings.ranking(group));
        let systems = ranking.map_or(0, |ranking| ranking.subjects.len());
        Self { record, title: report.title(), systems }
    }

    fn html(&self, site: &ResultSite) -> Markup {
        let (record, name) = (self.record, &self.record.facts.suite);
        let run = record.run();
        let report = Report::new(&run, &record.rows).with_skips(record.facts.skips.clone());
        let page = file_of_suite(name);
        let rankings = Rankings::of(&record.facts.plan, report.table(), &record.rows);
        let main = rankings.main().and_then(|group| Some((group, rankings.ranking(group)?)));
        html! {
            section class="suite" id=(slug(name)) {
                "\n" h2 { a href=(page) { (self.title) } } "\n"
                @if let Some(joined) = report.table().joined() { (note(&joined)) }
                (answer(report.answer().iter().take(2)))
                (measurer::of_section(record, site.raw.get(name), site.since.get(name)))
                @if !report.is_quotable() {
                    (note(&format!("Not to be quoted: {}.", run.scope())))
                }
                @if let Some((group, ranking)) = &main {
                    (standings(&rankings, group, ranking, (name, report.table())))
                }
                @if let Some(judged) = site.judged.suite(name) {
                    @let outcomes = quotable_outcomes(judged).replace("**", "");
                    (note(&format!("The published benchmark behind it: {outcomes}.")))
                }
                p { a href=(page) { "All cases, pictures and tables of " (name) } } "\n"
            } "\n"
        }
    }
}

fn standings(
    rankings: &Rankings<'_>,
    group: &InstrumentGroup,
    ranking: &Ranking,
    (suite, table): (&str, &Table),
) -> Markup {
    let over_first = |one| rankings.between(&ranking.subjects[0], one);
    let without = |one: &RankedSubject| {
        let why = |case: &Case| word(rankings.cell(group, &one.name, *case));
        let each = one.missing.iter().map(|case| format!("{case} ({})", why(case)));
        each.collect::<Vec<_>>().join(", ")
    };
    let has_failed = ranking.subjects.iter().any(|one| one.failed.is_some());
    let heads = html! {
        th scope="col"; "system" th scope="col"; "CPU over the first"
        th scope="col" class="wide"; span class="unseen" { "as a bar" }
        th scope="col"; "CPU a request" th scope="col"; "failed checks"
        @if has_failed { th scope="col"; "failed calls" }
        th scope="col" class="text"; "without"
    };
    let rows = html! {
        @for (place, one) in ranking.subjects.iter().enumerate() {
            @let over = over_first(one).filter(|_| place > 0);
            (row(one, over, (&without(one), has_failed), table))
        }
    };
    let basis = format!(
        "Over {} case{}, with {}. Failed checks are of HTTP/2 and gRPC.{}",
        cases_text(ranking),
        if ranking.known_cases == 1 { "" } else { "s" },
        group.instruments.join(" and "),
        unranked(ranking)
    );
    html! {
        (scrolled(suite, &whole_table("standing cards", &heads, &rows)))
        (note(&basis))
    }
}

/// The CPU time of a request in this system over that in the first: the ratio of the first's
/// requests per CPU-second to this system's.
fn row(
    one: &RankedSubject,
    over_first: Option<Ratio>,
    (without, has_failed): (&str, bool),
    table: &Table,
) -> Markup {
    let RankedSubject { name, cost_ns, .. } = one;
    let width = over_first.as_ref().map_or(0.0, |over| 100.0 * over.median.ln() / BAR_FULL.ln());
    let width = format!("{:.1}", width.clamp(0.6, 100.0));
    let failed = one.failed.map_or("0".to_owned(), |(share, case)| format!("{share} at {case}"));
    let skips = table.skips.get(name).map_or("-".to_owned(), |skips| skips.len().to_string());
    html! {
        tr data-tags=(tags(name).join(" "));
        th scope="row"; (marked_name(one))
        td data-label="CPU over the first"; "\u{d7} " (over_first.map_or("1".to_owned(), |ratio| ratio_with_interval(&ratio)))
        td class="wide"; span class="bar" style={ "width:" (width) "%" } {}
        td data-label="CPU a request"; (precise_latency_text(*cost_ns))
        td data-label="failed checks"; (skips)
        @if has_failed { td data-label="failed calls"; (failed) }
        @match without {
            "" => { td; },
            cases => { td class="without" data-label="without"; (cases) },
        } "\n"
    }
}

/// The systems that are not ranked, and why.
fn unranked(ranking: &Ranking) -> String {
    let named = |is_joined: bool, why: &str| {
        let others = ranking.unranked.iter().filter(|one| one.is_joined == is_joined);
        let names: Vec<&str> = others.map(|one| one.name.as_str()).collect();
        let text = format!(" Not ranked, {why}: {}.", names.join(", "));
        if names.is_empty() { String::new() } else { text }
    };
    named(false, "in too few of the cases") + &named(true, "measured in a run of its own")
}

/// Why there is no figure in a cell.
fn word(cell: Option<&Cell>) -> String {
    match cell.map(|cell| &cell.result) {
        None => "not planned".to_owned(),
        Some(_) if cell.is_some_and(|cell| cell.run > 0) => "other run".to_owned(),
        Some(CellResult::Measured(_)) => "spins".to_owned(),
        Some(CellResult::NotMeasured { why, .. }) => why.to_string(),
    }
}

/// What a system can be filtered by: its language, which its name begins with, and whose it is.
fn tags(name: &str) -> Vec<String> {
    let folder = name.split('/').next().unwrap_or(name);
    let language = folder.split('-').next().unwrap_or(folder);
    let language = if language == "bookend" { "rust" } else { language };
    let whose = if is_ours(name) { "ours" } else { "others" };
    vec![slug(language), whose.to_owned()]
}
