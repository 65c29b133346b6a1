//! The outcomes for a claim: six, and that two runs disagree.

use std::fmt;

/// The answer to one of the two questions about a claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ClaimOutcome {
    /// What was measured says the same as the claim.
    Replicated,
    /// The same, and beyond the tolerance in the claim's own favour.
    MoreThanClaimed,
    /// What was measured says otherwise.
    DidNotReplicate,
    /// The document's own figures say otherwise, whatever is measured.
    RefutedByItsTable,
    /// What was measured leaves it open.
    Undecided,
    /// Nothing that can be measured here would answer it.
    NotComparable,
    /// The suite was run twice, and the runs do not say the same.
    Differs,
}

impl ClaimOutcome {
    /// Every outcome, in the order of reports.
    pub const ALL: [Self; 7] = [
        Self::Replicated,
        Self::MoreThanClaimed,
        Self::DidNotReplicate,
        Self::RefutedByItsTable,
        Self::Undecided,
        Self::NotComparable,
        Self::Differs,
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
            Self::Differs => "differs",
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
            Self::Differs => "differs between runs",
        })
    }
}
