//! The front page: every system of every suite in a row, with what it costs over the cheapest.

use super::address::{CLAIMS_PAGE, file_of_suite};
use super::standing::{PENALTY, SuiteStanding, SystemStanding};

use crate::claims::JudgedSuites;
use crate::pages::quotable_outcomes;
use bookend_report::html::{HtmlPage, PageScript, answer, note, scrolled, slug, whole_table};
use bookend_report::run::Report;
use bookend_results::record::Record;
use bookend_results::table::Table;
use bookend_results::text::{precise_latency_text, significant_text};
use maud::{Markup, html};

/// Shows the rows of the chosen tags. The choice stands in the page's address.
pub(super) const FILTER: PageScript = PageScript {
    text: include_str!("filter.js"),
    sha256: "Lr8YxKD1sMmkRhuB7fnXb5fPwnqZubd76OHvpxC+nAM=",
};

const STYLE: &str = include_str!("front.css");

/// A factor of so much has a bar of full length.
const BAR_FULL: f64 = 100.0;

pub(super) fn page(records: &[Record], judged: &JudgedSuites) -> String {
    let body = html! {
        main {
            "\n" h1 { "What RPC stacks cost" } "\n"
            p {
                "Each row is a system, in the order of the CPU time that it needs for a request. "
                b { "\u{d7}\u{a0}1" } " would be the cheapest in every case of its suite; "
                b { "\u{d7}\u{a0}2" } " needs twice as much as the cheapest of each case, in the \
                 geometric mean over the cases. A case without a figure counts as " (PENALTY)
                " times the dearest system of that case, and is named."
            } "\n"
            p class="note" {
                "C is connections, and S is calls in flight over all of them. A range in parentheses is a \
                 ratio's 95 % interval over the rounds. The sentences above a table compare two systems over \
                 the cases that both have; the table charges for those that one lacks. Bars are logarithmic \
                 and begin at \u{d7}\u{a0}1. What is called bookend is ours: a server, and a load generator. \
                 Systems of different suites are not comparable: their calls differ. The measured rounds are \
                 in the repository; "
                a href=(CLAIMS_PAGE) { "what published benchmarks claim, and what came of it" } "."
            } "\n"
            div id="filters" {} "\n"
            @for record in records { (section(judged, record)) }
        } "\n"
    };
    let title = "What RPC stacks cost - Bookend".to_owned();
    HtmlPage { title, style: STYLE.to_owned(), body, script: FILTER }.document()
}

fn section(judged: &JudgedSuites, record: &Record) -> Markup {
    let run = record.run();
    let report = Report::new(&run, &record.rows).with_skips(record.facts.skips.clone());
    let name = &record.facts.suite;
    let page = file_of_suite(name);
    html! {
        section class="suite" id=(slug(name)) {
            "\n" h2 { a href=(page) { (report.title()) } } "\n"
            @if let Some(joined) = report.table().joined() { (note(&joined)) }
            (answer(report.answer().iter().take(2)))
            @if !report.is_quotable() {
                (note(&format!("Not to be quoted: {}.", run.scope())))
            }
            @if let Some(standing) = SuiteStanding::of(&record.facts.plan, report.table()) {
                (standings(&standing, name, report.table()))
            }
            @if let Some(judged) = judged.suite(name) {
                @let outcomes = quotable_outcomes(judged).replace("**", "");
                (note(&format!("The published benchmark behind it: {outcomes}.")))
            }
            p { a href=(page) { "All cases, pictures and tables of " (name) } } "\n"
        } "\n"
    }
}

fn standings(standing: &SuiteStanding, suite: &str, table: &Table) -> Markup {
    let cases = standing.cases.len();
    let instruments = standing.instruments.join(" and ");
    let unranked = |why: &str, names: &[String]| match names {
        [] => String::new(),
        names => format!(" {why}: {}.", names.join(", ")),
    };
    let left_out = unranked("In too few of the cases to be ranked", &standing.left_out)
        + &unranked("Of another run, and not ranked", &standing.of_other_runs);
    let heads = html! {
        th scope="col"; "system" th scope="col"; "CPU over the cheapest"
        th scope="col" class="wide"; span class="unseen" { "as a bar" }
        th scope="col"; "CPU a request" th scope="col"; "failed checks"
        th scope="col" class="words"; "penalties"
    };
    let rows = html! { @for one in &standing.systems { (row(one, table)) } };
    let basis = format!(
        "Over {cases} case{}, with {instruments}. Failed checks are of HTTP/2 and gRPC.{left_out}",
        if cases == 1 { "" } else { "s" }
    );
    html! {
        (scrolled(suite, &whole_table("standing", &heads, &rows)))
        (note(&basis))
    }
}

fn row(one: &SystemStanding, table: &Table) -> Markup {
    let SystemStanding { name, over_best, cost_ns, missing } = one;
    let width = (100.0 * over_best.ln() / BAR_FULL.ln()).clamp(0.6, 100.0);
    let skips = table.skips.get(name).map_or("-".to_owned(), |skips| skips.len().to_string());
    html! {
        tr data-tags=(tags(name).join(" "));
        th scope="row"; (name)
        td; "\u{d7} " (significant_text(*over_best))
        td class="wide"; span class="bar" style={ "width:" (format!("{width:.1}")) "%" } {}
        td; (precise_latency_text(*cost_ns)) td; (skips)
        td class="words"; (missing.join(", ")) "\n"
    }
}

/// What a system can be filtered by: its language, which its name begins with, and whose it is.
fn tags(name: &str) -> Vec<String> {
    let folder = name.split('/').next().unwrap_or(name);
    let language = folder.split('-').next().unwrap_or(folder);
    let is_ours = folder.contains("bookend");
    let language = if language == "bookend" { "rust" } else { language };
    let whose = if is_ours { "ours" } else { "others" };
    vec![slug(language), whose.to_owned()]
}
