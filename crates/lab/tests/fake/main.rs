//! The lab against fake subjects: small shell scripts that do what real ones do, or what they must
//! not do. Each ends as a row, and none leaves a process behind.

/// Names the tests of a file, which the usual harness would find by itself.
macro_rules! tests {
    ($($name:ident),* $(,)?) => {
        pub const TESTS: &[crate::Test] = &[$((stringify!($name), $name)),*];
    };
}

mod burners;
mod ends;
mod lab;
mod laps;
mod lives;
mod process;
mod profiles;
mod rounds;
mod test_folder;
mod transports;
mod windows;

use std::ffi::OsString;
use std::panic::catch_unwind;
use std::process::ExitCode;

/// A test with its name.
type Test = (&'static str, fn());

/// The word that makes this binary play the launcher.
const LAUNCH: &str = "play-launcher";

/// The word that makes this binary play the lab itself.
const LAB: &str = "play-lab";

/// The word that makes this binary play a server that does not say its port.
const LISTEN: &str = "play-server";

fn main() -> ExitCode {
    let arguments: Vec<OsString> = std::env::args_os().skip(1).collect();
    if arguments.first().is_some_and(|word| word == LAUNCH) {
        bookend_lab::launch::main(arguments.into_iter().skip(1));
    }
    if arguments.first().is_some_and(|word| word == LISTEN) {
        return listen();
    }
    if let [first, how] = arguments.as_slice()
        && first == burners::BURN
    {
        return burners::main(&how.to_string_lossy());
    }
    if arguments.first().is_some_and(|word| word == LAB) {
        return lab::main();
    }
    bookend_lab::process::become_subreaper().expect("the kernel allows a subreaper");
    let all = [
        process::TESTS,
        burners::TESTS,
        profiles::TESTS,
        rounds::TESTS,
        lives::TESTS,
        ends::TESTS,
        transports::TESTS,
        windows::TESTS,
        laps::TESTS,
        lab::TESTS,
    ]
    .concat();
    run(&chosen(all, &arguments))
}

/// Listens until standard input closes. The port goes into a file for the test alone.
fn listen() -> ExitCode {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("loopback is there");
    let port = listener.local_addr().expect("it is bound").port();
    std::fs::write("port", port.to_string()).expect("the folder is there");
    let _ = std::io::copy(&mut std::io::stdin(), &mut std::io::sink());
    ExitCode::SUCCESS
}

/// As the usual harness does it: words are parts of names, options are not ours.
fn chosen(all: Vec<Test>, arguments: &[OsString]) -> Vec<Test> {
    let words: Vec<&str> = arguments
        .iter()
        .filter_map(|word| word.to_str())
        .filter(|word| !word.starts_with('-'))
        .collect();
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
