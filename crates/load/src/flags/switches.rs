//! Switches with a value, as Go writes them: `--insecure=true`, and kingpin's `--no-insecure`.

use clap::{ArgAction, Command};
use std::ffi::OsString;

/// The same words with each switch as it is spelled without a value: there if it is on, left out if
/// it is off. `command` knows which flags are switches. What is not understood is left to it.
pub fn without_values(
    words: impl IntoIterator<Item = OsString>,
    command: &Command,
) -> Vec<OsString> {
    let mut is_over = false;
    let mut plain = Vec::new();
    for word in words {
        is_over |= word == "--";
        match word.to_str().filter(|_| !is_over).and_then(|text| state(text, command)) {
            Some((_, false)) => {}
            Some((name, true)) => plain.push(format!("--{name}").into()),
            None => plain.push(word),
        }
    }
    plain
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
    use clap::Arg;

    fn read(line: &str) -> String {
        let command = Command::new("load")
            .arg(Arg::new("insecure").long("insecure").action(ArgAction::SetTrue))
            .arg(Arg::new("name").long("name"));
        let words = without_values(line.split(' ').map(OsString::from), &command);
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
}
