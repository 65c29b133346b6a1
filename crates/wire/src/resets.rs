//! Streams that we reset, whose frames may still be on their way.
//!
//! Deadlines end calls by the ten thousand, and a busy peer answers all of them late. Their ids
//! follow each other, so they are kept as runs: a mass of them costs no more than one.

use alloc::collections::BTreeMap;

/// Runs that are kept apart: 16 KiB. Beyond, the two oldest become one, and the streams between
/// them count as reset too: their frames are ignored, where they could have been an error.
const RUNS_MAX: usize = 1_024;

/// A set of stream ids that never grows without bound and never forgets.
#[derive(Debug, Default)]
pub(crate) struct Resets {
    /// The first and the last [`place`] of every run.
    runs: BTreeMap<u32, u32>,
}

/// Where an id stands: next to the next one of its side, far from those of the other (ids of one
/// side are all odd or all even, RFC 9113 section 5.1.1).
fn place(id: u32) -> u32 {
    id.rotate_right(1)
}

impl Resets {
    pub(crate) fn insert(&mut self, id: u32) {
        if self.contains(id) {
            return;
        }
        let here = place(id);
        let mut first = here;
        if let Some((&before, last)) = self.runs.range_mut(..here).next_back()
            && last.checked_add(1) == Some(here)
        {
            *last = here;
            first = before;
        }
        let after = here.checked_add(1).and_then(|next| self.runs.remove(&next));
        self.runs.insert(first, after.unwrap_or(here));
        if self.runs.len() > RUNS_MAX {
            self.join_the_oldest();
        }
    }

    pub(crate) fn contains(&self, id: u32) -> bool {
        let here = place(id);
        let run = self.runs.range(..=here).next_back();
        run.is_some_and(|(_, last)| here <= *last)
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
    fn a_mass_of_resets_in_order_costs_one_run() {
        let mut resets = Resets::default();
        (1..200_000).step_by(2).for_each(|id| resets.insert(id));
        assert_eq!(resets.runs.len(), 1);
        assert!(resets.contains(1) && resets.contains(100_001) && resets.contains(199_999));
        assert!(!resets.contains(200_001));
        assert!(!resets.contains(2), "ids of the other side are not in it");
    }

    #[test]
    fn the_order_does_not_matter() {
        let mut resets = Resets::default();
        for id in [9, 1, 5, 3, 7, 13] {
            resets.insert(id);
        }
        assert_eq!(resets.runs.len(), 2);
        assert!((1..=9).step_by(2).all(|id| resets.contains(id)));
        assert!(!resets.contains(11) && resets.contains(13));
    }

    #[test]
    fn ids_of_the_other_side_change_nothing() {
        let mut resets = Resets::default();
        for id in [1, 3, 5, 2, 7, 4] {
            resets.insert(id);
        }
        assert!((1..=5).chain([7]).all(|id| resets.contains(id)));
        assert!(!resets.contains(6) && !resets.contains(9));
    }

    #[test]
    fn memory_is_bounded_and_nothing_is_forgotten() {
        let mut resets = Resets::default();
        let ids = || (1..40_000).step_by(4);
        ids().for_each(|id| resets.insert(id));
        assert_eq!(resets.runs.len(), RUNS_MAX);
        assert!(ids().all(|id| resets.contains(id)));
        assert!(!resets.contains(39_999), "the newest are told apart");
    }

    #[test]
    fn the_last_id_there_is_has_no_neighbour_beyond() {
        let mut resets = Resets::default();
        resets.insert(u32::MAX);
        resets.insert(u32::MAX);
        assert!(resets.contains(u32::MAX));
    }
}
