//! A wrong command line in one line: what is wrong, and the nearest right word.

use bookend_contract::printable;
use bookend_contract::secrets;
use bookend_payload::error_text::nearest;
use clap::error::{ContextKind, ContextValue, Error, ErrorKind};
use clap::{Arg, Command};
use std::error::Error as _;
use std::ffi::OsString;

/// The line about `error`, which `command` (the sub-command, or the root) met. `until_refused`: the
/// words up to the one that is no text, where that is the error.
pub fn one_line(error: &Error, command: &Command, until_refused: Option<&[OsString]>) -> String {
    let line = match error.kind() {
        ErrorKind::InvalidUtf8 => not_text(until_refused.unwrap_or_default(), command),
        ErrorKind::UnknownArgument => unknown_argument(error, command),
        ErrorKind::InvalidSubcommand => unknown_command(error, command),
        ErrorKind::InvalidValue | ErrorKind::ValueValidation => wrong_value(error),
        ErrorKind::TooManyValues => format!("{} takes no value", flag_of(error)),
        ErrorKind::ArgumentConflict => conflict(error),
        ErrorKind::MissingRequiredArgument => {
            format!("{} is missing", text(error, ContextKind::InvalidArg))
        }
        _ => words_of_clap(error),
    };
    let path = match command.get_name() {
        "bookend" => "bookend".to_owned(),
        name => format!("bookend {name}"),
    };
    printable::line(&format!("{path}: {line}")).into_owned()
}

fn unknown_argument(error: &Error, command: &Command) -> String {
    let wrong = text(error, ContextKind::InvalidArg);
    let Some(long) = wrong.strip_prefix("--") else {
        return match wrong.strip_prefix('-') {
            Some(_) => format!("unknown flag {wrong}; see {} --help", command_path(command)),
            None => format!("\"{}\" is one word too many", secrets::in_command(&wrong)),
        };
    };
    let known: Vec<&str> = command.get_arguments().filter_map(|flag| flag.get_long()).collect();
    match nearest(long, known) {
        Some(word) => format!("unknown flag {wrong}; did you mean --{word}?"),
        None => format!("unknown flag {wrong}; see {} --help", command_path(command)),
    }
}

fn command_path(command: &Command) -> &str {
    command.get_bin_name().unwrap_or("bookend")
}

fn unknown_command(error: &Error, root: &Command) -> String {
    let wrong = text(error, ContextKind::InvalidSubcommand);
    let known: Vec<&str> = root
        .get_subcommands()
        .filter(|command| !command.is_hide_set())
        .map(Command::get_name)
        .collect();
    match nearest(&wrong, known.iter().copied()) {
        Some(word) => format!("unknown command {wrong}; did you mean {word}?"),
        None => format!("unknown command {wrong}; there is {}", known.join(", ")),
    }
}

fn wrong_value(error: &Error) -> String {
    let flag = flag_of(error);
    let value = text(error, ContextKind::InvalidValue);
    let choices = texts(error, ContextKind::ValidValue);
    if value.is_empty() {
        return format!("{flag} needs a value");
    }
    if let Some(reason) = error.source() {
        // The reason has what may be shown of a variable.
        let value =
            if flag == "--env" { String::new() } else { secrets::in_command(&value) + ": " };
        return format!("{flag} {value}{reason}");
    }
    match nearest(&value, choices.iter()) {
        Some(word) => format!("{flag} {value}: did you mean {word}?"),
        None => format!("{flag} {value}: there is {}", choices.join(", ")),
    }
}

/// The last of the words, behind the flag that it is the value of.
fn not_text(words: &[OsString], command: &Command) -> String {
    let words = secrets::in_words(words.iter().map(|word| word.to_string_lossy()));
    let mut last = words.iter().rev().map(String::as_str);
    let (value, before) = (last.next().unwrap_or_default(), last.next().unwrap_or_default());
    let takes_value = |arg: &&Arg| {
        let is_named = match before.strip_prefix("--") {
            Some(long) => arg.get_long() == Some(long),
            None => before.starts_with('-') && arg.get_short() == before.chars().next_back(),
        };
        is_named && arg.get_action().takes_values()
    };
    let flag = command.get_arguments().find(takes_value).map_or("", |_| before);
    let word = format!("{flag} {value}");
    format!("{}: it is not text in UTF-8", word.trim_start())
}

fn conflict(error: &Error) -> String {
    let flag = flag_of(error);
    let others = texts(error, ContextKind::PriorArg);
    match others.first().map(|other| bare(other)) {
        Some(other) if other != flag => format!("{flag} and {other} exclude each other"),
        _ => format!("{flag} is given twice"),
    }
}

/// The flag without the names of its values.
fn flag_of(error: &Error) -> String {
    bare(&text(error, ContextKind::InvalidArg)).to_owned()
}

fn bare(flag: &str) -> &str {
    let end = flag.find([' ', '=', '[']).unwrap_or(flag.len());
    &flag[..end]
}

fn text(error: &Error, kind: ContextKind) -> String {
    texts(error, kind).into_iter().next().unwrap_or_default()
}

fn texts(error: &Error, kind: ContextKind) -> Vec<String> {
    match error.get(kind) {
        Some(ContextValue::String(text)) => vec![text.clone()],
        Some(ContextValue::Strings(texts)) => texts.clone(),
        _ => Vec::new(),
    }
}

fn words_of_clap(error: &Error) -> String {
    let whole = error.to_string();
    let first = whole.lines().next().unwrap_or_default();
    first.strip_prefix("error: ").unwrap_or(first).to_owned()
}
