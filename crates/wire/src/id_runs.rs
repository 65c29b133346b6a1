//! Stream ids that must be remembered for as long as a connection lasts: those of streams that we
//! reset, whose frames may still be on their way, and those that the peer has skipped.
//!
//! Deadlines end calls by the ten thousand, and a busy peer answers all of them late. Their ids are
//! consecutive, so they are kept as runs: many of them cost no more than one.

use alloc::collections::BTreeMap;

/// Runs that are kept apart: 16 KiB. Beyond that, the two oldest are joined, and the ids between
/// them count as members: frames for those are ignored where they could have been an error, or the
/// error has a broader name.
const RUNS_MAX: usize = 1_024;

/// A set of stream ids that never grows without bound and never forgets.
#[derive(Debug, Default)]
pub(crate) struct IdRuns {
    /// The first and the last [`place`] of every run.
    runs: BTreeMap<u32, u32>,
}

/// The position of an id: next to the next id of its side, far from those of the other (ids of one
/// side are all odd or all even, RFC 9113 section 5.1.1).
fn place(id: u32) -> u32 {
    id.rotate_right(1)
}

impl IdRuns {
    pub(crate) fn insert(&mut self, id: u32) {
        if !self.contains(id) {
            self.insert_run(id, id);
        }
    }

    /// Adds all ids of one side from `first` to `last`, none of which may be in the set.
    pub(crate) fn insert_run(&mut self, first: u32, last: u32) {
        let (mut first, last) = (place(first), place(last));
        if let Some((&before, end)) = self.runs.range_mut(..first).next_back()
            && end.checked_add(1) == Some(first)
        {
            *end = last;
            first = before;
        }
        let after = last.checked_add(1).and_then(|next| self.runs.remove(&next));
        self.runs.insert(first, after.unwrap_or(last));
        if self.runs.len() > RUNS_MAX {
            self.join_the_oldest();
        }
    }

    pub(crate) fn contains(&self, id: u32) -> bool {
        let here = place(id);
        self.runs.range(..=here).next_back().is_some_and(|(_, last)| here <= *last)
    }

    /// Memory held, bytes: a node of the map is at least half full.
    pub(crate) fn held_bytes(&self) -> usize {
        self.runs.len() * 2 * size_of::<(u32, u32)>()
    }

    fn join_the_oldest(&mut self) {
        let Some((first, _)) = self.runs.pop_first() else {
            return;
        };
        if let Some((_, last)) = self.runs.pop_first() {
            self.runs.insert(first, last);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mass_of_ids_in_order_costs_one_run() {
        let mut ids = IdRuns::default();
        (1..200_000).step_by(2).for_each(|id| ids.insert(id));
        assert_eq!(ids.runs.len(), 1);
        assert!(ids.contains(1) && ids.contains(100_001) && ids.contains(199_999));
        assert!(!ids.contains(200_001));
        assert!(!ids.contains(2), "ids of the other side are not in it");
    }

    #[test]
    fn the_order_does_not_matter() {
        let mut ids = IdRuns::default();
        for id in [9, 1, 5, 3, 7, 13] {
            ids.insert(id);
        }
        assert_eq!(ids.runs.len(), 2);
        assert!((1..=9).step_by(2).all(|id| ids.contains(id)));
        assert!(!ids.contains(11) && ids.contains(13));
    }

    #[test]
    fn ids_of_the_other_side_change_nothing() {
        let mut ids = IdRuns::default();
        for id in [1, 3, 5, 2, 7, 4] {
            ids.insert(id);
        }
        assert!((1..=5).chain([7]).all(|id| ids.contains(id)));
        assert!(!ids.contains(6) && !ids.contains(9));
    }

    #[test]
    fn a_run_joins_its_neighbours() {
        let mut ids = IdRuns::default();
        ids.insert(1);
        ids.insert(11);
        ids.insert_run(3, 9);
        assert_eq!(ids.runs.len(), 1);
        assert!((1..=11).step_by(2).all(|id| ids.contains(id)));
    }

    #[test]
    fn memory_is_bounded_and_nothing_is_forgotten() {
        let mut ids = IdRuns::default();
        let gapped = || (1..40_000).step_by(4);
        gapped().for_each(|id| ids.insert(id));
        assert_eq!(ids.runs.len(), RUNS_MAX);
        assert!(gapped().all(|id| ids.contains(id)));
        assert!(!ids.contains(39_999), "the newest are distinguished");
    }

    #[test]
    fn the_last_id_there_is_has_no_neighbour_beyond() {
        let mut ids = IdRuns::default();
        ids.insert(u32::MAX);
        ids.insert(u32::MAX);
        assert!(ids.contains(u32::MAX));
    }
}
