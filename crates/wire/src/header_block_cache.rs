//! Header blocks that were seen before.
//!
//! A block of bytes decodes to the same fields as last time if it inserted nothing into the dynamic
//! table then and the table has not changed since. Servers and clients see the same few blocks
//! millions of times; remembering what they meant saves decoding, validating and routing them.

/// Longer blocks are not remembered: they carry something that varies.
const MAX_REMEMBERED_BYTES: usize = 64;
/// Number of blocks that are remembered: heads of a few methods, or a response's head and trailers.
const REMEMBERED_BLOCKS: usize = 4;

/// Where in a message a block stands: the same bytes mean something else in the other position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BlockPosition {
    Head,
    Trailers,
}

#[derive(Clone, Copy, Debug)]
struct Entry {
    /// 0 for an unused entry: no header block is empty.
    length: u8,
    position: BlockPosition,
    /// The [`digest`] of the bytes.
    digest: u64,
    bytes: [u8; MAX_REMEMBERED_BYTES],
    meaning: Meaning,
}

/// What a block says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Meaning {
    /// What the visitor made of it.
    pub token: u32,
    /// Of a head: the body is checked against it each time.
    pub content_length: Option<u64>,
}

const UNUSED: Entry = Entry {
    length: 0,
    position: BlockPosition::Head,
    digest: 0,
    bytes: [0; MAX_REMEMBERED_BYTES],
    meaning: Meaning { token: 0, content_length: None },
};

/// The blocks that were seen before and what they say.
#[derive(Debug)]
pub(crate) struct HeaderBlockCache {
    entries: [Entry; REMEMBERED_BLOCKS],
    generation: u64,
    next: usize,
}

impl HeaderBlockCache {
    pub fn new() -> Self {
        Self { entries: [UNUSED; REMEMBERED_BLOCKS], generation: 0, next: 0 }
    }

    /// Forgets all blocks.
    pub fn forget(&mut self) {
        self.entries = [UNUSED; REMEMBERED_BLOCKS];
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
            usize::from(entry.length) == block.len()
                && entry.digest == digest
                && entry.position == position
                && (block.len() <= DIGESTED_BYTES || is_same(&entry.bytes[..block.len()], block))
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
            self.entries = [UNUSED; REMEMBERED_BLOCKS];
            self.generation = generation;
        }
        let entry = &mut self.entries[self.next % REMEMBERED_BLOCKS];
        self.next += 1;
        entry.length = block.len() as u8;
        entry.position = position;
        entry.digest = digest(block);
        entry.bytes[..block.len()].copy_from_slice(block);
        entry.meaning = meaning;
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
        let mut cache = HeaderBlockCache::new();
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
        let mut cache = HeaderBlockCache::new();
        let long = [1; MAX_REMEMBERED_BYTES + 1];
        cache.remember(&long, BlockPosition::Head, 0, plain(1));
        cache.remember(b"", BlockPosition::Head, 0, plain(1));
        assert_eq!(cache.recall(&long, BlockPosition::Head, 0), None);
        assert_eq!(cache.recall(b"", BlockPosition::Head, 0), None);
    }

    #[test]
    fn the_oldest_block_makes_room() {
        let mut cache = HeaderBlockCache::new();
        for block in 0..=REMEMBERED_BLOCKS as u8 {
            cache.remember(&[block], BlockPosition::Head, 0, plain(block.into()));
        }
        assert_eq!(cache.recall(&[0], BlockPosition::Head, 0), None);
        assert_eq!(cache.recall(&[1], BlockPosition::Head, 0), Some(plain(1)));
    }

    #[test]
    fn blocks_that_differ_in_one_byte_are_told_apart_at_every_length() {
        for length in 1..=MAX_REMEMBERED_BYTES {
            let mut cache = HeaderBlockCache::new();
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
