//! Claims with their outcomes, as tables of pages.

use super::address::links;
use super::style::own_style;
use crate::claims::{Answer, JudgedSuite, JudgedSuites, Judgement};
use bookend_report::html::{HtmlPage, SORT, folded, note, scrolled, whole_table};
use maud::{Markup, html};

const HEADINGS: [&str; 6] =
    ["claim", "they printed", "same client", "does it replicate?", "other client", "is it so?"];

/// The page of all claims.
pub(super) fn page(judged: &JudgedSuites) -> String {
    let body = html! {
        (links())
        main {
            "\n" h1 { "What published benchmarks claim, and what came of it" } "\n"
            p {
                "Each sentence is asked twice: does it replicate with the published client and versions, "
                "and is it so with a client that is not the limit?"
            } "\n"
            @for suite in &judged.suites {
                (section(&html! { h2 { (suite.claims.document.title) } }, suite))
            }
        } "\n"
    };
    let title = "Claims - Bookend".to_owned();
    HtmlPage { title, style: own_style(), body, script: SORT }.document()
}

/// The claims of one suite, for its own page.
pub(super) fn of_suite(suite: &JudgedSuite) -> Markup {
    section(&html! { h2 id="claims" { "What its document claims" } }, suite)
}

fn section(heading: &Markup, suite: &JudgedSuite) -> Markup {
    html! { section { "\n" (heading) "\n" (claims(suite)) (reasons(suite)) } "\n" }
}

fn claims(suite: &JudgedSuite) -> Markup {
    let heads = html! { @for heading in HEADINGS { th scope="col"; (heading) } };
    let rows = html! { @for one in suite.judgements() { (row(&one)) } };
    let label = format!("Claims: {}", suite.claims.document.title);
    scrolled(&label, &whole_table("sorts claims cards", &heads, &rows))
}

fn row(one: &Judgement<'_>) -> Markup {
    let or_dash = |text: &str| if text.is_empty() { "-".to_owned() } else { text.to_owned() };
    let figure =
        |answer: Option<&Answer>| answer.map_or("-".to_owned(), |one| or_dash(&one.figure));
    let outcome =
        |answer: Option<&Answer>| answer.map_or("-".to_owned(), Answer::outcome_of_both_runs);
    let other = one.is_it_so.as_ref();
    let figures = [
        or_dash(&one.claim.published),
        figure(Some(&one.replicates)),
        outcome(Some(&one.replicates)),
        figure(other),
        outcome(other),
    ];
    html! {
        tr; th scope="row"; (one.marked_sentence())
        @for (heading, figure) in HEADINGS[1..].iter().zip(figures) {
            td data-label=(heading); (figure)
        } "\n"
    }
}

/// Each sentence whole, with how its outcomes follow.
fn reasons(suite: &JudgedSuite) -> Markup {
    let reasons = html! {
        @for one in suite.judgements() {
            h3 { (one.claim.text) } "\n" (note(&one.claim.place))
            @for answer in one.answers() {
                p { b { (answer.outcome_of_both_runs()) } ": " (answer.why) } "\n"
            }
        }
    };
    folded("Each claim with the reason for its outcome", &reasons)
}
