//! The numbers of a JSON text that its parser gives as doubles, with all their digits.

use std::cell::Cell;

/// Those numbers, one after the other.
pub(super) struct Decimals<'t> {
    written: Vec<&'t str>,
    next: Cell<usize>,
}

impl<'t> Decimals<'t> {
    /// Those of a text, in order.
    pub fn of(text: &'t str) -> Self {
        let mut written = Vec::new();
        let bytes = text.as_bytes();
        let mut at = 0;
        while let Some(byte) = bytes.get(at) {
            let length = match byte {
                b'"' => length_of_text(&bytes[at..]),
                b'-' | b'0'..=b'9' => {
                    let is_of_it =
                        |byte: &&u8| matches!(byte, b'0'..=b'9' | b'+' | b'-' | b'.' | b'e' | b'E');
                    let length = bytes[at..].iter().take_while(is_of_it).count();
                    let number = &text[at..at + length];
                    written.extend(is_double(number).then_some(number));
                    length
                }
                _ => 1,
            };
            at += length;
        }
        Self { written, next: Cell::new(0) }
    }

    /// What was written of the double that the parser gives next.
    pub fn next_of(&self, number: f64) -> String {
        let next = self.next.get();
        self.next.set(next + 1);
        match self.written.get(next) {
            Some(written) if written.parse() == Ok(number) => (*written).to_owned(),
            _ => number.to_string(),
        }
    }
}

/// serde_json gives integers of 64 bits as such, but for a zero with a sign.
fn is_double(number: &str) -> bool {
    number == "-0" || (number.parse::<i64>().is_err() && number.parse::<u64>().is_err())
}

/// The bytes of a string, with its quotation marks.
fn length_of_text(bytes: &[u8]) -> usize {
    let mut at = 1;
    while let Some(byte) = bytes.get(at) {
        at += match byte {
            b'"' => return at + 1,
            b'\\' => 2,
            _ => 1,
        };
    }
    bytes.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn doubles_are_found_and_nothing_else() {
        let text = r#"{"1.5": [1.50, -7, -0, "2.5\"3.5", 18446744073709551616], "e": 1e3}"#;
        let decimals = Decimals::of(text);
        assert_eq!(decimals.written, ["1.50", "-0", "18446744073709551616", "1e3"]);
        assert_eq!(decimals.next_of(1.5), "1.50");
        assert_eq!(decimals.next_of(7.0), "7");
    }
}
