//! What the processes of a tree used, from looks at those that are there.

use std::collections::HashMap;
use std::mem;

/// A process, by its id and the time at which it started: the kernel gives ids again.
pub(super) type ProcessId = (i32, u64);

/// What was read of a process that is there. It may have ended, if its parent has not waited for
/// it.
#[derive(Clone, Copy, Debug)]
pub(super) struct ProcessReading {
    /// Which process.
    pub id: ProcessId,
    /// The process id of its parent.
    pub parent: i32,
    /// CPU time of all its threads, ended ones too, nanoseconds.
    pub own_ns: u64,
    /// CPU time of the children that it has waited for, and of those that they have waited for,
    /// nanoseconds in whole ticks.
    pub waited_ns: u64,
}

/// Adds up what the processes of a tree used. The sum never goes back, and has nothing twice.
#[derive(Debug, Default)]
pub(super) struct TreeAccount {
    /// Those that were there at the last look.
    seen: HashMap<ProcessId, Seen>,
    /// Of processes that ended, and no process of the tree was there to wait for them.
    ended_ns: u64,
    in_ticks_ns: u64,
}

#[derive(Clone, Copy, Debug, Default)]
struct Seen {
    parent: i32,
    own_ns: u64,
    waited_ns: u64,
    /// What was read of processes that have ended, and is not in `waited_ns` so far.
    expected_ns: u64,
}

impl Seen {
    fn total_ns(&self) -> u64 {
        self.own_ns + self.waited_ns + self.expected_ns
    }
}

impl TreeAccount {
    /// Takes a look at all processes that are there.
    ///
    /// What was read of a process counts on when it is gone. It belongs to its parent from then on,
    /// or to the next ancestor that is still there, whether that one has waited for it or not, so
    /// its CPU time is subtracted from later growth of the ancestor's `waited_ns`. Ticks are
    /// rounded down, so a rest that is below them stays expected until they show it, and nothing is
    /// counted twice.
    pub fn look(&mut self, now: &[ProcessReading]) {
        let before = mem::take(&mut self.seen);
        for reading in now {
            let old = before.get(&reading.id).copied().unwrap_or_default();
            let seen = Seen {
                parent: reading.parent,
                own_ns: reading.own_ns.max(old.own_ns),
                waited_ns: reading.waited_ns.max(old.waited_ns),
                expected_ns: old.expected_ns,
            };
            self.seen.insert(reading.id, seen);
        }
        for (_, ended) in before.iter().filter(|(id, _)| !now.iter().any(|now| now.id == **id)) {
            match self.heir(&before, ended.parent) {
                Some(heir) => heir.expected_ns += ended.total_ns(),
                None => self.ended_ns += ended.total_ns(),
            }
        }
        for (id, seen) in &mut self.seen {
            let grown_ns = seen.waited_ns - before.get(id).map_or(0, |old| old.waited_ns);
            let known_ns = grown_ns.min(seen.expected_ns);
            seen.expected_ns -= known_ns;
            self.in_ticks_ns += grown_ns - known_ns;
        }
    }

    /// Whether this process was there at the last look.
    pub fn has_seen(&self, id: ProcessId) -> bool {
        self.seen.contains_key(&id)
    }

    /// The process ids of those that were there at the last look.
    pub fn pids(&self) -> impl Iterator<Item = i32> {
        self.seen.keys().map(|(pid, _)| *pid)
    }

    /// CPU time of all processes so far, nanoseconds.
    pub fn total_ns(&self) -> u64 {
        self.ended_ns + self.seen.values().map(Seen::total_ns).sum::<u64>()
    }

    /// How much of it was used by processes after the last look at them, and is known in ticks
    /// alone, nanoseconds.
    pub fn in_ticks_ns(&self) -> u64 {
        self.in_ticks_ns
    }

    /// The process `parent`, or the next of its ancestors that is there.
    fn heir(&mut self, before: &HashMap<ProcessId, Seen>, mut parent: i32) -> Option<&mut Seen> {
        // As long as the longest line of ancestors at most, whatever the kernel says.
        for _ in 0..=before.len() {
            if let Some(id) = self.seen.keys().copied().find(|(pid, _)| *pid == parent) {
                return self.seen.get_mut(&id);
            }
            parent = before.iter().find(|((pid, _), _)| *pid == parent)?.1.parent;
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    fn process(pid: i32, parent: i32, own_ms: u64, waited_ms: u64) -> ProcessReading {
        let id = (pid, 7);
        ProcessReading { id, parent, own_ns: own_ms * MS, waited_ns: waited_ms * MS }
    }

    /// The sum in milliseconds after each look.
    fn sums(looks: &[&[ProcessReading]]) -> (Vec<u64>, TreeAccount) {
        let mut account = TreeAccount::default();
        let sum = |look: &&[ProcessReading]| {
            account.look(look);
            account.total_ns() / MS
        };
        (looks.iter().map(sum).collect(), account)
    }

    #[test]
    fn a_child_that_is_waited_for_counts_once() {
        let (sums, account) = sums(&[
            &[process(1, 0, 5, 0), process(2, 1, 33, 0)],
            &[process(1, 0, 6, 0), process(2, 1, 44, 0)],
            // It has used another 8 ms by then, of which the ticks show 6.
            &[process(1, 0, 7, 50)],
            &[process(1, 0, 8, 50)],
        ]);
        assert_eq!(sums, [38, 50, 57, 58]);
        assert_eq!(account.in_ticks_ns(), 6 * MS);
    }

    #[test]
    fn a_child_that_nobody_has_seen_counts_in_ticks() {
        let (sums, account) =
            sums(&[&[process(1, 0, 5, 0)], &[process(1, 0, 5, 40)], &[process(1, 0, 5, 70)]]);
        assert_eq!(sums, [5, 45, 75]);
        assert_eq!(account.in_ticks_ns(), 70 * MS);
    }

    #[test]
    fn what_was_seen_of_an_ignored_child_stays() {
        let (sums, account) = sums(&[
            &[process(1, 0, 5, 0), process(2, 1, 33, 0)],
            &[process(1, 0, 5, 0), process(3, 1, 9, 0)],
            &[process(1, 0, 5, 0)],
        ]);
        assert_eq!(sums, [38, 47, 47]);
        assert_eq!(account.in_ticks_ns(), 0);
    }

    #[test]
    fn children_shorter_than_a_tick_add_up_to_what_they_used() {
        // 6 ms each, seen after 5.
        let waited_ms = |children: u64| children * 6 / 10 * 10;
        let mut account = TreeAccount::default();
        let mut last_ns = 0;
        for number in 0..1000 {
            let child = ProcessReading { id: (2, number), ..process(2, 1, 5, 0) };
            account.look(&[process(1, 0, 0, waited_ms(number)), child]);
            account.look(&[process(1, 0, 0, waited_ms(number + 1))]);
            assert!(account.total_ns() >= last_ns, "{number}");
            last_ns = account.total_ns();
        }
        assert_eq!(last_ns, 6_000 * MS);
    }

    #[test]
    fn what_ends_with_its_parent_belongs_to_the_next_ancestor() {
        let family = [process(1, 0, 5, 0), process(2, 1, 20, 0), process(3, 2, 30, 0)];
        let (waited, _) = sums(&[&family, &[process(1, 0, 5, 60)]]);
        assert_eq!(waited, [55, 65]);
        let (ignored, _) = sums(&[&family, &[process(1, 0, 5, 0)]]);
        assert_eq!(ignored, [55, 55]);
        let (all_ended, account) = sums(&[&family, &[]]);
        assert_eq!(all_ended, [55, 55]);
        assert!(!account.has_seen((1, 7)));
    }

    #[test]
    fn a_process_that_has_the_id_of_an_ended_one_is_another() {
        let again = ProcessReading { id: (2, 8), ..process(2, 1, 4, 0) };
        let (sums, _) =
            sums(&[&[process(1, 0, 5, 0), process(2, 1, 30, 0)], &[process(1, 0, 5, 30), again]]);
        assert_eq!(sums, [35, 39]);
    }
}
