//! Which rounds of a record are marked, for the verdicts that depend on them.

use super::evaluation::rounds;
use super::quantity::Quantity;
use bookend_results::record::Record;
use bookend_results::table::rules_of;
use std::collections::BTreeSet;

/// How many of the rounds behind a figure are marked, and by which rules. A round counts once for
/// each case, whichever of the cells compared in it is marked.
pub(super) fn marks_sentence(quantity: &Quantity, record: &Record) -> Option<String> {
    let (mut marked, mut all) = (0, 0);
    let mut names = BTreeSet::new();
    for rows in rounds(quantity, &record.rows).iter().flat_map(|by_round| by_round.values()) {
        let rules = rows.iter().flat_map(|row| rules_of(&record.facts.plan, row));
        let rules: BTreeSet<&str> = rules.collect();
        all += 1;
        marked += u32::from(!rules.is_empty());
        names.extend(rules);
    }
    let names: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    (marked > 0).then(|| format!("Marked in {marked} of {all} rounds: {}.", names.join(", ")))
}
