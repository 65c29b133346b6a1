//! The six outcomes for a claim.

use serde::Deserialize;
use std::fmt;

/// The answer to one of the two questions about a claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
pub enum ClaimOutcome {
    /// What was measured says the same as the claim.
    #[serde(rename = "replicated")]
    Replicated,
    /// The same, and beyond the tolerance in the claim's own favour.
    #[serde(rename = "more than claimed")]
    MoreThanClaimed,
    /// What was measured says otherwise.
    #[serde(rename = "did not replicate")]
    DidNotReplicate,
    /// The document's own figures say otherwise, whatever is measured.
    #[serde(rename = "refuted by its own table")]
    RefutedByItsTable,
    /// What was measured leaves it open.
    #[serde(rename = "undecided")]
    Undecided,
    /// Nothing that can be measured here would answer it.
    #[serde(rename = "not comparable here")]
    NotComparable,
}

impl ClaimOutcome {
    /// Every outcome, in the order of reports.
    pub const ALL: [Self; 6] = [
        Self::Replicated,
        Self::MoreThanClaimed,
        Self::DidNotReplicate,
        Self::RefutedByItsTable,
        Self::Undecided,
        Self::NotComparable,
    ];

    /// Whether our figures led to it.
    pub(super) fn is_decided(self) -> bool {
        matches!(self, Self::Replicated | Self::MoreThanClaimed | Self::DidNotReplicate)
    }

    /// One or two words for a narrow table.
    pub fn short(self) -> &'static str {
        match self {
            Self::Replicated => "replicated",
            Self::MoreThanClaimed => "more",
            Self::DidNotReplicate => "not replicated",
            Self::RefutedByItsTable => "refuted",
            Self::Undecided => "undecided",
            Self::NotComparable => "not comparable",
        }
    }
}

impl fmt::Display for ClaimOutcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Replicated => "replicated",
            Self::MoreThanClaimed => "more than claimed",
            Self::DidNotReplicate => "did not replicate",
            Self::RefutedByItsTable => "refuted by its own table",
            Self::Undecided => "undecided",
            Self::NotComparable => "not comparable here",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_outcome_is_declared_as_it_is_printed() {
        for outcome in ClaimOutcome::ALL {
            let declared = format!("is = \"{outcome}\"");
            let table: std::collections::BTreeMap<String, ClaimOutcome> =
                toml::from_str(&declared).expect("an outcome");
            assert_eq!(table["is"], outcome);
        }
    }
}
