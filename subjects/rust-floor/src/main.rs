//! The instrument's zero: bare sockets and canned bytes at either end of a call, nothing checked.

#![forbid(unsafe_code)]

use std::{
    env,
    error::Error,
    io,
    process::{self, ExitCode},
    thread,
};

mod client;
mod frames;
mod latencies;
mod server;
mod settings;

use settings::Settings;

fn main() -> ExitCode {
    if env::args().nth(1).as_deref() == Some("--version") {
        println!("floor {}", env!("CARGO_PKG_VERSION"));
        return ExitCode::SUCCESS;
    }
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<(), Box<dyn Error>> {
    let settings = Settings::from_environment()?;
    if settings.serves {
        server::start(&settings)?;
        leash();
        println!("served {}", server::served());
        return Ok(());
    }
    thread::spawn(|| {
        leash();
        process::exit(0);
    });
    client::run(&settings)
}

/// Returns when the lab closes our standard input; never when we were started without the lab.
fn leash() {
    if env::var("BOOKEND_CONTRACT").as_deref() != Ok("1") {
        loop {
            thread::park();
        }
    }
    // A read that fails means the same as the end: the lab is gone.
    let _ = io::copy(&mut io::stdin(), &mut io::sink());
}
