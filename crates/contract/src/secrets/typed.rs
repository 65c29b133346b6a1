//! Secrets in the words of a command of ours, and whatever quotes those.

use super::command::{announces_value, of_text};
use super::span::{Spans, mask, one};
use super::value;
use std::mem;

/// A shorter secret is no secret in a sentence: its letters stand in other words.
const CHARS_MIN: usize = 4;

/// The words with where their secrets are.
pub fn words<W: AsRef<str>>(words: impl IntoIterator<Item = W>) -> Vec<(String, Spans)> {
    let (mut is_data, mut is_announced) = (false, false);
    let found = |word: W| {
        let word = word.as_ref();
        let is_long = word.starts_with("--");
        let has_data = word.starts_with("--data=") || !is_long && word.starts_with("-d");
        if mem::replace(&mut is_data, matches!(word, "-d" | "--data")) || has_data {
            return (word.to_owned(), Spans::new());
        }
        if mem::take(&mut is_announced) && !is_long && !word.is_empty() {
            is_announced = value::is_scheme(word);
            let span = 0..if is_announced { 0 } else { word.len() };
            return (word.to_owned(), one(span));
        }
        is_announced = announces_value(word);
        let start = word.find('=').filter(|_| is_long).map_or(0, |place| place + 1);
        let spans = of_text(&word[start..]);
        let moved = spans.into_iter().map(|span| span.start + start..span.end + start);
        (word.to_owned(), moved.collect())
    };
    words.into_iter().map(found).collect()
}

/// The secrets of a command line: no line about it has them, wherever it quotes them.
#[derive(Clone, Default)]
pub struct TypedSecrets(Vec<String>);

impl TypedSecrets {
    /// Those of no command line.
    pub const NONE: TypedSecrets = TypedSecrets(Vec::new());

    /// Those of the words.
    pub fn of<W: AsRef<str>>(typed: impl IntoIterator<Item = W>) -> Self {
        let mut secrets = Vec::new();
        for (word, spans) in words(typed) {
            // Signs that a line may leave out, where JSON is divided into words.
            let bare = spans.into_iter().map(|span| word[span].trim_matches(is_around));
            secrets.extend(bare.filter(|text| text.len() >= CHARS_MIN).map(str::to_owned));
        }
        secrets.sort_by_key(|secret| std::cmp::Reverse(secret.len()));
        Self(secrets)
    }

    /// A line as it is shown: without these secrets, and without what is known for one wherever it
    /// stands.
    pub fn masked_in(&self, line: &str) -> String {
        let mut spans = value::spans(line);
        for secret in &self.0 {
            let found = line.match_indices(secret.as_str());
            spans.extend(found.map(|(start, text)| start..start + text.len()));
        }
        mask(line, spans)
    }
}

fn is_around(letter: char) -> bool {
    letter.is_whitespace() || "{}[],;\"'".contains(letter)
}
