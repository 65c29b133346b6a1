//! Flags of which those of the tests are variants.

use clap::{Args, Command};

/// Those of an empty command line.
pub fn unwritten<F: Args>() -> F {
    let command = F::augment_args(Command::new("unwritten").no_binary_name(true));
    let matches = command.get_matches_from(std::iter::empty::<&str>());
    F::from_arg_matches(&matches).expect("no flag is required")
}
