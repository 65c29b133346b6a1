//! The answer of a run, in words, the same on a terminal and on every page: who needs the least
//! CPU, by how much, and how sure that is.

use super::doubts::{bounds_line, doubts_line, failures_line};
use super::report::Report;
use crate::failed_calls;
use crate::first_few::first_few;
use bookend_results::failed_share::FailedShare;
use bookend_results::grouping::{each_once, grouped};
use bookend_results::metric;
use bookend_results::quoted::one_line;
use bookend_results::ranking::{InstrumentGroup, RankedSubject, Ranking, Rankings};
use bookend_results::ratio::ratio_text;
use bookend_results::statistics::Ratio;
use bookend_results::suite::{Case, TestedEnd};
use bookend_results::table::{Cell, Rank, is_lower_bound};
use bookend_results::text::{rate_text, significant_text};

/// Most lines of an answer.
pub const ANSWER_LINES_MAX: usize = 5;

/// Most items of a list that are named.
const NAMED_MAX: usize = 3;

impl Report<'_> {
    /// The answer, a sentence or two a line, at most [`ANSWER_LINES_MAX`] lines. A run without any
    /// figure says so.
    pub fn answer(&self) -> Vec<String> {
        let rankings = Rankings::of(&self.run.new.plan, &self.table, self.rows);
        let mut lines = match self.table.is_empty() {
            true => vec!["Nothing was measured: no cell of this run has a figure.".to_owned()],
            false => self.compared(&rankings),
        };
        if lines.is_empty() {
            lines.push(self.uncompared());
            lines.extend(self.costs_alone());
        }
        lines.extend(failures_line(&self.table));
        if !self.table.is_empty() {
            lines.push(self.certainty());
        }
        // A name or an error may hold anything, and a line is to stay one.
        lines.iter().map(|line| one_line(line)).collect()
    }

    /// Why no subject is compared with another.
    fn uncompared(&self) -> String {
        let why = match self.run.new.plan.baseline() {
            Some(baseline) => format!("no round has both {} and another row", baseline.name),
            None => "no subject is the baseline (--baseline NAME makes one)".to_owned(),
        };
        format!("Nothing is compared: {why}.")
    }

    /// Which subject is cheapest, which comes next, and what other instruments say of it.
    pub(super) fn compared(&self, rankings: &Rankings<'_>) -> Vec<String> {
        let Some(group) = rankings.main() else {
            return Vec::new();
        };
        let Some(ranking) = rankings.ranking(group) else {
            return Vec::new();
        };
        let others: Vec<&RankedSubject> = ranking.others().collect();
        let Some(first) = others.first() else {
            return Vec::new();
        };
        let mut lines = vec![self.leader_line(&ranking, group, &others)];
        let baseline = failed_calls::marked_name(ranking.baseline());
        lines.extend(followers_line(rankings, &baseline, &others));
        lines.extend(self.elsewhere_line(rankings, group, (&baseline, &first.name)));
        lines
    }

    fn leader_line(
        &self,
        ranking: &Ranking,
        group: &InstrumentGroup,
        others: &[&RankedSubject],
    ) -> String {
        let [first, rest @ ..] = others else {
            return String::new();
        };
        format!(
            "{}: {} times as many requests per CPU-second as {}, {}{}.{}",
            ahead(ranking, first, !rest.is_empty()),
            ratio_with_interval(&first.ratio),
            named(ranking.baseline()),
            self.through(&group.instruments),
            over_cases(ranking, first),
            joined_clause(ranking)
        )
    }

    /// The same comparison through instruments that are not the main one.
    fn elsewhere_line(
        &self,
        rankings: &Rankings<'_>,
        main: &InstrumentGroup,
        (baseline, leader): (&str, &str),
    ) -> Option<String> {
        let clauses: Vec<String> = rankings
            .groups()
            .iter()
            .filter(|group| *group != main)
            .filter_map(|group| self.elsewhere_clause(rankings, group, leader))
            .take(NAMED_MAX)
            .collect();
        let one = clauses.iter().any(|clause| !clause.contains(" is at "));
        let what = if one { format!(" for {leader}") } else { String::new() };
        (!clauses.is_empty())
            .then(|| format!("Over {baseline}, measured otherwise{what}: {}.", clauses.join("; ")))
    }

    /// Through one group of instruments: the leader, or whoever leads there if it was not measured.
    fn elsewhere_clause(
        &self,
        rankings: &Rankings<'_>,
        group: &InstrumentGroup,
        leader: &str,
    ) -> Option<String> {
        let ranking = rankings.ranking(group)?;
        let one = ranking.others().find(|one| one.name == leader).or(ranking.others().next())?;
        let name = failed_calls::marked_name(one);
        let who = if one.name == leader { String::new() } else { format!("{name} is at ") };
        let of_both = [one, ranking.baseline()];
        let failed = of_both.map(|one| (one.failed.map(|(share, _)| share), one.name.clone()));
        let failed = FailedShare::clause(failed);
        let limit = self.limit_of(group);
        let ratio = ratio_with_interval(&one.ratio);
        Some(format!("{}, {who}{ratio}{limit}{failed}", self.through(&group.instruments)))
    }

    /// Rows in which an instrument was the limit: they say little about what it measured.
    fn limit_of(&self, group: &InstrumentGroup) -> String {
        let verdicts: Vec<bool> = self
            .table
            .cells
            .iter()
            .filter(|cell| {
                cell.rank != Rank::Calibration && group.instruments.contains(&cell.id.instrument)
            })
            .filter_map(Cell::summary)
            .map(is_lower_bound)
            .collect();
        match verdicts.iter().filter(|is_bound| **is_bound).count() {
            0 => String::new(),
            rows => format!(" (it was the limit in {rows} of {} rows)", verdicts.len()),
        }
    }

    /// Requests per CPU-second of each subject, where there is nothing to compare with.
    fn costs_alone(&self) -> Option<String> {
        let measured =
            self.table.cells.iter().filter(|cell| cell.rank != Rank::Calibration && cell.run == 0);
        let costs = measured.filter_map(|cell| {
            let cost = cell.summary()?.value(&metric::REQUESTS_PER_CPU_SECOND)?;
            Some((&cell.id.subject, (cost, cell.failed_share().map(|share| (share, cell.case)))))
        });
        let each: Vec<String> = grouped(costs)
            .into_iter()
            .map(|(subject, cells)| cost_alone(subject, &cells))
            .take(NAMED_MAX + 2)
            .collect();
        (!each.is_empty()).then(|| format!("Requests per CPU-second: {}.", each.join(", ")))
    }

    /// How much there is to rely on, and what to doubt.
    fn certainty(&self) -> String {
        let against: String = [bounds_line(&self.table), doubts_line(self, &self.table)]
            .into_iter()
            .flatten()
            .map(|line| format!(" {line}"))
            .collect();
        format!(
            "How sure: {} rounds in random order; brackets hold 95 % intervals, ~ is not told apart \
             from 1, and ? has too few rounds to know.{against}",
            self.stored_rounds()
        )
    }

    /// `through ghz`, or for clients `against cpp-grpc`.
    pub(super) fn through(&self, instruments: &[String]) -> String {
        let is_client = self
            .table
            .cells
            .iter()
            .filter_map(Cell::summary)
            .map(|one| one.side)
            .any(|side| side == TestedEnd::Client);
        let word = if is_client { "against" } else { "through" };
        format!("{word} {}", instruments.join(" and "))
    }
}

/// A subject, with its calls that failed and the cases that it lacks.
fn named(one: &RankedSubject) -> String {
    let missing = match one.missing.as_slice() {
        [] => None,
        [case] => Some(format!("without {case}")),
        [case, more @ ..] => Some(format!("without {case} and {} more", more.len())),
    };
    let known: Vec<String> = failed_calls::told(one.failed).into_iter().chain(missing).collect();
    let name = failed_calls::marked_name(one);
    if known.is_empty() { name } else { format!("{name} ({})", known.join("; ")) }
}

/// Which subject needs the least, the baseline among them. A subject that lacks more cases than
/// another is not ahead of it for that.
fn ahead(ranking: &Ranking, first: &RankedSubject, are_several: bool) -> String {
    let (baseline, name) = (ranking.baseline(), named(first));
    // Whatever else is to be said of it stands in the same line.
    let of_baseline = failed_calls::marked_name(baseline);
    if first.ratio.interval.is_none() {
        let rounds = first.ratio.pairs;
        return format!("{name} over {of_baseline}, in {rounds} rounds, too few to be sure of it",);
    }
    if first.ratio.is_indistinct() {
        return format!("{name} and {of_baseline} are not told apart");
    }
    let is_baseline_ahead = first.ratio.median < 1.0;
    let lacks_more = first.missing.len() > baseline.missing.len();
    let lacks_fewer = first.missing.len() < baseline.missing.len();
    let leader = if is_baseline_ahead && !lacks_fewer { baseline } else { first };
    let of_whom = if ranking.is_undercut(leader) { " of those with the most cases" } else { "" };
    match (leader.is_baseline, are_several) {
        (true, true) => format!("{of_baseline} needs the least CPU{of_whom}; next is {name}"),
        (true, false) => format!("{of_baseline} needs less CPU than {name}"),
        (false, true) if !lacks_more => format!("{name} needs the least CPU{of_whom}"),
        (false, _) if is_baseline_ahead => format!("{name} needs the least CPU{of_whom}"),
        (false, _) => format!("{name} needs less CPU than {of_baseline}"),
    }
}

/// Which subject comes after the first, and whether the first is surely ahead of the second.
fn followers_line(
    rankings: &Rankings<'_>,
    baseline: &str,
    others: &[&RankedSubject],
) -> Option<String> {
    let [first, second, rest @ ..] = others else {
        return None;
    };
    let next = named(second);
    let ahead = match rankings.between(first, second) {
        Some(ratio) if ratio.interval.is_none() => {
            format!(
                "{next}: the first answers {} times as many, in too few rounds",
                ratio_text(&ratio)
            )
        }
        Some(ratio) if ratio.is_indistinct() => {
            format!("{next}, not told apart from it ({})", ratio_with_interval(&ratio))
        }
        Some(ratio) => {
            format!("{next}: the first answers {} times as many", ratio_with_interval(&ratio))
        }
        None => format!("{next} at {}", ratio_with_interval(&second.ratio)),
    };
    let others: Vec<String> =
        rest.iter().map(|one| format!("{} {}", named(one), ratio_text(&one.ratio))).collect();
    let then =
        listed(others).map_or(String::new(), |others| format!("; then, over {baseline}: {others}"));
    Some(format!("Next comes {ahead}{then}."))
}

/// The first few of those that differ. `None` without any.
fn listed(items: Vec<String>) -> Option<String> {
    (!items.is_empty()).then(|| first_few(&each_once(items)))
}

/// Requests per CPU-second of the cells of a subject, with the largest share of failed calls.
fn cost_alone(subject: &str, cells: &[(f64, Option<(FailedShare, Case)>)]) -> String {
    let costs: Vec<f64> = cells.iter().map(|(cost, _)| *cost).collect();
    let failed = cells.iter().filter_map(|(_, failed)| *failed);
    let most = failed.reduce(|most, one| if one.0 > most.0 { one } else { most });
    let name = FailedShare::marked(most.map(|(share, _)| share), subject);
    let told = failed_calls::told(most).map_or(String::new(), |told| format!(" ({told})"));
    format!("{name} {}{told}", range_text(&costs))
}

/// `41000`, or `41000 to 52000` for several.
fn range_text(costs: &[f64]) -> String {
    let least = costs.iter().copied().fold(f64::INFINITY, f64::min);
    let most = costs.iter().copied().fold(0.0, f64::max);
    match costs.len() {
        1 => rate_text(most),
        _ => format!("{} to {}", rate_text(least), rate_text(most)),
    }
}

/// `8.31 (8.10 to 8.60)`
pub fn ratio_with_interval(ratio: &Ratio) -> String {
    let interval = ratio.interval.map_or(String::new(), |ends| {
        format!(" ({} to {})", significant_text(ends.low), significant_text(ends.high))
    });
    format!("{}{interval}", ratio_text(ratio))
}

/// The cases behind a figure that is one of many.
fn over_cases(ranking: &Ranking, one: &RankedSubject) -> String {
    let [least, most] = [one.least, one.most].map(significant_text);
    match ranking.cases.first() {
        Some(only) if ranking.cases.len() == 1 => format!(", at {only}"),
        _ => {
            let cases = cases_text(ranking);
            format!(", in the mean of {cases} cases ({least} to {most} in single ones)")
        }
    }
}

/// Those of a record that were measured in a later run.
fn joined_clause(ranking: &Ranking) -> String {
    let joined = ranking.unranked.iter().filter(|one| one.is_joined);
    let names = listed(joined.map(|one| one.name.clone()).collect());
    names.map_or(String::new(), |names| {
        format!(" Not ranked, measured in a run of its own: {names}.")
    })
}

/// How many cases a ranking is over: `12`, or `11 of 12`.
pub fn cases_text(ranking: &Ranking) -> String {
    match (ranking.cases.len(), ranking.known_cases) {
        (cases, known) if cases < known => format!("{cases} of {known}"),
        (cases, _) => cases.to_string(),
    }
}
