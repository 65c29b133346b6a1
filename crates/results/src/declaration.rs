//! Reads the TOML files that declare suites and subjects. Every error names the file, the line and,
//! where a word is misspelt, the nearest valid word.

use bookend_contract::input;
use bookend_contract::transport::Transport;
use serde::de::DeserializeOwned;
use std::fs::File;
use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};
use toml::Spanned;

/// Why a declaration cannot be used. Always the fault of the file's author or of the file system,
/// never of the lab.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DeclarationError {
    /// The file could not be read.
    #[error("{}: {reason}", file.display())]
    Unreadable {
        /// The file.
        file: PathBuf,
        /// The operating system's error.
        reason: String,
    },
    /// A key that does not exist.
    #[error("{}: unknown key `{key}`, {}", place(file, *line), instead(nearest.as_deref(), expected))]
    UnknownKey {
        /// The file.
        file: PathBuf,
        /// Line, counted from 1, where it is known.
        line: Option<usize>,
        /// The key as it was written.
        key: String,
        /// The most similar valid key, if any is close.
        nearest: Option<String>,
        /// All keys that are valid here.
        expected: Vec<String>,
    },
    /// The text is not TOML, a value has the wrong type, or the declaration makes no sense.
    #[error("{}: {message}", place(file, *line))]
    Invalid {
        /// The file.
        file: PathBuf,
        /// Line, counted from 1, where it is known.
        line: Option<usize>,
        /// What is wrong, and what was expected or is to be written instead.
        message: String,
    },
}

/// `suite.toml:12`, or only the file.
fn place(file: &Path, line: Option<usize>) -> String {
    match line {
        Some(line) => format!("{}:{line}", file.display()),
        None => file.display().to_string(),
    }
}

/// What to write instead of a key that does not exist.
fn instead(nearest: Option<&str>, expected: &[String]) -> String {
    match nearest {
        Some(word) => format!("did you mean `{word}`?"),
        None => format!("expected one of: {}", expected.join(", ")),
    }
}

/// A declaration's file and text, from which errors take their line.
#[derive(Clone, Copy)]
pub struct Source<'a> {
    /// The file that the text was read from.
    pub file: &'a Path,
    /// The text of the file.
    pub text: &'a str,
}

impl<'a> Source<'a> {
    /// Parses the text into `T`, which must deny unknown keys.
    pub fn parse<T: DeserializeOwned>(&self) -> Result<T, DeclarationError> {
        toml::from_str(self.text).map_err(|error| self.explain(&error))
    }

    /// As above. Of the keys `required`, such as `title` or `request.method`, all that are missing
    /// are reported at once.
    pub fn parse_with<T: DeserializeOwned>(
        &self,
        required: &[&str],
    ) -> Result<T, DeclarationError> {
        toml::from_str(self.text).map_err(|error| {
            let missing = self.missing(required);
            if error.message().starts_with("missing field") && missing.len() > 1 {
                return self.incomplete(format!("missing fields {}", missing.join(", ")));
            }
            self.explain(&error)
        })
    }

    /// Those of the keys that are missing, in tables that are there.
    fn missing(&self, required: &[&str]) -> Vec<String> {
        let table: toml::Table = self.text.parse().unwrap_or_default();
        let is_missing = |key: &&&str| match key.split_once('.') {
            None => !table.contains_key(**key),
            Some((outer, inner)) => {
                let outer = table.get(outer).and_then(toml::Value::as_table);
                outer.is_some_and(|outer| !outer.contains_key(inner))
            }
        };
        required.iter().filter(is_missing).map(|key| format!("`{key}`")).collect()
    }

    /// An error about the value at `span`.
    pub fn invalid(&self, span: Range<usize>, message: impl ToString) -> DeclarationError {
        let (file, line) = (self.file.to_owned(), Some(self.line_of(span.start)));
        DeclarationError::Invalid {
            file,
            line,
            message: bookend_contract::input::reason(&message.to_string()),
        }
    }

    /// What `read` makes of a declared value. Its complaint becomes an error at the value's place.
    pub fn read<T, U, E: ToString>(
        &self,
        declared: &Spanned<T>,
        read: impl FnOnce(&T) -> Result<U, E>,
    ) -> Result<U, DeclarationError> {
        read(declared.as_ref()).map_err(|complaint| self.invalid(declared.span(), complaint))
    }

    /// As above, for a value that may be left out.
    pub fn read_some<T, U, E: ToString>(
        &self,
        declared: &Option<Spanned<T>>,
        read: impl FnOnce(&T) -> Result<U, E>,
    ) -> Result<Option<U>, DeclarationError> {
        declared.as_ref().map(|declared| self.read(declared, read)).transpose()
    }

    /// Complains at the place of a declared value unless it `is_sound`.
    pub fn ensure<T>(
        &self,
        is_sound: bool,
        declared: &Spanned<T>,
        message: impl ToString,
    ) -> Result<(), DeclarationError> {
        is_sound.then_some(()).ok_or_else(|| self.invalid(declared.span(), message))
    }

    /// An error about the file as a whole.
    pub fn incomplete(&self, message: String) -> DeclarationError {
        DeclarationError::Invalid { file: self.file.to_owned(), line: None, message }
    }

    fn explain(&self, error: &toml::de::Error) -> DeclarationError {
        let file = self.file.to_owned();
        let line = error.span().map(|span| self.line_of(span.start));
        let Some((key, expected)) = unknown_field(error.message()) else {
            let message = bookend_contract::input::reason(&error.message());
            return DeclarationError::Invalid { file, line, message };
        };
        DeclarationError::UnknownKey {
            file,
            line,
            nearest: nearest_word(&key, expected.iter().map(String::as_str)).map(str::to_owned),
            key: bookend_contract::input::reason(&key),
            expected,
        }
    }

    fn line_of(&self, byte: usize) -> usize {
        1 + self.text.as_bytes().iter().take(byte).filter(|&&character| character == b'\n').count()
    }
}

/// Reads a file's text, without a byte order mark.
pub fn read_text(file: &Path) -> Result<String, DeclarationError> {
    unnamed_text(file).map_err(|error| DeclarationError::Unreadable {
        file: file.to_owned(),
        reason: error.to_string(),
    })
}

/// The same, where the caller adds the name of the file to the error.
pub fn unnamed_text(file: &Path) -> io::Result<String> {
    input::text(File::open(file)?, input::MAX_BYTES)
}

/// Whether a text has the form `pkg.Service/Method`.
pub fn is_method(text: &str) -> bool {
    text.split_once('/').is_some_and(|(service, name)| {
        !service.is_empty() && !name.is_empty() && !name.contains('/')
    })
}

/// Checks a list of transports: at least one, without duplicates.
pub fn transports(words: &[String]) -> Result<Vec<Transport>, String> {
    let mut transports = Vec::new();
    for word in words {
        let transport: Transport = word.parse().map_err(|error| format!("`{word}`: {error}"))?;
        if transports.contains(&transport) {
            return Err(format!("the transport `{word}` is named twice"));
        }
        transports.push(transport);
    }
    let message = "name at least one transport: [\"h2c\", \"tls\", \"unix\"]";
    (!transports.is_empty()).then_some(transports).ok_or_else(|| message.to_owned())
}

/// Parses serde's "unknown field `x`, expected one of `a`, `b`": the words are in backticks.
fn unknown_field(message: &str) -> Option<(String, Vec<String>)> {
    if !message.starts_with("unknown field `") {
        return None;
    }
    let mut words = message.split('`').skip(1).step_by(2).map(str::to_owned);
    Some((words.next()?, words.collect()))
}

/// The candidate with the fewest edits from `word`, if it is close enough to be what was meant:
/// like compilers, this allows at most a third of the letters to differ.
pub fn nearest_word<'a>(
    word: &str,
    candidates: impl IntoIterator<Item = &'a str>,
) -> Option<&'a str> {
    let nearest = candidates
        .into_iter()
        .map(|candidate| (strsim::osa_distance(word, candidate), candidate))
        .min()?;
    let tolerated = word.chars().count().max(3).div_ceil(3);
    (nearest.0 <= tolerated).then_some(nearest.1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_an_editor_has_marked_is_read_like_others() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let file = folder.path().join("suite.toml");
        std::fs::write(&file, "\u{feff}title = \"x\"\r\n").expect("written");
        assert_eq!(read_text(&file), Ok("title = \"x\"\r\n".to_owned()));
        std::fs::write(&file, b"\xff\xfet\0").expect("written");
        let error = read_text(&file).unwrap_err().to_string();
        assert!(error.ends_with("suite.toml: it is text in UTF-16: save it in UTF-8"), "{error}");
        let endless = read_text(Path::new("/dev/zero")).unwrap_err().to_string();
        assert_eq!(endless, "/dev/zero: it has more than 64 MiB");
    }

    #[test]
    fn a_misspelt_word_finds_the_one_that_was_meant() {
        let known = ["warmup", "window", "rounds"];
        assert_eq!(nearest_word("warmpu", known), Some("warmup"));
        assert_eq!(nearest_word("wndow", known), Some("window"));
        assert_eq!(nearest_word("colour", known), None);
        assert_eq!(nearest_word("x", []), None);
    }
}
