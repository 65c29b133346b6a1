//! Flags from a file: `--config FILE`, as ghz reads it.
//!
//! The file is an object in JSON, TOML or YAML whose keys are the long names of flags, and `host`.
//! In JSON and TOML their case is ignored, as Go's readers of these languages do, and that of YAML
//! does not. What the command line says holds against the file.

mod of_json;
mod of_toml;
mod of_yaml;
mod setting;

use super::switches::SwitchedWords;
use bookend_contract::input::MAX_BYTES;
use bookend_payload::error_text::{Unreadable, suggestion};
use bookend_payload::given_file;
use clap::parser::ValueSource;
use clap::{Arg, ArgAction, ArgMatches, Command};
use setting::Setting;
use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
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
    /// A key that is there again.
    #[error("{file}: {} is given twice", reason(key))]
    Twice {
        /// The file as given.
        file: String,
        /// The key.
        key: String,
    },
    /// A value that its flag does not take, although another one was typed.
    #[error("{file}: {key}: {reason}")]
    Value {
        /// The file as given.
        file: String,
        /// The key.
        key: String,
        /// What the flag takes instead, on one line.
        reason: String,
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
/// [`ConfigFileError`] naming file and key, of what is typed too.
pub fn words(
    file: &Path,
    given: &ArgMatches,
    typed: &SwitchedWords,
    command: &Command,
) -> Result<Vec<OsString>, ConfigFileError> {
    let place = file.display().to_string();
    let language = Language::of(file);
    let mut words = Vec::new();
    let mut keys = BTreeSet::new();
    for (key, value) in read(file, language, &place)? {
        if !keys.insert(key.clone()) {
            return Err(ConfigFileError::Twice { file: place, key });
        }
        if value == Setting::Null || value == Setting::Text(String::new()) || is_schema(&key) {
            continue;
        }
        let arg = argument(command, |name| language.is_key(&key, name))
            .ok_or_else(|| unknown(command, &place, &key))?;
        let word = word(arg, &value, &place)?.map(OsString::from);
        if is_typed(arg, given) || typed.turns_off(arg) {
            word.map_or(Ok(()), |word| check(&word, command, &place, &key))?;
        } else {
            words.extend(word);
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

/// Whether the flag takes a word that another one stands for.
fn check(word: &OsStr, command: &Command, file: &str, key: &str) -> Result<(), ConfigFileError> {
    let alone = command.clone().no_binary_name(true).try_get_matches_from([word]);
    match alone.as_ref().err().and_then(std::error::Error::source) {
        Some(source) => Err(ConfigFileError::Value {
            file: file.to_owned(),
            key: key.to_owned(),
            reason: reason(&source),
        }),
        None => Ok(()),
    }
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
) -> Result<Vec<(String, Setting)>, ConfigFileError> {
    let text = given_file::text(file, MAX_BYTES)?;
    let read = match language {
        Language::Json => of_json::settings(&text).map_err(|error| reason(&error)),
        Language::Toml => of_toml::settings(&text).map_err(|error| toml_reason(&error, &text)),
        Language::Yaml => of_yaml::settings(&text).map_err(|words| reason(&words)),
    };
    let (file, language) = (place.to_owned(), language.name());
    read.map_err(|reason| ConfigFileError::Syntax { file, language, reason })
}

/// What a parser says, in one short line.
fn reason(error: &impl std::fmt::Display) -> String {
    bookend_contract::input::reason(error)
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
fn word(arg: &Arg, value: &Setting, place: &str) -> Result<Option<String>, ConfigFileError> {
    let key = arg.get_long().unwrap_or(HOST);
    if matches!(arg.get_action(), ArgAction::SetTrue) {
        let Setting::Bool(is_on) = value else {
            let (file, key) = (place.to_owned(), key.to_owned());
            return Err(ConfigFileError::Switch { file, key });
        };
        return Ok(is_on.then(|| format!("--{key}")));
    }
    let text = text(key, value);
    Ok(Some(if arg.is_positional() { text } else { format!("--{key}={text}") }))
}

/// What would be typed. Lists of paths are joined by commas; data and labels stay JSON.
fn text(key: &str, value: &Setting) -> String {
    match value {
        Setting::Json(json) if key == "import-paths" => match of_json::elements(json) {
            Some(paths) => paths.join(","),
            None => json.clone(),
        },
        other => other.typed(),
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
    fn numbers_are_as_exact_as_they_are_written() {
        let said = "--data={\"i\":9007199254740993.0,\"u\":18446744073709551615,\"d\":-1e300}";
        let json = r#"{"data": {"i":9007199254740993.0,"u":18446744073709551615,"d":-1e300}}"#;
        assert_eq!(read_as("a.json", json, ""), Ok(said.to_owned()));
        let yaml = "data: {i: \"9007199254740993.0\", u: 18446744073709551615, d: .5}";
        let words = "--data={\"d\":0.5,\"i\":\"9007199254740993.0\",\"u\":18446744073709551615}";
        assert_eq!(read_as("a.yaml", yaml, ""), Ok(words.to_owned()));
        let inexact = read_as("a.yaml", "data: {i: 9007199254740993.0}", "").unwrap_err();
        assert!(inexact.contains("may have lost digits: leave its point out"), "{inexact}");
        let toml = "data = {i = 9_007_199_254_740_993.0, u = 18446744073709551615, d = -1e300}\n";
        let sorted = "--data={\"d\":-1e300,\"i\":9007199254740993.0,\"u\":18446744073709551615}";
        let toml = read_as("a.toml", toml, "").unwrap();
        assert!(toml == said || toml == sorted, "{toml}");
    }

    #[test]
    fn numbers_of_toml_and_yaml_are_read_in_all_their_forms() {
        for (name, text, words) in [
            ("a.toml", "total = 0x1F", "--total=31"),
            ("a.toml", "total = +1_000", "--total=1000"),
            ("a.toml", "total = 0o17", "--total=15"),
            ("a.toml", "data = {a = 0b101, b = -0.50}", "--data={\"a\":5,\"b\":-0.50}"),
            ("a.yaml", "total: 017", "--total=17"),
            ("a.yaml", "total: 0o17", "--total=15"),
            (
                "a.yaml",
                "data: {a: 1.50, b: -1e300, c: 0x1f}",
                &format!("--data={{\"a\":1.5,\"b\":-1{},\"c\":31}}", "0".repeat(300)),
            ),
        ] {
            assert_eq!(read_as(name, text, ""), Ok(words.to_owned()), "{text}");
        }
    }

    #[test]
    fn numbers_without_an_end_and_times_are_passed_on() {
        for (name, text, words) in [
            ("a.toml", "data = {d = inf}", "--data={\"d\":\"Infinity\"}"),
            ("a.toml", "data = [-inf, nan]", "--data=[\"-Infinity\",\"NaN\"]"),
            ("a.toml", "rps = inf", "--rps=inf"),
            ("a.toml", "timeout = nan", "--timeout=NaN"),
            (
                "a.toml",
                "data = {t = 1979-05-27 07:32:00Z}",
                "--data={\"t\":\"1979-05-27T07:32:00Z\"}",
            ),
            ("a.toml", "total = 1979-05-27", "--total=1979-05-27"),
        ] {
            assert_eq!(read_as(name, text, ""), Ok(words.to_owned()), "{text}");
        }
    }

    #[test]
    fn what_is_given_twice_is_seen() {
        let twice = r#"{"data": {"i":1,"i":2}, "metadata": {"a":"1","a":"2"}}"#;
        let words = "--data={\"i\":1,\"i\":2} --metadata={\"a\":\"1\",\"a\":\"2\"}";
        assert_eq!(read_as("a.json", twice, ""), Ok(words.to_owned()));
        for (name, text, said) in [
            ("a.json", r#"{"total": 1, "total": 2}"#, "FOLDER/a.json: total is given twice"),
            ("a.json", r#"{"total": 1, "tot\u0061l": 2}"#, "FOLDER/a.json: total is given twice"),
            ("a.json", r#"{"total": 1, "total": null}"#, "FOLDER/a.json: total is given twice"),
            ("a.yaml", "total: 3\ntotal: 4", "not YAML: total is given twice at line 2, column 1"),
            ("a.yaml", "data: {mis: {1: a, \"1\": b}}", "not YAML: 1 is given twice at line 1"),
            ("a.toml", "total = 3\ntotal = 4", "not TOML: duplicate key at line 2"),
        ] {
            let error = read_as(name, text, "").unwrap_err();
            assert!(error.contains(said), "{text}: {error}");
        }
    }

    #[test]
    fn words_about_yaml_are_for_who_wrote_the_file() {
        let nine = |name: char, before: char| {
            format!("{name}: &{name} [{}]\n", format!("*{before},").repeat(9))
        };
        let bomb: String = ('b'..'i').map(|name| nine(name, (name as u8 - 1) as char)).collect();
        for (text, said) in [
            ("total: 3\n---\ntotal: 4\n", "there is more than one document at line 3, column 1"),
            ("total: 3\n...\ngarbage: [", "there is more than one document at line"),
            ("a: &x {b: *x}", "an anchor has its own alias in it at line 1"),
            (&format!("a: &a [x,x,x,x,x,x,x,x,x]\n{bomb}"), "larger than is read at line"),
            ("[1]", "expected mapping start at line 1"),
            (
                "data: {d: -.inf}",
                "-.inf is written as \"NaN\", \"Infinity\" or \"-Infinity\" at line 1",
            ),
        ] {
            let error = read_as("a.yaml", text, "").unwrap_err();
            assert!(error.contains(said), "{error}");
            assert!(!error.contains("from_str") && !error.contains("nodes"), "{error}");
        }
    }

    #[test]
    fn what_another_value_stands_for_is_read_too() {
        for (text, typed, said) in [
            (r#"{"total": [3]}"#, "-n 3", "FOLDER/a.json: total: not a whole number"),
            (r#"{"timeout": "5"}"#, "-t 1s", "FOLDER/a.json: timeout: "),
            (r#"{"insecure": "yes"}"#, "--insecure", "FOLDER/a.json: insecure is true or false"),
        ] {
            let error = read_as("a.json", text, typed).unwrap_err();
            assert!(error.starts_with(said), "{error}");
        }
        assert_eq!(
            read_as("a.json", r#"{"total": 5, "host": "b:1"}"#, "-n 3 a:1"),
            Ok(String::new())
        );
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
