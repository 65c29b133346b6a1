//! The Huffman code of string literals (RFC 7541, section 5.2 and appendix B).
//!
//! The code is canonical: codes of one length count upwards in the order of their symbols, and
//! every longer code is greater than every shorter one. So the lengths alone define it, and the
//! compiler works out the rest.
//!
//! Decoding keeps up to 64 bits at hand and looks twelve of them up at once, which gives two
//! symbols for most text. The usual state machine over half octets makes about three such steps,
//! each waiting for the last, where this makes one.

use super::Error;
use alloc::vec::Vec;

/// Symbols: every octet and EOS.
const SYMBOLS: usize = 257;
const EOS: u16 = 256;
const SHORTEST_CODE_BITS: usize = 5;
const LONGEST_CODE_BITS: usize = 30;

/// Bits of each symbol's code, EOS last (RFC 7541, appendix B).
#[rustfmt::skip]
const CODE_BITS: [u8; SYMBOLS] = [
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

/// Octets of `text` when encoded, padding included.
#[inline]
pub(super) fn encoded_len(text: &[u8]) -> usize {
    let bits: usize = text
        .iter()
        .map(|&octet| usize::from(CODE_BITS[usize::from(octet)]))
        .sum();
    bits.div_ceil(8)
}

/// Appends the encoding of `text`.
pub(super) fn encode(text: &[u8], out: &mut Vec<u8>) {
    let mut held: u64 = 0;
    let mut held_bits = 0;
    for &octet in text {
        let bits = u32::from(CODE_BITS[usize::from(octet)]);
        held = (held << bits) | u64::from(CODES[usize::from(octet)]);
        held_bits += bits;
        if held_bits >= 32 {
            held_bits -= 32;
            out.extend_from_slice(&((held >> held_bits) as u32).to_be_bytes());
        }
    }
    let padded = ((held << 32) | u64::from(u32::MAX)) >> held_bits;
    let octets = (padded as u32).to_be_bytes();
    out.extend_from_slice(&octets[..held_bits.div_ceil(8) as usize]);
}

/// The most octets that `encoded_bytes` octets can decode to.
#[inline]
pub(super) const fn max_decoded_len(encoded_bytes: usize) -> usize {
    encoded_bytes.saturating_mul(8) / SHORTEST_CODE_BITS
}

/// Decodes `encoded`, known to give at most `most_bytes`, behind what is in `out`. On an error the
/// octets appended to `out` mean nothing.
pub(super) fn decode(encoded: &[u8], most_bytes: usize, out: &mut Vec<u8>) -> Result<(), Error> {
    let start = out.len();
    // One octet more than can be decoded: two are always written, whether one or two count.
    out.resize(start + most_bytes + 1, 0);
    let target = &mut out[start..];
    let decoded = walk(encoded, |position, pair| {
        target[position..position + 2].copy_from_slice(&pair);
    })?;
    out.truncate(start + decoded);
    Ok(())
}

/// How many octets `encoded` decodes to.
pub(super) fn decoded_len(encoded: &[u8]) -> Result<usize, Error> {
    walk(encoded, |_, _| ())
}

/// Decodes `encoded`: `write` is given positions and two octets for each, of which the second may
/// be overwritten by the next call. Returns the number of octets.
#[inline(always)]
fn walk(encoded: &[u8], mut write: impl FnMut(usize, [u8; 2])) -> Result<usize, Error> {
    let mut bits = Bits::new(encoded);
    let mut position = 0;
    loop {
        bits.refill();
        while bits.count >= Pair::WINDOW_BITS {
            let pair = PAIRS[(bits.held >> (64 - Pair::WINDOW_BITS)) as usize];
            if pair.symbols() == 0 {
                break;
            }
            write(position, pair.octets());
            position += pair.symbols();
            bits.consume(pair.bits());
        }
        if bits.is_exhausted() {
            break;
        }
        if bits.count >= LONGEST_CODE_BITS as u32 {
            let (symbol, code_bits) = first_symbol(bits.window());
            write(position, [octet(symbol)?, 0]);
            position += 1;
            bits.consume(code_bits);
        }
    }
    finish(bits, position, write)
}

/// Decodes what is too short for a whole window, and checks the padding.
#[inline(always)]
fn finish(
    mut bits: Bits<'_>,
    mut position: usize,
    mut write: impl FnMut(usize, [u8; 2]),
) -> Result<usize, Error> {
    loop {
        let (symbol, code_bits) = first_symbol(bits.window());
        if code_bits > bits.count {
            return bits.check_padding().map(|()| position);
        }
        write(position, [octet(symbol)?, 0]);
        position += 1;
        bits.consume(code_bits);
    }
}

#[inline]
fn octet(symbol: u16) -> Result<u8, Error> {
    u8::try_from(symbol).map_err(|_| Error::InvalidHuffman)
}

/// The bits of a string, the next one highest.
struct Bits<'encoded> {
    rest: &'encoded [u8],
    held: u64,
    count: u32,
}

impl<'encoded> Bits<'encoded> {
    #[inline]
    fn new(encoded: &'encoded [u8]) -> Self {
        Self {
            rest: encoded,
            held: 0,
            count: 0,
        }
    }

    /// Holds at least 56 bits, or all that are left.
    #[inline]
    fn refill(&mut self) {
        let Some(chunk) = self.rest.first_chunk() else {
            return self.refill_by_octets();
        };
        // Bits of an octet that fits only in part are held too; they are the same next time.
        self.held |= u64::from_be_bytes(*chunk) >> self.count;
        let taken = (63 - self.count) / 8;
        self.rest = &self.rest[taken as usize..];
        self.count += taken * 8;
    }

    fn refill_by_octets(&mut self) {
        while self.count <= 56
            && let Some((&octet, rest)) = self.rest.split_first()
        {
            self.held |= u64::from(octet) << (56 - self.count);
            self.count += 8;
            self.rest = rest;
        }
    }

    #[inline]
    fn consume(&mut self, bits: u32) {
        self.held <<= bits;
        self.count -= bits;
    }

    #[inline]
    fn is_exhausted(&self) -> bool {
        self.rest.is_empty()
    }

    /// The next 32 bits, padded with ones as the string must be.
    #[inline]
    fn window(&self) -> u32 {
        ((self.held | u64::MAX.checked_shr(self.count).unwrap_or(0)) >> 32) as u32
    }

    fn check_padding(&self) -> Result<(), Error> {
        if self.count < 8 && self.held.leading_ones() >= self.count {
            return Ok(());
        }
        Err(Error::InvalidHuffman)
    }
}

/// The symbol whose code `window` begins with, and the bits of that code.
#[inline]
fn first_symbol(window: u32) -> (u16, u32) {
    let mut bits = SHORTEST_CODE_BITS;
    while bits < LONGEST_CODE_BITS && window >= LENGTHS[bits].end {
        bits += 1;
    }
    let length = &LENGTHS[bits];
    let ordinal = (window - length.begin) >> (32 - bits);
    (
        BY_CODE[usize::from(length.first_ordinal) + ordinal as usize],
        bits as u32,
    )
}

/// The codes of one length.
#[derive(Clone, Copy)]
struct Length {
    /// The first code and what follows the last one, moved to the top of 32 bits.
    begin: u32,
    end: u32,
    /// Place of the first code among all codes.
    first_ordinal: u16,
}

/// What twelve bits begin with: no, one or two whole symbols.
#[derive(Clone, Copy)]
struct Pair(u32);

impl Pair {
    const WINDOW_BITS: u32 = 12;
    const NONE: Self = Self(0);

    const fn of(octets: [u8; 2], symbols: u32, bits: u32) -> Self {
        Self(u16::from_le_bytes(octets) as u32 | (symbols << 16) | (bits << 24))
    }

    #[inline]
    fn octets(self) -> [u8; 2] {
        (self.0 as u16).to_le_bytes()
    }

    #[inline]
    fn symbols(self) -> usize {
        (self.0 >> 16 & 0xff) as usize
    }

    #[inline]
    fn bits(self) -> u32 {
        self.0 >> 24
    }
}

/// Symbols in the order of their codes.
static BY_CODE: [u16; SYMBOLS] = by_code();

/// The code of each symbol, in its lowest bits.
static CODES: [u32; SYMBOLS] = codes();

static LENGTHS: [Length; LONGEST_CODE_BITS + 1] = lengths();

static PAIRS: [Pair; 1 << Pair::WINDOW_BITS] = pairs();

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
    let mut lengths = [Length {
        begin: 0,
        end: 0,
        first_ordinal: 0,
    }; LONGEST_CODE_BITS + 1];
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
        fill(
            &mut pairs,
            window,
            free_bits,
            Pair::of([symbol as u8, 0], 1, bits),
        );
        let mut second = 0;
        while CODE_BITS[ordered[second] as usize] as u32 <= free_bits {
            let next = ordered[second] as usize;
            let both_bits = bits + CODE_BITS[next] as u32;
            let left_bits = Pair::WINDOW_BITS - both_bits;
            let pair = Pair::of([symbol as u8, next as u8], 2, both_bits);
            fill(
                &mut pairs,
                window | (codes[next] << left_bits),
                left_bits,
                pair,
            );
            second += 1;
        }
        first += 1;
    }
    pairs
}

/// Puts `pair` wherever the window begins with these bits and ends in any `free_bits` others.
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
    use alloc::collections::BTreeMap;
    use alloc::vec;

    fn encoded(text: &[u8]) -> Vec<u8> {
        let mut out = vec![];
        encode(text, &mut out);
        assert_eq!(out.len(), encoded_len(text));
        out
    }

    fn decoded(encoded: &[u8]) -> Result<Vec<u8>, Error> {
        let most_bytes = max_decoded_len(encoded.len());
        let mut out = b"kept".to_vec();
        let result = decode(encoded, most_bytes, &mut out);
        let counted = decoded_len(encoded);
        let (kept, text) = out.split_at(4);
        assert_eq!(kept, b"kept");
        assert_eq!(counted, result.map(|()| text.len()));
        if let Ok(exact_bytes) = counted {
            let mut again = vec![];
            assert_eq!(decode(encoded, exact_bytes, &mut again), Ok(()));
            assert_eq!(again, text);
        }
        result.map(|()| text.to_vec())
    }

    /// Symbols by the length and value of their codes.
    fn symbols_by_code() -> BTreeMap<(u8, u32), u16> {
        (0..SYMBOLS)
            .map(|symbol| ((CODE_BITS[symbol], CODES[symbol]), symbol as u16))
            .collect()
    }

    /// The same code, one bit at a time.
    fn decoded_by_bits(
        encoded: &[u8],
        symbols: &BTreeMap<(u8, u32), u16>,
    ) -> Result<Vec<u8>, Error> {
        let mut text = vec![];
        let (mut code, mut bits) = (0_u32, 0_u8);
        for position in 0..encoded.len() * 8 {
            let bit = encoded[position / 8] >> (7 - position % 8) & 1;
            code = code << 1 | u32::from(bit);
            bits += 1;
            if let Some(&symbol) = symbols.get(&(bits, code)) {
                text.push(octet(symbol)?);
                (code, bits) = (0, 0);
            }
        }
        if bits < 8 && code.count_ones() == u32::from(bits) {
            return Ok(text);
        }
        Err(Error::InvalidHuffman)
    }

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
        let shares: u64 = CODE_BITS
            .iter()
            .map(|&bits| 1_u64 << (LONGEST_CODE_BITS as u8 - bits))
            .sum();
        assert_eq!(shares, 1 << LONGEST_CODE_BITS);
    }

    #[test]
    fn every_octet_comes_back_at_every_distance_from_the_end() {
        for symbol in 0..=255 {
            for before in 0..10 {
                for behind in 0..10 {
                    let mut text = vec![b'0'; before];
                    text.push(symbol);
                    text.resize(before + 1 + behind, b'~');
                    assert_eq!(decoded(&encoded(&text)), Ok(text));
                }
            }
        }
    }

    #[test]
    fn all_octets_come_back_in_one_string() {
        let text: Vec<u8> = (0..=255).chain((0..=255).rev()).collect();
        assert_eq!(decoded(&encoded(&text)), Ok(text));
    }

    #[test]
    fn the_shortest_codes_fill_the_bound_exactly() {
        let text = [b'0'; 40];
        let encoded = encoded(&text);
        assert_eq!(max_decoded_len(encoded.len()), text.len());
        assert_eq!(decoded(&encoded), Ok(text.to_vec()));
    }

    #[test]
    fn every_string_of_two_octets_decodes_as_bit_by_bit() {
        let symbols = symbols_by_code();
        for value in 0..=u16::MAX {
            let encoded = value.to_be_bytes();
            assert_eq!(
                decoded(&encoded),
                decoded_by_bits(&encoded, &symbols),
                "{encoded:x?}"
            );
        }
    }

    #[test]
    fn random_octets_decode_as_bit_by_bit() {
        let symbols = symbols_by_code();
        let mut state = 0x5eed_u64;
        for round in 0..2000 {
            let octets: Vec<u8> = (0..round % 40)
                .map(|_| {
                    state = state
                        .wrapping_mul(6_364_136_223_846_793_005)
                        .wrapping_add(1);
                    // High values begin the long codes.
                    (state >> 56) as u8 | if round % 3 == 0 { 0xf8 } else { 0 }
                })
                .collect();
            assert_eq!(
                decoded(&octets),
                decoded_by_bits(&octets, &symbols),
                "{octets:x?}"
            );
        }
    }

    #[test]
    fn padding_is_at_most_seven_ones() {
        assert_eq!(decoded(&[]), Ok(vec![]));
        assert_eq!(decoded(&[0b0001_1111]), Ok(b"a".to_vec()), "three ones");
        assert_eq!(decoded(&[0b1111_1000]), Ok(b"&".to_vec()), "none");
        assert_eq!(
            decoded(&[0b0001_1110]),
            Err(Error::InvalidHuffman),
            "a zero at the end"
        );
        assert_eq!(decoded(&[0b0001_1000]), Err(Error::InvalidHuffman), "zeros");
        assert_eq!(
            decoded(&[0b0001_1111, 0xff]),
            Err(Error::InvalidHuffman),
            "eleven ones"
        );
        assert_eq!(
            decoded(&[0xff]),
            Err(Error::InvalidHuffman),
            "eight ones and no symbol"
        );
    }

    #[test]
    fn eos_is_refused_wherever_it_stands() {
        let whole = [0xff, 0xff, 0xff, 0xff];
        assert_eq!(decoded(&whole), Err(Error::InvalidHuffman));
        let behind_a = [
            0b0001_1111,
            0xff,
            0xff,
            0xff,
            0xff,
            0b0001_1111,
            0,
            0,
            0,
            0,
            0,
            0,
        ];
        assert_eq!(decoded(&behind_a), Err(Error::InvalidHuffman));
    }
}
