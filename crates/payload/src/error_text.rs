//! What error messages say: why the system refused, and the right word next to a wrong one.

use clap::ValueEnum;
use std::io;

/// Alternatives are spelled out in a message up to this many: more would not fit on a line.
const ALTERNATIVES_LISTED: usize = 8;

/// Letters of a word that a message repeats: those of a schema may have millions.
const WORD_MAX_LETTERS: usize = 200;
/// Letters of words that are compared: that takes their product in steps.
const COMPARED_MAX_LETTERS: usize = 1_000;

/// What the standard library calls an error that it has no kind for.
const UNCATEGORIZED: &str = "uncategorized error";

/// The reason of a system error without its number: `permission denied`, `no such file or folder`.
/// An error of ours has words of its own.
pub fn reason(error: &io::Error) -> String {
    if let Some(own) = error.get_ref() {
        return own.to_string();
    }
    match error.kind() {
        // The standard library's word for it is "entity not found".
        io::ErrorKind::NotFound => "no such file or folder".to_owned(),
        io::ErrorKind::FileTooLarge => {
            "it would be larger than a file may be here (ulimit -f)".to_owned()
        }
        kind => match kind.to_string() {
            words if words == UNCATEGORIZED => words_of_the_system(error),
            words => words,
        },
    }
}

/// What the system calls the error, written as the standard library writes its own words.
fn words_of_the_system(error: &io::Error) -> String {
    let words = error.to_string();
    let words = words.split(" (os error ").next().unwrap_or_default();
    let mut letters = words.chars();
    let first = letters.next().into_iter().flat_map(char::to_lowercase);
    // What begins with two capitals is a name.
    match words.chars().take(2).all(char::is_uppercase) {
        true => words.to_owned(),
        false => first.chain(letters).collect(),
    }
}

/// A file, or standard input, that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("cannot read {place}: {reason}")]
pub struct Unreadable {
    /// The file as it was given, or "standard input".
    place: String,
    /// What the system said.
    reason: String,
    /// Whether the system could not give it; otherwise what is in it cannot be used.
    is_of_system: bool,
}

impl Unreadable {
    /// What `error` says of the file at `place`.
    pub fn new(place: &str, error: &io::Error) -> Self {
        let is_of_system = error.get_ref().is_none();
        Self { place: place.to_owned(), reason: reason(error), is_of_system }
    }

    /// Whether the system could not give it.
    pub fn is_of_system(&self) -> bool {
        self.is_of_system
    }
}

/// The known word that `wrong` most likely stands for, if one is close enough to be meant.
///
/// Close means: equal but for case, or at most a third of the letters differ. Of equally close
/// words the first wins.
pub fn nearest<'a, W: AsRef<str> + ?Sized + 'a>(
    wrong: &str,
    known: impl IntoIterator<Item = &'a W>,
) -> Option<&'a str> {
    let is_short = |word: &str| word.chars().nth(COMPARED_MAX_LETTERS).is_none();
    if !is_short(wrong) {
        return None;
    }
    let lower = wrong.to_lowercase();
    let edits = |word: &str| strsim::osa_distance(&lower, &word.to_lowercase());
    known
        .into_iter()
        .map(AsRef::as_ref)
        .filter(|word| is_short(word))
        .map(|word| (edits(word), word))
        .filter(|(edits, word)| *edits <= allowed_edits(wrong, word))
        .min_by_key(|(edits, _)| *edits)
        .map(|(_, word)| word)
}

fn allowed_edits(wrong: &str, word: &str) -> usize {
    let letters = wrong.chars().count().max(word.chars().count());
    (letters / 3).max(1)
}

/// The word for a choice on the command line.
pub fn word(choice: &impl ValueEnum) -> String {
    choice.to_possible_value().map_or_else(String::new, |value| value.get_name().to_owned())
}

/// The choice of that word.
///
/// # Errors
/// A line that lists the choices and suggests the nearest.
pub fn choice<C: ValueEnum + Copy>(name: &str) -> Result<C, String> {
    choose(name, C::value_variants(), word)
}

/// The choice of that name among others.
///
/// # Errors
/// As [`choice`].
pub fn choose<C: Copy>(
    name: &str,
    choices: &[C],
    name_of: impl Fn(&C) -> String,
) -> Result<C, String> {
    let names: Vec<String> = choices.iter().map(name_of).collect();
    if let Some(place) = names.iter().position(|known| known == name) {
        return Ok(choices[place]);
    }
    let listed = names.join(", ");
    Err(match nearest(name, &names) {
        Some(word) => format!("did you mean {word}? (there is {listed})"),
        None => format!("there is {listed}"),
    })
}

/// What to say after a wrong name, given the names that would have been right: the nearest of them,
/// and all when they are few. Begins with its own separator, and is empty where there is nothing to
/// say.
pub fn suggestion(wrong: &str, known: impl IntoIterator<Item = impl Into<String>>) -> String {
    let known: Vec<String> = known.into_iter().map(Into::into).collect();
    suggestion_of(nearest(wrong, &known), &known)
}

/// As [`suggestion`], with a word that was found otherwise than by its spelling.
pub(crate) fn suggestion_of(meant: Option<&str>, known: &[String]) -> String {
    let few = (1..=ALTERNATIVES_LISTED).contains(&known.len());
    let known: Vec<String> =
        known.iter().take(ALTERNATIVES_LISTED + 1).map(|it| shown(it)).collect();
    let listed = known.join(", ");
    match meant.map(shown) {
        Some(word) if few && known.len() > 1 => {
            format!("; did you mean {word}? (there is {listed})")
        }
        Some(word) => format!("; did you mean {word}?"),
        None if few => format!("; there is {listed}"),
        None => String::new(),
    }
}

/// The word, or its beginning.
fn shown(word: &str) -> String {
    match word.char_indices().nth(WORD_MAX_LETTERS) {
        Some((end, _)) => format!("{}...", &word[..end]),
        None => word.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_error_of_the_system_says_what_it_is() {
        /// Linux has numbers up to 133.
        const NUMBERS: std::ops::RangeInclusive<i32> = 1..=133;
        for number in NUMBERS {
            let said = reason(&io::Error::from_raw_os_error(number));
            assert!(!said.contains("uncategorized") && !said.contains("os error"), "{said}");
            assert!(!said.is_empty(), "{number}");
        }
        let said = |number| reason(&io::Error::from_raw_os_error(number));
        assert_eq!([said(13), said(5)], ["permission denied", "input/output error"]);
        // No such device or address: a terminal that is not there.
        assert_eq!(said(6), "no such device or address");
        assert_eq!(said(18), "cross-device link or rename");
    }

    #[test]
    fn a_slip_of_the_finger_finds_its_word() {
        let known = ["connections", "concurrency", "connect-timeout"];
        assert_eq!(nearest("conections", known), Some("connections"));
        assert_eq!(nearest("concurency", known), Some("concurrency"));
        assert_eq!(nearest("connect-timeuot", known), Some("connect-timeout"));
        let swapped = nearest("oi", ["io"]);
        assert_eq!(swapped, Some("io"), "swapped neighbours are one edit");
    }

    #[test]
    fn case_is_no_difference() {
        assert_eq!(nearest("skiptls", ["skipTLS", "skipFirst"]), Some("skipTLS"));
    }

    #[test]
    fn a_word_that_resembles_nothing_finds_nothing() {
        assert_eq!(nearest("weather", ["proto", "call", "total"]), None);
    }

    #[test]
    fn few_alternatives_are_listed_and_many_are_not() {
        let few = suggestion("x", ["alpha", "beta"]);
        assert_eq!(few, "; there is alpha, beta");
        let near = suggestion("alpa", ["alpha", "beta"]);
        assert_eq!(near, "; did you mean alpha? (there is alpha, beta)");
        let only = suggestion("alpa", ["alpha"]);
        assert_eq!(only, "; did you mean alpha?");
        let many = suggestion("x", (0..20).map(|n| format!("name{n}")));
        assert_eq!(many, "");
    }

    #[test]
    fn a_long_word_is_cut_and_is_not_compared() {
        let long = "x".repeat(100_000);
        for known in [[long.clone(), "abcd".to_owned()], ["abc".to_owned(), long.clone()]] {
            for wrong in ["abce", &long] {
                let said = suggestion(wrong, known.clone());
                assert!(said.len() < 1_000 && said.contains("xxx..."), "{}", said.len());
            }
        }
        let listed = suggestion_of(Some(&long), std::slice::from_ref(&long));
        assert!(listed.len() < 1_000);
    }

    #[test]
    fn nothing_known_says_nothing() {
        assert_eq!(suggestion("x", Vec::<String>::new()), "");
    }
}
