//! What `-h` and `--help` print: `-h` the usual flags, `--help` all of them, one form for both.
//!
//! clap's own long form has four lines a flag, which are too many for eighty flags; it does not
//! break lines without a further dependency.

use crate::terminal::columns_of;
use clap::{Arg, Command};
use std::io;

/// The widest that help is, also on a wider terminal.
pub const COLUMNS_MAX: usize = 100;

/// On narrower terminals the lines would have a word each.
const COLUMNS_MIN: usize = 50;

/// A heading, and what adds the sub-commands that stand below it.
pub type CommandGroup = (&'static str, fn(Command) -> Command);

/// The command with its sub-commands shown by group: clap has one heading for all.
pub fn with_groups(root: Command, groups: &[CommandGroup]) -> Command {
    let longest = root.get_subcommands().map(|each| each.get_name().len()).max().unwrap_or(0);
    let line = |each: &Command| {
        let about = each.get_about().map(ToString::to_string).unwrap_or_default();
        format!("  {:longest$}  {about}\n", each.get_name())
    };
    let group = |(heading, add): &CommandGroup| {
        let lines: String = add(Command::new("group")).get_subcommands().map(line).collect();
        format!("{heading}:\n{lines}\n")
    };
    let groups: String = groups.iter().map(group).collect();
    root.help_template(format!(
        "{{about}}\n\n{{usage-heading}} {{usage}}\n\n{groups}Options:\n{{options}}{{after-help}}"
    ))
}

/// How many columns the help may have here.
pub fn columns() -> usize {
    columns_of(io::stdout()).or_else(|| columns_of(io::stderr())).unwrap_or(COLUMNS_MAX)
}

/// The help of the command of that name below `root`, or of `root`, for a terminal of that many
/// columns. `is_whole`: with the flags that the short form leaves out.
pub fn text(root: Command, name: &str, is_whole: bool, columns: usize) -> String {
    let columns = columns.clamp(COLUMNS_MIN, COLUMNS_MAX);
    let mut root = root.term_width(columns);
    root.build();
    let command = root.find_subcommand(name).unwrap_or(&root).clone();
    let command = with_last_section(command.mut_args(positionals_first));
    let hides = command.get_arguments().any(Arg::is_hide_short_help_set);
    let help = match (is_whole, hides) {
        (true, true) => whole(command).render_help(),
        (false, true) => abridged(command).render_help(),
        (true, false) if command.get_arguments().any(explains_values) => {
            command.clone().render_long_help()
        }
        (_, false) => command.clone().render_help(),
    };
    wrapped(&help.to_string(), columns)
}

/// The command with all its flags, those too that the short form leaves out.
pub fn whole(command: Command) -> Command {
    if !command.get_arguments().any(Arg::is_hide_short_help_set) {
        return command;
    }
    let command = command.mut_args(|flag| flag.hide_short_help(false));
    command.mut_arg("help", |flag| flag.help("Print help (see a summary with '-h')"))
}

/// clap would put them behind the flags that have the same heading.
fn positionals_first(flag: Arg) -> Arg {
    let order = if flag.is_positional() { 0 } else { flag.get_display_order() + 1 };
    flag.display_order(order)
}

/// Where flags have headings, those of every command stand last, and under one.
fn with_last_section(command: Command) -> Command {
    if command.get_arguments().all(|flag| flag.get_help_heading().is_none()) {
        return command;
    }
    let last = |flag: Arg| flag.help_heading("Help");
    command.mut_arg("help", last).mut_arg("version", last)
}

/// The short form, which says where the rest is.
fn abridged(command: Command) -> Command {
    let examples = command.get_after_help().map(|text| format!("{text}\n\n")).unwrap_or_default();
    let path = command.get_bin_name().unwrap_or_default();
    let last = format!("{examples}All flags: {path} --help");
    command.after_help(last)
}

fn explains_values(flag: &Arg) -> bool {
    flag.get_possible_values().iter().any(|value| value.get_help().is_some())
}

/// The text with each line that is too long broken between words, below where its text begins.
fn wrapped(text: &str, columns: usize) -> String {
    let mut lines = Vec::new();
    for line in text.lines() {
        let indent = " ".repeat(text_column(line));
        let mut rest = line.trim_end().to_owned();
        while let Some(blank) = rest.get(..=columns).and_then(last_blank) {
            if blank < indent.len() {
                break;
            }
            let tail = format!("{indent}{}", &rest[blank + 1..]);
            lines.push(rest[..blank].trim_end().to_owned());
            rest = tail;
        }
        lines.push(rest);
    }
    lines.join("\n") + "\n"
}

/// Where to break a line: `[default: 1]` is one word.
fn last_blank(line: &str) -> Option<usize> {
    let last = line.rfind(' ')?;
    let bracket = line.rfind(" [").filter(|start| last - start <= "[default:".len() + 1);
    bracket.or(Some(last))
}

/// The column where the text of a line begins: behind a name, or at the first letter.
fn text_column(line: &str) -> usize {
    let is_letter = |letter: char| letter != ' ';
    let start = line.find(is_letter).unwrap_or_default();
    let gap = line[start..].find("  ").map_or(start, |gap| start + gap);
    line[gap..].find(is_letter).map_or(start, |letter| gap + letter)
}

#[cfg(test)]
mod tests {
    use super::wrapped;

    #[test]
    fn a_long_line_goes_on_below_its_text() {
        let text =
            "  -a, --all  words that stand on more than one line\nbare words, more than one line";
        let broken = "  -a, --all  words that\n             stand on more\n             than one line\n\
                      bare words, more than one\nline\n";
        assert_eq!(wrapped(text, 26), broken);
        assert_eq!(wrapped("  --output-file-of-all", 10), "  --output-file-of-all\n");
    }
}
