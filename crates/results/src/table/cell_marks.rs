//! The marks of a cell over all its rounds, a clause each.

use super::limit::disagreement;
use crate::audit::{CallCounts, Finding, HISTOGRAM_SLACK, RowFigures, Rule, Span, audit, finding};
use crate::failed_share::FailedShare;
use crate::mark::Mark;
use crate::measurement::{Outcome, Row};
use crate::metric::cut_off_metrics;
use crate::round::{MeasuredRound, MeasuredRounds, measurement};
use crate::steady;
use crate::suite::{Case, Plan, TestedEnd};
use crate::text::{precise_latency_text, rate_text};
use hdrhistogram::Histogram;
use std::collections::{BTreeMap, BTreeSet};

/// The percentiles that tables show, which the audit checks.
const PERCENTILES: [f64; 5] = [50.0, 90.0, 95.0, 99.0, 99.9];

/// The marks of a cell. `own` are its rows, `rounds` its measured rounds, and `all` the rows of the
/// run, from which the counts of both ends are compared.
pub(super) fn cell_marks(
    plan: &Plan,
    case: Case,
    own: &[&Row],
    rounds: &MeasuredRounds<'_>,
    all: &[Row],
) -> Vec<String> {
    let each = rounds.each();
    let mut marks = noted(each);
    marks.extend(calls_failed(rounds));
    marks.extend(failed_rounds(own));
    marks.extend(cut_off(rounds));
    marks.extend(broken_rules(plan, case, each));
    marks.extend(differing_counts(own, all));
    marks.extend(disagreement(plan, each));
    marks.extend(steady::mark(each.iter().map(|round| round.window.steady)));
    marks
}

/// The names of the rules that mark the window of a measured row.
pub fn rules_of(plan: &Plan, row: &Row) -> BTreeSet<&'static str> {
    let mut rules = BTreeSet::new();
    for round in MeasuredRounds::of([row], None).each() {
        rules.extend(round.window.marks.iter().map(Mark::rule));
        rules.extend(
            audit(&audited(plan, row.cell.case, round))
                .into_iter()
                .map(|finding| finding.rule.name()),
        );
        rules.extend(calls_failed_in(round).as_ref().map(Mark::rule));
        if steady::mark(std::iter::once(round.window.steady)).is_some() {
            rules.insert("not-steady");
        }
    }
    rules
}

/// The notes on single windows: those that give a share of the window once a rule, with the
/// largest, the others once a text; each with the number of rounds that have it.
fn noted(rounds: &[MeasuredRound<'_>]) -> Vec<String> {
    let mut largest: BTreeMap<(&str, String), (usize, &Mark)> = BTreeMap::new();
    for round in rounds {
        let marks = round.window.marks.iter().map(|mark| {
            let text = mark.share().map_or_else(|| mark.to_string(), |_| String::new());
            ((mark.rule(), text), mark)
        });
        for (kind, mark) in marks.collect::<BTreeMap<_, _>>() {
            let (count, most) = largest.entry(kind).or_insert((0, mark));
            *count += 1;
            if mark.share() > most.share() {
                *most = mark;
            }
        }
    }
    let clause = |(count, mark): (usize, &Mark)| {
        let clause = if count > 1 { mark.as_worst() } else { mark.to_string() };
        format!("{clause} ({count} of {} rounds)", rounds.len())
    };
    largest.into_values().map(clause).collect()
}

/// More calls than may fail without a word, over all rounds.
fn calls_failed(rounds: &MeasuredRounds<'_>) -> Option<String> {
    let share = FailedShare::of_rounds(rounds).filter(|share| share.is_marked())?;
    let mark = Mark::CallsFailed { share: share.share() };
    let each = rounds.each();
    let failed = each.iter().filter(|round| round.window.counts.failed() > 0).count();
    Some(format!("{mark} ({failed} of {} rounds)", each.len()))
}

/// The mark of a round of which as much can be said.
fn calls_failed_in(round: &MeasuredRound<'_>) -> Option<Mark> {
    let counts = &round.window.counts;
    let share = FailedShare::of_calls(counts.failed(), counts.ok)?;
    share.is_marked().then(|| Mark::CallsFailed { share: share.share() })
}

fn failed_rounds(rows: &[&Row]) -> Option<String> {
    let failures: Vec<&String> = rows
        .iter()
        .filter_map(|row| match &row.outcome {
            Outcome::Failed { error, .. } => Some(error),
            _ => None,
        })
        .collect();
    let first = failures.first()?;
    Some(format!("failed in {} of {} rounds: {first}", failures.len(), rows.len()))
}

/// What the ends of the windows cut off, where that makes latencies lower bounds.
fn cut_off(rounds: &MeasuredRounds<'_>) -> Option<String> {
    let latencies: Vec<&str> = cut_off_metrics(rounds)
        .into_iter()
        .map(|metric| metric.name)
        .filter_map(|name| name.strip_prefix("latency_"))
        .collect();
    let cut_off = rounds.cut_off().filter(|_| !latencies.is_empty())?;
    let age = cut_off.ages.map_or(String::new(), |ages| {
        let mean = precise_latency_text(ages.mean_ns);
        format!(", {mean} old on average, {} at most", precise_latency_text(ages.max_ns))
    });
    Some(format!(
        "cut off: {} calls were in flight at the ends of windows that counted {}{age}: {} {} at \
         least what is printed",
        rate_text(cut_off.calls),
        rate_text(cut_off.counted),
        latencies.join(", "),
        if latencies.len() == 1 { "is" } else { "are" }
    ))
}

/// The audit's findings in all rounds, one clause for each rule with the first evidence.
fn broken_rules(plan: &Plan, case: Case, rounds: &[MeasuredRound<'_>]) -> Vec<String> {
    let mut by_rule: BTreeMap<Rule, (usize, Finding)> = BTreeMap::new();
    for round in rounds {
        for finding in audit(&audited(plan, case, round)) {
            by_rule.entry(finding.rule).or_insert((0, finding)).0 += 1;
        }
    }
    let clause = |(count, finding): (usize, Finding)| {
        format!("{finding} ({count} of {} rounds)", rounds.len())
    };
    by_rule.into_values().map(clause).collect()
}

fn audited(plan: &Plan, case: Case, round: &MeasuredRound<'_>) -> RowFigures {
    let measurement = round.window;
    let (counts, ends) = (&measurement.counts, &measurement.ends);
    let latencies = round.latencies();
    let figure = |of: fn(&Histogram<u64>) -> f64| latencies.map(of).map(Span::exact);
    let at = |percent| Some((percent, latencies?.value_at_percentile(percent) as f64));
    let percentiles = PERCENTILES
        .into_iter()
        .filter_map(at)
        .map(|(percent, value)| (percent, Span::exact(value)))
        .collect();
    RowFigures {
        // Failed calls occupy streams too, for an unknown time.
        streams: (counts.failed() * 100 <= counts.ok).then_some(f64::from(case.concurrency)),
        window_seconds: Some(measurement.window_seconds),
        cut_off: round.cut_off(),
        window: round.window_figures(),
        requests_per_second: Some(Span::exact(measurement.requests_per_second())),
        mean_ns: figure(Histogram::mean),
        latency_slack: HISTOGRAM_SLACK,
        min_ns: figure(|all| all.min() as f64),
        max_ns: figure(|all| all.max() as f64),
        percentiles_ns: percentiles,
        cpu: Some(Span::exact(measurement.server_cpu())),
        cpu_limit: ends.server.cpu_limit,
        memory_bytes: ends.tested().memory_peak_bytes.map(|bytes| Span::exact(bytes as f64)),
        // The memory is that of the end under test, and only servers have a limit.
        memory_limit_bytes: plan
            .limits
            .server_memory_bytes
            .filter(|_| ends.side == TestedEnd::Server)
            .map(|bytes| bytes as f64),
    }
}

/// Rounds in which the counts of the cell's two ends differ and the lab has not marked this yet.
/// Most servers live for a whole round and count the calls of all their cells.
fn differing_counts(own: &[&Row], all: &[Row]) -> Vec<String> {
    let is_noted = |mark: &Mark| matches!(mark, Mark::CountsDiffer(_));
    let differing = |row: &&Row| {
        if measurement(row)?.marks.iter().any(is_noted) {
            return None;
        }
        let same_life = |other: &&Row| row.shares_server_with(other);
        let (counts, served) = counts_of(all.iter().filter(same_life))?;
        let mismatch = counts.check(served)?;
        let finding = finding(Rule::CountsDiffer, mismatch.to_string());
        Some(format!("{finding} (round {})", row.round))
    };
    own.iter().filter_map(differing).collect()
}

/// What the callers of one server know, and what it reported. `None` when it reported nothing, or
/// when a cell failed so that its number of calls is unknown.
fn counts_of<'a>(life: impl Iterator<Item = &'a Row>) -> Option<(CallCounts, u64)> {
    let mut counts = CallCounts::default();
    let mut served = None;
    for row in life {
        served = served.max(row.served);
        counts += row.outcome.window()?.counts.call_counts();
        counts.answered = counts.answered.saturating_add(row.probe_calls);
    }
    Some((counts, served?))
}
