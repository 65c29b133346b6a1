//! The heads of a connection's calls, cached so that a head that comes again is not read again.

use std::hash::{Hash, Hasher};

use bookend_wire::grpc::Metadata;

use crate::head::ParsedHead;
use crate::quick_hash::QuickHasher;

/// Heads that a connection caches. The wire caches fewer header blocks at a time; these are never
/// evicted, so that a token the wire holds stays valid.
const CACHED_HEADS: usize = 16;

/// How many heads back a repetition is noticed: connections that several methods share.
const RECENT_HEADS: usize = 8;

/// Most bytes that the heads in the cache may take together: those of a few methods, each with a
/// token for its client.
const CACHED_BYTES_MAX: usize = 16 << 10;

/// A head whose call is over keeps its memory for the next one if it is no larger than this.
const SPARE_HEAD_BYTES: usize = 1 << 10;

/// Bytes that all of them together keep.
const SPARE_BYTES_MAX: usize = 4 << 10;

/// What a slot takes, whether it has a head or not.
const SLOT_BYTES: usize = size_of::<CachedHead>() + size_of::<HeadIndex>();

/// A slot of a [`HeadCache`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct HeadIndex(pub u32);

/// Cached heads, which stay, and heads of single calls, whose memory is reused.
#[derive(Debug, Default)]
pub(crate) struct HeadCache {
    heads: Vec<CachedHead>,
    free: Vec<HeadIndex>,
    cached: Vec<HeadIndex>,
    /// Fingerprints of the last heads. Heads that vary from call to call are never seen twice and
    /// so are not cached.
    recent: [u64; RECENT_HEADS],
    next_recent: usize,
    /// Memory held for all heads and slots.
    held_bytes: usize,
    /// That of cached heads.
    cached_bytes: usize,
    /// That of heads whose call is over.
    spare_bytes: usize,
}

#[derive(Debug, Default)]
struct CachedHead {
    head: ParsedHead,
    cached: bool,
    /// Of the head, once it is cached.
    fingerprint: u64,
}

impl HeadCache {
    #[inline]
    pub fn head(&self, index: HeadIndex) -> &ParsedHead {
        &self.heads[index.0 as usize].head
    }

    /// Memory held for heads, bytes.
    #[inline]
    pub fn held_bytes(&self) -> usize {
        self.held_bytes
    }

    /// A slot for the head of a call. [`HeadCache::count`] is due once the head is there.
    pub fn take(&mut self) -> HeadIndex {
        if let Some(index) = self.free.pop() {
            let bytes = self.head(index).metadata.allocated_bytes();
            self.spare_bytes -= bytes;
            self.held_bytes -= bytes;
            return index;
        }
        let slots = self.heads.capacity();
        self.heads.push(CachedHead::default());
        self.held_bytes += (self.heads.capacity() - slots) * SLOT_BYTES;
        HeadIndex(self.heads.len() as u32 - 1)
    }

    /// The head at `index` was read into its slot.
    pub fn count(&mut self, index: HeadIndex) {
        self.held_bytes += self.head(index).metadata.allocated_bytes();
    }

    pub fn head_mut(&mut self, index: HeadIndex) -> &mut ParsedHead {
        &mut self.heads[index.0 as usize].head
    }

    /// The head at `index` was just read. If an equal one came before, returns the one that is
    /// cached for all of them.
    pub fn find_or_cache(&mut self, index: HeadIndex) -> Option<HeadIndex> {
        let fingerprint = fingerprint(self.head(index));
        if let Some(known) = self.find_cached(index, fingerprint) {
            self.release(index);
            return Some(known);
        }
        let cached_bytes = self.cached_bytes + self.head(index).metadata.allocated_bytes();
        if !self.is_repeated(fingerprint)
            || self.cached.len() == CACHED_HEADS
            || cached_bytes > CACHED_BYTES_MAX
        {
            return None;
        }
        self.cached_bytes = cached_bytes;
        let slot = &mut self.heads[index.0 as usize];
        slot.cached = true;
        slot.fingerprint = fingerprint;
        self.cached.push(index);
        Some(index)
    }

    /// The call of that head is over: reuses the memory of a head that is not cached.
    #[inline]
    pub fn release(&mut self, index: HeadIndex) {
        if !self.heads[index.0 as usize].cached {
            self.free(index);
        }
    }

    #[inline(never)]
    fn free(&mut self, index: HeadIndex) {
        let bytes = self.head(index).metadata.allocated_bytes();
        if bytes > SPARE_HEAD_BYTES || self.spare_bytes + bytes > SPARE_BYTES_MAX {
            self.head_mut(index).metadata = Metadata::new();
            self.held_bytes -= bytes;
        } else {
            self.spare_bytes += bytes;
        }
        self.free.push(index);
    }

    /// Fingerprints are compared first: heads may have many kilobytes in common.
    fn find_cached(&self, index: HeadIndex, fingerprint: u64) -> Option<HeadIndex> {
        let head = self.head(index);
        self.cached.iter().copied().find(|known| {
            let slot = &self.heads[known.0 as usize];
            slot.fingerprint == fingerprint && slot.head == *head
        })
    }

    fn is_repeated(&mut self, fingerprint: u64) -> bool {
        let seen = self.recent.contains(&fingerprint);
        self.recent[self.next_recent] = fingerprint;
        self.next_recent = (self.next_recent + 1) % RECENT_HEADS;
        seen
    }
}

fn fingerprint(head: &ParsedHead) -> u64 {
    let mut hasher = QuickHasher::default();
    (head.route, head.timeout_ns).hash(&mut hasher);
    head.metadata.hash(&mut hasher);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(heads: &mut HeadCache, route: u32, value: &[u8]) -> (HeadIndex, Option<HeadIndex>) {
        let index = heads.take();
        let head = heads.head_mut(index);
        head.route.number = route;
        head.metadata.clear();
        head.metadata.push_received(b"name", value);
        heads.count(index);
        (index, heads.find_or_cache(index))
    }

    #[test]
    fn a_head_that_comes_twice_is_cached() {
        let mut heads = HeadCache::default();
        let (first, known) = read(&mut heads, 1, b"same");
        assert_eq!(known, None);
        heads.release(first);
        let (second, known) = read(&mut heads, 1, b"same");
        assert_eq!(known, Some(second));
        heads.release(second);
        let (third, known) = read(&mut heads, 1, b"same");
        assert_eq!(known, Some(second));
        assert_ne!(third, second);
    }

    #[test]
    fn heads_that_vary_are_not_cached_and_take_no_more_room() {
        let mut heads = HeadCache::default();
        for call in 0..1_000_u32 {
            let (index, known) = read(&mut heads, 1, &call.to_be_bytes());
            assert_eq!(known, None);
            heads.release(index);
        }
        assert_eq!(heads.heads.len(), 1);
    }

    /// What is allocated, counted anew.
    fn allocated_bytes(heads: &HeadCache) -> usize {
        let of = |head: &CachedHead| head.head.metadata.allocated_bytes();
        heads.heads.iter().map(of).sum::<usize>() + heads.heads.capacity() * SLOT_BYTES
    }

    #[test]
    fn large_heads_are_counted_and_given_back_when_their_calls_end() {
        let mut heads = HeadCache::default();
        let taken: Vec<_> =
            (0..250_u32).map(|call| read(&mut heads, call, &[call as u8; 12 << 10]).0).collect();
        assert_eq!(heads.held_bytes(), allocated_bytes(&heads));
        assert!(heads.held_bytes() > 250 * (12 << 10));
        taken.into_iter().for_each(|index| heads.release(index));
        assert_eq!(heads.held_bytes(), allocated_bytes(&heads));
        assert_eq!(heads.held_bytes(), heads.heads.capacity() * SLOT_BYTES);
    }

    #[test]
    fn small_heads_keep_little_together_and_cached_ones_too() {
        let mut heads = HeadCache::default();
        let taken: Vec<_> = (0..500_u32)
            .map(|call| {
                read(&mut heads, call / 2, &[1; 3_000][..500 + call as usize % 4 / 2 * 2_500])
            })
            .map(|(index, known)| known.unwrap_or(index))
            .collect();
        taken.into_iter().for_each(|index| heads.release(index));
        assert_eq!(heads.held_bytes(), allocated_bytes(&heads));
        let head_bytes = heads.held_bytes() - heads.heads.capacity() * SLOT_BYTES;
        assert!(head_bytes <= SPARE_BYTES_MAX + CACHED_BYTES_MAX + (4 << 10), "{head_bytes}");
        assert!(!heads.cached.is_empty());
    }

    #[test]
    fn heads_with_one_fingerprint_are_told_apart() {
        let mut heads = HeadCache::default();
        let known = [(); 2].map(|()| read(&mut heads, 1, b"one").1)[1].unwrap();
        let (other, found) = read(&mut heads, 1, b"other");
        assert_eq!(found, None);
        heads.heads[known.0 as usize].fingerprint = fingerprint(heads.head(other));
        assert_eq!(read(&mut heads, 1, b"other").1, Some(HeadIndex(other.0 + 1)), "a new one");
    }

    #[test]
    fn methods_that_alternate_are_all_cached() {
        let mut heads = HeadCache::default();
        let mut recognised = 0;
        for call in 0..40 {
            let (index, known) = read(&mut heads, call % 4, b"");
            recognised += u32::from(known.is_some());
            heads.release(known.unwrap_or(index));
        }
        assert_eq!(recognised, 36);
    }

    #[test]
    fn the_cache_is_bounded() {
        let mut heads = HeadCache::default();
        for call in 0..200 {
            let (index, known) = read(&mut heads, call / 2, b"");
            heads.release(known.unwrap_or(index));
        }
        assert_eq!(heads.cached.len(), CACHED_HEADS);
    }
}
