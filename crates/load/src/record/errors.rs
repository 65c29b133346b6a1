//! Failed calls, by code and by text.

use bookend_wire::grpc::Code;
use std::collections::BTreeMap;

/// Error texts that are counted one by one. A server can put anything into `grpc-message`, and
/// nothing here may grow with the run.
const ERROR_TEXTS_MAX: usize = 100;
/// The text under which all others are counted.
const OTHER_TEXTS: &str = "other messages";

/// Failed calls by code and by text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ErrorCounts {
    /// Calls by gRPC code.
    pub by_code: BTreeMap<Code, u64>,
    /// Calls by code and text as grpc-go prints them.
    pub by_text: BTreeMap<String, u64>,
}

impl ErrorCounts {
    /// Counts `count` calls that ended with that status.
    pub fn add(&mut self, code: Code, text: &str, count: u64) {
        if count == 0 {
            return;
        }
        *self.by_code.entry(code).or_default() += count;
        count_text(&mut self.by_text, in_go(code, text), count);
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

    /// Failed calls.
    pub fn total(&self) -> u64 {
        self.by_code.values().sum()
    }
}

/// A failure as grpc-go prints it.
pub(crate) fn in_go(code: Code, text: &str) -> String {
    format!("rpc error: code = {} desc = {text}", code.name_in_go())
}

/// Counts texts that a server has sent, one by one as far as there is room.
pub(crate) fn count_text(texts: &mut BTreeMap<String, u64>, text: String, count: u64) {
    let is_new = !texts.contains_key(&text);
    let is_full = texts.len() >= ERROR_TEXTS_MAX;
    let text = if is_new && is_full { OTHER_TEXTS.to_owned() } else { text };
    *texts.entry(text).or_default() += count;
}

#[cfg(test)]
mod tests {
    use super::*;

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
