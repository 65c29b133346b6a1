//! Flags from a file: `--config FILE`, as ghz reads it.
//!
//! The file is an object in JSON, TOML or YAML whose keys are the long names of flags, and `host`.
//! In JSON and TOML their case is ignored, as Go's readers of these languages do, and that of YAML
//! does not. What the command line says holds against the file.

use super::switches::SwitchedWords;
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

/// Flags that are each other's alternatives, by their ids: one that is typed replaces all of them.
const ALTERNATIVES: [&[&str]; 2] =
    [&["data", "data_file", "binary", "binary_file"], &["metadata", "metadata_file"]];

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

/// The words of a command line for what `file` says and what was typed does not: `given`, and the
/// switches that `typed` turns off.
///
/// # Errors
/// [`ConfigFileError`] naming file and key.
pub fn words(
    file: &Path,
    given: &ArgMatches,
    typed: &SwitchedWords,
    command: &Command,
) -> Result<Vec<OsString>, ConfigFileError> {
    let place = file.display().to_string();
    let language = Language::of(file);
    let mut words = Vec::new();
    for (key, value) in read(file, language, &place)? {
        if value.is_null() || value.as_str() == Some("") || is_schema(&key) {
            continue;
        }
        let arg = argument(command, |name| language.is_key(&key, name))
            .ok_or_else(|| unknown(command, &place, &key))?;
        if !is_typed(arg, given) && !typed.turns_off(arg) {
            words.extend(word(arg, &value, &place)?.map(OsString::from));
        }
    }
    Ok(words)
}

/// Whether the command line has the flag, or an alternative to it.
fn is_typed(arg: &Arg, given: &ArgMatches) -> bool {
    let id = arg.get_id().as_str();
    let own = [id];
    let group = ALTERNATIVES.iter().find(|group| group.contains(&id));
    let mut ids = group.copied().unwrap_or(&own).iter();
    ids.any(|id| {
        // A command may be without some of them.
        let source = given.try_contains_id(id).is_ok().then(|| given.value_source(id)).flatten();
        source == Some(ValueSource::CommandLine)
    })
}

/// What a file is written in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Language {
    Json,
    Toml,
    Yaml,
}

impl Language {
    /// That of the file's ending, else JSON.
    fn of(file: &Path) -> Self {
        let extension = file.extension().map(|extension| extension.to_ascii_lowercase());
        match extension.as_deref().and_then(|extension| extension.to_str()) {
            Some("toml") => Self::Toml,
            Some("yaml" | "yml") => Self::Yaml,
            _ => Self::Json,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Json => "JSON",
            Self::Toml => "TOML",
            Self::Yaml => "YAML",
        }
    }

    /// Whether a key of a file stands for a name.
    fn is_key(self, key: &str, name: &str) -> bool {
        match self {
            Self::Json | Self::Toml => key.eq_ignore_ascii_case(name),
            Self::Yaml => key == name,
        }
    }
}

/// Editors write it for themselves.
fn is_schema(key: &str) -> bool {
    key == "$schema"
}

fn read(
    file: &Path,
    language: Language,
    place: &str,
) -> Result<Map<String, Value>, ConfigFileError> {
    let text = given_file::text(file, MAX_BYTES)?;
    let read = match language {
        Language::Json => serde_json::from_str(&text).map_err(|error| reason(&error)),
        Language::Toml => toml::from_str(&text).map_err(|error| toml_reason(&error, &text)),
        Language::Yaml => {
            serde_saphyr::from_str(&text).map_err(|error| reason(&error.without_snippet()))
        }
    };
    let (file, language) = (place.to_owned(), language.name());
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

/// The flag of which one of the names is meant.
fn argument(command: &Command, is_meant: impl Fn(&str) -> bool) -> Option<&Arg> {
    command.get_arguments().find(|arg| match arg.get_long() {
        Some(long) => {
            let aliases = arg.get_all_aliases().unwrap_or_default();
            is_meant(long) || aliases.iter().any(|alias| is_meant(alias))
        }
        None => arg.is_positional() && is_meant(HOST),
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
        None => argument(command, |name| name == bare)
            .is_some_and(|meant| meant.get_id() == arg.get_id()),
    };
    command.get_arguments().find(is_meant)?.get_long()
}

/// The word for one key; `None` for a switch that is off.
fn word(arg: &Arg, value: &Value, place: &str) -> Result<Option<String>, ConfigFileError> {
    let key = arg.get_long().unwrap_or(HOST);
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
        let typed = SwitchedWords::of(line.map(OsString::from), &command);
        let given = command.clone().try_get_matches_from(&typed.words).unwrap();
        let mut words: Vec<_> = words(&file, &given, &typed, &command)
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
        for off in ["--no-insecure", "--insecure=false"] {
            let words = read_as("ghz.json", JSON, off).unwrap();
            assert!(!words.contains("insecure"), "{off}: {words}");
        }
    }

    #[test]
    fn the_case_of_a_key_is_ignored_where_gos_readers_ignore_it() {
        let json = r#"{"Call": "a.B/C", "TOTAL": 7, "skiptls": true, "Import-Paths": ["p", "q"],
                       "HOST": "a:1", "CPUS": 2}"#;
        let words = "--call=a.B/C --import-paths=p,q --skipTLS --threads=2 --total=7 a:1";
        assert_eq!(read_as("ghz.json", json, ""), Ok(words.to_owned()));
        let toml = "RPS = 9\ncName = \"x\"\n";
        assert_eq!(read_as("ghz.toml", toml, ""), Ok("--cname=x --rps=9".to_owned()));
        let error = read_as("ghz.yaml", "RPS: 9\n", "").unwrap_err();
        assert!(error.ends_with("there is no flag RPS; did you mean rps?"), "{error}");
    }

    #[test]
    fn a_flag_that_is_typed_replaces_its_alternatives() {
        let json = r#"{"data": {"name": "x"}, "metadata": {"a": "b"}, "total": 7}"#;
        assert_eq!(read_as("a.json", json, "-D f -M g"), Ok("--total=7".to_owned()));
        let files = r#"{"data-file": "f", "metadata-file": "g", "total": 7}"#;
        assert_eq!(read_as("a.json", files, "-d {} -m {}"), Ok("--total=7".to_owned()));
        assert_eq!(read_as("a.json", files, "-b"), Ok("--metadata-file=g --total=7".to_owned()));
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
