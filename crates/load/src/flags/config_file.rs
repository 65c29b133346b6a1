//! Flags from a file: `--config FILE`, as ghz reads it.
//!
//! The file is an object in JSON, TOML or YAML whose keys are the long names of flags, and `host`.
//! What the command line says holds against the file.

use crate::contract::input::MAX_BYTES;
use crate::error_text::{Unreadable, suggestion};
use crate::given_file;
use clap::parser::ValueSource;
use clap::{Arg, ArgAction, ArgMatches, Command};
use serde_json::{Map, Value};
use std::ffi::OsString;
use std::path::Path;

/// The key of the targets, which on the command line have no name.
const HOST: &str = "host";

/// Why a file gives no flags. Always the user's fault.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ConfigFileError {
    /// The file cannot be read.
    #[error(transparent)]
    Unreadable(#[from] Unreadable),
    /// The file is no object in the language that its name promises.
    #[error("{file} is not {language}: {reason}")]
    Syntax {
        /// The file as given.
        file: String,
        /// JSON, TOML or YAML.
        language: &'static str,
        /// What the parser said, on one line.
        reason: String,
    },
    /// A key that is no flag.
    #[error("{file}: there is no flag {}{suggestion}", reason(key))]
    Key {
        /// The file as given.
        file: String,
        /// The key.
        key: String,
        /// The nearest right one.
        suggestion: String,
    },
    /// A switch that is neither on nor off.
    #[error("{file}: {key} is true or false")]
    Switch {
        /// The file as given.
        file: String,
        /// The key.
        key: String,
    },
}

/// The words of a command line for what `file` says and `given`, which was typed, does not.
///
/// # Errors
/// [`ConfigFileError`] naming file and key.
pub fn words(
    file: &Path,
    given: &ArgMatches,
    command: &Command,
) -> Result<Vec<OsString>, ConfigFileError> {
    let place = file.display().to_string();
    let mut words = Vec::new();
    for (key, value) in read(file, &place)? {
        if value.is_null() || value.as_str() == Some("") || is_schema(&key) {
            continue;
        }
        let arg = argument(command, &key).ok_or_else(|| unknown(command, &place, &key))?;
        if given.value_source(arg.get_id().as_str()) != Some(ValueSource::CommandLine) {
            words.extend(word(arg, &key, &value, &place)?.map(OsString::from));
        }
    }
    Ok(words)
}

/// Editors write it for themselves.
fn is_schema(key: &str) -> bool {
    key == "$schema"
}

fn read(file: &Path, place: &str) -> Result<Map<String, Value>, ConfigFileError> {
    let text = given_file::text(file, MAX_BYTES)?;
    let extension = file.extension().map(|extension| extension.to_ascii_lowercase());
    let (language, read) = match extension.as_deref().and_then(|extension| extension.to_str()) {
        Some("toml") => ("TOML", toml::from_str(&text).map_err(|error| toml_reason(&error, &text))),
        Some("yaml" | "yml") => {
            let read = serde_saphyr::from_str(&text);
            ("YAML", read.map_err(|error| reason(error.without_snippet())))
        }
        _ => ("JSON", serde_json::from_str(&text).map_err(|error| reason(&error))),
    };
    let file = place.to_owned();
    read.map_err(|reason| ConfigFileError::Syntax { file, language, reason })
}

/// What a parser says, in one short line.
fn reason(error: &impl std::fmt::Display) -> String {
    crate::contract::input::reason(error)
}

/// With the number of the line; the parser would quote all of it.
fn toml_reason(error: &toml::de::Error, text: &str) -> String {
    let reason = reason(&error.message());
    match error.span().and_then(|span| text.get(..span.start)) {
        Some(before) => format!("{reason} at line {}", 1 + before.matches('\n').count()),
        None => reason,
    }
}

fn argument<'a>(command: &'a Command, key: &str) -> Option<&'a Arg> {
    command.get_arguments().find(|arg| match arg.get_long() {
        Some(long) => long == key || arg.get_all_aliases().is_some_and(|all| all.contains(&key)),
        None => key == HOST && arg.is_positional(),
    })
}

fn unknown(command: &Command, place: &str, key: &str) -> ConfigFileError {
    let suggestion = match long_name(command, key) {
        Some(long) => format!(" in a file: its key is {long}"),
        None => suggestion(key, command.get_arguments().filter_map(Arg::get_long).chain([HOST])),
    };
    ConfigFileError::Key { file: place.to_owned(), key: key.to_owned(), suggestion }
}

/// The key of a flag that is written as on the command line: as a letter, or with its dashes.
fn long_name<'a>(command: &'a Command, key: &str) -> Option<&'a str> {
    let bare = key.trim_start_matches('-');
    let letter = bare.chars().next().filter(|letter| bare.len() == letter.len_utf8());
    let is_meant = |arg: &&Arg| match letter {
        Some(letter) => arg.get_short() == Some(letter),
        None => argument(command, bare).is_some_and(|meant| meant.get_id() == arg.get_id()),
    };
    command.get_arguments().find(is_meant)?.get_long()
}

/// The word for one key; `None` for a switch that is off.
fn word(
    arg: &Arg,
    key: &str,
    value: &Value,
    place: &str,
) -> Result<Option<String>, ConfigFileError> {
    if matches!(arg.get_action(), ArgAction::SetTrue) {
        let is_on = value.as_bool().ok_or_else(|| ConfigFileError::Switch {
            file: place.to_owned(),
            key: key.to_owned(),
        })?;
        return Ok(is_on.then(|| format!("--{key}")));
    }
    let text = text(key, value);
    Ok(Some(if arg.is_positional() { text } else { format!("--{key}={text}") }))
}

/// What would be typed. Lists of paths are joined by commas; data and labels stay JSON.
fn text(key: &str, value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(list) if key == "import-paths" => {
            list.iter().map(|path| text("", path)).collect::<Vec<_>>().join(",")
        }
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::flags::LoadFlags;
    use clap::Args as _;

    fn read_as(name: &str, text: &str, typed: &str) -> Result<String, String> {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join(name);
        std::fs::write(&file, text).unwrap();
        let command = LoadFlags::augment_args(Command::new("load"));
        let line = std::iter::once("load").chain(typed.split_whitespace());
        let given = command.clone().try_get_matches_from(line).unwrap();
        let mut words: Vec<_> = words(&file, &given, &command)
            .map_err(|error| {
                error.to_string().replace(&folder.path().display().to_string(), "FOLDER")
            })?
            .into_iter()
            .map(|word| word.into_string().unwrap())
            .collect();
        words.sort();
        Ok(words.join(" "))
    }

    const JSON: &str = r#"{
        "$schema": "x", "host": "a:1", "call": "a.B/C", "total": 7, "insecure": true, "name": "",
        "skipTLS": false, "data": {"name": "x"}, "import-paths": ["p", "q"], "timeout": "2s"
    }"#;
    const WORDS: &str = "--call=a.B/C --data={\"name\":\"x\"} --import-paths=p,q --insecure \
                         --timeout=2s --total=7 a:1";

    #[test]
    fn the_three_languages_say_the_same() {
        assert_eq!(read_as("ghz.json", JSON, ""), Ok(WORDS.to_owned()));
        let toml = "host = \"a:1\"\ncall = \"a.B/C\"\ntotal = 7\ninsecure = true\n\
                    import-paths = [\"p\", \"q\"]\ntimeout = \"2s\"\n[data]\nname = \"x\"\n";
        assert_eq!(read_as("ghz.toml", toml, ""), Ok(WORDS.to_owned()));
        let yaml = "host: a:1\ncall: a.B/C\ntotal: 7\ninsecure: true\nimport-paths: [p, q]\n\
                    timeout: 2s\ndata:\n  name: x\n";
        assert_eq!(read_as("ghz.yaml", yaml, ""), Ok(WORDS.to_owned()));
    }

    #[test]
    fn a_file_that_an_editor_has_marked_is_read_like_others() {
        for (name, text) in [
            ("ghz.json", "{\"total\": 7,\r\n\"insecure\": true}\r\n"),
            ("ghz.toml", "total = 7\r\ninsecure = true\r\n"),
            ("ghz.yaml", "total: 7\r\ninsecure: true\r\n"),
        ] {
            let marked = format!("\u{feff}{text}");
            assert_eq!(read_as(name, &marked, ""), Ok("--insecure --total=7".to_owned()));
        }
    }

    #[test]
    fn what_was_typed_holds() {
        let words = read_as("ghz.json", JSON, "-n 3 --call x.Y/Z b:2").unwrap();
        assert!(!words.contains("total") && !words.contains("call") && !words.contains("a:1"));
        assert!(words.contains("--timeout=2s"));
    }

    #[test]
    fn an_error_shows_no_line_of_the_file() {
        let toml = "[metadata]\nauthorization = \"Bearer abc\" x\n";
        let yaml = "metadata:\n  authorization: \"Bearer abc\n  x: [\n";
        for (name, text, place) in [("a.toml", toml, "line 2"), ("a.yaml", yaml, "line")] {
            let error = read_as(name, text, "").unwrap_err();
            assert!(error.contains(place) && !error.contains("abc"), "{error}");
        }
    }

    #[test]
    fn what_is_wrong_is_named() {
        for (name, text, said) in [
            ("ghz.json", "{", "FOLDER/ghz.json is not JSON"),
            ("ghz.toml", "a = ", "FOLDER/ghz.toml is not TOML"),
            ("ghz.yml", "a: [", "FOLDER/ghz.yml is not YAML"),
            ("ghz.json", r#"{"totl": 1}"#, "there is no flag totl; did you mean total?"),
            ("ghz.json", r#"{"n": 1}"#, "there is no flag n in a file: its key is total"),
            ("ghz.toml", "O = \"json\"", "there is no flag O in a file: its key is format"),
            ("ghz.yml", "--skipTLS: true", "no flag --skipTLS in a file: its key is skipTLS"),
            ("ghz.json", r#"{"insecure": "yes"}"#, "insecure is true or false"),
        ] {
            let error = read_as(name, text, "").unwrap_err();
            assert!(error.contains(said), "{error}");
            assert_eq!(error.lines().count(), 1, "{error}");
        }
    }

    #[test]
    fn what_is_deep_or_endless_is_refused_in_a_line() {
        let nested =
            |open: &str, close: &str| format!("{}{}", open.repeat(100_000), close.repeat(100_000));
        let aliases = |number| {
            format!("a{number}: &a{number} [{}]\n", format!("*a{}, ", number - 1).repeat(9))
        };
        let bomb: String =
            std::iter::once("a0: &a0 x\n".to_owned()).chain((1..12).map(aliases)).collect();
        for (name, text) in [
            ("a.json", nested("[", "]")),
            ("a.json", nested("{\"a\":", "}")),
            ("a.json", format!("{{\"insecure\": 1{}", "0".repeat(200_000))),
            ("a.toml", format!("a = {}", nested("[", "]"))),
            ("a.toml", format!("a = {}", nested("{a=", "}"))),
            ("a.toml", format!("{} = 1", "a.".repeat(100_000))),
            ("a.toml", format!("a = 1 {}", "x".repeat(200_000))),
            ("a.yaml", nested("[", "]")),
            ("a.yaml", "- ".repeat(100_000)),
            ("a.yaml", format!("a: [{}", "x".repeat(200_000))),
            ("a.yaml", bomb),
            ("a.yaml", format!("{}: 1", "x".repeat(200_000))),
            ("a.json", format!("{{{:?}: 1}}", "x".repeat(200_000))),
        ] {
            let error = read_as(name, &text, "").unwrap_err();
            assert!(error.starts_with(&format!("FOLDER/{name}")), "{error}");
            assert!(error.len() < 500 && error.lines().count() == 1, "{error}");
        }
    }

    #[test]
    fn an_error_in_toml_has_its_line() {
        let error = read_as("a.toml", "total = 7\nhost = \n", "").unwrap_err();
        assert!(error.ends_with(" at line 2"), "{error}");
    }
}
