//! Inputs for the smoke run: what is in the corpus, changed by a seeded hand.

/// SplitMix64.
#[derive(Clone, Debug)]
pub struct Mutator(u64);

/// Inputs do not grow beyond this: the smoke run is to be quick.
const LONGEST_BYTES: usize = 8 << 10;
/// Bytes that mean something to somebody more often than others.
const EDGES: [u8; 8] = [0, 1, 4, 8, 0x7f, 0x80, 0xc0, 0xff];

impl Mutator {
    /// The same seed gives the same inputs.
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    fn below(&mut self, end: usize) -> usize {
        (self.next() >> 32) as usize % end.max(1)
    }

    /// An input made of one or two of the corpus, or of nothing but chance.
    pub fn input(&mut self, corpus: &[Vec<u8>]) -> Vec<u8> {
        let mut input = match self.below(20) {
            0 => (0..self.below(300)).map(|_| self.next() as u8).collect(),
            _ => corpus[self.below(corpus.len())].clone(),
        };
        for _ in 0..1 + self.below(6) {
            self.change(&mut input, corpus);
        }
        input.truncate(LONGEST_BYTES);
        input
    }

    fn change(&mut self, input: &mut Vec<u8>, corpus: &[Vec<u8>]) {
        let place = self.below(input.len());
        if input.is_empty() {
            return input.push(self.next() as u8);
        }
        let bytes = 1 + self.below(16).min(input.len() - place - 1);
        match self.below(8) {
            0 => input[place] ^= 1 << self.below(8),
            1 => input[place] = self.next() as u8,
            2 => input[place] = EDGES[self.below(EDGES.len())],
            3 => input.insert(place, self.next() as u8),
            4 => drop(input.drain(place..place + bytes)),
            5 => input.truncate(place),
            6 => {
                let piece = input[place..place + bytes].to_vec();
                let to = self.below(input.len());
                input.splice(to..to, piece);
            }
            _ => {
                let other = &corpus[self.below(corpus.len())];
                let from = self.below(other.len());
                input.splice(place.., other[from.min(other.len())..].iter().copied());
            }
        }
    }
}
