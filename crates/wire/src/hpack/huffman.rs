//! The Huffman code of string literals (RFC 7541, section 5.2).
//!
//! Decoding keeps up to 64 bits in a register and looks up twelve of them at a time, which gives
//! two symbols for most text. The usual state machine over half bytes takes about three steps, each
//! waiting for the last, where this takes one.

use super::HpackError;
use super::huffman_code::first_symbol;
use super::huffman_code::{CODE_BITS, CODES, LONGEST_CODE_BITS, PAIRS, Pair, SHORTEST_CODE_BITS};
use alloc::vec::Vec;

/// Length of `text` when encoded, in bytes, padding included.
#[inline]
pub(super) fn encoded_len(text: &[u8]) -> usize {
    let bits: usize = text.iter().map(|&byte| usize::from(CODE_BITS[usize::from(byte)])).sum();
    bits.div_ceil(8)
}

/// Appends the encoding of `text`.
pub(super) fn encode(text: &[u8], out: &mut Vec<u8>) {
    let mut held: u64 = 0;
    let mut held_bits = 0;
    for &byte in text {
        let bits = u32::from(CODE_BITS[usize::from(byte)]);
        held = (held << bits) | u64::from(CODES[usize::from(byte)]);
        held_bits += bits;
        if held_bits >= 32 {
            held_bits -= 32;
            out.extend_from_slice(&((held >> held_bits) as u32).to_be_bytes());
        }
    }
    let padded = ((held << 32) | u64::from(u32::MAX)) >> held_bits;
    let bytes = (padded as u32).to_be_bytes();
    out.extend_from_slice(&bytes[..held_bits.div_ceil(8) as usize]);
}

/// The most bytes that `encoded_bytes` bytes can decode to.
#[inline]
pub(super) const fn max_decoded_len(encoded_bytes: usize) -> usize {
    encoded_bytes.saturating_mul(8) / SHORTEST_CODE_BITS
}

/// Decodes `encoded`, known to give at most `most_bytes`, and appends the result to `out`. After an
/// error the bytes appended to `out` mean nothing.
pub(super) fn decode(
    encoded: &[u8],
    most_bytes: usize,
    out: &mut Vec<u8>,
) -> Result<(), HpackError> {
    let start = out.len();
    // One byte more than can be decoded: each write stores two bytes, even where only one counts.
    out.resize(start + most_bytes + 1, 0);
    let target = &mut out[start..];
    let decoded = walk(encoded, |position, pair| {
        target[position..position + 2].copy_from_slice(&pair);
    })?;
    out.truncate(start + decoded);
    Ok(())
}

/// How many bytes `encoded` decodes to.
pub(super) fn decoded_len(encoded: &[u8]) -> Result<usize, HpackError> {
    walk(encoded, |_, _| ())
}

/// Decodes `encoded`. Calls `write` with a position and two bytes, of which the next call may
/// overwrite the second. Returns the number of bytes.
#[inline(always)]
fn walk(encoded: &[u8], mut write: impl FnMut(usize, [u8; 2])) -> Result<usize, HpackError> {
    let mut bits = Bits::new(encoded);
    let mut position = 0;
    loop {
        bits.refill();
        while bits.count >= Pair::WINDOW_BITS {
            let pair = PAIRS[(bits.held >> (64 - Pair::WINDOW_BITS)) as usize];
            if pair.symbols() == 0 {
                break;
            }
            write(position, pair.bytes());
            position += pair.symbols();
            bits.consume(pair.bits());
        }
        if bits.is_exhausted() {
            break;
        }
        if bits.count >= LONGEST_CODE_BITS as u32 {
            let (symbol, code_bits) = first_symbol(bits.window());
            write(position, [byte(symbol)?, 0]);
            position += 1;
            bits.consume(code_bits);
        }
    }
    finish(bits, position, write)
}

/// Decodes the end, which is too short for a whole window, and checks the padding.
#[inline(always)]
fn finish(
    mut bits: Bits<'_>,
    mut position: usize,
    mut write: impl FnMut(usize, [u8; 2]),
) -> Result<usize, HpackError> {
    loop {
        let (symbol, code_bits) = first_symbol(bits.window());
        if code_bits > bits.count {
            return bits.check_padding().map(|()| position);
        }
        write(position, [byte(symbol)?, 0]);
        position += 1;
        bits.consume(code_bits);
    }
}

#[inline]
fn byte(symbol: u16) -> Result<u8, HpackError> {
    u8::try_from(symbol).map_err(|_| HpackError::InvalidHuffman)
}

/// The bits of a string, the next one in the highest place.
struct Bits<'encoded> {
    rest: &'encoded [u8],
    held: u64,
    count: u32,
}

impl<'encoded> Bits<'encoded> {
    #[inline]
    fn new(encoded: &'encoded [u8]) -> Self {
        Self { rest: encoded, held: 0, count: 0 }
    }

    /// Refills to at least 56 bits, or to all that are left.
    #[inline]
    fn refill(&mut self) {
        let Some(chunk) = self.rest.first_chunk() else {
            return self.refill_by_bytes();
        };
        // A byte that fits only in part leaves its first bits too; the next refill writes the same
        // bits.
        self.held |= u64::from_be_bytes(*chunk) >> self.count;
        let taken = (63 - self.count) / 8;
        self.rest = &self.rest[taken as usize..];
        self.count += taken * 8;
    }

    fn refill_by_bytes(&mut self) {
        while self.count <= 56
            && let Some((&byte, rest)) = self.rest.split_first()
        {
            self.held |= u64::from(byte) << (56 - self.count);
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

    /// The next 32 bits, padded with ones, as the string itself must be.
    #[inline]
    fn window(&self) -> u32 {
        ((self.held | u64::MAX.checked_shr(self.count).unwrap_or(0)) >> 32) as u32
    }

    fn check_padding(&self) -> Result<(), HpackError> {
        if self.count < 8 && self.held.leading_ones() >= self.count {
            return Ok(());
        }
        Err(HpackError::InvalidHuffman)
    }
}

#[cfg(test)]
mod tests {
    use super::super::huffman_code::SYMBOLS;
    use super::*;
    use alloc::collections::BTreeMap;
    use alloc::vec;

    fn encoded(text: &[u8]) -> Vec<u8> {
        let mut out = vec![];
        encode(text, &mut out);
        assert_eq!(out.len(), encoded_len(text));
        out
    }

    fn decoded(encoded: &[u8]) -> Result<Vec<u8>, HpackError> {
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
        (0..SYMBOLS).map(|symbol| ((CODE_BITS[symbol], CODES[symbol]), symbol as u16)).collect()
    }

    /// The same code, one bit at a time.
    fn decoded_by_bits(
        encoded: &[u8],
        symbols: &BTreeMap<(u8, u32), u16>,
    ) -> Result<Vec<u8>, HpackError> {
        let mut text = vec![];
        let (mut code, mut bits) = (0_u32, 0_u8);
        for position in 0..encoded.len() * 8 {
            let bit = encoded[position / 8] >> (7 - position % 8) & 1;
            code = code << 1 | u32::from(bit);
            bits += 1;
            if let Some(&symbol) = symbols.get(&(bits, code)) {
                text.push(byte(symbol)?);
                (code, bits) = (0, 0);
            }
        }
        if bits < 8 && code.count_ones() == u32::from(bits) {
            return Ok(text);
        }
        Err(HpackError::InvalidHuffman)
    }

    #[test]
    fn every_byte_comes_back_at_every_distance_from_the_end() {
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
    fn all_bytes_come_back_in_one_string() {
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
    fn every_string_of_two_bytes_decodes_as_bit_by_bit() {
        let symbols = symbols_by_code();
        for value in 0..=u16::MAX {
            let encoded = value.to_be_bytes();
            assert_eq!(decoded(&encoded), decoded_by_bits(&encoded, &symbols), "{encoded:x?}");
        }
    }

    #[test]
    fn random_bytes_decode_as_bit_by_bit() {
        let symbols = symbols_by_code();
        let mut state = 0x5eed_u64;
        for round in 0..2000 {
            let bytes: Vec<u8> = (0..round % 40)
                .map(|_| {
                    state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                    // The long codes begin with high values.
                    (state >> 56) as u8 | if round % 3 == 0 { 0xf8 } else { 0 }
                })
                .collect();
            assert_eq!(decoded(&bytes), decoded_by_bits(&bytes, &symbols), "{bytes:x?}");
        }
    }

    #[test]
    fn padding_is_at_most_seven_ones() {
        assert_eq!(decoded(&[]), Ok(vec![]));
        assert_eq!(decoded(&[0b0001_1111]), Ok(b"a".to_vec()), "three ones");
        assert_eq!(decoded(&[0b1111_1000]), Ok(b"&".to_vec()), "none");
        assert_eq!(decoded(&[0b0001_1110]), Err(HpackError::InvalidHuffman), "a zero at the end");
        assert_eq!(decoded(&[0b0001_1000]), Err(HpackError::InvalidHuffman), "zeros");
        assert_eq!(decoded(&[0b0001_1111, 0xff]), Err(HpackError::InvalidHuffman), "eleven ones");
        assert_eq!(decoded(&[0xff]), Err(HpackError::InvalidHuffman), "eight ones and no symbol");
    }

    #[test]
    fn eos_is_refused_wherever_it_stands() {
        let whole = [0xff, 0xff, 0xff, 0xff];
        assert_eq!(decoded(&whole), Err(HpackError::InvalidHuffman));
        let behind_a = [0b0001_1111, 0xff, 0xff, 0xff, 0xff, 0b0001_1111, 0, 0, 0, 0, 0, 0];
        assert_eq!(decoded(&behind_a), Err(HpackError::InvalidHuffman));
    }
}
