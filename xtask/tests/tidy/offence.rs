//! What a rule returns.

use std::fmt;

/// A place that breaks a rule.
#[derive(Debug, PartialEq, Eq)]
pub struct Offence {
    path: String,
    line: usize,
    what: String,
}

impl Offence {
    /// `line` counts from 1.
    pub fn new(path: &str, line: usize, what: impl Into<String>) -> Self {
        Offence { path: path.to_owned(), line, what: what.into() }
    }

    /// For rules that judge a file as a whole.
    pub fn of_file(path: &str, what: impl Into<String>) -> Self {
        Self::new(path, 1, what)
    }
}

impl fmt::Display for Offence {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}:{}: {}", self.path, self.line, self.what)
    }
}

/// The lines of `text` for which `says` finds something to say, as offences.
pub fn by_line(path: &str, text: &str, says: impl Fn(&str) -> Option<String>) -> Vec<Offence> {
    text.lines()
        .enumerate()
        .filter_map(|(index, line)| Some(Offence::new(path, index + 1, says(line)?)))
        .collect()
}

/// Where `word` stands in `text` as a whole word.
pub fn has_word(text: &str, word: &str) -> bool {
    text.match_indices(word).any(|(start, _)| {
        let joins = |c: char| c.is_alphanumeric() || c == '_';
        !text[..start].ends_with(joins) && !text[start + word.len()..].starts_with(joins)
    })
}

#[test]
fn a_word_is_found_only_whole() {
    assert!(has_word("an unsafe block", "unsafe"));
    assert!(!has_word("#![forbid(unsafe_code)]", "unsafe"));
}
