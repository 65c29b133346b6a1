//! A hash for tables whose keys peers cannot choose: fast on a few dozen bytes, without protection
//! against collisions.

use std::hash::{BuildHasherDefault, Hasher};

/// For `HashMap`s.
pub(crate) type QuickHash = BuildHasherDefault<QuickHasher>;

/// Folds eight bytes at a time into the state by a rotation and a multiplication.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct QuickHasher(u64);

/// An odd number without a pattern in its bits: 2^64 divided by the golden ratio.
const SPREAD: u64 = 0x9e37_79b9_7f4a_7c15;

impl QuickHasher {
    #[inline]
    fn fold(&mut self, word: u64) {
        self.0 = (self.0.rotate_left(23) ^ word).wrapping_mul(SPREAD);
    }
}

impl Hasher for QuickHasher {
    #[inline]
    fn write(&mut self, bytes: &[u8]) {
        let (words, rest) = bytes.as_chunks::<8>();
        for word in words {
            self.fold(u64::from_le_bytes(*word));
        }
        let mut last = [0; 8];
        last[..rest.len()].copy_from_slice(rest);
        self.fold(u64::from_le_bytes(last) ^ (bytes.len() as u64) << 56);
    }

    #[inline]
    fn write_u32(&mut self, number: u32) {
        self.fold(number.into());
    }

    #[inline]
    fn write_u64(&mut self, number: u64) {
        self.fold(number);
    }

    #[inline]
    fn write_usize(&mut self, number: usize) {
        self.fold(number as u64);
    }

    /// The upper half has seen every bit; tables look at the lower one first.
    #[inline]
    fn finish(&self) -> u64 {
        self.0 ^ self.0 >> 32
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    fn hash(bytes: &[u8]) -> u64 {
        let mut hasher = QuickHasher::default();
        hasher.write(bytes);
        hasher.finish()
    }

    #[test]
    fn what_differs_a_little_hashes_differently() {
        let mut hashes = HashSet::new();
        for length in 0..40 {
            assert!(hashes.insert(hash(&vec![0; length])), "{length} zeros");
            for at in 0..length {
                let mut bytes = vec![0; length];
                bytes[at] = 1;
                assert!(hashes.insert(hash(&bytes)), "a one at {at} of {length}");
            }
        }
    }
}
