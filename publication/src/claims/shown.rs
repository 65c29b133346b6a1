//! Figures in the unit of what the document printed, so that a reader can compare them.

use super::quantity::{Over, Quantity, Take};
use bookend_results::metric::{Metric, Unit};
use bookend_results::suite::Case;

/// What a number in the text of a document counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum PrintedUnit {
    /// A count, a rate or a ratio: `183167`, `^10.4`, `10`.
    Plain,
    /// `11K`.
    Thousands,
    /// `60%`.
    Percent,
    /// `2.79 s`.
    Time,
    /// `634.67 MiB`.
    Memory,
}

/// The numbers of a text in the order in which they stand, in base units. One without a unit has
/// that of the others: `2, 5, 8 ms`. A text of words has none.
pub fn printed_numbers(text: &str) -> Vec<(f64, PrintedUnit)> {
    let mut numbers = Vec::new();
    let mut rest = text;
    let is_digit = |c: char| c.is_ascii_digit();
    while let Some(start) = rest.find(is_digit) {
        let is_name = rest[..start].chars().next_back().is_some_and(char::is_alphanumeric);
        let number = &rest[start..];
        let end = number.find(|c: char| !is_digit(c) && c != '.').unwrap_or(number.len());
        let digits = number[..end].trim_end_matches('.');
        rest = &number[end..];
        let word = rest.trim_start();
        let word = &word[..word.find(|c: char| " ,:;)".contains(c)).unwrap_or(word.len())];
        let value: f64 = digits.parse().unwrap_or(f64::NAN);
        if !is_name && value.is_finite() {
            numbers.push((value, unit(word)));
        }
    }
    let shared = numbers.iter().rev().find_map(|(_, unit)| *unit);
    let in_base = |(value, unit): (f64, Option<(PrintedUnit, f64)>)| {
        let (unit, factor) = unit.or(shared).unwrap_or((PrintedUnit::Plain, 1.0));
        (value * factor, unit)
    };
    numbers.into_iter().map(in_base).collect()
}

fn unit(word: &str) -> Option<(PrintedUnit, f64)> {
    Some(match word {
        "%" => (PrintedUnit::Percent, 0.01),
        "k" | "K" => (PrintedUnit::Thousands, 1e3),
        "ns" => (PrintedUnit::Time, 1.0),
        "µs" => (PrintedUnit::Time, 1e3),
        "ms" => (PrintedUnit::Time, 1e6),
        "s" => (PrintedUnit::Time, 1e9),
        "MiB" => (PrintedUnit::Memory, 1048576.0),
        _ => return None,
    })
}

/// How a figure is shown: `factor` times it, plus `offset`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Shown {
    factor: f64,
    offset: f64,
    unit: Unit,
    /// The text after the number, besides its unit.
    suffix: &'static str,
}

impl Shown {
    /// Of a rate: `11K`.
    pub(super) const THOUSANDS: Self =
        Self { factor: 1e-3, offset: 0.0, unit: Unit::Number, suffix: "K" };

    /// In a unit of its own.
    pub(super) fn in_unit(unit: Unit) -> Self {
        Self { factor: 1.0, offset: 0.0, unit, suffix: "" }
    }

    /// A share in percent, anything else in the quantity's own unit.
    pub(super) fn of_quantity(quantity: &Quantity) -> Self {
        let is_percent = quantity.is_share() && !quantity.is_ratio();
        Self::in_unit(if is_percent { Unit::Cpus } else { quantity.unit() })
    }

    /// As the text that was printed, which counts `named` for what the quantity counts. `quantity`
    /// is `None` for arithmetic on printed figures, which is of the kind of `ours`.
    pub(super) fn of(
        text: &str,
        named: Option<f64>,
        quantity: Option<&Quantity>,
        ours: Option<&Quantity>,
    ) -> Self {
        let printed = printed_numbers(text);
        let only = match printed.as_slice() {
            [(value, unit)] => Some((*value, *unit)),
            _ => None,
        };
        let are_all = |unit| !printed.is_empty() && printed.iter().all(|(_, own)| *own == unit);
        let own = quantity.map_or(Unit::Number, Quantity::unit);
        let is_ratio = quantity.is_some_and(Quantity::is_ratio);
        if let (true, true, Some((value, PrintedUnit::Percent))) =
            (is_ratio, own == Unit::Number, only)
        {
            return Self::of_change(value, named);
        }
        let is_share = own == Unit::Number
            && !is_ratio
            && (are_all(PrintedUnit::Percent) || quantity.or(ours).is_some_and(Quantity::is_share));
        if is_share {
            return Self::in_unit(Unit::Cpus);
        }
        let Some(quantity) = quantity else {
            let seconds = Self { factor: 1e9, ..Self::in_unit(Unit::Nanoseconds) };
            let is_time = are_all(PrintedUnit::Time);
            return if is_time { seconds } else { Self::in_unit(own) };
        };
        if own == Unit::PerSecond && are_all(PrintedUnit::Thousands) {
            return Self::THOUSANDS;
        }
        let calls = match quantity.cases.as_slice() {
            [Case { calls: Some(calls), .. }] => Some(*calls as f64),
            _ => None,
        };
        let metric = quantity.metric.to_string();
        let counts_errors = text.contains("error");
        let only = only.filter(|(_, unit)| *unit == PrintedUnit::Plain).map(|(value, _)| value);
        match (metric.as_str(), only, calls, named) {
            ("errors", Some(1.0..), Some(calls), _) if !counts_errors => {
                Self { factor: -1.0, offset: calls, ..Self::in_unit(own) }
            }
            ("error_share", Some(1.0..), Some(calls), _) => {
                Self { factor: calls, ..Self::in_unit(own) }
            }
            (_, Some(shown), _, Some(printed)) if printed > 0.0 => {
                Self { factor: shown / printed, ..Self::in_unit(own) }
            }
            _ => Self::in_unit(own),
        }
    }

    /// A ratio of which the document prints how far it is from one: `50 %` more is 1.5 times. What
    /// it names no factor for is a loss.
    fn of_change(percent: f64, factor: Option<f64>) -> Self {
        let is_gain = factor.is_some_and(|factor| factor == 1.0 + percent);
        let (factor, offset) = if is_gain { (1.0, -1.0) } else { (-1.0, 1.0) };
        Self { factor, offset, ..Self::in_unit(Unit::Cpus) }
    }

    pub(super) fn text(self, value: f64) -> String {
        format!("{}{}", self.unit.text(self.factor * value + self.offset), self.suffix)
    }

    /// The ends of a range, the smaller one as it is shown first.
    pub(super) fn ends(self, low: f64, high: f64) -> (f64, f64) {
        if self.factor < 0.0 { (high, low) } else { (low, high) }
    }
}

impl Quantity {
    /// A ratio of two servers, or of two cases, in what is no CPU time.
    fn is_ratio(&self) -> bool {
        matches!(self.over, Some(Over::Subject(_) | Over::Case(_))) || self.take == Take::Growth
    }

    /// A share of a whole, which is shown in percent.
    fn is_share(&self) -> bool {
        let is_errors =
            |over: &Over| matches!(over, Over::Metric(other) if other.to_string() == "errors");
        match &self.metric {
            Metric::Profile(_) => true,
            Metric::Errors(_) => self.over.as_ref().is_some_and(is_errors),
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_a_text_are_read_in_base_units() {
        use PrintedUnit::{Memory, Percent, Plain, Thousands, Time};
        for (text, expected) in [
            ("^1.3 to ^11.0", vec![(1.3, Plain), (11.0, Plain)]),
            ("17K and 11K", vec![(17e3, Thousands), (11e3, Thousands)]),
            ("15 %, 1100 %", vec![(0.15, Percent), (11.0, Percent)]),
            ("2, 5, 8 ms", vec![(2e6, Time), (5e6, Time), (8e6, Time)]),
            ("4ms and 0", vec![(4e6, Time), (0.0, Time)]),
            ("1s and 200ms", vec![(1e9, Time), (200e6, Time)]),
            ("634.67 MiB", vec![(634.67 * 1048576.0, Memory)]),
            ("0 errors", vec![(0.0, Plain)]),
            ("P99", vec![]),
            ("in words", vec![]),
        ] {
            assert_eq!(printed_numbers(text).len(), expected.len(), "{text}");
            for ((value, unit), (own, own_unit)) in printed_numbers(text).into_iter().zip(expected)
            {
                assert!((value - own).abs() <= own * 1e-12 && unit == own_unit, "{text}");
            }
        }
    }
}
