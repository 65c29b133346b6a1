//! docs/measure/claims.md: every claim with its figures, and the results of the audit and the
//! models.

use super::claim::Derivation;
use super::error::ClaimsError;
use super::judged::{JudgedSuite, JudgedSuites};
use super::model::{DeclaredModel, Model, Prediction, Rejection};
use super::quantity::Quantity;
use super::verdict::{ClaimVerdict, Judgement};
use crate::document::PrintedRow;
use bookend_results::audit::Rule;
use bookend_results::metric::Unit;
use bookend_results::suite::FULL_ROUNDS_MIN;
use std::fmt::Write as _;
use std::path::Path;

impl JudgedSuites {
    /// docs/measure/claims.md.
    pub fn markdown(&self) -> String {
        markdown(self)
    }
}

impl JudgedSuite {
    /// The claims and their verdicts as a short table, for the conclusion of a report.
    pub fn summary(&self) -> String {
        summary_of(self)
    }
}

/// The conclusion of one suite's report, read from its folder: see [`JudgedSuite::summary`].
///
/// # Errors
/// As [`JudgedSuites::read`].
pub fn summary(suites: &Path, records: &Path, suite: &str) -> Result<String, ClaimsError> {
    Ok(JudgedSuite::read(suites, records, suite)?.summary())
}

/// The page as a whole.
fn markdown(suites: &JudgedSuites) -> String {
    let mut page = String::from(INTRODUCTION);
    let judged = suites.suites.iter();
    let judged: Vec<Judged<'_>> = judged.map(|one| (one, one.judgements())).collect();
    page.push_str(&overview(&judged));
    for (suite, judgements) in &judged {
        page.push_str(&section(suite, judgements));
    }
    page.push_str(&rules());
    page.push_str(ENDING);
    page
}

/// A document with the verdicts on its claims.
type Judged<'a> = (&'a JudgedSuite, Vec<Judgement<'a>>);

const INTRODUCTION: &str = "\
# Claims

What the published documents say, sentence by sentence, and what became of it on the real systems. This
page is written by `bookend claims` from `suites/*/claims.toml`, the published tables beside it and the
records of our runs; a test fails when it is not what they give.

A figure in *its own table* is worked out from what the document prints; behind it stands what the digits
lost in printing leave open. *Ours* is the median of the rounds and the 95 % interval of their mean
(Student's t of the logarithms, of the figures themselves where one is zero; rounds are paired where cells
are compared). A figure that was the same in each of the rounds has no interval, which is no certainty
([metrics](metrics.md#claims)). A share of a profile is of one recording, with the interval of a binomial
part. Of a figure in several cases the smallest and the largest median stand there. *A over B* before a
figure says what was divided by what, once a row.

A claim **held** when the whole interval is within what counts as held, in every case. It **did not hold**
when the whole interval of a case is outside, even where it is widened for the number of cases (Bonferroni),
or when the document's own table refutes it. Else we **cannot tell here**: with few rounds intervals are
wide, and one round has none. *Marked in n of m rounds* counts those that the verdict rests on and that a
reader has reason to doubt, once a case, with the [rules](metrics.md#marks) that say so.

";

const ENDING: &str = "
## The model

A server has `workers`, a `queue` before them, and takes a fixed time for each call. Callers, each with
one call at a time, share a fixed number of calls. A call that finds neither a worker nor a place in the
queue is rejected: silently (nobody answers, and the caller waits until its time-out) or promptly (it
fails at once). The server does not learn that a caller gave up. Nothing else costs anything, so a run of
a real server takes at least as long. There is no randomness in it. Its parameters are those of the
document; where a pool's size is not stated (`cached`), it is the callers less the printed failures.
";

fn overview(judged: &[Judged<'_>]) -> String {
    let mut text = String::from(
        "| document | claims | held | did not hold | cannot tell here | findings of the audit |\n\
         |---|---|---|---|---|---|\n",
    );
    for (suite, judgements) in judged {
        let count = |verdict| {
            let same = judgements.iter().filter(|one| one.verdict == verdict);
            same.count()
        };
        let [held, not, unknown] = ClaimVerdict::ALL.map(count);
        line(
            &mut text,
            &[
                format!("[{}](#{})", suite.claims.title, anchor(&suite.claims.title)),
                judgements.len().to_string(),
                held.to_string(),
                not.to_string(),
                unknown.to_string(),
                suite.findings.len().to_string(),
            ],
        );
    }
    text
}

fn section(suite: &JudgedSuite, judgements: &[Judgement<'_>]) -> String {
    let mut text = format!("\n## {}\n\n{}\n\n", suite.claims.title, provenance(suite));
    text.push_str("| claim | published | its own table | ours | verdict | why |\n");
    text.push_str("|---|---|---|---|---|---|\n");
    for one in judgements {
        line(&mut text, &claim_fields(one));
    }
    text.push_str(&models(suite));
    text.push_str(&findings(suite));
    text.push_str(&in_flight(suite));
    text
}

fn provenance(suite: &JudgedSuite) -> String {
    let name = &suite.suite;
    let ours = match &suite.record {
        None => "There is no record of a full run yet.".to_owned(),
        Some(record) => format!(
            "Ours: `{}`, {}, {}.",
            record.facts.command,
            rounds(record.rounds()),
            record.facts.started
        ),
    };
    let whose = if suite.claims.are_expectations { EXPECTATIONS } else { "" };
    format!("Suite [{name}](../../suites/{name}). {whose}{ours}")
}

/// What a reader must know about claims that are in no document.
const EXPECTATIONS: &str = "\
No document has these figures: each claim is what its source, which it names, makes one expect of these \
servers, and its bounds are ours. ";

fn rounds(count: u32) -> String {
    let plural = if count == 1 { "" } else { "s" };
    if count < FULL_ROUNDS_MIN {
        format!("{count} round{plural} of the {FULL_ROUNDS_MIN} that a result to be quoted needs")
    } else {
        format!("{count} rounds")
    }
}

/// The figures from a document's own table, and ours. If they are quotients, the first states what
/// is divided by what; the second does so only if it differs.
fn figure_fields(one: &Judgement<'_>) -> [String; 2] {
    let own = match &one.claim.recomputed {
        Some(Derivation::Quantity(quantity)) => quantity.over_text(),
        Some(Derivation::Formula(_)) | None => None,
    };
    let own = own.filter(|_| has_figure(&one.recomputed));
    let ours = one.claim.ours.as_ref().and_then(Quantity::over_text);
    let ours = ours.filter(|ours| has_figure(&one.ours) && own.as_ref() != Some(ours));
    [with_quotient(own, &one.recomputed), with_quotient(ours, &one.ours)]
}

fn has_figure(text: &str) -> bool {
    text.starts_with(|first: char| first.is_ascii_digit() || first == '-')
}

fn with_quotient(quotient: Option<String>, figures: &str) -> String {
    match quotient {
        Some(quotient) => format!("{quotient}: {figures}"),
        None => or_dash(figures),
    }
}

fn claim_fields(one: &Judgement<'_>) -> Vec<String> {
    let [own, ours] = figure_fields(one);
    vec![
        format!("**{}**: {} ({})", one.claim.id, one.claim.text, one.claim.place),
        one.claim.published.clone(),
        own,
        ours,
        one.verdict.to_string(),
        one.why.clone(),
    ]
}

/// The short table of a report's conclusion.
fn summary_of(suite: &JudgedSuite) -> String {
    let mut text = String::from("| claim | published | ours | verdict |\n|---|---|---|---|\n");
    for one in suite.judgements() {
        let quotient = one.claim.ours.as_ref().and_then(Quantity::over_text);
        let fields = [
            one.claim.text.clone(),
            one.claim.published.clone(),
            with_quotient(quotient.filter(|_| has_figure(&one.ours)), &one.ours),
            one.verdict.to_string(),
        ];
        line(&mut text, &fields);
    }
    text
}

fn models(suite: &JudgedSuite) -> String {
    if suite.claims.models.is_empty() {
        return String::new();
    }
    let mut text = String::from("\n### What a model predicts\n\n");
    text.push_str("| run | parameters | OK | failed | total | mean of all | mean of OK |\n");
    text.push_str("|---|---|---|---|---|---|---|\n");
    for model in &suite.claims.models {
        line(&mut text, &prediction_fields(model, &model.published));
        line(&mut text, &printed_fields(suite, model));
    }
    text
}

fn prediction_fields(declared: &DeclaredModel, model: &Model) -> Vec<String> {
    let prediction: Prediction = model.predict();
    let seconds = |seconds: f64| format!("{seconds:.2} s");
    vec![
        format!("{}: {}", declared.id, declared.about),
        parameters(model),
        prediction.ok.to_string(),
        prediction.failures.to_string(),
        seconds(prediction.total_seconds),
        seconds(prediction.mean_of_all_seconds),
        seconds(prediction.mean_of_ok_seconds),
    ]
}

fn parameters(model: &Model) -> String {
    let bound = |bound: Option<u64>| bound.map_or("any".to_owned(), |bound| bound.to_string());
    let rejection = match model.rejection {
        Rejection::Silent => "silent",
        Rejection::Prompt => "prompt",
    };
    format!(
        "{} workers, queue {}, {rejection}, {} s a call, {} callers, {} calls, time-out {} s",
        bound(model.workers.map(Into::into)),
        bound(model.queue),
        model.service_us as f64 / 1e6,
        model.concurrency,
        model.calls,
        model.time_out_us as f64 / 1e6
    )
}

/// The row of the document that a model is about.
fn printed_fields(suite: &JudgedSuite, model: &DeclaredModel) -> Vec<String> {
    let mut rows = suite.document.rows.iter();
    let row = rows.find(|row| row.subject == model.subject.subject && row.case == Some(model.case));
    let figure = |name: &str| row.and_then(|row| row.figure(name));
    let count = |name: &str| figure(name).map_or("-".to_owned(), |one| one.value.to_string());
    let time =
        |name: &str| figure(name).map_or("-".to_owned(), |one| format!("{:.2} s", one.value / 1e9));
    let failures = row.and_then(PrintedRow::failures);
    vec![
        "published".to_owned(),
        row.map_or(String::new(), |row| row.place.to_string()),
        count("ok"),
        failures.map_or("-".to_owned(), |one| one.value.to_string()),
        time("total_time"),
        time("latency_mean_all"),
        "-".to_owned(),
    ]
}

fn findings(suite: &JudgedSuite) -> String {
    let mut text = String::from("\n### What the audit finds in its tables\n\n");
    if suite.findings.is_empty() {
        text.push_str("Nothing.\n");
    } else {
        text.push_str("| rule | row | figures |\n|---|---|---|\n");
    }
    for one in &suite.findings {
        let fields = [
            format!("`{}`", one.finding.rule),
            one.place.to_string(),
            one.finding.evidence.clone(),
        ];
        line(&mut text, &fields);
    }
    let looked =
        suite.coverage.iter().map(|one| format!("`{}` {} of {}", one.rule, one.broken, one.rows));
    let looked: Vec<String> = looked.collect();
    let _ = writeln!(text, "\nBroken, of the rows with the figures for it: {}.", looked.join(", "));
    text
}

/// Little's law for every row that prints enough for it.
fn in_flight(suite: &JudgedSuite) -> String {
    let rows = suite.document.rows.iter();
    let known = rows.filter_map(|row| Some((row, row.calls_in_flight()?, row.streams()?)));
    let mut known = known.peekable();
    if known.peek().is_none() {
        return String::new();
    }
    let mut text = String::from(
        "\n### Calls in flight that its figures account for\n\n\
         | row | rate x mean latency | streams | share |\n|---|---|---|---|\n",
    );
    for (row, calls, streams) in known {
        let percent = |calls: f64| format!("{:.0} %", calls / streams * 100.0);
        let ends = [percent(calls.low), percent(calls.high)];
        let share = if ends[0] == ends[1] { ends[0].clone() } else { ends.join(" to ") };
        let number = |calls: f64| Unit::Number.text(calls);
        let range = format!("{} to {}", number(calls.low), number(calls.high));
        let streams = number(streams);
        line(&mut text, &[row.place.to_string(), range, streams, share]);
    }
    text
}

fn rules() -> String {
    let mut text = String::from(
        "\n## The rules of the audit\n\nA finding says that at least one figure of the row is not \
         what its heading says, or says something else than a reader will think.\n\n\
         | rule | broken when |\n|---|---|\n",
    );
    for rule in Rule::ALL {
        line(&mut text, &[format!("`{rule}`"), rule.meaning().to_owned()]);
    }
    text
}

fn line(text: &mut String, fields: &[String]) {
    let fields = fields.iter().map(|field| field.replace('|', "\\|"));
    let fields: Vec<String> = fields.collect();
    let _ = writeln!(text, "| {} |", fields.join(" | "));
}

fn or_dash(text: &str) -> String {
    if text.is_empty() { "-".to_owned() } else { text.to_owned() }
}

/// The anchor of a heading in links.
fn anchor(title: &str) -> String {
    let lower = title.to_lowercase();
    let kept = lower.chars().filter(|c| c.is_alphanumeric() || " -_".contains(*c));
    kept.map(|c| if c == ' ' { '-' } else { c }).collect()
}
