//! The subject that needs the least CPU, short enough for a row of a list.

use super::ratio_with_interval;
use super::report::Report;
use crate::failed_calls::marked_name;
use bookend_results::ranking::{RankedSubject, Rankings};

/// The subject that needs the least CPU for a request in a run, and by how much.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Winner {
    /// The subject, or the two that are not told apart.
    pub name: String,
    /// Its requests per CPU-second over those of the next one, with the interval.
    pub over_next: String,
}

impl Report<'_> {
    /// The subject that needs the least, in the order of the answer. `None`: nothing is compared.
    pub fn winner(&self) -> Option<Winner> {
        let rankings = Rankings::of(&self.run.new.plan, &self.table, self.rows);
        let ranking = rankings.ranking(rankings.main()?)?;
        let [first, next, ..] = ranking.subjects.as_slice() else {
            return None;
        };
        let ratio = rankings.between(first, next)?;
        let of_whom = if ranking.is_undercut(first) { " of those with the most cases" } else { "" };
        let name = match ratio.is_indistinct() {
            true => format!("{} or {}", told(first), told(next)),
            false => format!("{}{of_whom}", told(first)),
        };
        let over_next = format!("{} over {}", ratio_with_interval(&ratio), marked_name(next));
        Some(Winner { name, over_next })
    }
}

/// The name, with its calls that failed.
fn told(one: &RankedSubject) -> String {
    let failed = crate::failed_calls::told(one.failed);
    failed.map_or_else(|| marked_name(one), |failed| format!("{} ({failed})", marked_name(one)))
}
