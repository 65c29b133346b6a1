//! The run in one sentence: what a call costs a subject, of what it costs the one that all are
//! compared with. Somebody who reads nothing else reads this, so calls that failed come first.

use super::report::Report;
use crate::case_words::case_words_in;
use bookend_results::quoted::one_line;
use bookend_results::ranking::{InstrumentGroup, RankedSubject, Ranking, Rankings};
use bookend_results::statistics::Ratio;
use bookend_results::suite::Case;
use bookend_results::table::{Cell, Rank};
use bookend_results::text::significant_text;

impl Report<'_> {
    /// What the run found, in one sentence; before it what share of the calls of a row failed.
    /// Where nothing can be compared it is the first line of the answer.
    pub fn headline(&self) -> String {
        let rankings = Rankings::of(&self.run.new.plan, &self.table, self.rows);
        let failed = self.failed_first();
        let sentence = self.cost_sentence(&rankings, failed.is_some());
        let sentence = sentence.or_else(|| self.answer().into_iter().next()).unwrap_or_default();
        one_line(&format!("{}{sentence}", failed.unwrap_or_default()))
    }

    /// The row of which the largest share failed, if that has to be said first.
    fn failed_first(&self) -> Option<String> {
        let told = |cell| Cell::failed_share(cell).filter(|share| share.is_told());
        let ranked = self.table.cells.iter().filter(|cell| cell.rank != Rank::Calibration);
        let all: Vec<_> = ranked.filter_map(|cell| Some((told(cell)?, cell))).collect();
        let (share, cell) =
            all.iter().reduce(|most, one| if one.0 > most.0 { one } else { most })?;
        let others = match all.len() - 1 {
            0 => String::new(),
            1 => ", and calls of 1 more row".to_owned(),
            more => format!(", and calls of {more} more rows"),
        };
        let through = self.through_one_of_several(std::slice::from_ref(&cell.id.instrument));
        let (subject, case) = (&cell.id.subject, case_words_in(&self.table, cell.case));
        Some(format!("{share} of the calls of {subject} failed with {case}{through}{others}. "))
    }

    fn cost_sentence(&self, rankings: &Rankings<'_>, has_failed: bool) -> Option<String> {
        let group = rankings.main()?;
        let ranking = rankings.ranking(group)?;
        let first = ranking.others().next()?;
        let compared = self.compared_with_baseline(rankings, group, (first, &ranking))?;
        let costs = format!("{compared}{}.", self.through_one_of_several(&group.instruments));
        let name = &first.name;
        Some(match cheapest(rankings, &ranking, first).filter(|_| !has_failed) {
            Some((leader, who)) if leader == *name => format!("{who}: a call costs it {costs}"),
            Some((_, who)) => format!("{who}: a call costs the next, {name}, {costs}"),
            None if has_failed => format!("A call that was answered costs {name} {costs}"),
            None => format!("A call costs {name} {costs}"),
        })
    }

    /// What a call costs a subject in the case where that differs most from the baseline, and in
    /// the one at the other end.
    fn compared_with_baseline(
        &self,
        rankings: &Rankings<'_>,
        group: &InstrumentGroup,
        (one, ranking): (&RankedSubject, &Ranking),
    ) -> Option<String> {
        let ratio = |case: &Case| {
            let cell = rankings.cell(group, &one.name, *case)?;
            Some((*cell.summary()?.ratios.cost_ratio.ratio()?, *case))
        };
        let mut cases: Vec<(Ratio, Case)> = ranking.cases.iter().filter_map(ratio).collect();
        cases.sort_by(|(a, _), (b, _)| b.median.total_cmp(&a.median));
        let mut ends = vec![*cases.first()?];
        ends.extend(cases.last().filter(|_| cases.len() > 1));
        let distance = |(ratio, _): &(Ratio, Case)| ratio.median.ln().abs();
        ends.sort_by(|a, b| distance(b).total_cmp(&distance(a)));
        let words = |case| case_words_in(&self.table, case);
        let [(ratio, case), others @ ..] = ends.as_slice() else {
            return None;
        };
        let baseline = &ranking.baseline().name;
        let Compared { amount, joint, interval } = Compared::of(ratio);
        let first = format!("{amount} CPU {joint} {baseline}{interval} with {}", words(*case));
        let others = others.iter().map(|(ratio, case)| {
            let Compared { amount, interval, .. } = Compared::of(ratio);
            format!(", and {amount}{interval} with {}", words(*case))
        });
        let between = match cases.len() - ends.len() {
            0 => String::new(),
            1 => "; 1 more case lies between".to_owned(),
            more => format!("; {more} more cases lie between"),
        };
        Some(format!("{first}{}{between}", others.collect::<String>()))
    }

    /// Nothing where there is but one instrument: it stands above the table.
    fn through_one_of_several(&self, instruments: &[String]) -> String {
        match self.table.several_instruments {
            true => format!(", {}", self.through(instruments)),
            false => String::new(),
        }
    }
}

/// Of more than two the one that needs the least CPU, and the words for it. `None`: nobody is
/// surely ahead of the baseline, or the baseline of the others, over the cases that all have.
fn cheapest(
    rankings: &Rankings<'_>,
    ranking: &Ranking,
    first: &RankedSubject,
) -> Option<(String, String)> {
    let [leader, second, _, ..] = ranking.subjects.as_slice() else {
        return None;
    };
    let lacks_as_many = |one: &RankedSubject| one.missing.len() == leader.missing.len();
    if first.ratio.is_indistinct() || !ranking.subjects.iter().all(lacks_as_many) {
        return None;
    }
    let has_baseline = leader.is_baseline || second.is_baseline;
    let ratio = rankings.between(leader, second).filter(|_| !has_baseline);
    let alike = match ratio.filter(Ratio::is_indistinct) {
        Some(_) => format!(", not told apart from {}", second.name),
        None => String::new(),
    };
    let all = ranking.subjects.len();
    Some((leader.name.clone(), format!("{} needs the least CPU of {all}{alike}", leader.name)))
}

/// What a call costs one, compared with what it costs another: `15.8 times less` CPU `than` the
/// other ` (15.1 to 16.6)`.
struct Compared {
    amount: String,
    joint: &'static str,
    interval: String,
}

impl Compared {
    /// From the ratio of calls per CPU-second, of which that of costs is the reciprocal.
    fn of(calls: &Ratio) -> Self {
        let cost = calls.reciprocal();
        let (amount, joint) = amount(cost.median);
        let Some(ends) = cost.interval else {
            let rounds =
                if calls.pairs == 1 { "1 round" } else { &format!("{} rounds", calls.pairs) };
            let interval = format!(" (in {rounds}, too few to be sure)");
            return Self { amount, joint, interval };
        };
        if calls.is_indistinct() {
            let (low, high) = (percent(ends.low), percent(ends.high));
            let interval = format!(", as far as {} rounds tell ({low} to {high})", calls.pairs);
            return Self { amount: "as much".to_owned(), joint: "as", interval };
        }
        let (low, high) = (ends.low, ends.high);
        let interval = match Form::of(cost.median) {
            Form::TimesLess => [1.0 / high, 1.0 / low].map(significant_text).join(" to "),
            Form::TimesAsMuch => [low, high].map(significant_text).join(" to "),
            Form::Percent if high < 1.0 => format!("{} to {} %", points(high), points(low)),
            Form::Percent => format!("{} to {} %", points(low), points(high)),
        };
        Self { amount, joint, interval: format!(" ({interval})") }
    }
}

/// How a cost is compared with another: by a factor where that is 2 or more.
enum Form {
    TimesLess,
    Percent,
    TimesAsMuch,
}

impl Form {
    fn of(cost: f64) -> Self {
        match cost {
            cost if cost <= 0.5 => Self::TimesLess,
            cost if cost < 2.0 => Self::Percent,
            _ => Self::TimesAsMuch,
        }
    }
}

/// A cost as a multiple of another, and the word that follows.
fn amount(cost: f64) -> (String, &'static str) {
    match Form::of(cost) {
        Form::TimesLess => (format!("{} times less", significant_text(1.0 / cost)), "than"),
        Form::Percent => (percent(cost), "than"),
        Form::TimesAsMuch => (format!("{} times as much", significant_text(cost)), "as"),
    }
}

/// `31 % less`, `5.2 % more`.
fn percent(cost: f64) -> String {
    let word = if cost < 1.0 { "less" } else { "more" };
    format!("{} % {word}", points(cost))
}

/// By how many percent a cost differs from another, in two digits.
fn points(cost: f64) -> String {
    match (cost - 1.0).abs() * 100.0 {
        points if points >= 9.95 => format!("{points:.0}"),
        points if points >= 0.995 => format!("{points:.1}"),
        points => format!("{points:.2}"),
    }
}
