//! The front page: every system of every suite in a row, with what it costs over the cheapest.

use super::address::{CLAIMS_PAGE, file_of_suite};
use super::standing::{PENALTY, SuiteStanding, SystemStanding};

use crate::claims::JudgedSuites;
use crate::pages::quotable_outcomes;
use bookend_report::html::{HtmlPage, PageScript, escaped, scrolled, slug};
use bookend_report::run::Report;
use bookend_results::record::Record;
use bookend_results::table::Table;
use bookend_results::text::{precise_latency_text, significant_text};

/// Shows the rows of the chosen tags. The choice stands in the page's address.
pub(super) const FILTER: PageScript = PageScript {
    text: include_str!("filter.js"),
    sha256: "Lr8YxKD1sMmkRhuB7fnXb5fPwnqZubd76OHvpxC+nAM=",
};

const STYLE: &str = include_str!("front.css");

/// A factor of so much has a bar of full length.
const BAR_FULL: f64 = 100.0;

pub(super) fn page(records: &[Record], judged: &JudgedSuites) -> String {
    let suites: String = records.iter().map(|record| section(judged, record)).collect();
    let body = format!(
        "<main>\n<h1>What RPC stacks cost</h1>\n<p>Each row is a system, in the order of the CPU time \
         that it needs for a request. <b>&times;&nbsp;1</b> would be the cheapest in every case of its suite; \
         <b>&times;&nbsp;2</b> needs twice as much as the cheapest of each case, in the geometric mean over \
         the cases. A case without a figure counts as {PENALTY} times the dearest system of that case, and is \
         named.</p>\n\
         <p class=\"note\">C is connections, and S is calls in flight over all of them. A range in \
         parentheses is a ratio's 95 % interval over the rounds. The sentences above a table compare two systems \
         over the cases that both have; the table charges for those that one lacks. Bars are logarithmic \
         and begin at &times;&nbsp;1. What is called bookend is ours: a server, and a load generator. \
         Systems of different suites are not comparable: their calls differ. The measured rounds are in \
         the repository; <a href=\"{CLAIMS_PAGE}\">what published benchmarks claim, \
         and what came of it</a>.</p>\n<div id=\"filters\"></div>\n{suites}</main>\n"
    );
    let title = "What RPC stacks cost - Bookend".to_owned();
    HtmlPage { title, style: STYLE.to_owned(), body, script: FILTER }.document()
}

fn section(judged: &JudgedSuites, record: &Record) -> String {
    let run = record.run();
    let report = Report::new(&run, &record.rows).with_skips(record.facts.skips.clone());
    let name = &record.facts.suite;
    let answer: String =
        report.answer().iter().take(2).map(|line| format!("<p>{}</p>\n", escaped(line))).collect();
    let joined = report
        .table()
        .joined()
        .map_or_else(String::new, |text| format!("<p class=\"note\">{}</p>\n", escaped(&text)));
    let doubt = if report.is_quotable() {
        String::new()
    } else {
        format!("<p class=\"note\">Not to be quoted: {}.</p>\n", escaped(&run.scope().to_string()))
    };
    let claims = judged.suite(name).map_or_else(String::new, |judged| {
        let outcomes = quotable_outcomes(judged).replace("**", "");
        format!(
            "<p class=\"note\">The published benchmark behind it: {}.</p>\n",
            escaped(&outcomes)
        )
    });
    let table = SuiteStanding::of(&record.facts.plan, report.table())
        .map_or_else(String::new, |standing| standings(&standing, name, report.table()));
    format!(
        "<section class=\"suite\" id=\"{0}\">\n<h2><a href=\"{1}\">{2}</a></h2>\n\
         {joined}<div class=\"answer\">\n{answer}</div>\n{doubt}{table}{claims}\
         <p><a href=\"{1}\">All cases, pictures and tables of {3}</a></p>\n</section>\n",
        slug(name),
        escaped(&file_of_suite(name)),
        escaped(&report.title()),
        escaped(name)
    )
}

fn standings(standing: &SuiteStanding, suite: &str, table: &Table) -> String {
    let rows: String = standing.systems.iter().map(|one| row(one, table)).collect();
    let cases = standing.cases.len();
    let instruments = standing.instruments.join(" and ");
    let unranked = |why: &str, names: &[String]| match names {
        [] => String::new(),
        names => format!(" {why}: {}.", names.join(", ")),
    };
    let left_out = unranked("In too few of the cases to be ranked", &standing.left_out)
        + &unranked("Of another run, and not ranked", &standing.of_other_runs);
    let heads = "<tr><th scope=\"col\">system<th scope=\"col\">CPU over the cheapest\
                 <th scope=\"col\" class=\"wide\"><span class=\"unseen\">as a bar</span>\
                 <th scope=\"col\">CPU a request<th scope=\"col\">failed checks<th scope=\"col\" class=\"words\">penalties";
    let body = format!("<table class=\"standing\"><thead>{heads}<tbody>\n{rows}</table>");
    let note = format!(
        "Over {cases} case{}, with {instruments}. Failed checks are of HTTP/2 and gRPC.{left_out}",
        if cases == 1 { "" } else { "s" }
    );
    format!("{}<p class=\"note\">{}</p>\n", scrolled(suite, &body), escaped(&note))
}

fn row(one: &SystemStanding, table: &Table) -> String {
    let SystemStanding { name, over_best, cost_ns, missing } = one;
    let (width, tags) = (100.0 * over_best.ln() / BAR_FULL.ln(), tags(name).join(" "));
    let skips = table.skips.get(name).map_or("-".to_owned(), |skips| skips.len().to_string());
    format!(
        "<tr data-tags=\"{}\"><th scope=\"row\">{}<td>&times; {}<td class=\"wide\"><span class=\"bar\" \
         style=\"width:{:.1}%\"></span><td>{}<td>{}<td class=\"words\">{}\n",
        escaped(&tags),
        escaped(name),
        significant_text(*over_best),
        width.clamp(0.6, 100.0),
        escaped(&precise_latency_text(*cost_ns)),
        escaped(&skips),
        escaped(&missing.join(", "))
    )
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
