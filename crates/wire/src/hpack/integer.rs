//! Integers with an N-bit prefix (RFC 7541, section 5.1).

use super::HpackError;
use alloc::vec::Vec;

/// Bytes allowed after the prefix. Five carry 35 bits: enough for every length and index that
/// HTTP/2 can mean (32 bits), and an end to padding with zeros. nghttp2 also stops at 32 bits.
const MAX_CONTINUATION_BYTES: usize = 5;

/// Appends `value` with a prefix of `prefix_bits` bits; the bits above the prefix come from
/// `pattern`.
#[inline]
pub(super) fn encode(value: usize, prefix_bits: u32, pattern: u8, out: &mut Vec<u8>) {
    let mask = prefix_mask(prefix_bits);
    if value < usize::from(mask) {
        out.push(pattern | value as u8);
    } else {
        out.push(pattern | mask);
        encode_continuation(value - usize::from(mask), out);
    }
}

fn encode_continuation(mut remainder: usize, out: &mut Vec<u8>) {
    while remainder >= 0x80 {
        out.push(remainder as u8 | 0x80);
        remainder >>= 7;
    }
    out.push(remainder as u8);
}

/// Reads the integer whose prefix is in `first`; `rest` is advanced past it.
#[inline]
pub(super) fn decode(first: u8, prefix_bits: u32, rest: &mut &[u8]) -> Result<usize, HpackError> {
    let mask = prefix_mask(prefix_bits);
    let prefix = first & mask;
    if prefix < mask {
        return Ok(usize::from(prefix));
    }
    decode_continuation(u64::from(mask), rest)
}

fn decode_continuation(prefix: u64, rest: &mut &[u8]) -> Result<usize, HpackError> {
    let mut value = prefix;
    for position in 0..MAX_CONTINUATION_BYTES {
        let (&byte, behind) = rest.split_first().ok_or(HpackError::Truncated)?;
        *rest = behind;
        value += u64::from(byte & 0x7f) << (7 * position);
        if byte & 0x80 == 0 {
            return u32::try_from(value)
                .ok()
                .and_then(|value| usize::try_from(value).ok())
                .ok_or(HpackError::IntegerTooLong);
        }
    }
    Err(HpackError::IntegerTooLong)
}

#[inline]
fn prefix_mask(prefix_bits: u32) -> u8 {
    debug_assert!((1..=8).contains(&prefix_bits));
    0xff >> (8 - prefix_bits)
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;

    fn encoded(value: usize, prefix_bits: u32) -> Vec<u8> {
        let mut out = Vec::new();
        encode(value, prefix_bits, 0, &mut out);
        out
    }

    fn decoded(bytes: &[u8], prefix_bits: u32) -> Result<(usize, usize), HpackError> {
        let (&first, mut rest) = bytes.split_first().expect("tests give at least a prefix");
        decode(first, prefix_bits, &mut rest).map(|value| (value, rest.len()))
    }

    #[test]
    fn appendix_c_1_1_ten_fits_a_5_bit_prefix() {
        assert_eq!(encoded(10, 5), [0b01010]);
        assert_eq!(decoded(&[0b1110_1010], 5), Ok((10, 0)));
    }

    #[test]
    fn appendix_c_1_2_1337_needs_two_more_bytes() {
        assert_eq!(encoded(1337, 5), [0b11111, 0b1001_1010, 0b0000_1010]);
        assert_eq!(decoded(&[0xff, 0x9a, 0x0a, 0xee], 5), Ok((1337, 1)));
    }

    #[test]
    fn appendix_c_1_3_forty_two_at_an_byte_boundary() {
        assert_eq!(encoded(42, 8), [42]);
        assert_eq!(decoded(&[42], 8), Ok((42, 0)));
    }

    #[test]
    fn every_boundary_comes_back_and_no_prefix_of_it_does() {
        for prefix_bits in 1..=8 {
            for shift in 0..32 {
                for value in [(1_usize << shift) - 1, 1 << shift, (1 << shift) + 1] {
                    let bytes = encoded(value, prefix_bits);
                    assert_eq!(decoded(&bytes, prefix_bits), Ok((value, 0)));
                    for cut in 1..bytes.len() {
                        assert_eq!(decoded(&bytes[..cut], prefix_bits), Err(HpackError::Truncated));
                    }
                }
            }
        }
    }

    #[test]
    fn the_bits_above_the_prefix_are_kept_on_writing_and_ignored_on_reading() {
        let mut out = vec![];
        encode(5, 4, 0x10, &mut out);
        encode(500, 4, 0x10, &mut out);
        assert_eq!(out, [0x15, 0x1f, 0xe5, 0x03]);
        assert_eq!(decoded(&[0xf5], 4), Ok((5, 0)));
    }

    #[test]
    fn zeros_may_pad_an_integer_up_to_five_bytes() {
        assert_eq!(decoded(&[0x1f, 0x80, 0x80, 0x80, 0x80, 0x00], 5), Ok((31, 0)));
        let six = [0x1f, 0x80, 0x80, 0x80, 0x80, 0x80, 0x00];
        assert_eq!(decoded(&six, 5), Err(HpackError::IntegerTooLong));
    }

    #[test]
    fn thirty_two_bits_are_the_most() {
        let most = encoded(u32::MAX as usize, 7);
        assert_eq!(decoded(&most, 7), Ok((u32::MAX as usize, 0)));
        let over = [0x7f, 0x81, 0xff, 0xff, 0xff, 0x0f];
        assert_eq!(decoded(&over, 7), Err(HpackError::IntegerTooLong));
    }
}
