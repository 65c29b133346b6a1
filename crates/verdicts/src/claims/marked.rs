//! Which rounds of a record are marked, for the verdicts that depend on them.

use super::quantity::Quantity;
use bookend_results::measurement::{CellId, Row};
use bookend_results::record::Record;
use bookend_results::table::rules_of;
use std::collections::{BTreeMap, BTreeSet};

/// The marked windows of a record with the names of the rules, by cell and round.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Marked<'a>(BTreeMap<(&'a CellId, u32), BTreeSet<&'static str>>);

impl<'a> Marked<'a> {
    pub(super) fn of(record: &'a Record) -> Self {
        let plan = &record.facts.plan;
        let rules = record.rows.iter().map(|row| (row, rules_of(plan, row)));
        let marked = rules.filter(|(_, rules)| !rules.is_empty());
        Self(marked.map(|(row, rules)| ((&row.cell, row.round), rules)).collect())
    }

    /// How many of the rounds behind a figure are marked, and by which rules. A round counts once
    /// for each case, whichever of the cells compared in it is marked.
    pub(super) fn sentence(&self, quantity: &Quantity, rows: &[Row]) -> Option<String> {
        let (mut marked, mut all) = (0, 0);
        let mut names = BTreeSet::new();
        for by_round in quantity.rounds(rows) {
            for cells in by_round.values() {
                let rules: BTreeSet<&'static str> = cells
                    .iter()
                    .filter_map(|row| self.0.get(&(&row.cell, row.round)))
                    .flatten()
                    .copied()
                    .collect();
                all += 1;
                marked += u32::from(!rules.is_empty());
                names.extend(rules);
            }
        }
        let names: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
        (marked > 0).then(|| format!("Marked in {marked} of {all} rounds: {}.", names.join(", ")))
    }
}
