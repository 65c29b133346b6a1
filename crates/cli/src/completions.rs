//! `bookend completions`: what a shell needs to complete `bookend`, from the one definition of its
//! flags.

use crate::terminal::{Failure, print};
use bookend_contract::exit;
use clap::{Args, Command};
use clap_complete::Shell;

const EXAMPLES: &str = r"Examples:
  bookend completions bash > ~/.local/share/bash-completion/completions/bookend";

/// Arguments of `bookend completions`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct CompletionsArguments {
    /// Shell to complete for
    #[arg(value_enum)]
    shell: Shell,
}

/// Prints the script for the shell to read.
///
/// # Errors
/// [`Failure`] when it cannot be written.
pub fn start(arguments: &CompletionsArguments, mut command: Command) -> Result<u8, Failure> {
    let mut script = Vec::new();
    clap_complete::generate(arguments.shell, &mut command, "bookend", &mut script);
    print(&String::from_utf8_lossy(&script))?;
    Ok(exit::MEASURED)
}
