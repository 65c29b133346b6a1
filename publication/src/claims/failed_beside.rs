//! Outcomes and figures with the calls that failed, as tables and sentences have them.

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
    /// The largest share in the cells that its answers rest on. `None`: no call failed.
    pub fn failed_most(&self) -> Option<FailedShare> {
        self.answers().map(|answer| answer.failed.most()).fold(None, FailedShare::larger)
    }

    /// The sentence in short, behind a sign where calls failed in a cell that an answer rests on.
    pub fn marked_sentence(&self) -> String {
        FailedShare::marked(self.failed_most(), self.claim.in_short())
    }
}
