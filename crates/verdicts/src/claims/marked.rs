//! Which rounds of a record are marked, for the answers that depend on them.

use super::evaluation::rounds;
use super::quantity::Quantity;
use bookend_results::record::Record;
use bookend_results::table::rules_of;
use std::collections::BTreeSet;

/// Marks of what others on the machine did while a round was measured.
const DISTURBANCES: [&str; 2] = ["steal", "foreign-process"];

/// How many of the rounds behind a figure are marked, and by which rules. A round counts once for
/// each case, whichever of the cells compared in it is marked.
#[derive(Default)]
pub(super) struct MarkedRounds {
    all: u32,
    marked: u32,
    /// Marked for what others on the machine did.
    disturbed: u32,
    rules: BTreeSet<&'static str>,
}

impl MarkedRounds {
    pub(super) fn of(quantity: &Quantity, record: &Record) -> Self {
        let mut counted = Self::default();
        for rows in rounds(quantity, &record.rows).iter().flat_map(|by_round| by_round.values()) {
            let rules = rows.iter().flat_map(|row| rules_of(&record.facts.plan, row));
            let rules: BTreeSet<&str> = rules.collect();
            let is_disturbed = DISTURBANCES.iter().any(|one| rules.contains(one));
            counted.all += 1;
            counted.marked += u32::from(!rules.is_empty());
            counted.disturbed += u32::from(is_disturbed);
            counted.rules.extend(rules);
        }
        counted
    }

    /// Whether most rounds were measured while others used the machine: no ground for an answer.
    pub(super) fn are_mostly_disturbed(&self) -> bool {
        self.disturbed * 2 > self.all
    }

    /// The sentence behind an answer. `None`: no round is marked.
    pub(super) fn sentence(&self) -> Option<String> {
        let Self { marked, all, .. } = self;
        let rules: Vec<String> = self.rules.iter().map(|rule| format!("`{rule}`")).collect();
        (*marked > 0).then(|| format!("Marked in {marked} of {all} rounds: {}.", rules.join(", ")))
    }
}
