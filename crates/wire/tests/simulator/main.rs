//! A client and a server of this crate on an unkind wire, in virtual time.
//!
//! One number, the seed, draws everything: settings and windows at their edges, calls of every
//! shape, how every read and write is cut, what is delayed, cancelled, padded, cut off. After every
//! step it is checked what RFC 9113 and this crate's own documentation promise; at the end of every
//! run that nothing is left, and that the same bytes in another split tell the same.
//!
//! `SIMULATOR_SEEDS` and `SIMULATOR_FIRST_SEED` ask for other seeds than the usual ones.
#![forbid(unsafe_code)]

mod app;
mod audit;
mod both;
mod controls;
mod endpoint;
mod exchange;
mod fields;
mod frames;
mod middlebox;
mod plan;
mod planted;
mod random;
mod reached;
mod run;
mod saboteur;
mod speech;
mod world;

use planted::Planted;
use reached::Reached;

/// Seeds of a usual run.
const SEEDS: u64 = 2_000;
/// What is wrong once is wrong often: the first is shown whole, and this number of others by a
/// line.
const SHOWN_VIOLATIONS: usize = 20;

#[test]
fn all_seeds_keep_what_is_promised() {
    let first = from_environment("SIMULATOR_FIRST_SEED").unwrap_or(1);
    let seeds = from_environment("SIMULATOR_SEEDS").unwrap_or(SEEDS);
    let mut reached = Reached::default();
    let mut violations = Vec::new();
    for seed in first..first.saturating_add(seeds) {
        match run::run(seed, Planted::Nothing) {
            Ok(ran) => reached.add(&ran.reached),
            Err(violation) => violations.push(violation),
        }
        if violations.len() == SHOWN_VIOLATIONS {
            break;
        }
    }
    if let Some(violation) = violations.first() {
        let others =
            violations[1..].iter().map(|other| format!("\nseed {}: {}", other.seed, other.what));
        panic!("{violation}{}", others.collect::<String>());
    }
    println!("{seeds} seeds from {first} on: {reached:#?}");
    if seeds >= SEEDS {
        assert_eq!(reached.missing(), [""; 0], "never happened");
    }
}

fn from_environment(name: &str) -> Option<u64> {
    let value = std::env::var(name).ok()?;
    Some(value.parse().unwrap_or_else(|_| panic!("{name} is no number: {value}")))
}

#[test]
fn a_seed_draws_the_same_run_each_time() {
    for seed in 1..20 {
        let [once, again] = [(); 2].map(|()| run::run(seed, Planted::Nothing).unwrap().reached);
        assert_eq!(once, again, "seed {seed}");
    }
}
