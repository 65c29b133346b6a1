//! records/pages/audit.md: what the audit finds in the documents' tables, what a model predicts,
//! and notes on them that are no sentence of a document.

use super::judged::{JudgedSuite, JudgedSuites};
use super::model::{Model, Rejection};
use super::verdict::Judgement;
use crate::document::PrintedRow;
use bookend_report::markdown::{table, wrapped};
use bookend_results::audit::Rule;
use bookend_results::metric::Unit;

impl JudgedSuites {
    /// records/pages/audit.md.
    pub fn audit_page(&self) -> String {
        let sections: String = self.documents().map(section).collect();
        [INTRODUCTION, &sections, &rules(), MODEL].concat()
    }
}

const INTRODUCTION: &str = "\
# Audit

What our [rules](#the-rules) find in the tables of the published documents, without any measurement. A finding
means that at least one figure of the row is not what its heading says, or misleads a reader. Whether the
[claims](../../docs/measure/claims.md) replicate is another question. `publication claims` writes this page.
";

fn section(suite: &JudgedSuite) -> String {
    let title = &suite.claims.document.title;
    let parts = [findings(suite), notes(suite), models(suite), in_flight(suite)].concat();
    format!("\n## {title}\n\n{}\n", parts.trim())
}

/// What was noticed besides the claims.
fn notes(suite: &JudgedSuite) -> String {
    let notes = suite.notes();
    if notes.is_empty() {
        return String::new();
    }
    let items: String = notes.iter().map(note).collect();
    format!("\n### Noticed besides\n\n{items}")
}

fn note(one: &Judgement<'_>) -> String {
    let labelled =
        |label: &str, text: &str| (!text.is_empty()).then(|| format!("{label}: {text}."));
    let parts: Vec<String> = [
        Some(format!("{}.", one.claim.text)),
        labelled("Its own table", &one.recomputed),
        labelled("Ours", &one.replicates.figures),
        one.claim.says.map(|_| one.replicates.why.clone()),
        one.replicates.failed.in_words().map(|what| format!("But {what}.")),
        one.why.clone(),
    ]
    .into_iter()
    .flatten()
    .collect();
    wrapped(&format!("- {}", parts.join(" ")), "  ")
}

fn models(suite: &JudgedSuite) -> String {
    if suite.claims.models.is_empty() {
        return String::new();
    }
    let headings = ["run", "parameters", "OK", "failed", "total", "mean of all", "mean of OK"];
    let rows = suite
        .claims
        .models
        .iter()
        .flat_map(|model| [prediction_fields(model), printed_fields(suite, model)]);
    format!("\n### What a model predicts\n\n{}", table(&headings, 2, rows))
}

fn prediction_fields(model: &Model) -> Vec<String> {
    let prediction = model.predict();
    let seconds = |seconds: f64| format!("{seconds:.2} s");
    vec![
        format!("{}: {}", model.id, model.about),
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
fn printed_fields(suite: &JudgedSuite, model: &Model) -> Vec<String> {
    let row = suite.document.rows_of(&model.subject.subject, model.case).next();
    let or_dash = |text: Option<String>| text.unwrap_or_else(|| "-".to_owned());
    let value = |name: &str| Some(row?.figure(name)?.value);
    let time = |name| or_dash(value(name).map(|time_ns| format!("{:.2} s", time_ns / 1e9)));
    let failures = row.and_then(PrintedRow::failures);
    vec![
        "published".to_owned(),
        row.map_or(String::new(), |row| row.place.to_string()),
        or_dash(value("ok").map(|ok| ok.to_string())),
        or_dash(failures.map(|failures| failures.value.to_string())),
        time("total_time"),
        time("latency_mean_all"),
        "-".to_owned(),
    ]
}

fn findings(suite: &JudgedSuite) -> String {
    let rows = suite.findings.iter().map(|one| {
        let finding = &one.finding;
        let rule = format!("`{}`", finding.rule);
        vec![rule, one.place.to_string(), finding.evidence.clone()]
    });
    let found = match suite.findings.as_slice() {
        [] => "Nothing.\n".to_owned(),
        _ => table(&["rule", "row", "figures"], 3, rows),
    };
    let looked: Vec<String> = suite
        .coverage
        .iter()
        .map(|one| format!("`{}` {} of {}", one.rule, one.broken, one.rows))
        .collect();
    format!(
        "\n### What the audit finds in its tables\n\n{found}\nBroken, of the rows with the figures \
         for it: {}.\n",
        looked.join(", ")
    )
}

/// Little's law for every row that prints enough for it.
fn in_flight(suite: &JudgedSuite) -> String {
    let number = |calls: f64| Unit::Number.text(calls);
    let accounted = |row: &PrintedRow| {
        let (calls, streams) = (row.calls_in_flight()?, row.streams()?);
        let share =
            [calls.low, calls.high].map(|calls| format!("{:.0} %", calls / streams * 100.0));
        let range = format!("{} to {}", number(calls.low), number(calls.high));
        let share = if share[0] == share[1] { share[0].clone() } else { share.join(" to ") };
        Some(vec![row.place.to_string(), range, number(streams), share])
    };
    let rows: Vec<Vec<String>> = suite.document.rows.iter().filter_map(accounted).collect();
    if rows.is_empty() {
        return String::new();
    }
    let table = table(&["row", "rate x mean latency", "streams", "share"], 1, rows);
    format!("\n### Calls in flight that its figures account for\n\n{table}")
}

fn rules() -> String {
    let row = |rule: &Rule| vec![format!("`{rule}`"), rule.meaning().to_owned()];
    format!("\n## The rules\n\n{}", table(&["rule", "broken when"], 2, Rule::ALL.iter().map(row)))
}

const MODEL: &str = "
## The model

A server has `workers`, a `queue` before them, and takes a fixed time for each call. Callers, each with
one call at a time, share a fixed number of calls. A call that finds neither a worker nor a place in the
queue is rejected: silently (nobody answers, and the caller waits until its time-out) or promptly (it
fails at once). The server does not learn that a caller gave up. Nothing else costs anything, so a run of
a real server takes at least as long. There is no randomness in it. Its parameters are those of the
document; where a pool's size is not stated (`cached`), it is the callers less the printed failures.
";
