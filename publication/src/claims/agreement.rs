//! How the answers of two runs of a suite stand to each other.

use super::outcome::ClaimOutcome;
use bookend_results::record::Record;

/// How two answers stand to each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Agreement {
    Same,
    /// One of the runs left it open.
    OpenInOne,
    /// What was claimed, and in the other run more than that.
    MoreInOne,
    Opposite,
}

impl Agreement {
    pub(super) const ALL: [Self; 4] =
        [Self::Same, Self::OpenInOne, Self::MoreInOne, Self::Opposite];

    pub(super) fn of(first: ClaimOutcome, again: ClaimOutcome) -> Self {
        let are_for_it =
            |outcome| matches!(outcome, ClaimOutcome::Replicated | ClaimOutcome::MoreThanClaimed);
        match (first, again) {
            _ if first == again => Self::Same,
            (ClaimOutcome::Undecided, _) | (_, ClaimOutcome::Undecided) => Self::OpenInOne,
            _ if are_for_it(first) && are_for_it(again) => Self::MoreInOne,
            _ => Self::Opposite,
        }
    }
}

/// The day on which a run began.
pub(super) fn begun(record: &Record) -> String {
    let text = record.facts.started.to_string();
    text.split('T').next().unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn outcomes_that_support_a_claim_are_not_opposite() {
        use ClaimOutcome::{DidNotReplicate, MoreThanClaimed, Replicated, Undecided};
        for (first, again, expected) in [
            (Replicated, Replicated, Agreement::Same),
            (Replicated, Undecided, Agreement::OpenInOne),
            (Undecided, DidNotReplicate, Agreement::OpenInOne),
            (MoreThanClaimed, Replicated, Agreement::MoreInOne),
            (MoreThanClaimed, DidNotReplicate, Agreement::Opposite),
        ] {
            assert_eq!(Agreement::of(first, again), expected);
            assert_eq!(Agreement::of(again, first), expected);
        }
    }
}
