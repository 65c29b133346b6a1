//! docs/measure/claims.md: every claim with its figures, and the results of the audit and the
//! models.

use super::judged::{JudgedSuite, JudgedSuites};
use super::model::{Model, Rejection};
use super::quantity::Quantity;
use super::verdict::{ClaimVerdict, Judgement};
use crate::document::PrintedRow;
use bookend_results::audit::Rule;
use bookend_results::metric::Unit;
use bookend_results::suite::FULL_ROUNDS_MIN;

impl JudgedSuites {
    /// docs/measure/claims.md.
    pub fn markdown(&self) -> String {
        let judged = self.suites.iter().map(|one| (one, one.judgements()));
        let judged: Vec<Judged<'_>> = judged.collect();
        let mut page = INTRODUCTION.to_owned() + &overview(&judged);
        for (suite, judgements) in &judged {
            page += &section(suite, judgements);
        }
        page + &rules() + ENDING
    }
}

impl JudgedSuite {
    /// The claims and their verdicts as a short table, for the conclusion of a report.
    pub fn summary(&self) -> String {
        let judgements = self.judgements();
        let rows = judgements.iter().map(|one| {
            let quotient = one.claim.ours.as_ref().and_then(Quantity::over_text);
            vec![
                one.claim.text.clone(),
                one.claim.published.clone(),
                with_quotient(quotient.as_ref(), &one.ours),
                one.verdict.to_string(),
            ]
        });
        table("claim | published | ours | verdict", rows)
    }
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
    let rows = judged.iter().map(|(suite, judgements)| {
        let title = &suite.claims.document.title;
        let of = |verdict| judgements.iter().filter(move |one| one.verdict == verdict);
        let [held, not, unknown] = ClaimVerdict::ALL.map(|verdict| of(verdict).count());
        let counts = [judgements.len(), held, not, unknown, suite.findings.len()];
        let link = format!("[{title}](#{})", anchor(title));
        [vec![link], counts.map(|count| count.to_string()).to_vec()].concat()
    });
    let verdicts = ClaimVerdict::ALL.map(|verdict| verdict.to_string()).join(" | ");
    table(&format!("document | claims | {verdicts} | findings of the audit"), rows)
}

fn section(suite: &JudgedSuite, judgements: &[Judgement<'_>]) -> String {
    let headings = "claim | published | its own table | ours | verdict | why";
    let claims = table(headings, judgements.iter().map(claim_fields));
    format!(
        "\n## {}\n\n{}\n\n{claims}{}{}{}",
        suite.claims.document.title,
        provenance(suite),
        models(suite),
        findings(suite),
        in_flight(suite)
    )
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
    let whose = if suite.claims.document.are_expectations { EXPECTATIONS } else { "" };
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
fn claim_fields(one: &Judgement<'_>) -> Vec<String> {
    let own = one.claim.recomputed.as_ref().and_then(Quantity::over_text);
    let own = own.filter(|_| has_figure(&one.recomputed));
    let ours = one.claim.ours.as_ref().and_then(Quantity::over_text);
    let ours = ours.filter(|ours| own.as_ref() != Some(ours));
    vec![
        format!("**{}**: {} ({})", one.claim.id, one.claim.text, one.claim.place),
        one.claim.published.clone(),
        with_quotient(own.as_ref(), &one.recomputed),
        with_quotient(ours.as_ref(), &one.ours),
        one.verdict.to_string(),
        one.why.clone(),
    ]
}

fn has_figure(text: &str) -> bool {
    text.starts_with(|first: char| first.is_ascii_digit() || first == '-')
}

/// Figures, after what is divided by what in them.
fn with_quotient(quotient: Option<&String>, figures: &str) -> String {
    match quotient {
        Some(quotient) if has_figure(figures) => format!("{quotient}: {figures}"),
        _ if figures.is_empty() => "-".to_owned(),
        _ => figures.to_owned(),
    }
}

fn models(suite: &JudgedSuite) -> String {
    if suite.claims.models.is_empty() {
        return String::new();
    }
    let headings = "run | parameters | OK | failed | total | mean of all | mean of OK";
    let models = suite.claims.models.iter();
    let rows = models.flat_map(|model| [prediction_fields(model), printed_fields(suite, model)]);
    format!("\n### What a model predicts\n\n{}", table(headings, rows))
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
    let mut rows = suite.document.rows_of(&model.subject.subject, model.case);
    let row = rows.next();
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
        _ => table("rule | row | figures", rows),
    };
    let looked = suite.coverage.iter();
    let looked = looked.map(|one| format!("`{}` {} of {}", one.rule, one.broken, one.rows));
    let looked: Vec<String> = looked.collect();
    format!(
        "\n### What the audit finds in its tables\n\n{found}\nBroken, of the rows with the figures \
         for it: {}.\n",
        looked.join(", ")
    )
}

/// Little's law for every row that prints enough for it.
fn in_flight(suite: &JudgedSuite) -> String {
    let number = |calls: f64| Unit::Number.text(calls);
    let rows = suite.document.rows.iter().filter_map(|row| {
        let (calls, streams) = (row.calls_in_flight()?, row.streams()?);
        let share =
            [calls.low, calls.high].map(|calls| format!("{:.0} %", calls / streams * 100.0));
        let range = format!("{} to {}", number(calls.low), number(calls.high));
        let share = if share[0] == share[1] { share[0].clone() } else { share.join(" to ") };
        Some(vec![row.place.to_string(), range, number(streams), share])
    });
    let rows: Vec<Vec<String>> = rows.collect();
    if rows.is_empty() {
        return String::new();
    }
    let table = table("row | rate x mean latency | streams | share", rows);
    format!("\n### Calls in flight that its figures account for\n\n{table}")
}

fn rules() -> String {
    let row = |rule: &Rule| vec![format!("`{rule}`"), rule.meaning().to_owned()];
    format!(
        "\n## The rules of the audit\n\nA finding says that at least one figure of the row is not \
         what its heading says, or says something else than a reader will think.\n\n{}",
        table("rule | broken when", Rule::ALL.iter().map(row))
    )
}

fn table(headings: &str, rows: impl IntoIterator<Item = Vec<String>>) -> String {
    let rule = "---|".repeat(headings.split('|').count());
    let mut text = format!("| {headings} |\n|{rule}\n");
    for row in rows {
        let fields: Vec<String> = row.iter().map(|field| field.replace('|', "\\|")).collect();
        text.push_str(&format!("| {} |\n", fields.join(" | ")));
    }
    text
}

/// The anchor of a heading in links.
fn anchor(title: &str) -> String {
    let mut anchor = title.to_lowercase().replace(' ', "-");
    anchor.retain(|c| c.is_alphanumeric() || "-_".contains(c));
    anchor
}
