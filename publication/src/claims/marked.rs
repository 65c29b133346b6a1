//! Which rounds of a record are marked, for the answers that depend on them.

use super::evaluation::rounds;
use super::quantity::Quantity;
use bookend_results::record::Record;
use bookend_results::table::rules_of;
use std::collections::{BTreeMap, BTreeSet};

/// Marks of what others on the machine did while a round was measured.
const DISTURBANCES: [&str; 2] = ["steal", "foreign-process"];

/// How many of the rounds behind a figure are marked, and by which rules. A round counts once for
/// each case, whichever of the cells compared in it is marked.
#[derive(Default)]
pub(super) struct MarkedRounds {
    all: usize,
    marked: usize,
    /// Marked for what others on the machine did.
    disturbed: usize,
    /// Whether that is so of most rounds of a case, by its place in the text.
    places: BTreeMap<String, bool>,
    rules: BTreeSet<&'static str>,
}

impl MarkedRounds {
    pub(super) fn of(quantity: &Quantity, record: &Record) -> Self {
        let mut counted = Self::default();
        for (case, by_round) in quantity.cases.iter().zip(rounds(quantity, record)) {
            let mut disturbed = 0;
            for rows in by_round.values() {
                let rules: BTreeSet<&str> =
                    rows.iter().flat_map(|row| rules_of(&record.facts.plan, row)).collect();
                disturbed += usize::from(DISTURBANCES.iter().any(|one| rules.contains(one)));
                counted.all += 1;
                counted.marked += usize::from(!rules.is_empty());
                counted.rules.extend(rules);
            }
            counted.disturbed += disturbed;
            counted.places.insert(format!("at {case}"), disturbed * 2 > by_round.len());
        }
        counted
    }

    /// Whether most rounds behind the figure at a place were measured while others used the
    /// machine: no ground for an answer.
    pub(super) fn is_disturbed(&self, place: &str) -> bool {
        // A figure of several cases has no place among them: all rounds count.
        self.places.get(place).copied().unwrap_or(self.disturbed * 2 > self.all)
    }

    /// The sentence behind an answer. `None`: no round is marked.
    pub(super) fn sentence(&self) -> Option<String> {
        let Self { marked, all, .. } = self;
        let rules: Vec<String> = self.rules.iter().map(|rule| format!("`{rule}`")).collect();
        (*marked > 0).then(|| format!("Marked in {marked} of {all} rounds: {}.", rules.join(", ")))
    }
}
