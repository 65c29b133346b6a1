//! Messages as they are written in place.

use std::borrow::Cow;
use std::fmt;
use std::io::Write;

use super::wire_kind::{Scalar, write_varint};

/// Appends the fields of one message, in the order in which they are given. Generated code
/// implements it.
pub trait MessageWriter<'w> {
    /// Appends to `output`.
    fn over(output: &'w mut Vec<u8>) -> Self;
}

/// Whether a field says that it is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Presence {
    /// Without a value it has its default, so that is not written.
    Implicit,
    /// Whatever was given is written.
    Explicit,
}

/// Text for a field: a string, several of them one after the other, or `format_args!`.
pub trait Text {
    /// Its length in bytes, where that is known before it is written.
    #[doc(hidden)]
    fn known_bytes(&self) -> Option<usize>;

    #[doc(hidden)]
    fn append(self, output: &mut Vec<u8>);
}

impl Text for &str {
    #[inline]
    fn known_bytes(&self) -> Option<usize> {
        Some(self.len())
    }

    #[inline]
    fn append(self, output: &mut Vec<u8>) {
        output.extend_from_slice(self.as_bytes());
    }
}

impl Text for &String {
    #[inline]
    fn known_bytes(&self) -> Option<usize> {
        Some(self.len())
    }

    #[inline]
    fn append(self, output: &mut Vec<u8>) {
        self.as_str().append(output);
    }
}

impl Text for String {
    #[inline]
    fn known_bytes(&self) -> Option<usize> {
        Some(self.len())
    }

    #[inline]
    fn append(self, output: &mut Vec<u8>) {
        self.as_str().append(output);
    }
}

impl Text for Cow<'_, str> {
    #[inline]
    fn known_bytes(&self) -> Option<usize> {
        Some(self.len())
    }

    #[inline]
    fn append(self, output: &mut Vec<u8>) {
        (*self).append(output);
    }
}

impl<const N: usize> Text for [&str; N] {
    #[inline]
    fn known_bytes(&self) -> Option<usize> {
        Some(self.iter().map(|part| part.len()).sum())
    }

    #[inline]
    fn append(self, output: &mut Vec<u8>) {
        for part in self {
            part.append(output);
        }
    }
}

impl Text for fmt::Arguments<'_> {
    #[inline]
    fn known_bytes(&self) -> Option<usize> {
        self.as_str().map(str::len)
    }

    #[inline]
    fn append(self, output: &mut Vec<u8>) {
        // A vector takes everything; what a value fails to say of itself is missing.
        let _ = output.write_fmt(self);
    }
}

/// Writes a number.
#[inline]
pub fn put_number<K: Scalar>(
    output: &mut Vec<u8>,
    key: u32,
    number: K::Number,
    presence: Presence,
) {
    if presence == Presence::Explicit || !K::is_default(number) {
        put_key(output, key);
        K::write(number, output);
    }
}

/// Writes numbers in one field.
#[inline]
pub fn put_numbers<K: Scalar>(
    output: &mut Vec<u8>,
    key: u32,
    numbers: impl IntoIterator<Item = K::Number>,
) {
    let mut numbers = numbers.into_iter().peekable();
    if numbers.peek().is_some() {
        put_message(output, key, |output| {
            for number in numbers {
                K::write(number, output);
            }
        });
    }
}

/// Writes bytes.
#[inline]
pub fn put_bytes(output: &mut Vec<u8>, key: u32, bytes: &[u8], presence: Presence) {
    if presence == Presence::Explicit || !bytes.is_empty() {
        put_key(output, key);
        write_varint(bytes.len() as u64, output);
        output.extend_from_slice(bytes);
    }
}

/// Writes text.
#[inline]
pub fn put_text(output: &mut Vec<u8>, key: u32, text: impl Text, presence: Presence) {
    let start = output.len();
    match text.known_bytes() {
        Some(0) if presence == Presence::Implicit => {}
        Some(length) => {
            put_key(output, key);
            write_varint(length as u64, output);
            text.append(output);
        }
        None => {
            let length = put_message(output, key, |output| text.append(output));
            if length == 0 && presence == Presence::Implicit {
                output.truncate(start);
            }
        }
    }
}

/// Writes a message within the one that `output` ends with. Returns its length in bytes.
#[inline]
pub fn put_message(output: &mut Vec<u8>, key: u32, write: impl FnOnce(&mut Vec<u8>)) -> usize {
    put_key(output, key);
    // Most lengths take one byte.
    output.push(0);
    let start = output.len();
    write(output);
    let length = output.len() - start;
    if length < 0x80 {
        output[start - 1] = length as u8;
    } else {
        widen_length(output, start, length);
    }
    length
}

/// Moves a message back for a length that takes more than one byte.
#[inline(never)]
fn widen_length(output: &mut Vec<u8>, start: usize, length: usize) {
    let bits = usize::BITS - length.leading_zeros();
    let more_bytes = bits.div_ceil(7) as usize - 1;
    output.resize(output.len() + more_bytes, 0);
    output.copy_within(start..start + length, start + more_bytes);
    let mut rest = length;
    for byte in &mut output[start - 1..start + more_bytes - 1] {
        *byte = rest as u8 | 0x80;
        rest >>= 7;
    }
    output[start + more_bytes - 1] = rest as u8;
}

#[inline]
fn put_key(output: &mut Vec<u8>, key: u32) {
    write_varint(u64::from(key), output);
}

#[cfg(test)]
mod tests {
    use super::super::wire_kind::{Double, Float, Int32};
    use super::*;

    fn written(write: impl FnOnce(&mut Vec<u8>)) -> Vec<u8> {
        let mut output = b"before".to_vec();
        write(&mut output);
        output.split_off(6)
    }

    #[test]
    fn a_message_of_any_length_stands_behind_its_length() {
        for length in [0, 1, 0x7f, 0x80, 0x3fff, 0x4000, 0x20_0000] {
            let body = vec![b'x'; length];
            let output = written(|output| {
                put_message(output, 10, |output| output.extend_from_slice(&body));
            });
            let mut expected = vec![10];
            write_varint(length as u64, &mut expected);
            expected.extend(body);
            assert!(output == expected, "{length}");
        }
    }

    #[test]
    fn text_is_the_same_however_it_is_given() {
        let text = |write: fn(&mut Vec<u8>, Presence)| {
            let [implicit, explicit] = [Presence::Implicit, Presence::Explicit]
                .map(|presence| written(|output| write(output, presence)));
            assert_eq!(implicit, explicit);
            implicit
        };
        let expected = b"\x0a\x06Hi you";
        assert_eq!(text(|output, presence| put_text(output, 10, "Hi you", presence)), expected);
        assert_eq!(
            text(|output, presence| put_text(output, 10, ["Hi ", "you"], presence)),
            expected
        );
        assert_eq!(
            text(|output, presence| put_text(output, 10, format_args!("Hi {}", "you"), presence)),
            expected
        );
        assert_eq!(
            text(|output, presence| put_text(output, 10, String::from("Hi you"), presence)),
            expected
        );
    }

    #[test]
    fn a_default_is_written_only_where_presence_is_explicit() {
        let both = |write: fn(&mut Vec<u8>, Presence)| {
            [Presence::Implicit, Presence::Explicit]
                .map(|presence| written(|output| write(output, presence)))
        };
        let nothing = Vec::<u8>::new();
        let empty = [nothing.clone(), vec![10, 0]];
        assert_eq!(both(|output, presence| put_text(output, 10, "", presence)), empty);
        assert_eq!(both(|output, presence| put_text(output, 10, [""; 2], presence)), empty);
        let formatted =
            both(|output, presence| put_text(output, 10, format_args!("{}", ""), presence));
        assert_eq!(formatted, empty);
        assert_eq!(both(|output, presence| put_bytes(output, 10, b"", presence)), empty);
        assert_eq!(
            both(|output, presence| put_number::<Int32>(output, 8, 0, presence)),
            [nothing.clone(), vec![8, 0]]
        );
        let zero = [&[9][..], &[0; 8]].concat();
        assert_eq!(
            both(|output, presence| put_number::<Double>(output, 9, 0.0, presence)),
            [nothing, zero]
        );
    }

    #[test]
    fn a_negative_zero_is_no_default() {
        let double = written(|output| {
            put_number::<Double>(output, 9, -0.0, Presence::Implicit);
        });
        assert_eq!(double, [9, 0, 0, 0, 0, 0, 0, 0, 0x80]);
        let float = written(|output| put_number::<Float>(output, 13, -0.0, Presence::Implicit));
        assert_eq!(float, [13, 0, 0, 0, 0x80]);
    }

    #[test]
    fn numbers_are_packed_and_none_are_nothing() {
        assert!(written(|output| put_numbers::<Int32>(output, 10, [])).is_empty());
        let numbers = written(|output| put_numbers::<Int32>(output, 10, [1, 128, 0]));
        assert_eq!(numbers, [10, 4, 1, 0x80, 1, 0]);
    }
}
