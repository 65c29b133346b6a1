//! docs/measure/claims.md: what one would tell a colleague, then a short table for each document
//! with the reasons folded away, then how a claim is judged.

use super::judged::{JudgedSuite, JudgedSuites};
use super::outcome::ClaimOutcome;
use super::probed;
use super::statement::{Statement, TOLERANCE};
use super::verdict::{Answer, Judgement};
use crate::shortened::shortened;
use bookend_report::markdown::{folded, table, wrapped};
use bookend_results::statistics::CONFIDENCE;
use bookend_results::suite::FULL_ROUNDS_MIN;

/// Widths of the narrow table: most columns of a row, and fewest of a claim's sentence.
const ROW_MAX: usize = 119;
const SENTENCE_MIN: usize = 20;

/// A document with the outcomes of its claims.
type Judged<'a> = (&'a JudgedSuite, Vec<Judgement<'a>>);

impl JudgedSuites {
    /// Every page about claims, by the name of its file in docs/measure.
    pub fn pages(&self) -> [(&'static str, String); 4] {
        [
            ("claims.md", self.markdown()),
            ("audit.md", self.audit_page()),
            ("changed-verdicts.md", self.changes_page()),
            ("expectations.md", self.expectations()),
        ]
    }

    /// docs/measure/claims.md.
    pub fn markdown(&self) -> String {
        let documents: Vec<Judged<'_>> =
            self.documents().map(|suite| (suite, suite.judgements())).collect();
        let sections: String = documents.iter().map(section).collect();
        [INTRODUCTION, &findings(&documents), &tallies(&documents), &sections, &method(&documents)]
            .concat()
    }

    /// The published documents, in the order in which they are shown.
    pub fn documents(&self) -> impl Iterator<Item = &JudgedSuite> {
        let is_document = |suite: &&JudgedSuite| !suite.claims.document.are_expectations;
        let mut documents: Vec<&JudgedSuite> = self.suites.iter().filter(is_document).collect();
        documents.sort_by_key(|suite| suite.claims.document.place);
        documents.into_iter()
    }

    /// docs/measure/expectations.md: our own, of which no document says anything.
    pub fn expectations(&self) -> String {
        let sections: String = self
            .suites
            .iter()
            .filter(|suite| suite.claims.document.are_expectations)
            .map(|suite| section(&(suite, suite.judgements())))
            .collect();
        EXPECTATIONS.to_owned() + &sections
    }
}

impl JudgedSuite {
    /// What each outcome rests on, a paragraph for each claim.
    pub fn reasons(&self) -> String {
        self.judgements().iter().map(paragraph).collect()
    }

    /// What the probe found of each server of the suite, a sentence each.
    pub fn probed_servers(&self) -> Vec<String> {
        probed::of_suite(self)
    }
}

const INTRODUCTION: &str = "\
# Claims

What five published benchmarks say, sentence by sentence, and what became of it on the real systems. This
page is written by `publication claims` from `suites/*/claims.toml`, the published tables beside it and the
records of our runs; a test fails when it is not what they give. Beside it: what the
[audit](audit.md) finds in their tables, [what changed](changed-verdicts.md) against our earlier
verdicts, which outcomes [a second run](repeated.md) gave as well, and [our own
expectations](expectations.md).

";

const EXPECTATIONS: &str = "\
# Expectations

No document has these figures: each claim is what its source, which it names, makes one expect of these
servers, and its bounds are ours. They are judged like the [claims](claims.md) of the documents, and
counted in no tally of theirs.
";

/// The sentences for a colleague, where the outcomes are those that they speak of.
fn findings(documents: &[Judged<'_>]) -> String {
    let mut text = "## What one would tell a colleague\n\n".to_owned();
    let judgements =
        documents.iter().flat_map(|(suite, all)| all.iter().map(move |one| (suite, one)));
    let before = text.len();
    for (suite, one) in judgements {
        if let Some(sentence) = &one.finding {
            let title = &suite.claims.document.title;
            let line = format!("- {sentence} ([{title}](#{}))", anchor(title));
            text += &wrapped(&line, "  ");
        }
    }
    if text.len() == before {
        text += "The present records decide none of the claims that would be told here.\n";
    }
    text + "\n"
}

fn tallies(documents: &[Judged<'_>]) -> String {
    let mut text = "## The outcomes\n\nDoes it replicate?\n\n".to_owned();
    text += &tally(documents, |one| Some(&one.replicates));
    text += "\nIs it so? Asked where the published client could have shaped the answer.\n\n";
    text + &tally(documents, |one| one.is_it_so.as_ref())
}

fn tally<'a>(
    documents: &'a [Judged<'a>],
    of: fn(&'a Judgement<'a>) -> Option<&'a Answer>,
) -> String {
    let headings =
        [&["document", "claims"][..], &ClaimOutcome::ALL.map(ClaimOutcome::short)].concat();
    let row = |(suite, judgements): &'a Judged<'a>| {
        let title = &suite.claims.document.title;
        let outcomes: Vec<ClaimOutcome> =
            judgements.iter().filter_map(of).map(Answer::counted).collect();
        let count = |outcome| outcomes.iter().filter(|one| **one == outcome).count().to_string();
        let name = format!("[{}](#{})", suite.suite, anchor(title));
        let counts = ClaimOutcome::ALL.map(count);
        [name, outcomes.len().to_string()].into_iter().chain(counts).collect::<Vec<_>>()
    };
    table(&headings, 1, documents.iter().map(row))
}

/// The anchor of a heading in links.
fn anchor(title: &str) -> String {
    let lower = title.to_lowercase();
    lower
        .chars()
        .filter(|c| c.is_alphanumeric() || " -_".contains(*c))
        .map(|c| if c == ' ' { '-' } else { c })
        .collect()
}

fn section((suite, judgements): &Judged<'_>) -> String {
    let name = &suite.suite;
    let rounds = match &suite.record {
        None => "There is no record of a full run yet.".to_owned(),
        Some(record) => format!("The record has {}.", rounds(record.rounds())),
    };
    let asked = &suite.claims.document.asked;
    let place = format!("Suite [{name}](../../suites/{name}). {rounds} {asked}");
    let place = wrapped(&place, "");
    let title = &suite.claims.document.title;
    format!("\n## {title}\n\n{place}\n{}\n{}", outcomes(judgements), reasons(judgements))
}

fn rounds(count: u32) -> String {
    let plural = if count == 1 { "" } else { "s" };
    if count < FULL_ROUNDS_MIN {
        format!("{count} round{plural} of the {FULL_ROUNDS_MIN} that a result to be quoted needs")
    } else {
        format!("{count} rounds")
    }
}

/// The narrow table.
fn outcomes(judgements: &[Judgement<'_>]) -> String {
    let has_failed = judgements.iter().any(|one| one.failed_most().is_some());
    let rows = judgements.iter().map(|one| {
        let other = one.is_it_so.as_ref().map_or("-".to_owned(), Answer::in_short);
        let same = one.replicates.in_short();
        let most = || one.failed_most().map_or_else(|| "-".to_owned(), |most| most.to_string());
        let failed = has_failed.then(most);
        let rest: Vec<String> =
            [one.claim.published.clone(), same, other].into_iter().chain(failed).collect();
        let used: usize = rest.iter().map(|field| field.chars().count() + " | ".len()).sum();
        let room = ROW_MAX.saturating_sub(used + "|  |".len()).max(SENTENCE_MIN);
        [vec![shortened(&one.marked_sentence(), room)], rest].concat()
    });
    let headings = ["claim", "they printed", "same client", "other client"];
    let headings: Vec<&str> = headings.into_iter().chain(has_failed.then_some("failed")).collect();
    table(&headings, headings.len(), rows)
}

/// What each outcome rests on, a paragraph for each claim.
fn reasons(judgements: &[Judgement<'_>]) -> String {
    let paragraphs: String = judgements.iter().map(paragraph).collect();
    folded("Each claim with its place, its figures and the reason for its outcome", &paragraphs)
}

fn paragraph(one: &Judgement<'_>) -> String {
    let claim = one.claim;
    let mut text = format!("- **{}** ({}): {}.\n", claim.id, claim.place, claim.text);
    text += &format!("  Printed: {}.", claim.published);
    if !one.recomputed.is_empty() {
        text += &format!(" By its own table: {}.", of_what(&one.recomputed_of, &one.recomputed));
    }
    text.push('\n');
    let questions = ["Does it replicate?", "Is it so?"];
    for (question, answer) in questions.into_iter().zip(one.answers()) {
        let question = if one.is_it_so.is_some() { format!("{question} ") } else { String::new() };
        let again = answer.differing().map_or_else(String::new, |again| {
            let figure = Some(again.figure.as_str()).filter(|figure| !figure.is_empty());
            let figure = figure.map_or_else(String::new, |figure| format!(", {figure}"));
            format!(" The other run: **{}**{figure}.", again.outcome)
        });
        text += &format!("  {question}**{}**: {}{again}\n", answer.verdict(), reason(answer));
    }
    if let Some(why) = &one.why {
        text += &format!("  {why}\n");
    }
    text.extend(one.probed.iter().map(|found| format!("  {found}\n")));
    text
}

fn reason(answer: &Answer) -> String {
    let shows_figures = answer.figures.is_empty() || answer.why.contains(&answer.figures);
    let why = &answer.why;
    match &answer.of {
        Some(of) if shows_figures => format!("{of}: {why}"),
        _ if shows_figures => why.clone(),
        of => format!("{why} Ours: {}.", of_what(of, &answer.figures)),
    }
}

/// Figures, after what is divided by what in them.
fn of_what(of: &Option<String>, figures: &str) -> String {
    of.as_ref().map_or_else(|| figures.to_owned(), |of| format!("{of}: {figures}"))
}

fn method(documents: &[Judged<'_>]) -> String {
    let answers = documents.iter().flat_map(|(_, judgements)| judgements);
    let judged =
        answers.flat_map(Judgement::answers).filter(|answer| answer.is_by_interval).count();
    let wrong = (judged as f64 * (1.0 - CONFIDENCE)).ceil();
    let words =
        Statement::ALL.map(|(_, word, meaning)| vec![format!("`{word}`"), meaning.to_owned()]);
    let chance = format!(
        "Intervals decide {judged} of the answers above. At {:.0} % each, about {wrong} of them must be \
         expected to be wrong by chance.",
        CONFIDENCE * 100.0
    );
    METHOD.replace("{tolerance}", &TOLERANCE.to_string())
        + &table(&["the claim says", "the figure is"], 2, words)
        + "\n"
        + &wrapped(&chance, "")
}

const METHOD: &str = "
## How a claim is judged

**Two questions.** *Same client*: does it replicate, with the published client, its published flags, and
the published versions where a registry has them? *Other client*: is it so, with a client that is not the
limit? A claim that no client could have shaped, such as one about memory, threads or
the arithmetic of a table, has one answer, which stands under *same client*.

**Six outcomes.** *Replicated*; *more*: more than claimed, in its own favour; *not replicated*; *refuted* by its
own table, whatever anybody measures; *undecided*, and then the reason says what would decide it; *not
comparable* here, and why. *Other client* uses the same words. Where a suite was run twice and the runs do not
say the same, both are shown, and the claim is counted as one that *differs* between runs.

**A client at its limit.** One that used 90 % or more of its CPU in most rounds is the limit. A rate through it
is at least that, a latency at most that, and of errors and shares nothing is known: what such a bound leaves
open under *other client* is undecided. Under *same client* costs and rates are those that were published through
such a client; its latencies, and the profile of a server that it leaves idle, are not comparable. What does not
follow the load, such as memory, threads and goroutines, is judged all the same.

**A stand-in** for a system that cannot be had answers nothing about that system: not comparable, in every suite.

**One tolerance.** Figures within a factor of {tolerance} count as the same. The documents print one run a
row, without an interval; single rounds of ours, of one pair of servers under one load, lie within that
factor of their own median in seven of ten cases, so a stricter rule would often call the very same run
another result. *More*, *less* and *grows* are ratios whose whole interval lies beyond 1. A bound that
nothing may cross, such as *no errors*, must be kept in every round.

**Figures.** They stand in the unit of what was printed: of a ratio of printed figures the figures, of a count of
successes the successes. *Ours* is the median of the rounds and its interval with at least 95 %, from order statistics:
with ten rounds from the second smallest to the second largest. Where cells are compared, the rounds are
paired. Fewer than six rounds have no interval, unless all are equal. A share of a profile is of one
recording, with the interval of a binomial part; of fewer than ten samples there is none. A claim about
several cases is replicated where all are, and not where the interval of one lies outside, even when it is
widened for their number (Bonferroni). *Marked in n of m rounds* counts rounds that a reader has
[reason to doubt](metrics.md#marks); where others used the machine in most of them, the claim is undecided.

**Failed calls.** Where more than 1 % of the calls of a cell [failed](metrics.md#failed-calls), whichever it is, the
outcome says so. In the tables, `!` marks a claim on cells in which more than 0.1 % did, and *failed* is the largest
share of a cell: with the same client, and behind a stroke with the other one, if calls failed there.

";
