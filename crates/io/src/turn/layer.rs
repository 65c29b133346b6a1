//! What a layer between a driver and a shard needs: it changes what the shard has put out before the
//! driver sees it. Between the shard's calls nothing in any output is the shard's own any more.

use super::{Turn, Wishes};
use crate::shard::Session;
use std::mem;

const BEHIND_THE_LAYER: &str = "something was put out that the layer has not seen";

impl Turn {
    /// Where a call of the shard begins; what it touches from here on is told by
    /// [`Turn::next_put_out`].
    pub(crate) fn layer_mark(&self) -> usize {
        let is_touched = |index: &u32| self.slots[*index as usize].touched;
        debug_assert!(!self.touched.iter().any(is_touched), "{BEHIND_THE_LAYER}");
        self.touched.len()
    }

    /// The next session that the shard has touched since `mark`. If it is touched again, it is told
    /// again: the driver then finds it twice, the second time with nothing to do.
    pub(crate) fn next_put_out(&mut self, mark: &mut usize) -> Option<Session> {
        while let Some(&index) = self.touched.get(*mark) {
            *mark += 1;
            let slot = &mut self.slots[index as usize];
            if mem::take(&mut slot.touched) && slot.taken {
                return Some(Session {
                    index,
                    generation: slot.generation,
                });
            }
        }
        None
    }

    /// Takes what the shard has put out in this call, as told by [`Turn::next_put_out`], into
    /// `taken`, which is empty, and gives the output that it came from.
    pub(crate) fn take_put_out(&mut self, session: Session, taken: &mut Vec<u8>) -> &mut Vec<u8> {
        let slot = &mut self.slots[session.index as usize];
        if slot.untouched_bytes == 0 {
            mem::swap(&mut slot.output, taken);
        } else {
            taken.extend_from_slice(&slot.output[slot.untouched_bytes..]);
            slot.output.truncate(slot.untouched_bytes);
        }
        &mut slot.output
    }

    /// The output, for what is not the shard's. Not while the shard's own stands in it.
    pub(crate) fn output_below(&mut self, session: Session) -> &mut Vec<u8> {
        if self.find(session).is_none() {
            self.discarded.clear();
            return &mut self.discarded;
        }
        self.touched.push(session.index);
        let slot = &mut self.slots[session.index as usize];
        if slot.output.capacity() == 0
            && let Some(buffer) = self.pool.pop()
        {
            slot.output = buffer;
        }
        &mut slot.output
    }

    /// Takes the whole output away, so that the shard finds an empty one.
    pub(crate) fn set_aside(&mut self, session: Session) -> Vec<u8> {
        if self.find(session).is_none() {
            return Vec::new();
        }
        let slot = &mut self.slots[session.index as usize];
        let mut output = mem::take(&mut slot.output);
        let written = mem::take(&mut slot.written).min(output.len());
        output.drain(..written);
        output
    }

    /// Puts back what was set aside, in front of what has come since.
    pub(crate) fn put_before(&mut self, session: Session, mut aside: Vec<u8>) {
        if !aside.is_empty() && self.find(session).is_some() {
            let output = self.output_below(session);
            aside.append(output);
            let since = mem::replace(output, aside);
            self.recycle(since);
        }
    }

    /// What the shard wishes of a session that it has touched in this call, to be changed.
    pub(crate) fn wishes_of(&mut self, session: Session) -> Option<&mut Wishes> {
        self.find(session)?;
        Some(&mut self.slots[session.index as usize].wishes)
    }

    /// Wishes something of a session that is not the shard's wish.
    pub(crate) fn wish_below(&mut self, session: Session, wish: impl FnOnce(&mut Wishes)) {
        if self.find(session).is_some() {
            self.touched.push(session.index);
            wish(&mut self.slots[session.index as usize].wishes);
        }
    }

    /// The transport of a session is there, and something above it is not yet.
    pub(crate) fn transport_opened(&mut self, session: Session) {
        let now_ns = self.now_ns();
        if self.find(session).is_some() {
            self.slots[session.index as usize].transport_opened_ns = now_ns;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a shard has put out since `mark`, by session, as a layer takes it.
    fn put_out(turn: &mut Turn, mut mark: usize) -> Vec<(u32, Vec<u8>)> {
        let mut all = Vec::new();
        while let Some(session) = turn.next_put_out(&mut mark) {
            let mut taken = Vec::new();
            turn.take_put_out(session, &mut taken).extend(b"<>");
            all.push((session.index, taken));
        }
        all
    }

    #[test]
    fn only_what_is_new_is_taken_and_every_session_is_told_again() {
        let mut turn = Turn::default();
        let (one, other) = (turn.reserve(), turn.reserve());
        turn.output_below(one).extend(b"below");
        let mark = turn.layer_mark();
        turn.output(one).extend(b"first");
        assert_eq!(put_out(&mut turn, mark), [(0, b"first".to_vec())]);
        let mark = turn.layer_mark();
        turn.output(other).extend(b"other");
        turn.output(one).extend(b"sec");
        turn.output(one).extend(b"ond");
        let both = [(1, b"other".to_vec()), (0, b"second".to_vec())];
        assert_eq!(put_out(&mut turn, mark), both);
        assert_eq!(turn.unwritten(one), b"below<><>");
        assert_eq!(turn.unwritten(other), b"<>");
    }

    #[test]
    fn what_is_set_aside_goes_first_whatever_becomes_of_the_buffer() {
        let mut turn = Turn::default();
        let session = turn.reserve();
        turn.output_below(session).extend(b"written, below");
        assert!(!turn.took(session, 9));
        let aside = turn.set_aside(session);
        *turn.output(session) = b"a buffer of the shard's own".to_vec();
        turn.put_before(session, aside);
        assert_eq!(turn.unwritten(session), b"belowa buffer of the shard's own");
    }

    #[test]
    fn the_driver_finds_every_session_that_something_was_done_to() {
        let mut turn = Turn::default();
        let sessions: Vec<_> = (0..3).map(|_| turn.reserve()).collect();
        let mark = turn.layer_mark();
        turn.output(sessions[0]).push(1);
        put_out(&mut turn, mark);
        turn.output_below(sessions[1]).push(1);
        turn.wish_below(sessions[2], |wishes| wishes.abort = true);
        let mut found: Vec<_> = std::iter::from_fn(|| turn.next_touched())
            .map(|(session, wishes)| (session.index, wishes.abort))
            .collect();
        found.sort_unstable();
        assert_eq!(found, [(0, false), (1, false), (2, true)]);
    }

    #[test]
    fn what_is_done_to_a_session_that_is_gone_concerns_nobody() {
        let mut turn = Turn::default();
        let gone = turn.reserve();
        turn.retire(gone);
        turn.output_below(gone).push(1);
        turn.wish_below(gone, |wishes| wishes.close = true);
        turn.transport_opened(gone);
        assert!(turn.wishes_of(gone).is_none());
        assert!(turn.next_touched().is_none());
    }
}
