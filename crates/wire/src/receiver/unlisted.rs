//! Requests whose heads have been read and which are not in the table of streams.
//!
//! Clients with several calls in flight write the heads of all of them first, then their bodies;
//! others write WINDOW_UPDATE between the two. As long as all of it lies in one read, a stream need
//! not be entered into the table: its head waits here for the rest of the request.

use crate::flow::MAX_WINDOW_BYTES;
use crate::header_block_cache::Meaning;
use crate::streams::STREAM_ID_STEP;
use alloc::vec::Vec;

/// A queue that has grown beyond this is given back to the allocator after the read: an idle
/// connection then holds no more than 8 KiB of it.
const KEPT_HEADS: usize = 256;

/// A request of which nothing but its head has come.
#[derive(Clone, Copy, Debug)]
pub(super) struct UnlistedHead {
    pub meaning: Meaning,
    /// By how much the client has opened the window of its stream.
    pub increment_bytes: u32,
    /// A part of its body has come, and waits.
    pub has_part: bool,
    /// Not answered, and not in the table either.
    waits: bool,
}

/// The requests of one read, in the order of their ids, which follow each other without a gap.
#[derive(Debug, Default)]
pub(super) struct UnlistedRequests {
    first_id: u32,
    heads: Vec<UnlistedHead>,
    waiting: usize,
}

impl UnlistedRequests {
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.waiting == 0
    }

    /// Whether requests have come since [`UnlistedRequests::forget`].
    #[inline]
    pub fn is_used(&self) -> bool {
        !self.heads.is_empty()
    }

    /// Adds the request of that stream. False, and nothing is added, where an id before it is
    /// missing.
    #[inline]
    pub fn push(&mut self, id: u32, meaning: Meaning) -> bool {
        if self.waiting == 0 {
            self.heads.clear();
            self.first_id = id;
        } else if id != self.first_id + STREAM_ID_STEP * self.heads.len() as u32 {
            return false;
        }
        self.heads.push(UnlistedHead { meaning, increment_bytes: 0, has_part: false, waits: true });
        self.waiting += 1;
        true
    }

    /// The request of that stream, if it waits here.
    #[inline]
    pub fn get(&mut self, id: u32) -> Option<&mut UnlistedHead> {
        let distance = id.checked_sub(self.first_id)?;
        let index = (distance / STREAM_ID_STEP) as usize;
        let head = self.heads.get_mut(index).filter(|head| head.waits)?;
        distance.is_multiple_of(STREAM_ID_STEP).then_some(head)
    }

    /// Takes out the request of that stream.
    #[inline]
    pub fn take(&mut self, id: u32) -> Option<UnlistedHead> {
        let head = self.get(id)?;
        head.waits = false;
        let head = *head;
        self.waiting -= 1;
        Some(head)
    }

    /// Memory held, bytes.
    pub fn held_bytes(&self) -> usize {
        self.heads.capacity() * size_of::<UnlistedHead>()
    }

    /// The ids of the streams that came, whether their requests still wait or not.
    pub fn ids(&self) -> impl Iterator<Item = u32> + use<> {
        let first_id = self.first_id;
        (0..self.heads.len() as u32).map(move |index| first_id + STREAM_ID_STEP * index)
    }

    /// Nothing waits any more: forgets all that came.
    pub fn forget(&mut self) {
        debug_assert!(self.is_empty());
        self.heads.clear();
        if self.heads.capacity() > KEPT_HEADS {
            self.heads = Vec::new();
        }
    }
}

impl UnlistedHead {
    /// The client opens the window of the stream. False, and nothing happens, where that breaks a
    /// rule: RFC 9113, sections 6.9 and 6.9.1.
    pub fn widen(&mut self, initial_bytes: u32, increment_bytes: u32) -> bool {
        let widened = self.increment_bytes.checked_add(increment_bytes);
        let fits =
            |more: &u32| u64::from(initial_bytes) + u64::from(*more) <= MAX_WINDOW_BYTES.into();
        match widened.filter(fits) {
            Some(widened) if increment_bytes > 0 => self.increment_bytes = widened,
            _ => return false,
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MEANING: Meaning = Meaning { token: 7, content_length: None };

    #[test]
    fn a_request_is_taken_once_in_whatever_order_and_ids_have_no_gap() {
        let mut requests = UnlistedRequests::default();
        for id in [9, 11, 13] {
            assert!(requests.push(id, MEANING));
        }
        assert!(!requests.push(17, MEANING), "15 is missing");
        assert!(requests.get(7).is_none() && requests.get(10).is_none());
        assert!(requests.take(11).is_some() && requests.take(11).is_none());
        assert!(requests.take(13).is_some() && requests.take(9).is_some());
        assert!(requests.is_empty() && requests.take(13).is_none());
        assert!(requests.push(17, MEANING), "it begins anew");
        assert_eq!(requests.ids().collect::<Vec<_>>(), [17]);
    }

    #[test]
    fn a_window_is_widened_up_to_the_largest() {
        let mut requests = UnlistedRequests::default();
        requests.push(3, MEANING);
        let head = requests.get(3).unwrap();
        assert!(!head.widen(65_535, 0));
        assert!(head.widen(65_535, 5) && head.widen(65_535, MAX_WINDOW_BYTES - 65_540));
        assert!(!head.widen(65_535, 1) && !head.widen(65_535, u32::MAX));
        assert_eq!(head.increment_bytes, MAX_WINDOW_BYTES - 65_535);
    }

    #[test]
    fn an_idle_connection_keeps_little() {
        let mut requests = UnlistedRequests::default();
        for id in (1..10_000).step_by(2) {
            assert!(requests.push(id, MEANING));
        }
        assert!(requests.heads.capacity() > KEPT_HEADS);
        requests.ids().for_each(|id| assert!(requests.take(id).is_some()));
        requests.forget();
        assert!(!requests.is_used() && requests.heads.capacity() <= KEPT_HEADS);
    }
}
