//! `--fail-if 'ratio<0.95'`: one field, one operator, one number.

use crate::declaration::nearest_word;
use crate::statistics::Ratio;
use std::str::FromStr;

/// A condition on a ratio, such as `low<0.95`. `FromStr` reads it.
#[derive(Clone, Copy, Debug)]
pub struct Condition {
    field: Field,
    operator: Operator,
    bound: f64,
}

/// A figure of a ratio. `None`: there is no interval.
type Field = fn(&Ratio) -> Option<f64>;

const FIELDS: [(&str, Field); 3] = [
    ("ratio", |ratio| Some(ratio.median)),
    ("low", |ratio| Some(ratio.interval?.low)),
    ("high", |ratio| Some(ratio.interval?.high)),
];

type Operator = fn(&f64, &f64) -> bool;

/// Operators that are prefixes of others come after them.
const OPERATORS: [(&str, Operator); 4] =
    [("<=", f64::le), (">=", f64::ge), ("<", f64::lt), (">", f64::gt)];

impl Condition {
    /// Whether the condition holds for `ratio`. `None` when it asks for an end of an interval and
    /// there is no interval.
    pub fn holds(&self, ratio: &Ratio) -> Option<bool> {
        Some((self.operator)(&(self.field)(ratio)?, &self.bound))
    }
}

impl FromStr for Condition {
    type Err = ConditionError;

    fn from_str(text: &str) -> Result<Self, ConditionError> {
        let end = text.find(['<', '>', '=', '!']).unwrap_or(text.len());
        let (word, rest) = text.split_at(end);
        let (sign, operator) = *OPERATORS
            .iter()
            .find(|(sign, _)| rest.starts_with(sign))
            .ok_or_else(|| ConditionError::Operator(text.to_owned()))?;
        let number = rest[sign.len()..].trim();
        let bound = number.parse().ok().filter(|bound: &f64| bound.is_finite());
        Ok(Self {
            field: field(word.trim())?,
            operator,
            bound: bound.ok_or_else(|| ConditionError::Number(number.to_owned()))?,
        })
    }
}

fn field(word: &str) -> Result<Field, ConditionError> {
    FIELDS.iter().find(|(name, _)| *name == word).map(|(_, field)| *field).ok_or_else(|| {
        ConditionError::Field {
            word: word.to_owned(),
            nearest: nearest_word(word, FIELDS.iter().map(|(name, _)| *name)),
        }
    })
}

/// Why a condition cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ConditionError {
    /// The field does not exist.
    #[error(
        "`{word}` is no field{}",
        nearest.map_or(": there are ratio, low and high".to_owned(), |near| format!(", did you mean `{near}`?"))
    )]
    Field {
        /// The field as it was written.
        word: String,
        /// The field that was probably meant.
        nearest: Option<&'static str>,
    },
    /// There is no operator, or it is unknown.
    #[error("`{_0}` has none of the operators < <= > >=: write ratio<0.95")]
    Operator(String),
    /// The text after the operator is not a number.
    #[error("`{_0}` is not a number: write ratio<0.95")]
    Number(String),
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::statistics::Interval;

    fn ratio() -> Ratio {
        Ratio { median: 0.95, interval: Some(Interval { low: 0.9, high: 1.0 }), pairs: 7 }
    }

    fn holds(text: &str) -> Option<bool> {
        text.parse::<Condition>().expect("a condition").holds(&ratio())
    }

    #[test]
    fn each_field_and_operator_means_what_it_says() {
        assert_eq!(holds("ratio<0.95"), Some(false));
        assert_eq!(holds("ratio<=0.95"), Some(true));
        assert_eq!(holds("ratio>0.95"), Some(false));
        assert_eq!(holds("ratio >= 0.95"), Some(true));
        assert_eq!(holds("low<0.95"), Some(true));
        assert_eq!(holds(" high < 0.95 "), Some(false));
    }

    #[test]
    fn without_an_interval_its_ends_cannot_be_judged() {
        let condition: Condition = "low<0.95".parse().expect("a condition");
        let single = Ratio { interval: None, ..ratio() };
        assert_eq!(condition.holds(&single), None);
    }

    #[test]
    fn what_is_no_condition_is_answered_with_what_to_write() {
        let complaint =
            |text: &str| text.parse::<Condition>().expect_err("no condition").to_string();
        assert_eq!(complaint("ration<1"), "`ration` is no field, did you mean `ratio`?");
        assert_eq!(complaint("speed<1"), "`speed` is no field: there are ratio, low and high");
        assert_eq!(
            complaint("ratio=1"),
            "`ratio=1` has none of the operators < <= > >=: write ratio<0.95"
        );
        assert_eq!(complaint("ratio<one"), "`one` is not a number: write ratio<0.95");
        for text in ["", "<", "ratio", "ratio<", "ratio<nan", "ratio<inf", "ratio!<1", "<1"] {
            assert!(text.parse::<Condition>().is_err(), "{text}");
        }
    }
}
