//! A figure with its uncertainty: one that is printed with two digits stands for a range of values.

use serde::{Deserialize, Serialize};

/// A figure and the range that contains the true one. Arithmetic is that of intervals: the range of
/// a result contains every result that the ranges of the operands allow.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Span {
    /// Lower bound of the true figure.
    pub low: f64,
    /// The figure as printed.
    pub value: f64,
    /// Upper bound of the true figure.
    pub high: f64,
}

/// How a figure was rounded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Rounding {
    /// To the nearest value: `1 ms` is 0.5 to 1.5 ms.
    #[default]
    Nearest,
    /// Towards zero, as integer arithmetic cuts to whole milliseconds: `1 ms` is 1 to 2 ms.
    Down,
}

/// The upper end is open: a value that was cut to `1 ms` was less than 2 ms.
const OPEN_END: f64 = 1.0 - 1e-9;

impl Span {
    /// A figure that is known exactly.
    pub fn exact(value: f64) -> Self {
        Self::around(value, 0.0)
    }

    /// A figure that may be off by `slack` in both directions.
    pub fn around(value: f64, slack: f64) -> Self {
        Self { low: value - slack, value, high: value + slack }
    }

    /// The range that `text` can stand for, given its `value` in a base unit. The last printed
    /// digit decides: `0.10 ms` is known to a hundredth of a millisecond. A printed zero does not
    /// reveal its unit, so `zero_unit` gives the value that a one in its place would have. `None`
    /// if `text` has no number.
    pub fn printed(text: &str, value: f64, zero_unit: f64, rounding: Rounding) -> Option<Self> {
        let digits = first_number(text)?;
        let number: f64 = digits.parse().ok()?;
        let decimals = digits.split_once('.').map_or(0, |(_, after)| after.len());
        let unit = if number == 0.0 { zero_unit } else { value / number };
        let step = unit * 10f64.powi(-i32::try_from(decimals).ok()?);
        let (below, above) = match rounding {
            Rounding::Nearest => (step / 2.0, step / 2.0),
            Rounding::Down => (0.0, step),
        };
        Some(Self { low: (value - below).max(0.0), value, high: value + above * OPEN_END })
    }

    /// The sum.
    pub fn plus(self, other: Self) -> Self {
        self.combined(other, |a, b| a + b)
    }

    /// The difference.
    pub fn minus(self, other: Self) -> Self {
        self.combined(other, |a, b| a - b)
    }

    /// The product.
    pub fn times(self, other: Self) -> Self {
        self.combined(other, |a, b| a * b)
    }

    /// The quotient. `None` when the divisor may be zero.
    pub fn over(self, other: Self) -> Option<Self> {
        let divisible = other.low > 0.0 || other.high < 0.0;
        divisible.then(|| self.combined(other, |a, b| a / b))
    }

    /// Whether the two ranges overlap.
    pub fn overlaps(self, other: Self) -> bool {
        self.low <= other.high && other.low <= self.high
    }

    /// Whether every value in the range is finite and not negative.
    pub fn is_plausible(self) -> bool {
        [self.low, self.value, self.high].iter().all(|end| end.is_finite()) && self.value >= 0.0
    }

    /// An operation that is monotonic in each operand takes its extremes at the corners.
    fn combined(self, other: Self, operation: impl Fn(f64, f64) -> f64) -> Self {
        let corners = [
            operation(self.low, other.low),
            operation(self.low, other.high),
            operation(self.high, other.low),
            operation(self.high, other.high),
        ];
        Self {
            low: corners.into_iter().fold(f64::INFINITY, f64::min),
            value: operation(self.value, other.value),
            high: corners.into_iter().fold(f64::NEG_INFINITY, f64::max),
        }
    }
}

/// The first decimal number in a text: `2.9` of `^2.9`, `9.4` of `9.4 times`.
fn first_number(text: &str) -> Option<&str> {
    let start = text.find(|c: char| c.is_ascii_digit())?;
    let rest = &text[start..];
    let end = rest.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(rest.len());
    Some(rest[..end].trim_end_matches('.'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn printed(text: &str, value: f64, rounding: Rounding) -> (f64, f64) {
        let span = Span::printed(text, value, 1e6, rounding).expect("a number");
        (span.low, span.high)
    }

    fn assert_close((low, high): (f64, f64), expected: (f64, f64)) {
        let near = |a: f64, b: f64| (a - b).abs() <= 1e-6 * b.abs().max(1e-6);
        assert!(near(low, expected.0) && near(high, expected.1), "{low} to {high}");
    }

    #[test]
    fn the_last_printed_digit_says_how_well_a_figure_is_known() {
        let nearest = Rounding::Nearest;
        assert_close(printed("0.10 ms", 1e5, nearest), (9.5e4, 1.05e5));
        assert_close(printed("15%", 0.15, nearest), (0.145, 0.155));
        assert_close(printed("95k", 95_000.0, nearest), (94_500.0, 95_500.0));
        assert_close(printed("^2.9", 2.9, nearest), (2.85, 2.95));
        assert_close(printed("0.000172", 172_000.0, nearest), (171_500.0, 172_500.0));
    }

    #[test]
    fn what_was_cut_off_lies_above_and_a_zero_takes_its_unit_from_its_column() {
        assert_close(printed("1ms", 1e6, Rounding::Down), (1e6, 2e6));
        assert_close(printed("0", 0.0, Rounding::Down), (0.0, 1e6));
        assert!(printed("1ms", 1e6, Rounding::Down).1 < 2e6);
        assert_eq!(Span::printed("none", 1.0, 1.0, Rounding::Down), None);
    }

    #[test]
    fn arithmetic_keeps_every_possible_result() {
        let a = Span::around(10.0, 1.0);
        let b = Span::around(2.0, 0.5);
        assert_close((a.times(b).low, a.times(b).high), (13.5, 27.5));
        let quotient = a.over(b).expect("not zero");
        assert_close((quotient.low, quotient.high), (3.6, 11.0 / 1.5));
        assert_eq!(a.over(Span::around(0.0, 1.0)), None);
        assert_close((a.minus(b).low, a.minus(b).high), (6.5, 9.5));
        assert_close((a.plus(b).low, a.plus(b).high), (10.5, 13.5));
        assert!(a.overlaps(Span::exact(9.0)) && !a.overlaps(b));
    }
}
