//! `bookend man`: the manual page of `bookend` or of one of its commands, from the one definition
//! of its flags.

use crate::terminal::{Failure, print};
use bookend_contract::exit;
use bookend_load::error_text::suggestion;
use clap::{Args, Command};
use clap_mangen::Man;

/// Arguments of `bookend man`.
#[derive(Debug, Args)]
pub struct ManArguments {
    /// The command [default: bookend itself]
    command: Option<String>,
}

/// Prints the page as roff: `bookend man race | man -l -`.
///
/// # Errors
/// [`Failure`] when there is no such command, or the page cannot be written.
pub fn start(arguments: &ManArguments, mut command: Command) -> Result<u8, Failure> {
    // Flags that all commands share are handed down to each.
    command.build();
    let page = match &arguments.command {
        Some(name) => of_command(name, &command)?,
        None => command,
    };
    let mut text = Vec::new();
    Man::new(page).render(&mut text).map_err(Failure::nothing_measured)?;
    print(&String::from_utf8_lossy(&text))?;
    Ok(exit::MEASURED)
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
