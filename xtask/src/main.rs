//! The chores of this repository.
//!
//! `xtask test` runs the named steps of `make test`, `xtask lines` counts code. The rules for the
//! tree are this crate's tests (`tests/tidy`). `scripts/test` finds a toolchain and hands over.
#![forbid(unsafe_code)]

mod binaries;
mod lines;
mod log;
mod queue;
mod run;
mod slow;
mod steps;
mod summary;

use std::env;
use std::process::ExitCode;

const USAGE: &str = "\
usage: xtask test [--list] [--quick] [STEP...]   run steps: all, those of `make check`, or by name
       xtask lines                               count code, held against xtask/code-lines.txt
       xtask build-tests | tests | slow-tests    what the steps of these names do";

fn main() -> ExitCode {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let outcome = match words.as_slice() {
        ["test", "--list"] => Ok(steps::list()),
        ["test", "--quick"] => run::steps(steps::QUICK),
        ["test", names @ ..] => run::steps(names),
        ["lines"] => lines::check(),
        ["build-tests"] => binaries::build(),
        ["tests"] => binaries::run(false),
        ["slow-tests"] => binaries::run(true),
        _ => Err(USAGE.to_owned()),
    };
    match outcome {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(why) => {
            eprintln!("{why}");
            ExitCode::from(2)
        }
    }
}
