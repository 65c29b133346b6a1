//! Arithmetic on printed figures: `(65135.31 / 15%) / (41124.74 / 95%)`, each figure with the range
//! that its digits leave open.

use bookend_results::audit::{Rounding, Span};
use thiserror::Error;

/// More nesting than anyone writes; a guard against a hostile file.
const DEPTH_MAX: usize = 16;

/// What is wrong with a formula.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum FormulaError {
    /// A figure, a parenthesis or an operator was expected before this remainder.
    #[error("{}", unexpected_text(_0))]
    Unexpected(String),
    /// A divisor may be zero.
    #[error("the formula divides by what may be zero")]
    DivisionByZero,
    /// More than 16 nested parentheses.
    #[error("the formula has too many parentheses")]
    TooDeep,
}

fn unexpected_text(rest: &str) -> String {
    if rest.is_empty() {
        return "the formula ends too early".to_owned();
    }
    format!("`{rest}` is not understood: write figures as printed, + - * / and parentheses")
}

/// The value of a formula with the range that its figures leave open.
///
/// # Errors
/// When the text is not a formula.
pub fn evaluate(formula: &str) -> Result<Span, FormulaError> {
    let mut reader = Reader { rest: formula, depth: 0 };
    let value = reader.sum()?;
    if reader.rest.is_empty() { Ok(value) } else { Err(reader.unexpected()) }
}

struct Reader<'a> {
    rest: &'a str,
    depth: usize,
}

impl Reader<'_> {
    fn sum(&mut self) -> Result<Span, FormulaError> {
        let mut value = self.product()?;
        loop {
            value = if self.skips('+') {
                value.plus(self.product()?)
            } else if self.skips('-') {
                value.minus(self.product()?)
            } else {
                return Ok(value);
            };
        }
    }

    fn product(&mut self) -> Result<Span, FormulaError> {
        let mut value = self.factor()?;
        loop {
            value = if self.skips('*') {
                value.times(self.factor()?)
            } else if self.skips('/') {
                value.over(self.factor()?).ok_or(FormulaError::DivisionByZero)?
            } else {
                return Ok(value);
            };
        }
    }

    fn factor(&mut self) -> Result<Span, FormulaError> {
        if !self.skips('(') {
            return self.figure();
        }
        if self.depth == DEPTH_MAX {
            return Err(FormulaError::TooDeep);
        }
        self.depth += 1;
        let value = self.sum()?;
        self.depth -= 1;
        if self.skips(')') { Ok(value) } else { Err(self.unexpected()) }
    }

    /// A decimal number, optionally with a per cent sign. A whole number without the sign is exact:
    /// it counts something.
    fn figure(&mut self) -> Result<Span, FormulaError> {
        let is_digit = |c: char| c.is_ascii_digit() || c == '.';
        let end = self.rest.find(|c| !is_digit(c)).unwrap_or(self.rest.len());
        let (digits, rest) = self.rest.split_at(end);
        let number: f64 = digits.parse().map_err(|_| self.unexpected())?;
        let (unit, rest) = match rest.strip_prefix('%') {
            Some(rest) => (0.01, rest),
            None => (1.0, rest),
        };
        let is_count = unit == 1.0 && !digits.contains('.');
        let value = if is_count {
            Span::exact(number)
        } else {
            Span::printed(digits, number * unit, unit, Rounding::Nearest)
                .ok_or_else(|| self.unexpected())?
        };
        self.rest = rest;
        Ok(value)
    }

    /// Skips blanks, and this character if it is the next one.
    fn skips(&mut self, next: char) -> bool {
        self.rest = self.rest.trim_start();
        let rest = self.rest.strip_prefix(next);
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }

    fn unexpected(&self) -> FormulaError {
        FormulaError::Unexpected(self.rest.to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_published_ratio_comes_out_of_its_own_figures() {
        let ratio = evaluate("(65135.31 / 15%) / (41124.74 / 95%)").expect("a formula");
        assert_eq!(format!("{:.2}", ratio.value), "10.03");
        assert_eq!(format!("{:.2} {:.2}", ratio.low, ratio.high), "9.66 10.43");
    }

    #[test]
    fn products_come_before_sums_and_whole_numbers_are_exact() {
        assert_eq!(evaluate("2 + 3 * 4 - 6 / 2"), Ok(Span::exact(11.0)));
        assert_eq!(evaluate(" ( 2 + 3 ) * 4 "), Ok(Span::exact(20.0)));
        let rounded = evaluate("2.90 / 0.31").expect("a formula");
        assert_eq!(format!("{:.2} {:.2}", rounded.low, rounded.high), "9.19 9.52");
    }

    #[test]
    fn what_is_no_formula_says_where() {
        let wrong = |text: &str| evaluate(text).expect_err(text);
        assert_eq!(wrong("2 +"), FormulaError::Unexpected(String::new()));
        assert_eq!(wrong("2 x 3"), FormulaError::Unexpected("x 3".to_owned()));
        assert_eq!(wrong("(2"), FormulaError::Unexpected(String::new()));
        assert_eq!(wrong("2)"), FormulaError::Unexpected(")".to_owned()));
        assert_eq!(wrong("1 / 0"), FormulaError::DivisionByZero);
        assert_eq!(wrong("1.2.3"), FormulaError::Unexpected("1.2.3".to_owned()));
        assert_eq!(wrong(&"(".repeat(17)), FormulaError::TooDeep);
        assert_eq!(wrong("2 µ"), FormulaError::Unexpected("µ".to_owned()));
    }
}
