//! The hash by which the encoder finds names and fields.

/// Odd constants without structure (digits of pi), so that a product spreads all bits.
const SPREAD: [u64; 2] = [0x243f_6a88_85a3_08d3, 0x1319_8a2e_0370_7345];

/// Hashes up to 24 bytes of `bytes`: the first, middle and last eight, and the length.
///
/// Not every byte counts, so equal hashes prove nothing and the bytes are always compared. A peer
/// cannot choose what is encoded here, and a table is small: collisions only cost comparisons.
#[inline]
pub(super) const fn hash(bytes: &[u8]) -> u32 {
    let (first, last) = ends(bytes);
    let length = bytes.len() as u64;
    let head = first.wrapping_mul(SPREAD[0]);
    let tail = (last ^ length.rotate_left(56)).wrapping_mul(SPREAD[1]);
    fold(head ^ tail.rotate_left(32) ^ middle(bytes))
}

/// Joins the hashes of a name and a value.
#[inline]
pub(super) const fn join(name: u32, value: u32) -> u32 {
    fold(((name as u64) << 32) | value as u64)
}

#[inline]
const fn fold(mixed: u64) -> u32 {
    let spread = (mixed ^ (mixed >> 29)).wrapping_mul(SPREAD[1]);
    (spread >> 32) as u32
}

/// The first and last eight bytes, which overlap in short strings.
#[inline]
const fn ends(bytes: &[u8]) -> (u64, u64) {
    if let (Some(first), Some(last)) = (bytes.first_chunk(), bytes.last_chunk()) {
        return (u64::from_le_bytes(*first), u64::from_le_bytes(*last));
    }
    if let (Some(first), Some(last)) = (bytes.first_chunk(), bytes.last_chunk()) {
        return (u32::from_le_bytes(*first) as u64, u32::from_le_bytes(*last) as u64);
    }
    match bytes {
        [first, .., last] => (*first as u64 | ((bytes[1] as u64) << 8), *last as u64),
        [only] => (*only as u64, 0),
        [] => (0, 0),
    }
}

#[inline]
const fn middle(bytes: &[u8]) -> u64 {
    if bytes.len() <= 16 {
        return 0;
    }
    let (_, behind) = bytes.split_at(bytes.len() / 2 - 4);
    match behind.first_chunk() {
        Some(chunk) => u64::from_le_bytes(*chunk),
        None => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_strings_differ_in_every_byte_and_in_length() {
        for length in 1..=24 {
            let zeros = [0_u8; 25];
            assert_ne!(hash(&zeros[..length]), hash(&zeros[..length + 1]));
            for position in 0..length {
                let mut changed = zeros;
                changed[position] = 1;
                assert_ne!(hash(&zeros[..length]), hash(&changed[..length]), "{position}/{length}");
            }
        }
    }

    #[test]
    fn name_and_value_are_not_interchangeable() {
        let (name, value) = (hash(b"name"), hash(b"value"));
        assert_ne!(join(name, value), join(value, name));
    }
}
