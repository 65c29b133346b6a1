//! The answer of a run, in words, the same on a terminal and on every page: who needs the least
//! CPU, by how much, and how sure that is.

mod overall;

use super::doubts::{bounds_line, doubts_line, failures_line};
use super::report::Report;
use bookend_results::grouping::{each_once, grouped};
use bookend_results::metric;
use bookend_results::quoted::one_line;
use bookend_results::ratio::ratio_text;
use bookend_results::statistics::Ratio;
use bookend_results::suite::TestedEnd;
use bookend_results::table::{Cell, Rank, is_lower_bound};
use bookend_results::text::{rate_text, significant_text};
use overall::{Group, Overall, Overalls};

/// An answer has at most so many lines.
pub const ANSWER_LINES_MAX: usize = 5;

/// Of what there may be many, so many are named.
const NAMED_MAX: usize = 3;

impl Report<'_> {
    /// The answer, a sentence or two a line, at most [`ANSWER_LINES_MAX`] lines. A run without any
    /// figure says so.
    pub fn answer(&self) -> Vec<String> {
        let overalls = Overalls::of(&self.run.new.plan, &self.table, self.rows);
        let mut lines = match self.table.is_empty() {
            true => vec!["Nothing was measured: no cell of this run has a figure.".to_owned()],
            false => self.compared(&overalls),
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

    /// Who is cheapest, who comes next, and what other instruments say of it.
    fn compared(&self, overalls: &Overalls<'_>) -> Vec<String> {
        let Some(group) = overalls.main() else {
            return Vec::new();
        };
        let standings = overalls.standings(group);
        let Some(first) = standings.first() else {
            return Vec::new();
        };
        let mut lines = vec![self.leader_line(overalls, group, first, standings.len())];
        lines.extend(followers_line(overalls, &standings));
        lines.extend(self.elsewhere_line(overalls, group, &first.subject));
        lines
    }

    fn leader_line(
        &self,
        overalls: &Overalls<'_>,
        group: &Group,
        first: &Overall,
        compared: usize,
    ) -> String {
        let baseline = overalls.baseline();
        let through = self.through(&group.instruments);
        let ahead = ahead(first, baseline, compared > 1);
        format!(
            "{ahead}: {} times as many requests per CPU-second as {baseline}, {through}{}.",
            with_interval(&first.ratio),
            over_cases(first)
        )
    }

    /// The same comparison through instruments that are not the main one.
    fn elsewhere_line(
        &self,
        overalls: &Overalls<'_>,
        main: &Group,
        leader: &str,
    ) -> Option<String> {
        let clauses: Vec<String> = overalls
            .groups()
            .iter()
            .filter(|group| *group != main)
            .filter_map(|group| self.elsewhere_clause(overalls, group, leader))
            .take(NAMED_MAX)
            .collect();
        let one = clauses.iter().any(|clause| !clause.contains(" is at "));
        let what = if one { format!(" for {leader}") } else { String::new() };
        let baseline = overalls.baseline();
        (!clauses.is_empty())
            .then(|| format!("Over {baseline}, measured otherwise{what}: {}.", clauses.join("; ")))
    }

    /// Through one group of instruments: the leader, or whoever leads there if it was not measured.
    fn elsewhere_clause(
        &self,
        overalls: &Overalls<'_>,
        group: &Group,
        leader: &str,
    ) -> Option<String> {
        let standings = overalls.standings(group);
        let one = standings.iter().find(|one| one.subject == leader).or(standings.first())?;
        let who =
            if one.subject == leader { String::new() } else { format!("{} is at ", one.subject) };
        let limit = self.limit_of(group);
        let ratio = with_interval(&one.ratio);
        Some(format!("{}, {who}{ratio}{limit}", self.through(&group.instruments)))
    }

    /// Rows in which an instrument was the limit: they say little about what it measured.
    fn limit_of(&self, group: &Group) -> String {
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
            Some((cell.id.subject.clone(), cost))
        });
        let each: Vec<String> = grouped(costs)
            .into_iter()
            .map(|(subject, costs)| format!("{subject} {}", range_text(&costs)))
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
    fn through(&self, instruments: &[String]) -> String {
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

/// Who needs the least, the baseline among them.
fn ahead(first: &Overall, baseline: &str, are_several: bool) -> String {
    let name = &first.subject;
    let is_baseline_ahead = first.ratio.median < 1.0;
    if first.ratio.interval.is_none() {
        let rounds = first.ratio.pairs;
        return format!("{name} over {baseline}, in {rounds} rounds, too few to be sure of it");
    }
    match (first.ratio.is_indistinct(), is_baseline_ahead, are_several) {
        (true, ..) => format!("{name} and {baseline} are not told apart"),
        (false, true, true) => format!("{baseline} needs the least CPU; next is {name}"),
        (false, true, false) => format!("{baseline} needs less CPU than {name}"),
        (false, false, true) => format!("{name} needs the least CPU"),
        (false, false, false) => format!("{name} needs less CPU than {baseline}"),
    }
}

/// Who comes after the first, and whether the first is surely ahead of the second.
fn followers_line(overalls: &Overalls<'_>, standings: &[Overall]) -> Option<String> {
    let [first, second, rest @ ..] = standings else {
        return None;
    };
    let ahead = match overalls.between(first, second) {
        Some(ratio) if ratio.interval.is_none() => {
            let times = ratio_text(&ratio);
            format!(
                "{}: the first answers {times} times as many, in too few rounds",
                second.subject
            )
        }
        Some(ratio) if ratio.is_indistinct() => {
            format!("{}, not told apart from it ({})", second.subject, with_interval(&ratio))
        }
        Some(ratio) => {
            format!("{}: the first answers {} times as many", second.subject, with_interval(&ratio))
        }
        None => format!("{} at {}", second.subject, with_interval(&second.ratio)),
    };
    let baseline = overalls.baseline();
    let others: Vec<String> =
        rest.iter().map(|one| format!("{} {}", one.subject, ratio_text(&one.ratio))).collect();
    let then =
        listed(others).map_or(String::new(), |others| format!("; then, over {baseline}: {others}"));
    Some(format!("Next comes {ahead}{then}."))
}

/// The first few, and how many there are besides. `None` without any.
fn listed(items: Vec<String>) -> Option<String> {
    let items = each_once(items);
    let more = items.len().saturating_sub(NAMED_MAX);
    let named = items.iter().take(NAMED_MAX).cloned().collect::<Vec<_>>().join(", ");
    match (items.is_empty(), more) {
        (true, _) => None,
        (false, 0) => Some(named),
        (false, more) => Some(format!("{named} and {more} more")),
    }
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
fn with_interval(ratio: &Ratio) -> String {
    let interval = ratio.interval.map_or(String::new(), |ends| {
        format!(" ({} to {})", significant_text(ends.low), significant_text(ends.high))
    });
    format!("{}{interval}", ratio_text(ratio))
}

/// The cases behind a figure that is one of many.
fn over_cases(overall: &Overall) -> String {
    let [least, most] = [overall.least, overall.most].map(significant_text);
    match overall.cells.as_slice() {
        [(only, _)] => format!(", at {}", only.case),
        cells => {
            format!(", in the mean of {} cases ({least} to {most} in single ones)", cells.len())
        }
    }
}
