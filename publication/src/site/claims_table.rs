//! Claims with their outcomes, as tables of pages.

use super::address::links;
use crate::claims::{Answer, JudgedSuite, JudgedSuites, Judgement};
use bookend_report::html::{HtmlPage, HtmlRow, SORT, escaped, folded, scrolled, table};

const HEADINGS: [&str; 6] =
    ["claim", "they printed", "same client", "does it replicate?", "other client", "is it so?"];

/// The page of all claims.
pub(super) fn page(judged: &JudgedSuites) -> String {
    let sections: String = judged
        .suites
        .iter()
        .map(|suite| {
            let title = escaped(&suite.claims.document.title);
            format!("<section>\n<h2>{title}</h2>\n{}{}</section>\n", claims(suite), reasons(suite))
        })
        .collect();
    let body = format!(
        "{}<main>\n<h1>What published benchmarks claim, and what came of it</h1>\n<p>Each sentence is \
         asked twice: does it replicate with the published client and versions, and is it so with a \
         client that is not the limit?</p>\n{sections}</main>\n",
        links()
    );
    let title = "Claims - Bookend".to_owned();
    HtmlPage { title, style: String::new(), body, script: SORT }.document()
}

/// The claims of one suite, for its own page.
pub(super) fn of_suite(suite: &JudgedSuite) -> String {
    format!(
        "<section>\n<h2 id=\"claims\">What its document claims</h2>\n{}{}</section>\n",
        claims(suite),
        reasons(suite)
    )
}

fn claims(suite: &JudgedSuite) -> String {
    let rows: Vec<HtmlRow> = suite.judgements().iter().map(row).collect();
    let label = format!("Claims: {}", suite.claims.document.title);
    scrolled(&label, &table(&HEADINGS.map(str::to_owned), &rows))
}

fn row(one: &Judgement<'_>) -> HtmlRow {
    let or_dash = |text: &str| if text.is_empty() { "-".to_owned() } else { text.to_owned() };
    let figure =
        |answer: Option<&Answer>| answer.map_or("-".to_owned(), |one| or_dash(&one.figure));
    let outcome =
        |answer: Option<&Answer>| answer.map_or("-".to_owned(), |one| one.outcome.to_string());
    let other = one.is_it_so.as_ref();
    HtmlRow {
        names: vec![one.claim.in_short().to_owned()],
        figures: Ok(vec![
            or_dash(&one.claim.published),
            figure(Some(&one.replicates)),
            outcome(Some(&one.replicates)),
            figure(other),
            outcome(other),
        ]),
    }
}

/// Each sentence whole, with how its outcomes follow.
fn reasons(suite: &JudgedSuite) -> String {
    let reason = |one: &Judgement<'_>| {
        let answers: String = one
            .answers()
            .map(|answer| format!("<p><b>{}</b>: {}</p>\n", answer.outcome, escaped(&answer.why)))
            .collect();
        let (text, place) = (escaped(&one.claim.text), escaped(&one.claim.place));
        format!("<h3>{text}</h3>\n<p class=\"note\">{place}</p>\n{answers}")
    };
    let reasons: String = suite.judgements().iter().map(reason).collect();
    folded("Each claim with the reason for its outcome", &reasons)
}
