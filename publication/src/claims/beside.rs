//! The figures that a ratio is made of, where the document printed those.

use super::claim::Claim;
use super::evaluation::Figures;
use super::quantity::{Over, Quantity, Take};
use super::shown::{PrintedUnit, Shown, printed_numbers};
use super::subject_name::NamedCell;
use bookend_results::metric::Unit;
use bookend_results::suite::Case;

/// A plain number from here on is no ratio of two servers.
const RATE_MIN: f64 = 100.0;

/// The figures of ours that a ratio is made of, as text.
pub(super) enum BesidePrinted {
    /// Both: their ratio can be seen.
    Pair(String),
    /// One side of it, which stands before the ratio.
    Alone(String),
}

impl BesidePrinted {
    pub(super) fn beside(&self, ratio: &str) -> String {
        match self {
            Self::Pair(figures) => figures.clone(),
            Self::Alone(figures) => format!("{figures}: {ratio}"),
        }
    }
}

impl Quantity {
    /// Where the document printed figures and the claim is about their ratio: the figures of ours,
    /// in the unit of those that were printed. Of several pairs the one whose figures were.
    pub(super) fn beside_printed(
        &self,
        claim: &Claim,
        (ours, document): (Figures<'_>, Figures<'_>),
    ) -> Option<BesidePrinted> {
        let of = |cell: NamedCell<'_>, figures: Figures<'_>| figures.value(&self.metric, cell);
        let printed = printed_numbers(&claim.published);
        let (_, unit) = *printed.first()?;
        let is_rate = printed.iter().any(|(value, _)| *value >= RATE_MIN);
        let are_figures = match (self.metric.unit(), unit) {
            (Unit::PerSecond, PrintedUnit::Plain) => is_rate,
            (Unit::PerSecond, PrintedUnit::Thousands)
            | (Unit::Nanoseconds, PrintedUnit::Time)
            | (Unit::Cpus, PrintedUnit::Percent)
            | (Unit::Bytes, PrintedUnit::Memory) => true,
            _ => false,
        };
        if !are_figures || self.unit() == self.metric.unit() {
            return None;
        }
        let shown = match unit {
            PrintedUnit::Thousands => Shown::THOUSANDS,
            _ => Shown::in_unit(self.metric.unit()),
        };
        let text = |value: f64| shown.text(value);
        let own = |case| of(self.cell(case), ours);
        match (&self.over, self.take) {
            (Some(Over::Subject(name)), _) => {
                let (case, is_swapped) = self.printed_pair(claim, &printed, document)?;
                let (a, b) = (own(case)?, of(NamedCell { name, case }, ours)?);
                let (a, b) = if is_swapped { (b, a) } else { (a, b) };
                Some(BesidePrinted::Pair(joined(text(a), "and", text(b))))
            }
            (None, Take::Growth) => {
                let (first, last) = (own(*self.cases.first()?)?, own(*self.cases.last()?)?);
                Some(BesidePrinted::Alone(joined(text(first), "to", text(last))))
            }
            (Some(Over::Case(_)), _) => {
                let mut all: Vec<f64> = self.cases.iter().filter_map(|case| own(*case)).collect();
                all.sort_by(f64::total_cmp);
                let (low, high) = (text(*all.first()?), text(*all.last()?));
                let range = if low == high { low } else { joined(low, "to", high) };
                Some(BesidePrinted::Alone(range))
            }
            _ => None,
        }
    }
}

impl Quantity {
    /// The case whose pair of figures is the printed one, and whether it is printed the other way
    /// round. The last case, where that cannot be decided.
    fn printed_pair(
        &self,
        claim: &Claim,
        printed: &[(f64, PrintedUnit)],
        document: Figures<'_>,
    ) -> Option<(Case, bool)> {
        let last = (*self.cases.last()?, false);
        // A range is not a pair, and the subjects of the document are those of the claim.
        let is_range = claim.published.contains(" to ");
        let Some(asked) = claim.ours.as_ref().filter(|_| !is_range) else { return Some(last) };
        let Some(Over::Subject(name)) = &asked.over else { return Some(last) };
        let far = |case: &Case| {
            let own = document.value(&self.metric, asked.cell(*case))?;
            let other = document.value(&self.metric, NamedCell { name, case: *case })?;
            Some((distance(printed, (own, other))?, *case))
        };
        let nearest =
            self.cases.iter().filter_map(far).min_by(|(a, _), (b, _)| a.0.total_cmp(&b.0));
        Some(nearest.map_or(last, |((_, is_swapped), case)| (case, is_swapped)))
    }
}

/// Two figures, whose unit stands once where it is the same.
fn joined(first: String, word: &str, last: String) -> String {
    let number = match (first.split_once(' '), last.split_once(' ')) {
        (Some((number, unit)), Some((_, own))) if unit == own => number,
        _ => &first,
    };
    format!("{number} {word} {last}")
}

/// How far a pair is from the two printed numbers, and whether it is nearer the other way
/// round.
fn distance(printed: &[(f64, PrintedUnit)], (a, b): (f64, f64)) -> Option<(f64, bool)> {
    let [(first, _), (second, _)] = printed else { return None };
    // A printed zero is less than one of its unit.
    let apart = |x: f64, y: f64| ((x + 1.0) / (y + 1.0)).ln().abs();
    let [straight, swapped] =
        [apart(*first, a) + apart(*second, b), apart(*first, b) + apart(*second, a)];
    Some(if swapped < straight { (swapped, true) } else { (straight, false) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_unit_that_two_figures_share_stands_once() {
        let joined = |a: &str, b: &str| joined(a.to_owned(), "and", b.to_owned());
        assert_eq!(joined("6.99 ms", "20.6 ms"), "6.99 and 20.6 ms");
        assert_eq!(joined("1.06 s", "282 ms"), "1.06 s and 282 ms");
        assert_eq!(joined("14.1K", "4.86K"), "14.1K and 4.86K");
    }

    #[test]
    fn a_pair_is_told_in_the_order_in_which_it_was_printed() {
        let printed = printed_numbers("1ms and 6ms");
        let (_, is_swapped) = distance(&printed, (6e6, 1e6)).expect("two numbers");
        assert!(is_swapped);
        let (_, is_swapped) = distance(&printed, (2e6, 6e6)).expect("two numbers");
        assert!(!is_swapped);
    }
}
