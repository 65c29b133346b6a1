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
        self.heads.push(UnlistedHead { meaning, increment_bytes: 0, waits: true });
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

    /// The ids of the streams that came, whether their requests still wait or not.
    pub fn ids(&self) -> impl Iterator<Item = u32> + use<> {
        let first_id = self.first_id;
        (0..self.heads.len() as u32).map(move |index| first_id + STREAM_ID_STEP * index)
    }

    /// The read is over, and nothing waits.
    pub fn end_read(&mut self) {
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
