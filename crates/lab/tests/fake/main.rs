//! The lab against fake subjects: small shell scripts that do what real ones do, or what they must
//! not do. Each ends as a row, and none leaves a process behind.

mod process;
mod rounds;
mod stage;

use std::ffi::OsString;
use std::panic::catch_unwind;
use std::process::ExitCode;

/// A test with its name.
type Test = (&'static str, fn());

/// The word that makes this binary play the launcher.
const LAUNCH: &str = "launch";

fn main() -> ExitCode {
    let arguments: Vec<OsString> = std::env::args_os().skip(1).collect();
    if arguments.first().is_some_and(|word| word == LAUNCH) {
        bookend_lab::launch::main(arguments.into_iter().skip(1));
    }
    bookend_lab::process::adopt_daemons().expect("the kernel allows a subreaper");
    let all = [process::TESTS, rounds::TESTS].concat();
    run(&chosen(all, &arguments))
}

/// As the usual harness does it: words are parts of names, options are not ours.
fn chosen(all: Vec<Test>, arguments: &[OsString]) -> Vec<Test> {
    let words = arguments.iter().filter_map(|word| word.to_str());
    let words: Vec<&str> = words.filter(|word| !word.starts_with('-')).collect();
    let fits = |test: &Test| words.is_empty() || words.iter().any(|word| test.0.contains(word));
    all.into_iter().filter(fits).collect()
}

fn run(tests: &[Test]) -> ExitCode {
    let mut failed = 0;
    for (name, test) in tests {
        let passed = catch_unwind(test).is_ok();
        println!("test {name} ... {}", if passed { "ok" } else { "FAILED" });
        failed += u32::from(!passed);
    }
    println!("\ntest result: {} run, {failed} failed", tests.len());
    ExitCode::from(u8::from(failed > 0))
}
