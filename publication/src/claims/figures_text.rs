//! The figures of a claim as text.

use super::evaluation::Evaluation;
use super::quantity::{Quantity, Take};
use super::series::Estimate;
use super::statement::Band;

impl Evaluation {
    /// One figure with its interval, or the range of several cases. Empty without one.
    pub(super) fn text(&self) -> String {
        match self.shown_estimates() {
            [] => String::new(),
            [one] => self.estimate_text(one),
            several => format!("{} in {} {}", self.short_text(), several.len(), self.of_which()),
        }
    }

    /// The figure without its interval; of several cases the smallest and the largest.
    pub(super) fn short_text(&self) -> String {
        let mut values: Vec<f64> = self.shown_estimates().iter().map(|one| one.value).collect();
        values.sort_by(f64::total_cmp);
        let (Some(low), Some(high)) = (values.first(), values.last()) else {
            return String::new();
        };
        let (low, high) = self.shown.ends(*low, *high);
        let (low, high) = (self.number(low), self.number(high));
        if low == high { format!("{low}{}", self.of_whom()) } else { format!("{low} to {high}") }
    }

    /// The estimates, but of a growth that was computed as a whole the whole alone.
    pub(super) fn shown_estimates(&self) -> &[Estimate] {
        match self.estimates.iter().rposition(|one| self.is_whole(one)) {
            Some(whole) => &self.estimates[whole..=whole],
            None => &self.estimates,
        }
    }

    /// Whether it is the growth from the first case to the last.
    pub(super) fn is_whole(&self, one: &Estimate) -> bool {
        self.of
            .as_ref()
            .filter(|quantity| quantity.take == Take::Growth)
            .and_then(|of| Some((of.cases.first()?, of.cases.last()?)))
            .is_some_and(|(first, last)| one.place == format!("from {first} to {last}"))
    }

    fn of_which(&self) -> &'static str {
        let is_growth = self.of.as_ref().is_some_and(|quantity| quantity.take == Take::Growth);
        if is_growth { "steps" } else { "cases" }
    }

    pub(super) fn estimate_text(&self, one: &Estimate) -> String {
        let value = self.number(one.value);
        let interval = one.interval.map_or_else(String::new, |interval| {
            let (low, high) = self.shown.ends(interval.low, interval.high);
            let ends = [self.number(low), self.number(high)];
            if ends.iter().all(|end| *end == value) {
                // The number of rounds with this figure tells more than an interval without width.
                let rounds = one.equal_rounds;
                rounds.map_or_else(String::new, |rounds| format!(" in each of {rounds} rounds"))
            } else {
                format!(" ({} to {})", ends[0], ends[1])
            }
        });
        format!("{value}{interval}{} {}", self.of_whom(), one.place).trim_end().to_owned()
    }

    /// Marks a ratio to the model: a total of 20 s that reads only "1.01" would puzzle the reader.
    fn of_whom(&self) -> &'static str {
        self.of.as_ref().and_then(Quantity::model).map_or("", |_| " of the model's")
    }

    pub(super) fn number(&self, value: f64) -> String {
        self.shown.text(value)
    }

    /// A range: a clause that follows a figure.
    pub(super) fn band_text(&self, band: Band) -> String {
        let number = |value| self.number(value);
        let (least, most) = self.shown.ends(band.least, band.most);
        if least > most {
            // Counted from the other end: at most no errors are at least all calls.
            let (least, most) = (self.number(least), self.number(most));
            return match (band.least, band.most) {
                (f64::NEG_INFINITY, _) => format!("at least {least}"),
                (_, f64::INFINITY) => format!("at most {most}"),
                _ => format!("{least} to {most}"),
            };
        }
        match (band.least, band.most) {
            (least, most) if least == most => format!("exactly {}", number(least)),
            (least, f64::INFINITY) if is_above(least) => format!("above {}", number(least)),
            (least, f64::INFINITY) => format!("at least {}", number(least)),
            (least, most) if least <= 0.0 && is_above(1.0 / most) => {
                format!("below {}", number(most))
            }
            (least, most) if least <= 0.0 => format!("at most {}", number(most)),
            (least, most) => format!("{} to {}", number(least), number(most)),
        }
    }
}

/// Whether the number is one above which figures must lie: just above 1, 1.25 or a half.
fn is_above(least: f64) -> bool {
    [0.5_f64, 1.0, super::statement::TOLERANCE].iter().any(|edge| least == edge.next_up())
}
