//! `grpc-message` is percent-encoded UTF-8.

use alloc::string::String;
use alloc::vec::Vec;

/// Appends `text`; every byte that is not printable ASCII, and the percent sign, becomes `%XX`.
pub fn encode(text: &str, output: &mut Vec<u8>) {
    const HEX: &[u8; 16] = b"0123456789ABCDEF";
    for byte in text.bytes() {
        if matches!(byte, 0x20..=0x7e) && byte != b'%' {
            output.push(byte);
        } else {
            let digits = [HEX[usize::from(byte >> 4)], HEX[usize::from(byte & 15)]];
            output.extend_from_slice(&[b'%', digits[0], digits[1]]);
        }
    }
}

/// Reads an encoded value. An invalid escape stays as it is and invalid UTF-8 is replaced: the
/// specification forbids discarding a message for being badly encoded.
pub fn decode(value: &[u8]) -> String {
    let mut bytes = Vec::with_capacity(value.len());
    let mut rest = value;
    while let Some((&first, behind)) = rest.split_first() {
        let (byte, behind) = unescape(rest).unwrap_or((first, behind));
        bytes.push(byte);
        rest = behind;
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// The byte of the escape at the front, if there is a valid one, and what follows it.
fn unescape(bytes: &[u8]) -> Option<(u8, &[u8])> {
    let (&[high, low], behind) = bytes.strip_prefix(b"%")?.split_first_chunk()?;
    let hex = |digit| char::from(digit).to_digit(16);
    Some(((hex(high)? << 4 | hex(low)?) as u8, behind))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_reads_back_as_it_was_written() {
        for text in ["", "plain", "100 %", "\t\u{8}line\r\n", "Grüße, 世界 \u{1f600}", "~ ~"] {
            let mut encoded = Vec::new();
            encode(text, &mut encoded);
            assert!(encoded.iter().all(|byte| matches!(byte, 0x20..=0x7e)));
            assert_eq!(decode(&encoded), text);
        }
    }

    #[test]
    fn bad_escapes_stay_as_they_are() {
        assert_eq!(decode(b"%"), "%");
        assert_eq!(decode(b"%4"), "%4");
        assert_eq!(decode(b"%zz%41"), "%zzA");
        assert_eq!(decode(b"%ff"), "\u{fffd}");
    }
}
