//! Legal and hostile traffic together, for as long as is wanted: a server in a process of its own
//! with the default limits, clients that use it as they should, clients that do all that is known
//! to hurt HTTP/2 servers.
//!
//! Held against each other at the end: calls that the clients made and calls that the server's
//! handlers were given, method by method; answers and what they had to be; the server's memory,
//! threads and descriptors over time.
//!
//! `SOAK_SECONDS` says how long (3 if nothing is said), `SOAK_SEED` which traffic, `SOAK_ATTACK`
//! the one attack that is wanted. `SOAK_TLS=1` has all of it inside TLS, `SOAK_THREADS` says on how
//! many threads the server serves. The first tenth of the time nobody attacks.

mod access;
mod attacker;
mod attacks;
#[path = "../support/chat.rs"]
mod chat;
#[allow(dead_code)]
#[path = "../attacks/frames.rs"]
mod frames;
mod hostile;
mod legal;
mod report;
mod serving;
mod source;
mod watch;

use std::env;
use std::process::ExitCode;
use std::str::FromStr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use crate::access::Access;
use crate::legal::Progress;
use crate::report::Report;
use crate::serving::ServerProcess;
use crate::watch::Watch;

/// The argument that makes this program the server of a soak.
const SERVE: &str = "--serve-for-soak";

fn main() -> ExitCode {
    if env::args().any(|argument| argument == SERVE) {
        serving::run();
        return ExitCode::SUCCESS;
    }
    // What asks for the names of tests, or for others than this one, asks for none of this.
    if env::args().skip(1).any(|argument| argument == "--list") {
        println!("soak: test");
        return ExitCode::SUCCESS;
    }
    let report = soak(setting("SOAK_SECONDS", 3), setting("SOAK_SEED", 1));
    print!("{report}");
    match report.faults().is_empty() {
        true => ExitCode::SUCCESS,
        false => ExitCode::FAILURE,
    }
}

pub(crate) fn setting<T: FromStr>(name: &str, unset: T) -> T {
    match env::var(name) {
        Ok(text) => text.parse().unwrap_or_else(|_| panic!("{name}={text} is no number")),
        Err(_) => unset,
    }
}

fn soak(seconds: u64, seed: u64) -> Report {
    let server = ServerProcess::start();
    let access = Access::new(server.address());
    let progress = Arc::new(Progress::default());
    let over = Arc::new(AtomicBool::new(false));
    let watch = Watch::start(server.id());
    let legal = legal::start(&access, seed, &progress);
    let alone = Duration::from_secs(seconds) / 10;
    thread::sleep(alone);
    progress.attacks.store(true, Ordering::Relaxed);
    let hostile = hostile::start(&access, seed, &over);
    thread::sleep(Duration::from_secs(seconds) - alone);
    progress.over.store(true, Ordering::Relaxed);
    over.store(true, Ordering::Relaxed);
    let legal = legal.into_iter().map(joined).collect();
    let attacks = hostile.into_iter().map(joined).collect();
    let memory = watch.end();
    Report::new(seed, legal, attacks, memory, server.end())
}

fn joined<T>(thread: JoinHandle<T>) -> T {
    thread.join().expect("traffic does not panic")
}
