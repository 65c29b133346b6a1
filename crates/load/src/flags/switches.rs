//! Switches with a value, as Go writes them: `--insecure=true`, and kingpin's `--no-insecure`.

use clap::parser::ValueSource;
use clap::{Arg, ArgAction, ArgMatches, Command};
use std::ffi::OsString;

/// A command line whose switches have no values.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SwitchedWords {
    /// The words, with each switch that is on as it is spelled without a value. One that is off is
    /// left out.
    pub words: Vec<OsString>,
    /// The switches that are off: name and word.
    off: Vec<(String, String)>,
}

/// A switch is turned on, and off too. Always the user's fault.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("--{on} and {off} exclude each other: give one of them")]
pub struct SwitchedBothWays {
    /// The switch.
    on: String,
    /// The word that turns it off.
    off: String,
}

impl SwitchedWords {
    /// Reads the words. `command` knows which flags are switches. What is not understood is left to
    /// it.
    pub fn of(words: impl IntoIterator<Item = OsString>, command: &Command) -> Self {
        let mut is_over = false;
        let mut read = Self::default();
        for word in words {
            is_over |= word == "--";
            match word.to_str().filter(|_| !is_over).and_then(|text| state(text, command)) {
                Some((name, false)) => {
                    let word = word.to_string_lossy().into_owned();
                    read.off.push((name.to_owned(), word));
                }
                Some((name, true)) => read.words.push(format!("--{name}").into()),
                None => read.words.push(word),
            }
        }
        read
    }

    /// Whether the switch is turned off.
    pub fn turns_off(&self, switch: &Arg) -> bool {
        self.off.iter().any(|(name, _)| switch.get_long() == Some(name))
    }

    /// Checks that no switch is both on, as clap has read the words, and off: neither is to win.
    ///
    /// # Errors
    /// [`SwitchedBothWays`] naming the two words.
    pub fn check(&self, given: &ArgMatches, command: &Command) -> Result<(), SwitchedBothWays> {
        for (name, off) in &self.off {
            let switch = command.get_arguments().find(|arg| arg.get_long() == Some(name));
            let source = switch.and_then(|switch| given.value_source(switch.get_id().as_str()));
            if source == Some(ValueSource::CommandLine) {
                return Err(SwitchedBothWays { on: name.clone(), off: off.clone() });
            }
        }
        Ok(())
    }
}

/// The switch that a word is about, and whether it is on. `None` for a word that clap reads as
/// well.
fn state<'a>(word: &'a str, command: &Command) -> Option<(&'a str, bool)> {
    let flag = word.strip_prefix("--")?;
    let (name, is_on) = match (flag.split_once('='), flag.strip_prefix("no-")) {
        (Some((name, value)), _) => (name, truth(value)?),
        (None, Some(name)) => (name, false),
        (None, None) => return None,
    };
    let is_switch = command
        .get_arguments()
        .any(|arg| arg.get_long() == Some(name) && matches!(arg.get_action(), ArgAction::SetTrue));
    is_switch.then_some((name, is_on))
}

/// What Go's `strconv.ParseBool` takes for a boolean.
fn truth(value: &str) -> Option<bool> {
    match value {
        "1" | "t" | "T" | "true" | "TRUE" | "True" => Some(true),
        "0" | "f" | "F" | "false" | "FALSE" | "False" => Some(false),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn command() -> Command {
        let switch = |name: &'static str| Arg::new(name).long(name).action(ArgAction::SetTrue);
        Command::new("load")
            .args([switch("insecure"), switch("binary").short('b'), switch("e").short('e')])
            .args([Arg::new("name").long("name"), Arg::new("host")])
    }

    fn read(line: &str) -> String {
        let words = SwitchedWords::of(line.split(' ').map(OsString::from), &command()).words;
        words.join(" ".as_ref()).into_string().unwrap()
    }

    #[test]
    fn switches_are_there_or_left_out() {
        assert_eq!(read("load --insecure=true host"), "load --insecure host");
        assert_eq!(read("load --insecure=False host"), "load host");
        assert_eq!(read("load --no-insecure host"), "load host");
        assert_eq!(read("load --insecure host"), "load --insecure host");
    }

    #[test]
    fn everything_else_is_left_alone() {
        for line in [
            "load --insecure=maybe host",
            "load --name=true",
            "load --no-name",
            "load --unknown=true",
            "load -- --insecure=true",
        ] {
            assert_eq!(read(line), line);
        }
    }

    #[test]
    fn no_switch_is_on_and_off() {
        let check = |line: &str| {
            let read = SwitchedWords::of(line.split(' ').map(OsString::from), &command());
            let given = command().try_get_matches_from(&read.words).unwrap();
            read.check(&given, &command()).map_err(|error| error.to_string())
        };
        for line in [
            "load --insecure --no-insecure",
            "load --no-insecure --insecure",
            "load --insecure=true --insecure=false",
            "load -b --no-binary",
            "load -eb --binary=0",
        ] {
            let error = check(line).unwrap_err();
            assert!(error.contains("exclude each other: give one of them"), "{line}: {error}");
        }
        for line in ["load --no-insecure", "load -b --no-insecure", "load -b -- --no-binary"] {
            assert_eq!(check(line), Ok(()), "{line}");
        }
    }
}
