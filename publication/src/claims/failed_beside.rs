//! Outcomes and figures with the calls that failed beside them, as tables and sentences have them.

use super::verdict::{Answer, Judgement};
use bookend_results::failed_share::FailedShare;

impl Answer {
    /// The outcome, with the calls that failed in the cells that it rests on: `replicated, while
    /// 26.4 % of rust-pajamax/0.2.0's calls failed at C=1 S=1000`.
    pub fn verdict(&self) -> String {
        let failed = self.failed.in_words();
        failed.map_or_else(
            || self.outcome.to_string(),
            |what| format!("{}, while {what}", self.outcome),
        )
    }
}

impl Judgement<'_> {
    /// The largest share of the first answer, and of the second where any of its calls failed, for
    /// a column: `29.1 %`, `61.5 % / 60.4 %`. `None`: no call failed.
    pub fn failed_field(&self) -> Option<String> {
        let same = self.replicates.failed.most();
        match self.is_it_so.as_ref().and_then(|answer| answer.failed.most()) {
            Some(other) => Some(format!("{} / {other}", FailedShare::field(same))),
            None => same.map(|share| share.to_string()),
        }
    }

    /// The sentence in short, behind a sign where calls failed in a cell that an answer rests on.
    pub fn marked_sentence(&self) -> String {
        let most = self.answers().map(|answer| answer.failed.most());
        FailedShare::marked(most.fold(None, FailedShare::larger), self.claim.in_short())
    }
}
