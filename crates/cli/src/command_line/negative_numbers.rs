//! A number below zero is the value of the flag before it. clap would take it for flags of one
//! letter, and no flag here is a digit: `unknown flag -1` would be said of `--timeout -1s`.

use clap::{Arg, ArgAction, Command};
use std::ffi::OsString;

/// The same words with each such number joined to its flag, in the words that `command` has.
pub fn joined(words: Vec<OsString>, command: &Command) -> Vec<OsString> {
    let mut plain: Vec<OsString> = Vec::with_capacity(words.len());
    let mut is_over = false;
    for word in words {
        is_over |= word == "--";
        match plain.last_mut() {
            Some(flag) if !is_over && is_number(&word) && takes_value(flag, command) => {
                flag.push("=");
                flag.push(word);
            }
            _ => plain.push(word),
        }
    }
    plain
}

/// Whether a word is a number below zero, with or without a unit.
pub fn is_number(word: &OsString) -> bool {
    let number = word.to_str().and_then(|text| text.strip_prefix('-')).unwrap_or_default();
    number.trim_start_matches('.').starts_with(|letter: char| letter.is_ascii_digit())
}

/// Whether a word is a flag that takes the next one for its value: `--timeout`, `-t`, and `-bc`
/// where only the last letter takes one.
fn takes_value(word: &OsString, command: &Command) -> bool {
    let text = word.to_str().unwrap_or_default();
    let takes = |arg: Option<&Arg>| arg.is_some_and(|arg| arg.get_action().takes_values());
    if let Some(long) = text.strip_prefix("--") {
        let is_named = |arg: &&Arg| {
            let mut aliases = arg.get_all_aliases().unwrap_or_default().into_iter();
            arg.get_long() == Some(long) || aliases.any(|alias| alias == long)
        };
        return takes(command.get_arguments().find(is_named));
    }
    let of_letter = |letter| command.get_arguments().find(|arg| arg.get_short() == Some(letter));
    let is_switch = |letter| {
        of_letter(letter).is_some_and(|arg| matches!(arg.get_action(), ArgAction::SetTrue))
    };
    let mut letters = text.strip_prefix('-').unwrap_or_default().chars();
    let last = letters.next_back();
    letters.all(is_switch) && takes(last.and_then(of_letter))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(line: &str) -> String {
        let command = Command::new("load")
            .arg(Arg::new("binary").short('b').long("binary").action(ArgAction::SetTrue))
            .arg(Arg::new("threads").long("threads").visible_alias("cpus"))
            .arg(Arg::new("timeout").short('t').long("timeout"));
        let words = joined(line.split(' ').map(OsString::from).collect(), &command);
        words.join(" ".as_ref()).into_string().unwrap()
    }

    #[test]
    fn a_number_belongs_to_the_flag_before_it() {
        assert_eq!(read("load --timeout -1s a:1"), "load --timeout=-1s a:1");
        assert_eq!(read("load -t -.5s --cpus -7"), "load -t=-.5s --cpus=-7");
        assert_eq!(read("load -bt -1"), "load -bt=-1");
    }

    #[test]
    fn everything_else_is_left_alone() {
        for line in [
            "load -1",
            "load --binary -1",
            "load --timeout -b",
            "load --timeout=1s -1",
            "load --unknown -1",
            "load -xt -1",
            "load --timeout -inf",
            "load -- --timeout -1",
        ] {
            assert_eq!(read(line), line);
        }
    }
}
