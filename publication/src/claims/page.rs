//! docs/measure/claims.md: the findings, a short table for each document, and how a claim is
//! judged. The reasons are on records/pages/reasons.md.

use super::judged::{JudgedSuite, JudgedSuites};
use super::outcome::ClaimOutcome;
use super::probed;
use super::statement::{Statement, TOLERANCE};
use super::verdict::{Answer, Judgement};
use crate::shortened::shortened;
use bookend_report::markdown::{table, wrapped};
use bookend_results::statistics::CONFIDENCE;
use bookend_results::suite::FULL_ROUNDS_MIN;

/// The page of the outcomes.
pub const CLAIMS_PAGE: &str = "docs/measure/claims.md";

/// Widths of the narrow table: most columns of a row, and fewest of a claim's sentence.
const ROW_MAX: usize = 119;
const SENTENCE_MIN: usize = 20;

/// A document with the outcomes of its claims.
type Judged<'a> = (&'a JudgedSuite, Vec<Judgement<'a>>);

impl JudgedSuites {
    /// Every page about claims, by its path in the repository.
    pub fn pages(&self) -> [(&'static str, String); 6] {
        [
            (CLAIMS_PAGE, self.markdown()),
            ("records/pages/reasons.md", self.reasons_page()),
            ("records/pages/audit.md", self.audit_page()),
            ("records/pages/changed-verdicts.md", self.changes_page()),
            ("records/pages/expectations.md", self.expectations()),
            ("records/pages/repeated.md", self.repeated_page()),
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

    /// records/pages/expectations.md: our own, of which no document says anything.
    pub fn expectations(&self) -> String {
        let sections = self.expected().map(|suite| section(&(suite, suite.judgements())));
        EXPECTATIONS.to_owned() + &sections.collect::<String>()
    }

    /// records/pages/reasons.md: each claim with its place, its figures and why its outcome is so.
    pub fn reasons_page(&self) -> String {
        let suites = self.documents().chain(self.expected());
        let section = |suite: &JudgedSuite| {
            format!("\n## {}\n\n{}", suite.claims.document.title, suite.reasons())
        };
        REASONS.to_owned() + &suites.map(section).collect::<String>()
    }

    fn expected(&self) -> impl Iterator<Item = &JudgedSuite> {
        self.suites.iter().filter(|suite| suite.claims.document.are_expectations)
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

What five published benchmarks claim, sentence by sentence, and what we measured on the real systems. `publication
claims` writes this page from `suites/*/claims.toml`, the published tables and the records of our runs; a test fails
when they give another page. See also

- the [reasons](../../records/pages/reasons.md): each claim with its place in the document, its figures and why its
  outcome is so,
- the [audit](../../records/pages/audit.md): what our rules find in the published tables, without any measurement,
- [second runs](../../records/pages/repeated.md) of suites, [verdicts that we
  changed](../../records/pages/changed-verdicts.md), and [our own
  expectations](../../records/pages/expectations.md), which no document states.

";

const EXPECTATIONS: &str = "\
# Expectations

No document has these figures. Each claim states what a source, which its [reason](reasons.md) names, makes one
expect of these servers; the bounds are ours. They are judged like the [claims](../../docs/measure/claims.md) of the
documents, and the tallies there leave them out.
";

const REASONS: &str = "\
# Reasons

Each claim of the [documents](../../docs/measure/claims.md) and each of our
[expectations](expectations.md): its place, its figures, and why its outcome is so. [How a claim is
judged](../../docs/measure/claims.md#how-a-claim-is-judged) explains the words. `publication claims` writes this page.
";

/// The declared sentences whose conditions the outcomes meet.
fn findings(documents: &[Judged<'_>]) -> String {
    let mut text = "## Findings\n\n".to_owned();
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
        text += "The present records decide none of the claims that have a sentence here.\n";
    }
    text + "\n"
}

fn tallies(documents: &[Judged<'_>]) -> String {
    let mut text = "## The outcomes\n\nDoes it replicate with the published client?\n\n".to_owned();
    text += &tally(documents, |one| Some(&one.replicates));
    text += "\nIs it so with a client that is not the limit? Asked where the published client could have shaped the answer.\n\n";
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
    let title = &suite.claims.document.title;
    let page = format!("../../records/pages/reasons.md#{}", anchor(title));
    let place = format!("Suite [{name}](../../suites/{name}). {rounds} {asked} [Reasons]({page}).");
    let place = wrapped(&place, "");
    format!("\n## {title}\n\n{place}\n{}", outcomes(judgements))
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
        "Intervals decide {judged} of the answers above. At {:.0} % each, expect about {wrong} of them to be \
         wrong by chance.",
        CONFIDENCE * 100.0
    );
    METHOD.replace("{tolerance}", &TOLERANCE.to_string())
        + &table(&["the claim says", "the figure is"], 2, words)
        + "\n"
        + &wrapped(&chance, "")
}

const METHOD: &str = "
## How a claim is judged

**Two questions.** *Same client*: does the claim replicate with the published client, its published flags, and the
published versions where a registry still has them? *Other client*: does it hold with a client that is not the limit?
A claim that no client could have shaped, such as one about memory, threads or the arithmetic of a table, has one
answer, under *same client*.

**Six outcomes.** *Replicated*; *more* than claimed, in the claim's favour; *not replicated*; *refuted* by the
document's own table, whatever anybody measures; *undecided*, with what would decide it; *not comparable* here, with
the reason. Where two runs of a suite disagree, the tables show both, and the tallies count the claim as one that
*differs*.

**A client at its limit** used 90 % or more of its CPU in most rounds. A rate through it is a lower bound, a latency an
upper bound, and nothing is known of errors and shares; under *other client* a claim that these bounds leave open is
undecided. Under *same client*, costs and rates are compared, because they were published through such a client;
latencies, and the profile of a server that it leaves idle, are not comparable. Figures that do not follow the load,
such as memory, threads and goroutines, are judged all the same.

**A stand-in** for a system that we cannot get answers nothing about that system: *not comparable*, in every suite.

**One tolerance.** Figures within a factor of {tolerance} count as the same. The documents print one run a row, without
an interval. Of our own single rounds, of one pair of servers under one load, seven in ten lie within that factor of
their median, so a stricter rule would often call a repetition of the same run another result. *More*, *less* and
*grows* are ratios whose whole interval lies beyond 1. A bound that nothing may cross, such as *no errors*, must hold
in every round.

**Figures** have the unit of what was printed. Ours is the median of the rounds, with an interval of at least 95 % from
order statistics: with ten rounds from the second smallest to the second largest. Comparisons of cells pair the rounds.
Fewer than six rounds have no interval, unless all are equal. A share of a profile is of one recording, with the
interval of a binomial share; with fewer than ten samples it has none. A claim about several cases is replicated where
all of them are, and not replicated where the interval of one lies outside even when widened for their number
(Bonferroni). *Marked in n of m rounds* counts rounds with a [mark](metrics.md#marks); where other processes used the
machine in most of them, the claim is undecided.

**Failed calls.** An outcome names every cell in which more than 1 % of the calls [failed](metrics.md#failed-calls). In
the tables, `!` marks a claim on cells in which more than 0.1 % did. *failed* is the largest share of a cell: with the
same client, and behind a stroke with the other one, if calls failed there.

";
