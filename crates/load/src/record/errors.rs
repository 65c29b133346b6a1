//! Failed calls, by code and by text.

use super::serialized;
use bookend_wire::grpc::Code;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::collections::BTreeMap;

/// Error texts that are counted one by one. A server can put anything into `grpc-message`, and
/// nothing here may grow with the run.
const ERROR_TEXTS_MAX: usize = 100;
/// Bytes of each that are kept. A header list has no more, and so no `grpc-message`; an exception
/// of Thrift can.
const ERROR_TEXT_MAX_BYTES: usize = 16 << 10;
/// The text under which all others are counted.
pub(super) const OTHER_TEXTS: &str = "other messages";

/// Failed calls by code and by text.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ErrorCounts {
    /// Calls by gRPC code.
    #[serde(with = "serialized::by_code")]
    pub by_code: BTreeMap<Code, u64>,
    /// Calls by code and text as grpc-go prints them.
    pub by_text: BTreeMap<String, u64>,
}

impl ErrorCounts {
    /// Counts `count` calls that ended with that status.
    pub fn add(&mut self, code: Code, text: &str, count: u64) {
        if count > 0 {
            self.add_in_go(code, in_go(code, text), count);
        }
    }

    /// The same of a text as grpc-go prints it.
    pub(super) fn add_in_go(&mut self, code: Code, error: String, count: u64) {
        *self.by_code.entry(code).or_default() += count;
        count_text(&mut self.by_text, error, count);
    }

    /// Adds what another worker counted.
    pub fn merge(&mut self, other: Self) {
        for (code, count) in other.by_code {
            *self.by_code.entry(code).or_default() += count;
        }
        for (text, count) in other.by_text {
            count_text(&mut self.by_text, text, count);
        }
    }

    /// What was counted after `before`, which is a part of it.
    pub(super) fn since(&self, before: &Self) -> Self {
        Self {
            by_code: counted_since(&self.by_code, &before.by_code),
            by_text: counted_since(&self.by_text, &before.by_text),
        }
    }

    /// Failed calls.
    pub fn total(&self) -> u64 {
        self.by_code.values().sum()
    }
}

fn counted_since<K: Clone + Ord>(
    now: &BTreeMap<K, u64>,
    before: &BTreeMap<K, u64>,
) -> BTreeMap<K, u64> {
    let new = |(key, count): (&K, &u64)| (key.clone(), count - before.get(key).unwrap_or(&0));
    now.iter().map(new).filter(|(_, count)| *count > 0).collect()
}

/// A failure as grpc-go prints it.
pub(crate) fn in_go(code: Code, text: &str) -> String {
    format!("rpc error: code = {} desc = {text}", code.name_in_go())
}

/// Counts texts that a server has sent, one by one as far as there is room.
pub(crate) fn count_text(texts: &mut BTreeMap<String, u64>, mut text: String, count: u64) {
    if text.len() > ERROR_TEXT_MAX_BYTES {
        text = shortened(&text, ERROR_TEXT_MAX_BYTES).into_owned();
    }
    let is_new = !texts.contains_key(&text);
    let is_full = texts.len() >= ERROR_TEXTS_MAX;
    let text = if is_new && is_full { OTHER_TEXTS.to_owned() } else { text };
    *texts.entry(text).or_default() += count;
}

/// A text, or its beginning and an ellipsis: as much as JSON writes in `max_bytes` bytes.
pub(super) fn shortened(text: &str, max_bytes: usize) -> Cow<'_, str> {
    let mut bytes = 0;
    let is_beyond = |letter| {
        bytes += json_bytes(letter);
        bytes > max_bytes
    };
    match text.find(is_beyond) {
        Some(end) => format!("{}…", &text[..end]).into(),
        None => text.into(),
    }
}

/// Bytes of a letter in a string of JSON. Control characters take six (RFC 8259, 7), and the few
/// that could take two are no reason to tell them apart.
fn json_bytes(letter: char) -> usize {
    match letter {
        '"' | '\\' => 2,
        '\0'..='\u{1f}' => 6,
        _ => letter.len_utf8(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_shortened_between_letters_to_what_json_writes() {
        assert_eq!(shortened("abcd", 4), "abcd");
        assert_eq!(shortened("abcde", 4), "abcd…");
        assert_eq!(shortened("abcé", 4), "abc…");
        for letter in ['a', '"', '\\', '\n', '\u{1}', 'é', '\u{1f980}'] {
            let text = letter.to_string().repeat(100);
            let json = serde_json::to_string(&shortened(&text, 90)).unwrap();
            let bytes = json.len() - "\"…\"".len();
            assert!(bytes <= 90, "{letter:?}: {bytes} bytes");
        }
    }

    #[test]
    fn the_texts_of_errors_have_a_bound_in_bytes() {
        let mut errors = ErrorCounts::default();
        for number in 0..200 {
            let text = format!("{number}{}", "x".repeat(1 << 20));
            errors.add(Code::Internal, &text, 1);
            errors.add(Code::Internal, &text, 1);
        }
        assert_eq!(errors.total(), 400);
        let bytes: usize = errors.by_text.keys().map(String::len).sum();
        assert!(bytes <= ERROR_TEXTS_MAX * (ERROR_TEXT_MAX_BYTES + 3) + 100, "{bytes} bytes");
        let kept: Vec<u64> = errors.by_text.values().copied().filter(|count| *count == 2).collect();
        assert_eq!(kept.len(), ERROR_TEXTS_MAX);
    }

    #[test]
    fn error_texts_are_bounded_and_no_error_is_lost() {
        let mut errors = ErrorCounts::default();
        for number in 0..1_000 {
            errors.add(Code::Internal, &number.to_string(), 2);
        }
        assert_eq!(errors.by_text.len(), ERROR_TEXTS_MAX + 1);
        assert_eq!(errors.by_text.values().sum::<u64>(), 2_000);
        assert_eq!(errors.total(), 2_000);
    }
}
