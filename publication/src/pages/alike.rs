//! Texts that are alike but for their numbers, as one text with ranges.

use std::mem;

/// A text taken apart: the words around its numbers, and these.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Apart {
    pub(super) words: Vec<String>,
    pub(super) numbers: Vec<String>,
}

impl Apart {
    /// Digits that belong to a name, such as `p99_9` or `C=1`, are no numbers.
    pub(super) fn of(text: &str) -> Self {
        let mut apart = Self::default();
        let (mut words, mut rest) = (String::new(), text);
        while let Some(first) = rest.chars().next() {
            let number = number_at(rest);
            let is_in_name = words.ends_with(|c: char| c.is_alphanumeric() || "_/=-.".contains(c));
            let taken = if number.is_empty() { &rest[..first.len_utf8()] } else { number };
            if number.is_empty() || is_in_name {
                words.push_str(taken);
            } else {
                apart.words.push(mem::take(&mut words));
                apart.numbers.push(number.to_owned());
            }
            rest = &rest[taken.len()..];
        }
        apart.words.push(words);
        apart
    }
}

/// The text whose words these are, each of its numbers from the smallest to the largest.
pub(super) fn together(words: &[String], numbers: &[Vec<String>]) -> String {
    let range = |place: usize| {
        let value = |text: &&String| text.parse::<f64>().unwrap_or_default();
        let at = || numbers.iter().map(|own| &own[place]);
        let least = at().min_by(|a, b| value(a).total_cmp(&value(b))).expect("one text");
        let most = at().max_by(|a, b| value(a).total_cmp(&value(b))).expect("one text");
        if least == most { least.clone() } else { format!("{least} to {most}") }
    };
    let mut text = words.first().cloned().unwrap_or_default();
    for (place, words) in words.iter().skip(1).enumerate() {
        text += &range(place);
        text += words;
    }
    text
}

/// The digits at the beginning of a text, with a point among them.
fn number_at(text: &str) -> &str {
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let number = text[..end].trim_end_matches('.');
    if number.starts_with(|c: char| c.is_ascii_digit()) { number } else { "" }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_that_differ_in_numbers_are_one_with_ranges() {
        let texts = [
            "1000 calls were cut off at p99_9: up to 0.5 s (2 of 10 rounds)",
            "500 calls were cut off at p99_9: up to 1.5 s (11 of 10 rounds)",
        ]
        .map(Apart::of);
        assert_eq!(texts[0].words, texts[1].words);
        let numbers = texts.clone().map(|text| text.numbers);
        assert_eq!(numbers[0], ["1000", "0.5", "2", "10"]);
        let both =
            "500 to 1000 calls were cut off at p99_9: up to 0.5 to 1.5 s (2 to 11 of 10 rounds)";
        assert_eq!(together(&texts[0].words, &numbers), both);
        assert_eq!(
            together(&texts[0].words, &numbers[..1]),
            "1000 calls were cut off at p99_9: up to 0.5 s (2 of 10 rounds)"
        );
        assert_ne!(
            texts[0].words,
            Apart::of("1000 calls were cut off at p99: up to 0.5 s (2 of 10 rounds)").words
        );
    }

    #[test]
    fn digits_of_names_and_a_point_at_the_end_are_no_numbers() {
        let text = "rust-pajamax/0.3.3 at C=1 S=50 waits for 40 ms.";
        let apart = Apart::of(text);
        assert_eq!(apart.numbers, ["40"]);
        assert_eq!(together(&apart.words, std::slice::from_ref(&apart.numbers)), text);
    }
}
