//! `bookend man`: the manual page of `bookend` or of one of its commands, from the one definition
//! of its flags.

use crate::help::{self, CommandGroup};
use crate::terminal::{Failure, print};
use bookend_contract::exit;
use bookend_payload::error_text::suggestion;
use clap::{Args, Command};
use clap_mangen::Man;
use std::io;

const EXAMPLES: &str = r"Examples:
  bookend man race | man -l -";

/// Arguments of `bookend man`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct ManArguments {
    /// Command whose page to print [default: bookend itself]
    command: Option<String>,
}

/// Prints the page as roff: `bookend man race | man -l -`.
///
/// # Errors
/// [`Failure`] when there is no such command, or the page cannot be written.
pub fn start(
    arguments: &ManArguments,
    mut root: Command,
    groups: &[CommandGroup],
) -> Result<u8, Failure> {
    // Flags that all commands share are handed down to each.
    root.build();
    let mut text = Vec::new();
    match &arguments.command {
        Some(name) => Man::new(help::whole(of_command(name, &root)?)).render(&mut text),
        None => root_page(root, groups, &mut text),
    }
    .map_err(Failure::nothing_measured)?;
    // The text after the flags begins with examples.
    let text = String::from_utf8_lossy(&text);
    print(&text.replace("\n.SH EXTRA\nExamples:\n", "\n.SH EXAMPLES\n"))?;
    Ok(exit::MEASURED)
}

/// The page of `bookend`, whose sub-commands stand in groups.
fn root_page(root: Command, groups: &[CommandGroup], text: &mut Vec<u8>) -> io::Result<()> {
    let page = Man::new(root);
    page.render_title(text)?;
    page.render_name_section(text)?;
    page.render_synopsis_section(text)?;
    page.render_description_section(text)?;
    for (heading, add) in groups {
        // Otherwise each group ends with a command `help`.
        let group = add(Command::new("bookend")).disable_help_subcommand(true);
        let group = Man::new(group.subcommand_help_heading(*heading));
        group.render_subcommands_section(text)?;
    }
    page.render_options_section(text)?;
    page.render_extra_section(text)?;
    page.render_version_section(text)
}

fn of_command(name: &str, root: &Command) -> Result<Command, Failure> {
    let found = root.get_subcommands().find(|command| command.get_name() == name);
    let Some(found) = found else {
        let known: Vec<_> =
            root.get_subcommands().map(|command| command.get_name().to_owned()).collect();
        let suggestion = suggestion(name, known);
        return Err(Failure::usage(format!("there is no command {name}{suggestion}")));
    };
    Ok(found.clone())
}
