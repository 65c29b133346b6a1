//! Command lines with words in braces, which stand for values of the run.

use crate::invocation::WORDS;
use bookend_results::declaration::nearest_word;
use thiserror::Error;

/// Why a template cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum TemplateError {
    /// A word in braces that does not exist.
    #[error("`{{{word}}}` stands for nothing{near}", word = .0, near = suggestion(.0))]
    UnknownWord(String),
    /// The program is given by a word that has no value in this run.
    #[error("the program `{0}` has no value in this run")]
    NoProgram(String),
}

/// Fills in a template with the value of each word. An argument whose word has no value in this run
/// is left out whole, so `--calls={calls}` and `--duration={measure_ms}ms` can stand side by side.
///
/// # Errors
/// A word in braces does not exist, or the program itself has no value.
pub fn fill(
    template: &[String],
    value: impl Fn(&str) -> Option<String>,
) -> Result<Vec<String>, TemplateError> {
    check(template)?;
    let mut command = Vec::new();
    for (position, argument) in template.iter().enumerate() {
        match fill_argument(argument, &value) {
            Some(filled) => command.push(filled),
            None if position == 0 => return Err(TemplateError::NoProgram(argument.clone())),
            None => {}
        }
    }
    Ok(command)
}

fn fill_argument(argument: &str, value: impl Fn(&str) -> Option<String>) -> Option<String> {
    let mut filled = String::new();
    for piece in pieces(argument) {
        match piece {
            Piece::Text(text) => filled.push_str(text),
            Piece::Word(word) => filled.push_str(&value(word)?),
        }
    }
    Some(filled)
}

/// Whether `word` stands in braces somewhere in `template`.
pub fn has_word(template: &[String], word: &str) -> bool {
    words(template).any(|found| found == word)
}

/// Whether every word in braces exists.
pub fn check(template: &[String]) -> Result<(), TemplateError> {
    let is_known = |word: &str| WORDS.iter().any(|(known, _)| *known == word);
    match words(template).find(|word| !is_known(word)) {
        Some(word) => Err(TemplateError::UnknownWord(word.to_owned())),
        None => Ok(()),
    }
}

fn words(template: &[String]) -> impl Iterator<Item = &str> {
    template
        .iter()
        .flat_map(|argument| pieces(argument))
        .filter_map(|piece| if let Piece::Word(word) = piece { Some(word) } else { None })
}

enum Piece<'a> {
    Text(&'a str),
    Word(&'a str),
}

/// Only lower-case words in braces are placeholders: braces of JSON stay what they are.
fn pieces(argument: &str) -> Vec<Piece<'_>> {
    let mut pieces = Vec::new();
    let mut rest = argument;
    while let Some(open) = rest.find('{') {
        let after = &rest[open + 1..];
        let length = after.find(|c: char| !c.is_ascii_lowercase() && c != '_');
        match length {
            Some(length) if length > 0 && after[length..].starts_with('}') => {
                pieces.push(Piece::Text(&rest[..open]));
                pieces.push(Piece::Word(&after[..length]));
                rest = &after[length + 1..];
            }
            _ => {
                pieces.push(Piece::Text(&rest[..=open]));
                rest = after;
            }
        }
    }
    pieces.push(Piece::Text(rest));
    pieces
}

fn suggestion(word: &str) -> String {
    let words = WORDS.map(|(word, _)| word);
    match nearest_word(word, words) {
        Some(near) => format!(", did you mean `{{{near}}}`?"),
        None => format!(", only these do: {}", words.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(arguments: &[&str]) -> Vec<String> {
        arguments.iter().map(|&word| word.to_owned()).collect()
    }

    #[test]
    fn an_argument_without_a_value_is_left_out_whole() {
        let value = |word: &str| match word {
            "target" => Some("127.0.0.1:9".to_owned()),
            "calls" => Some("7".to_owned()),
            _ => None,
        };
        let template = words(&["ghz", "--total={calls}", "--duration={measure_ms}ms", "{target}"]);
        assert_eq!(fill(&template, value), Ok(words(&["ghz", "--total=7", "127.0.0.1:9"])));
    }

    #[test]
    fn braces_that_are_no_placeholder_stay() {
        let json = words(&["ghz", "--data={\"name\": \"{}\"}", "{", "a{b", "{A}"]);
        assert_eq!(check(&json), Ok(()));
        assert_eq!(fill(&json, |_| None), Ok(json.clone()));
    }

    #[test]
    fn a_misspelt_word_is_named_with_the_right_one() {
        let error = check(&words(&["ghz", "{conections}"])).expect_err("misspelt");
        assert_eq!(
            error.to_string(),
            "`{conections}` stands for nothing, did you mean `{connections}`?"
        );
    }

    #[test]
    fn a_program_must_have_a_value() {
        let error = fill(&words(&["{bookend}", "load"]), |_| None);
        assert_eq!(error, Err(TemplateError::NoProgram("{bookend}".to_owned())));
    }
}
