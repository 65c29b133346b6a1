//! The calls that failed in the cells that an answer rests on: its outcome says so itself, whatever
//! the claim is about.

use super::evaluation::rows_of_one_run;
use super::quantity::Quantity;
use bookend_results::failed_share::FailedShare;
use bookend_results::grouping::grouped;
use bookend_results::measurement::{CellId, Outcome, Row};
use bookend_results::record::Record;
use bookend_results::round::MeasuredRounds;

/// The cells behind an answer in which calls failed, each with their share, in the order in which
/// its figures name them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FailedCells(Vec<(FailedShare, CellId)>);

impl FailedCells {
    /// Of the cells of a quantity, what it is divided by among them.
    pub(super) fn of(quantity: &Quantity, record: &Record) -> Self {
        let mut failed: Vec<(FailedShare, CellId)> = Vec::new();
        for &case in &quantity.cases {
            let own = quantity.cell(case);
            let divisor = quantity.divisor(case).map(|(_, cell)| cell);
            let beside = divisor.map(|cell| rows_of_one_run(record, cell, Some(own)));
            let both = [Some(rows_of_one_run(record, own, divisor)), beside];
            for one in both.into_iter().flatten().filter_map(|rows| failed_in(&rows)) {
                if !failed.contains(&one) {
                    failed.push(one);
                }
            }
        }
        Self(failed)
    }

    /// The largest share. `None`: no call failed.
    pub(super) fn most(&self) -> Option<FailedShare> {
        self.0.iter().map(|(share, _)| Some(*share)).fold(None, FailedShare::larger)
    }

    fn told(&self) -> impl Iterator<Item = &(FailedShare, CellId)> {
        self.0.iter().filter(|(share, _)| share.is_told())
    }

    /// `26.4 % of rust-pajamax/0.2.0's calls failed at C=1 S=1000`. `None`: fewer did.
    pub(super) fn in_words(&self) -> Option<String> {
        let by_subject = grouped(self.told().map(|(share, cell)| (&cell.subject, (*share, cell))));
        let each: Vec<String> = by_subject
            .into_iter()
            .map(|(subject, cells)| {
                let shares: Vec<FailedShare> = cells.iter().map(|(share, _)| *share).collect();
                let places: Vec<String> = cells.iter().map(|(_, cell)| place(cell)).collect();
                let (of, at) = (range(&shares), listed(&places));
                format!("{of} of {subject}'s calls failed at {at}")
            })
            .collect();
        (!each.is_empty()).then(|| each.join(" and "))
    }

    /// Calls that failed and that the outcome does not mention. `None`: no such calls.
    pub(super) fn sentence(&self) -> Option<String> {
        let few = self.0.iter().filter(|(share, _)| !share.is_told());
        let each: Vec<String> = few
            .map(|(share, cell)| format!("{share} of {} at {}", cell.subject, place(cell)))
            .collect();
        (!each.is_empty()).then(|| format!("Some calls failed: {}.", listed(&each)))
    }
}

/// The share of failed calls over all measured rounds of a cell, as tables have it.
fn failed_in(rows: &[&Row]) -> Option<(FailedShare, CellId)> {
    let measured = rows.iter().filter(|row| matches!(row.outcome, Outcome::Measured(_)));
    let share = FailedShare::of_rounds(&MeasuredRounds::of(measured.copied(), None))?;
    Some((share, rows.first()?.cell.clone()))
}

fn place(cell: &CellId) -> String {
    cell.case.to_string()
}

/// `26.4 % to 29.1 %`, or the only one.
fn range(shares: &[FailedShare]) -> String {
    let mut sorted = shares.to_vec();
    sorted.sort_by(|a, b| a.share().total_cmp(&b.share()));
    match sorted.as_slice() {
        [least, .., most] if least.to_string() != most.to_string() => format!("{least} to {most}"),
        _ => sorted.first().map_or_else(String::new, FailedShare::to_string),
    }
}

/// `a, b and c`.
fn listed(texts: &[String]) -> String {
    match texts {
        [first @ .., last] if !first.is_empty() => format!("{} and {last}", first.join(", ")),
        texts => texts.concat(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cells(shares: &[(f64, &str, &str)]) -> FailedCells {
        let one = |&(share, subject, case): &(f64, &str, &str)| {
            let cell = CellId {
                subject: subject.to_owned(),
                case: case.parse().expect("a case"),
                instrument: "ghz".to_owned(),
            };
            (FailedShare::of(share).expect("some failed"), cell)
        };
        FailedCells(shares.iter().map(one).collect())
    }

    #[test]
    fn an_outcome_names_each_server_with_its_range_and_its_cases() {
        let of_one = cells(&[(0.264, "a", "C=1 S=1000")]);
        assert_eq!(of_one.in_words().as_deref(), Some("26.4 % of a's calls failed at C=1 S=1000"));
        let of_two = cells(&[
            (0.264, "a", "C=1 S=1000"),
            (0.02, "b", "C=1 S=1000"),
            (0.283, "a", "C=10 S=1000"),
            (0.291, "a", "C=100 S=1000"),
        ]);
        assert_eq!(
            of_two.in_words().as_deref(),
            Some(
                "26.4 % to 29.1 % of a's calls failed at C=1 S=1000, C=10 S=1000 and C=100 S=1000 \
                 and 2.0 % of b's calls failed at C=1 S=1000"
            )
        );
    }

    #[test]
    fn few_failed_calls_are_in_the_reason() {
        let few = cells(&[(0.005, "a", "C=1 S=1"), (0.0001, "b", "C=1 S=1")]);
        assert_eq!(few.in_words(), None);
        let sentence = "Some calls failed: 0.5 % of a at C=1 S=1 and <0.1 % of b at C=1 S=1.";
        assert_eq!(few.sentence().as_deref(), Some(sentence));
        assert_eq!(cells(&[]).sentence(), None);
    }
}
