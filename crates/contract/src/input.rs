//! What is read from a file or a pipe that somebody else wrote: no more bytes than there is a use
//! for, and text without the mark that some editors put in front of it.

use std::fmt;
use std::io::{self, Read};

/// Files that people write: schemas, data, configuration. Far more than any of them needs, and
/// little enough to hold several times.
pub const MAX_BYTES: u64 = 64 << 20;

/// What Windows' editors and shells write before text in UTF-8.
const BYTE_ORDER_MARK: char = '\u{feff}';

/// All bytes that there are, if there are at most that many. A device or a pipe without an end is
/// read no further than that.
///
/// # Errors
/// What the system says, or that there are more.
pub fn bytes(from: impl Read, max_bytes: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    from.take(max_bytes.saturating_add(1)).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > max_bytes {
        return Err(io::Error::new(
            io::ErrorKind::FileTooLarge,
            format!("it has more than {} MiB", max_bytes >> 20),
        ));
    }
    Ok(bytes)
}

/// Text in UTF-8, without a byte order mark.
///
/// # Errors
/// As [`bytes`], or that it is not text in UTF-8, and in which encoding it seems to be.
pub fn text(from: impl Read, max_bytes: u64) -> io::Result<String> {
    decoded(bytes(from, max_bytes)?)
}

/// Bytes as text in UTF-8, without a byte order mark.
///
/// # Errors
/// That they are not text in UTF-8, and in which encoding they seem to be.
pub fn decoded(bytes: Vec<u8>) -> io::Result<String> {
    let is_utf_16 = bytes.starts_with(&[0xff, 0xfe]) || bytes.starts_with(&[0xfe, 0xff]);
    let mut text = String::from_utf8(bytes).map_err(|_| {
        let is = if is_utf_16 { "it is text in UTF-16" } else { "it is not text in UTF-8" };
        io::Error::new(io::ErrorKind::InvalidData, format!("{is}: save it in UTF-8"))
    })?;
    if text.starts_with(BYTE_ORDER_MARK) {
        text.drain(..BYTE_ORDER_MARK.len_utf8());
    }
    Ok(text)
}

/// What a parser says, on one line and no longer than can be read: parsers quote the lines that
/// they do not understand. serde_json counts columns from 1, and its column 0 is no place: that of
/// a whole text of another kind, or of an empty one.
pub fn reason<E: fmt::Display>(error: &E) -> String {
    const LETTERS_MAX: usize = 300;
    let words = error.to_string();
    let mut line = words.split_whitespace().collect::<Vec<_>>().join(" ");
    if line.ends_with(" column 0")
        && let Some(place) = line.rfind(" at line ")
    {
        line.truncate(place);
    }
    match line.char_indices().nth(LETTERS_MAX) {
        Some((end, _)) => format!("{} ...", line[..end].trim_end()),
        None => line,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_has_no_end_is_not_read_to_its_end() {
        let error = bytes(io::repeat(0), 1 << 20).unwrap_err();
        assert_eq!(error.to_string(), "it has more than 1 MiB");
        assert_eq!(bytes(&[7; 20][..], 20).unwrap(), [7; 20]);
        assert!(bytes(&[7; 21][..], 20).is_err());
    }

    #[test]
    fn text_begins_behind_its_mark() {
        assert_eq!(text(&b"\xef\xbb\xbf{}"[..], 100).unwrap(), "{}");
        assert_eq!(text(&b"{}"[..], 100).unwrap(), "{}");
        // A second one is a character of the text.
        assert_eq!(text(&b"\xef\xbb\xbf\xef\xbb\xbf"[..], 100).unwrap(), "\u{feff}");
    }

    #[test]
    fn text_in_another_encoding_is_named() {
        let error = |bytes: &[u8]| text(bytes, 100).unwrap_err().to_string();
        assert_eq!(error(b"\xff\xfe{\0}\0"), "it is text in UTF-16: save it in UTF-8");
        assert_eq!(error(b"caf\xe9"), "it is not text in UTF-8: save it in UTF-8");
    }

    #[test]
    fn what_a_parser_says_is_one_line() {
        assert_eq!(reason(&"expected\n  a value\t"), "expected a value");
        let long = reason(&"é[".repeat(100_000));
        assert!(long.ends_with("é[ ...") && long.chars().count() == 304, "{long}");
        assert_eq!(reason(&"a".repeat(300)).len(), 300);
        for text in ["[]", "", "\n\n[]", "7", "{\"a\": 1}"] {
            let error = serde_json::from_str::<std::collections::BTreeMap<String, String>>(text);
            let said = reason(&error.unwrap_err());
            assert!(!said.contains("column 0") && !said.ends_with("at line 3"), "{said}");
        }
        assert_eq!(reason(&"wrong at line 7 column 10"), "wrong at line 7 column 10");
    }
}
