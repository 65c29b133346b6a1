//! Numbers that look drawn and come back with their seed.

/// Steele and others, "Fast splittable pseudorandom number generators", 2014: SplitMix64.
pub struct Source(u64);

impl Source {
    /// A source of its own for each `part` of a seed.
    pub fn new(seed: u64, part: u64) -> Self {
        Source(seed ^ part.wrapping_mul(0xd134_2543_de82_ef95))
    }

    pub fn number(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    pub fn below(&mut self, bound: u64) -> u64 {
        self.number() % bound
    }

    /// `most` bytes, or fewer.
    pub fn bytes(&mut self, most: usize) -> Vec<u8> {
        let length = self.below(most as u64 + 1) as usize;
        let mut bytes = Vec::with_capacity(length + 8);
        while bytes.len() < length {
            bytes.extend(self.number().to_le_bytes());
        }
        bytes.truncate(length);
        bytes
    }
}
