//! What a claim says of its figure, and the one rule for how near is the same.

use serde::Deserialize;

/// Two figures within this factor of each other count as the same.
///
/// The documents print one run a row, without an interval. Single rounds of ours, of one pair of
/// servers under one load, lie within this factor of their own median in seven of ten cases
/// (`records/pajamax-tonic`): under a stricter rule the very same run, repeated, would often be
/// called another result. A wider one would call a doubled cost the same.
pub const TOLERANCE: f64 = 1.25;

/// What is said of a figure. A ratio is that of the subject to what it is divided by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Statement {
    /// A number of times as good: within the tolerance of the printed figure. Beyond that, a figure
    /// that is better than printed says more than was claimed.
    Factor,
    /// The printed figure, within the tolerance.
    Figure,
    /// A ratio above 1.
    More,
    /// A ratio below 1.
    Less,
    /// A ratio above 1 by more than the tolerance: "very different", "obviously".
    MuchMore,
    /// A ratio within the tolerance of 1.
    Same,
    /// A ratio that is not above 1 by more than the tolerance: "no significant gain".
    NotMore,
    /// From the first case to the last a ratio above 1, and no step that falls by more than the
    /// tolerance.
    Grows,
    /// More than half.
    Most,
}

impl Statement {
    /// Every statement with its word in `claims.toml` and its meaning.
    pub const ALL: [(Self, &str, &str); 9] = [
        (
            Self::Factor,
            "factor",
            "x / 1.25 to x * 1.25, where x is printed; beyond it on the better side, more than claimed",
        ),
        (Self::Figure, "figure", "x / 1.25 to x * 1.25, where x is printed"),
        (Self::More, "more", "above 1"),
        (Self::Less, "less", "below 1"),
        (Self::MuchMore, "much-more", "above 1.25"),
        (Self::Same, "same", "from 1 / 1.25 to 1.25"),
        (Self::NotMore, "not-more", "at most 1.25"),
        (
            Self::Grows,
            "grows",
            "above 1 from the first case to the last, with no step below 1 / 1.25",
        ),
        (Self::Most, "most", "above 0.5"),
    ];

    /// Whether it needs a printed figure.
    pub(super) fn needs_printed(self) -> bool {
        matches!(self, Self::Factor | Self::Figure)
    }

    /// The figures of which it is true, given the printed one.
    pub(super) fn band(self, printed: f64, favour: Favour) -> Band {
        let (least, most) = match self {
            Self::Factor | Self::Figure => (printed / TOLERANCE, printed * TOLERANCE),
            Self::More | Self::Grows => (1.0_f64.next_up(), f64::INFINITY),
            Self::Less => (0.0, 1.0_f64.next_down()),
            Self::MuchMore => (TOLERANCE.next_up(), f64::INFINITY),
            Self::Same => (1.0 / TOLERANCE, TOLERANCE),
            Self::NotMore => (0.0, TOLERANCE),
            Self::Most => (0.5_f64.next_up(), f64::INFINITY),
        };
        Band { least, most, favour: (self == Self::Factor).then_some(favour) }
    }
}

/// On which side a figure is better than printed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Favour {
    /// Larger is better.
    #[default]
    Larger,
    /// Smaller is better.
    Smaller,
}

/// A range of figures, both ends included.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Band {
    pub(super) least: f64,
    pub(super) most: f64,
    /// The side on which a figure beyond the range says more than was claimed.
    pub(super) favour: Option<Favour>,
}

impl Band {
    /// The falls that do not end a growth.
    pub(super) const STEP: Self =
        Self { least: 1.0 / TOLERANCE, most: f64::INFINITY, favour: None };
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    #[test]
    fn every_statement_is_declared_by_its_word() {
        for (statement, word, _) in Statement::ALL {
            let text = format!("says = \"{word}\"");
            let declared: BTreeMap<String, Statement> = toml::from_str(&text).expect("a word");
            assert_eq!(declared["says"], statement);
        }
    }

    #[test]
    fn what_is_more_is_not_the_same_and_what_is_same_is_not_much_more() {
        let band = |statement: Statement| statement.band(1.0, Favour::Larger);
        assert!(band(Statement::More).least > 1.0);
        assert!(band(Statement::Less).most < 1.0);
        assert!(band(Statement::MuchMore).least > band(Statement::Same).most);
        assert_eq!(band(Statement::NotMore).most, band(Statement::Same).most);
    }
}
