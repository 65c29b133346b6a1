//! How servers stand attacks, side by side: what each costs them in memory, what it costs somebody
//! who calls meanwhile, and how the server ends it.
//!
//! `attacks [--seconds N] [--rounds N] [--threads N] [--only ATTACK] [--record FILE] NAME=COMMAND
//! ...` starts each server itself, anew for each attack, by the contract of
//! docs/extend/subject-contract.md: on a port of the loopback. Nothing else can be named as a
//! target. A server that has not the methods of a row, or not TLS where that is attacked, has no
//! such row.
//! `attacks --table RECORD PAGE` puts the table of a record into a page.
#![forbid(unsafe_code)]

mod attacker;
mod attacks;
#[path = "../../../../crates/server/tests/attacks/frames.rs"]
#[allow(dead_code, reason = "written for tests that use more of it")]
mod frames;
mod halves;
mod heads;
mod legal;
mod measure;
mod pool;
mod record;
mod table;
mod tls;
mod victim;
mod watchers;

use std::env;
use std::fs::{self, File};
use std::io::Write;
use std::process::ExitCode;
use std::time::Duration;

use record::{Entry, HEADING};

/// What is asked for.
struct Plan {
    seconds: Duration,
    rounds: u32,
    /// Of a server.
    threads: u32,
    only: Option<String>,
    record: Option<String>,
    /// Names and commands.
    servers: Vec<(String, String)>,
}

fn main() -> ExitCode {
    let words: Vec<String> = env::args().skip(1).collect();
    let done = match &words[..] {
        [flag, record, page] if flag == "--table" => put_table(record, page),
        _ => plan(words.into_iter()).and_then(|plan| attack(&plan)),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(complaint) => {
            eprintln!("{complaint}");
            ExitCode::from(2)
        }
    }
}

fn put_table(record: &str, page: &str) -> Result<(), String> {
    let read = |file: &str| fs::read_to_string(file).map_err(|error| format!("{file}: {error}"));
    let table = table::table(&read(record)?);
    let text = table::with_table(&read(page)?, &table);
    let text = text.ok_or(format!("{page} has no place for a table of attacks"))?;
    fs::write(page, text).map_err(|error| format!("{page}: {error}"))
}

/// Has each server stand each attack, and prints the table.
fn attack(plan: &Plan) -> Result<(), String> {
    let mut record = plan.record.as_deref().map(begin_record).transpose()?;
    let mut lines = String::new();
    let chosen = |name: &str| plan.only.as_deref().is_none_or(|only| only == name);
    // The servers one after the other under each attack, and all of that again.
    for round in 1..=plan.rounds {
        for attack in attacks::all().filter(|attack| chosen(attack.name)) {
            for (server, command) in &plan.servers {
                match measure::measure(command, plan.threads, &attack, plan.seconds) {
                    Ok(row) => {
                        let (attack, server) = (attack.name.to_owned(), server.clone());
                        let line = Entry { attack, server, row }.line();
                        if let Some(file) = &mut record {
                            writeln!(file, "{line}").map_err(|error| error.to_string())?;
                        }
                        eprintln!("round {round}: {line}");
                        lines += &format!("{line}\n");
                    }
                    Err(error) => println!("{}, {server}: {error}", attack.name),
                }
            }
        }
    }
    print!("{}", table::table(&lines));
    Ok(())
}

/// A record begins with the machine.
fn begin_record(path: &str) -> Result<File, String> {
    let begun = File::create(path).and_then(|mut file| {
        let cpus = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
        let model = cpus.lines().find_map(|line| line.strip_prefix("model name"));
        let model = model.unwrap_or("unknown").trim_start_matches([' ', '\t', ':']);
        let kernel = fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
        writeln!(file, "# {model}, Linux {}", kernel.trim())?;
        writeln!(file, "{HEADING}")?;
        Ok(file)
    });
    begun.map_err(|error| format!("{path}: {error}"))
}

fn plan(mut words: impl Iterator<Item = String>) -> Result<Plan, String> {
    let seconds = Duration::from_secs(5);
    let mut plan =
        Plan { seconds, rounds: 1, threads: 1, only: None, record: None, servers: Vec::new() };
    while let Some(word) = words.next() {
        match word.as_str() {
            "--seconds" => {
                let seconds = words.next().and_then(|text| text.parse().ok());
                let seconds = seconds.filter(|seconds| (0.1..=60.0).contains(seconds));
                let seconds = seconds.ok_or("--seconds is a number from 0.1 to 60")?;
                plan.seconds = Duration::from_secs_f64(seconds);
            }
            "--rounds" => {
                let rounds = words.next().and_then(|text| text.parse().ok());
                let rounds = rounds.filter(|rounds| (1..=100).contains(rounds));
                plan.rounds = rounds.ok_or("--rounds is a number from 1 to 100")?;
            }
            "--threads" => {
                let threads = words.next().and_then(|text| text.parse().ok());
                let threads = threads.filter(|threads| (1..=64).contains(threads));
                plan.threads = threads.ok_or("--threads is a number from 1 to 64")?;
            }
            "--record" => plan.record = Some(words.next().ok_or("--record is a file")?),
            "--only" => {
                let known = |name: &String| attacks::all().any(|attack| attack.name == name);
                let names = attacks::all().map(|attack| attack.name).collect::<Vec<_>>();
                let only = words.next().filter(known);
                plan.only = Some(only.ok_or(format!("--only is one of: {}", names.join(", ")))?);
            }
            _ => {
                let (name, command) = word.split_once('=').ok_or("a server is NAME=COMMAND")?;
                plan.servers.push((name.to_owned(), command.to_owned()));
            }
        }
    }
    if plan.servers.is_empty() {
        return Err("name a server: NAME=COMMAND".to_owned());
    }
    Ok(plan)
}
