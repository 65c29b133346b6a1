//! The Huffman code as tables (RFC 7541, appendix B).
//!
//! The code is canonical: codes of one length count upwards in the order of their symbols, and
//! every longer code is greater than every shorter one. So the lengths alone define it, and the
//! compiler works out the rest.

/// Number of symbols: every byte and EOS.
pub(super) const SYMBOLS: usize = 257;
const EOS: u16 = 256;
pub(super) const SHORTEST_CODE_BITS: usize = 5;
pub(super) const LONGEST_CODE_BITS: usize = 30;

/// Length of each symbol's code in bits, EOS last.
#[rustfmt::skip]
pub(super) static CODE_BITS: [u8; SYMBOLS] = [
    13, 23, 28, 28, 28, 28, 28, 28, 28, 24, 30, 28, 28, 30, 28, 28,
    28, 28, 28, 28, 28, 28, 30, 28, 28, 28, 28, 28, 28, 28, 28, 28,
    6, 10, 10, 12, 13, 6, 8, 11, 10, 10, 8, 11, 8, 6, 6, 6,
    5, 5, 5, 6, 6, 6, 6, 6, 6, 6, 7, 8, 15, 6, 12, 10,
    13, 6, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7,
    7, 7, 7, 7, 7, 7, 7, 7, 8, 7, 8, 13, 19, 13, 14, 6,
    15, 5, 6, 5, 6, 5, 6, 6, 6, 5, 7, 7, 6, 6, 6, 5,
    6, 7, 6, 5, 5, 6, 7, 7, 7, 7, 7, 15, 11, 14, 13, 28,
    20, 22, 20, 20, 22, 22, 22, 23, 22, 23, 23, 23, 23, 23, 24, 23,
    24, 24, 22, 23, 24, 23, 23, 23, 23, 21, 22, 23, 22, 23, 23, 24,
    22, 21, 20, 22, 22, 23, 23, 21, 23, 22, 22, 24, 21, 22, 23, 23,
    21, 21, 22, 21, 23, 22, 23, 23, 20, 22, 22, 22, 23, 22, 22, 23,
    26, 26, 20, 19, 22, 23, 22, 25, 26, 26, 26, 27, 27, 26, 24, 25,
    19, 21, 26, 27, 27, 26, 27, 24, 21, 21, 26, 26, 28, 27, 27, 27,
    20, 24, 20, 21, 22, 21, 21, 23, 22, 22, 25, 25, 24, 24, 26, 23,
    26, 27, 26, 26, 27, 27, 27, 27, 27, 28, 27, 27, 27, 27, 27, 26,
    30,
];

/// The symbol whose code `window` begins with, and the length of that code in bits.
#[inline]
pub(super) fn first_symbol(window: u32) -> (u16, u32) {
    let mut bits = SHORTEST_CODE_BITS;
    while bits < LONGEST_CODE_BITS && window >= LENGTHS[bits].end {
        bits += 1;
    }
    let length = &LENGTHS[bits];
    let ordinal = (window - length.begin) >> (32 - bits);
    (BY_CODE[usize::from(length.first_ordinal) + ordinal as usize], bits as u32)
}

/// The codes of one length.
#[derive(Clone, Copy)]
struct Length {
    /// The first code and what follows the last one, moved to the top of 32 bits.
    begin: u32,
    end: u32,
    /// Ordinal of the first code among all codes.
    first_ordinal: u16,
}

/// What twelve bits begin with: zero, one or two whole symbols.
#[derive(Clone, Copy)]
pub(super) struct Pair(u32);

impl Pair {
    pub(super) const WINDOW_BITS: u32 = 12;
    const NONE: Self = Self(0);

    /// The bit count is lowest, since the next step waits for it.
    const fn of(bytes: [u8; 2], symbols: u32, bits: u32) -> Self {
        Self(bits | (symbols << 8) | ((u16::from_le_bytes(bytes) as u32) << 16))
    }

    #[inline]
    pub(super) fn bytes(self) -> [u8; 2] {
        ((self.0 >> 16) as u16).to_le_bytes()
    }

    #[inline]
    pub(super) fn symbols(self) -> usize {
        (self.0 >> 8 & 0xff) as usize
    }

    #[inline]
    pub(super) fn bits(self) -> u32 {
        self.0 & 0x3f
    }
}

/// Symbols in the order of their codes.
static BY_CODE: [u16; SYMBOLS] = by_code();

/// The code of each symbol, in its lowest bits.
pub(super) static CODES: [u32; SYMBOLS] = codes();

/// The codes of each length; a length without codes ends at 0.
static LENGTHS: [Length; LONGEST_CODE_BITS + 1] = lengths();

/// What each window begins with. Text is made only of codes of up to twelve bits, and the table is
/// small enough (16 KiB, of which text touches a fraction) to stay in a first-level cache.
pub(super) static PAIRS: [Pair; 1 << Pair::WINDOW_BITS] = pairs();

const fn by_code() -> [u16; SYMBOLS] {
    let mut ordered = [EOS; SYMBOLS];
    let mut ordinal = 0;
    let mut bits = SHORTEST_CODE_BITS;
    while bits <= LONGEST_CODE_BITS {
        let mut symbol = 0;
        while symbol < SYMBOLS {
            if CODE_BITS[symbol] as usize == bits {
                ordered[ordinal] = symbol as u16;
                ordinal += 1;
            }
            symbol += 1;
        }
        bits += 1;
    }
    ordered
}

const fn codes() -> [u32; SYMBOLS] {
    let ordered = by_code();
    let mut codes = [0; SYMBOLS];
    let mut ordinal = 1;
    while ordinal < SYMBOLS {
        let (before, symbol) = (ordered[ordinal - 1] as usize, ordered[ordinal] as usize);
        codes[symbol] = (codes[before] + 1) << (CODE_BITS[symbol] - CODE_BITS[before]);
        ordinal += 1;
    }
    codes
}

const fn lengths() -> [Length; LONGEST_CODE_BITS + 1] {
    let (ordered, codes) = (by_code(), codes());
    let mut lengths = [Length { begin: 0, end: 0, first_ordinal: 0 }; LONGEST_CODE_BITS + 1];
    let mut ordinal = SYMBOLS;
    while ordinal > 0 {
        ordinal -= 1;
        let symbol = ordered[ordinal] as usize;
        let bits = CODE_BITS[symbol] as usize;
        let begin = codes[symbol] << (32 - bits);
        if lengths[bits].end == 0 {
            lengths[bits].end = begin.saturating_add(1 << (32 - bits));
        }
        lengths[bits].begin = begin;
        lengths[bits].first_ordinal = ordinal as u16;
    }
    lengths
}

const fn pairs() -> [Pair; 1 << Pair::WINDOW_BITS] {
    let (ordered, codes) = (by_code(), codes());
    let mut pairs = [Pair::NONE; 1 << Pair::WINDOW_BITS];
    let mut first = 0;
    while first < SYMBOLS && CODE_BITS[ordered[first] as usize] as u32 <= Pair::WINDOW_BITS {
        let symbol = ordered[first] as usize;
        let bits = CODE_BITS[symbol] as u32;
        let free_bits = Pair::WINDOW_BITS - bits;
        let window = codes[symbol] << free_bits;
        fill(&mut pairs, window, free_bits, Pair::of([symbol as u8, 0], 1, bits));
        let mut second = 0;
        while CODE_BITS[ordered[second] as usize] as u32 <= free_bits {
            let next = ordered[second] as usize;
            let both_bits = bits + CODE_BITS[next] as u32;
            let left_bits = Pair::WINDOW_BITS - both_bits;
            let pair = Pair::of([symbol as u8, next as u8], 2, both_bits);
            fill(&mut pairs, window | (codes[next] << left_bits), left_bits, pair);
            second += 1;
        }
        first += 1;
    }
    pairs
}

/// Stores `pair` at every index that differs from `window` in its lowest `free_bits` bits at most.
const fn fill(pairs: &mut [Pair; 1 << Pair::WINDOW_BITS], window: u32, free_bits: u32, pair: Pair) {
    let mut ending = 0;
    while ending < 1 << free_bits {
        pairs[(window | ending) as usize] = pair;
        ending += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_of_appendix_b_are_rebuilt_from_their_lengths() {
        let known = [
            (b'0', 0x0),
            (b'a', 0x3),
            (b' ', 0x14),
            (b'z', 0x7b),
            (b'&', 0xf8),
            (b'!', 0x3f8),
            (b'\'', 0x7fa),
            (b'#', 0xffa),
            (0, 0x1ff8),
            (b'^', 0x3ffc),
            (b'<', 0x7ffc),
            (b'\\', 0x7fff0),
            (128, 0xfffe6),
            (153, 0x1fffdc),
            (129, 0x3fffd2),
            (1, 0x7fffd8),
            (9, 0xffffea),
            (199, 0x1ffffec),
            (192, 0x3ffffe0),
            (203, 0x7ffffde),
            (2, 0xfffffe2),
            (22, 0x3fff_fffe),
        ];
        for (symbol, code) in known {
            assert_eq!(CODES[usize::from(symbol)], code, "symbol {symbol}");
        }
        assert_eq!(CODES[usize::from(EOS)], 0x3fff_ffff);
    }

    #[test]
    fn the_code_is_complete_and_free_of_prefixes() {
        let shares: u64 =
            CODE_BITS.iter().map(|&bits| 1_u64 << (LONGEST_CODE_BITS as u8 - bits)).sum();
        assert_eq!(shares, 1 << LONGEST_CODE_BITS);
    }
}
