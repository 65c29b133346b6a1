//! The base64 of `-bin` metadata, with or without padding.

use alloc::vec::Vec;

const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// Appends `bytes` as base64 without padding, as the specification recommends.
pub fn encode(bytes: &[u8], output: &mut Vec<u8>) {
    for group in bytes.chunks(3) {
        let mut three = [0; 3];
        three[..group.len()].copy_from_slice(group);
        let bits = u32::from_be_bytes([0, three[0], three[1], three[2]]);
        for at in 0..=group.len() {
            output.push(ALPHABET[(bits >> (18 - 6 * at)) as usize & 63]);
        }
    }
}

/// Reads one base64 value, padded or not; `None` if it is malformed.
pub fn decode(value: &[u8]) -> Option<Vec<u8>> {
    let unpadded = match value {
        [rest @ .., b'=', b'='] if value.len().is_multiple_of(4) => rest,
        [rest @ .., b'='] if value.len().is_multiple_of(4) => rest,
        _ => value,
    };
    if unpadded.len() % 4 == 1 {
        return None;
    }
    let mut bytes = Vec::with_capacity(unpadded.len() * 3 / 4);
    for group in unpadded.chunks(4) {
        let mut bits = 0;
        for digit in group {
            bits = bits << 6 | u32::from(sextet(*digit)?);
        }
        bits <<= 6 * (4 - group.len());
        bytes.extend_from_slice(&bits.to_be_bytes()[1..group.len()]);
    }
    Some(bytes)
}

fn sextet(digit: u8) -> Option<u8> {
    match digit {
        b'A'..=b'Z' => Some(digit - b'A'),
        b'a'..=b'z' => Some(digit - b'a' + 26),
        b'0'..=b'9' => Some(digit - b'0' + 52),
        b'+' => Some(62),
        b'/' => Some(63),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn vectors_of_rfc_4648() {
        for (plain, encoded) in [
            ("", ""),
            ("f", "Zg"),
            ("fo", "Zm8"),
            ("foo", "Zm9v"),
            ("foob", "Zm9vYg"),
            ("fooba", "Zm9vYmE"),
            ("foobar", "Zm9vYmFy"),
        ] {
            let mut written = Vec::new();
            encode(plain.as_bytes(), &mut written);
            assert_eq!(written, encoded.as_bytes());
            assert_eq!(decode(&written).unwrap(), plain.as_bytes());
            while !written.len().is_multiple_of(4) {
                written.push(b'=');
            }
            assert_eq!(decode(&written).unwrap(), plain.as_bytes());
        }
    }

    #[test]
    fn malformed_base64_is_refused() {
        for bad in [&b"Z"[..], b"Zg=", b"====", b"Zm9v=", b"Z-8", b"Zm 9"] {
            assert_eq!(decode(bad), None, "{bad:?}");
        }
    }
}
