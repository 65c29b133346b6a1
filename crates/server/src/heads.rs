//! The heads of a connection's calls, kept so that a head that comes again is not read again.

use std::hash::{Hash, Hasher};

use crate::head::Head;
use crate::quick_hash::QuickHasher;

/// Heads that a connection remembers. The wire recalls fewer at a time; these are never given up
/// before the connection is, so that a number the wire holds stays right.
const REMEMBERED_HEADS: usize = 16;

/// How many heads back a repetition is noticed: connections that several methods share.
const RECENT_HEADS: usize = 8;

/// A place in [`Heads`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct HeadIndex(pub u32);

/// Remembered heads, which stay, and heads of single calls, whose memory is used again.
#[derive(Debug, Default)]
pub(crate) struct Heads {
    heads: Vec<Kept>,
    free: Vec<HeadIndex>,
    remembered: Vec<HeadIndex>,
    /// Fingerprints. Heads that vary from call to call are never seen twice, so they take no place
    /// among the remembered ones.
    recent: [u64; RECENT_HEADS],
    next_recent: usize,
}

#[derive(Debug, Default)]
struct Kept {
    head: Head,
    remembered: bool,
}

impl Heads {
    #[inline]
    pub fn head(&self, index: HeadIndex) -> &Head {
        &self.heads[index.0 as usize].head
    }

    /// A place for the head of a call.
    pub fn take(&mut self) -> HeadIndex {
        self.free.pop().unwrap_or_else(|| {
            self.heads.push(Kept::default());
            HeadIndex(self.heads.len() as u32 - 1)
        })
    }

    pub fn head_mut(&mut self, index: HeadIndex) -> &mut Head {
        &mut self.heads[index.0 as usize].head
    }

    /// The head at `index` was just read. If its like came before, returns the one that is
    /// remembered for all of them.
    pub fn recognise(&mut self, index: HeadIndex) -> Option<HeadIndex> {
        if let Some(known) = self.find_remembered(index) {
            self.give_back(index);
            return Some(known);
        }
        if !self.is_repeated(index) || self.remembered.len() == REMEMBERED_HEADS {
            return None;
        }
        self.heads[index.0 as usize].remembered = true;
        self.remembered.push(index);
        Some(index)
    }

    /// The call of that head is over; the memory of a head that is not remembered is used again.
    #[inline]
    pub fn give_back(&mut self, index: HeadIndex) {
        if !self.heads[index.0 as usize].remembered {
            self.free.push(index);
        }
    }

    fn find_remembered(&self, index: HeadIndex) -> Option<HeadIndex> {
        let head = self.head(index);
        self.remembered
            .iter()
            .copied()
            .find(|known| self.head(*known) == head)
    }

    fn is_repeated(&mut self, index: HeadIndex) -> bool {
        let fingerprint = fingerprint(self.head(index));
        let seen = self.recent.contains(&fingerprint);
        self.recent[self.next_recent] = fingerprint;
        self.next_recent = (self.next_recent + 1) % RECENT_HEADS;
        seen
    }
}

fn fingerprint(head: &Head) -> u64 {
    let mut hasher = QuickHasher::default();
    (head.route, head.timeout_ns).hash(&mut hasher);
    head.metadata.hash(&mut hasher);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(heads: &mut Heads, route: u32, value: &[u8]) -> (HeadIndex, Option<HeadIndex>) {
        let index = heads.take();
        let head = heads.head_mut(index);
        head.route.number = route;
        head.metadata.clear();
        head.metadata.push_received(b"name", value);
        (index, heads.recognise(index))
    }

    #[test]
    fn a_head_that_comes_twice_is_remembered() {
        let mut heads = Heads::default();
        let (first, known) = read(&mut heads, 1, b"same");
        assert_eq!(known, None);
        heads.give_back(first);
        let (second, known) = read(&mut heads, 1, b"same");
        assert_eq!(known, Some(second));
        heads.give_back(second);
        let (third, known) = read(&mut heads, 1, b"same");
        assert_eq!(known, Some(second));
        assert_ne!(third, second);
    }

    #[test]
    fn heads_that_vary_are_not_remembered_and_take_no_more_room() {
        let mut heads = Heads::default();
        for call in 0..1_000_u32 {
            let (index, known) = read(&mut heads, 1, &call.to_be_bytes());
            assert_eq!(known, None);
            heads.give_back(index);
        }
        assert_eq!(heads.heads.len(), 1);
    }

    #[test]
    fn methods_that_take_turns_are_all_remembered() {
        let mut heads = Heads::default();
        let mut recognised = 0;
        for call in 0..40 {
            let (index, known) = read(&mut heads, call % 4, b"");
            recognised += u32::from(known.is_some());
            heads.give_back(known.unwrap_or(index));
        }
        assert_eq!(recognised, 36);
    }

    #[test]
    fn what_is_remembered_is_bounded() {
        let mut heads = Heads::default();
        for call in 0..200 {
            let (index, known) = read(&mut heads, call / 2, b"");
            heads.give_back(known.unwrap_or(index));
        }
        assert_eq!(heads.remembered.len(), REMEMBERED_HEADS);
    }
}
