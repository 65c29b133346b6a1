//! Header blocks that were seen before.
//!
//! A block of bytes decodes to the same fields as last time if it inserted nothing into the dynamic
//! table then and the table has not changed since. Servers and clients see the same few blocks
//! millions of times; remembering what they meant saves decoding, validating and routing them.

use alloc::boxed::Box;

/// Longer blocks are not remembered. Clients that enter nothing into the dynamic table, such as
/// .NET's, send a head of some 250 bytes with each call, or 500 with a short token.
const MAX_REMEMBERED_BYTES: usize = 512;
/// Number of blocks that are remembered: heads of a few methods, or a response's head and trailers.
const REMEMBERED_BLOCKS: usize = 4;

/// Where in a message a block stands: the same bytes mean something else in the other position.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum BlockPosition {
    #[default]
    Head,
    Trailers,
}

#[derive(Debug, Default)]
struct Entry {
    /// None in an unused entry: no header block is empty.
    bytes: Box<[u8]>,
    position: BlockPosition,
    /// The [`digest`] of the bytes.
    digest: u64,
    meaning: Meaning,
}

/// What a block says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Meaning {
    /// What the visitor made of it.
    pub token: u32,
    /// Of a head: the body is checked against it each time.
    pub content_length: Option<u64>,
}

/// The blocks that were seen before and what they say.
#[derive(Debug, Default)]
pub(crate) struct HeaderBlockCache {
    entries: [Entry; REMEMBERED_BLOCKS],
    generation: u64,
    next: usize,
}

impl HeaderBlockCache {
    /// Forgets all blocks.
    pub fn forget(&mut self) {
        self.entries = Default::default();
    }

    /// Memory held for the blocks, bytes.
    pub fn held_bytes(&self) -> usize {
        self.entries.iter().map(|entry| entry.bytes.len()).sum()
    }

    /// What this block meant, if the table is still as it was.
    #[inline(always)]
    pub fn recall(
        &self,
        block: &[u8],
        position: BlockPosition,
        generation: u64,
    ) -> Option<Meaning> {
        if generation != self.generation || block.is_empty() {
            return None;
        }
        let digest = digest(block);
        let same = |entry: &&Entry| {
            entry.bytes.len() == block.len()
                && entry.digest == digest
                && entry.position == position
                && (block.len() <= DIGESTED_BYTES || is_same(&entry.bytes, block))
        };
        self.entries.iter().find(same).map(|entry| entry.meaning)
    }

    /// Remembers a block that was decoded without changing the table.
    pub fn remember(
        &mut self,
        block: &[u8],
        position: BlockPosition,
        generation: u64,
        meaning: Meaning,
    ) {
        if block.len() > MAX_REMEMBERED_BYTES || block.is_empty() {
            return;
        }
        if generation != self.generation {
            self.forget();
            self.generation = generation;
        }
        let entry = &mut self.entries[self.next % REMEMBERED_BLOCKS];
        self.next += 1;
        *entry = Entry { bytes: block.into(), position, digest: digest(block), meaning };
    }
}

/// For blocks up to this length, digest and length alone decide whether they are equal.
const DIGESTED_BYTES: usize = 8;

/// The first and the last bytes of a block in one number. They overlap in blocks of less than eight
/// bytes, which the digest and the length therefore identify.
#[inline]
fn digest(block: &[u8]) -> u64 {
    if let (Some(first), Some(last)) = (block.first_chunk::<4>(), block.last_chunk::<4>()) {
        return u64::from(u32::from_le_bytes(*first)) << 32 | u64::from(u32::from_le_bytes(*last));
    }
    if let (Some(first), Some(last)) = (block.first_chunk::<2>(), block.last_chunk::<2>()) {
        return u64::from(u16::from_le_bytes(*first)) << 16 | u64::from(u16::from_le_bytes(*last));
    }
    block.first().map_or(0, |byte| u64::from(*byte))
}

/// Whether two blocks of the same length, above eight bytes, are equal. Up to 32 bytes, their ends
/// overlap and are compared without a call.
#[inline]
fn is_same(one: &[u8], other: &[u8]) -> bool {
    match one.len() {
        ..16 => same_ends::<8>(one, other),
        16..=32 => same_ends::<16>(one, other),
        _ => one == other,
    }
}

#[inline]
fn same_ends<const N: usize>(one: &[u8], other: &[u8]) -> bool {
    one.first_chunk::<N>() == other.first_chunk() && one.last_chunk::<N>() == other.last_chunk()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plain(token: u32) -> Meaning {
        Meaning { token, content_length: None }
    }

    #[test]
    fn a_block_is_recalled_in_its_place_while_the_table_stands() {
        let mut cache = HeaderBlockCache::default();
        let meaning = Meaning { token: 42, content_length: Some(12) };
        cache.remember(b"\x88\xc0", BlockPosition::Head, 7, meaning);
        assert_eq!(cache.recall(b"\x88\xc0", BlockPosition::Head, 7), Some(meaning));
        assert_eq!(cache.recall(b"\x88\xc0", BlockPosition::Trailers, 7), None);
        assert_eq!(cache.recall(b"\x88", BlockPosition::Head, 7), None);
        assert_eq!(cache.recall(b"\x88\xc0", BlockPosition::Head, 8), None);
        cache.remember(b"\x89", BlockPosition::Head, 8, plain(1));
        assert_eq!(cache.recall(b"\x88\xc0", BlockPosition::Head, 8), None);
    }

    #[test]
    fn long_and_empty_blocks_are_not_remembered() {
        let mut cache = HeaderBlockCache::default();
        let long = [1; MAX_REMEMBERED_BYTES + 1];
        cache.remember(&long, BlockPosition::Head, 0, plain(1));
        cache.remember(b"", BlockPosition::Head, 0, plain(1));
        assert_eq!(cache.recall(&long, BlockPosition::Head, 0), None);
        assert_eq!(cache.recall(b"", BlockPosition::Head, 0), None);
    }

    #[test]
    fn the_oldest_block_makes_room() {
        let mut cache = HeaderBlockCache::default();
        for block in 0..=REMEMBERED_BLOCKS as u8 {
            cache.remember(&[block], BlockPosition::Head, 0, plain(block.into()));
        }
        assert_eq!(cache.recall(&[0], BlockPosition::Head, 0), None);
        assert_eq!(cache.recall(&[1], BlockPosition::Head, 0), Some(plain(1)));
    }

    #[test]
    fn blocks_that_differ_in_one_byte_are_told_apart_at_every_length() {
        for length in 1..=MAX_REMEMBERED_BYTES {
            let mut cache = HeaderBlockCache::default();
            let block = [0x55; MAX_REMEMBERED_BYTES];
            cache.remember(&block[..length], BlockPosition::Head, 0, plain(9));
            let recalled = cache.recall(&block[..length], BlockPosition::Head, 0);
            assert_eq!(recalled, Some(plain(9)));
            for at in 0..length {
                let mut other = block;
                other[at] ^= 1;
                assert_eq!(cache.recall(&other[..length], BlockPosition::Head, 0), None);
            }
        }
    }
}
