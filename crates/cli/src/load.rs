//! `bookend load`: from flags to a result on standard output.

mod audience;
mod capacity;
mod delivery;
mod finish;
mod fleet;
pub mod interrupt;
pub mod laps;
pub mod no_call;
mod observer;
pub mod origin;
mod report_lines;

use crate::fleet::{FleetFlags, shared};
use crate::slow_schema::read_schema;
use crate::terminal::{Failure, print_error};
use crate::{contract, lab};
use audience::Audience;
use bookend_load::descriptors;
use bookend_load::flags::switches::SwitchedWords;
use bookend_load::flags::{LoadFlags, config_file, files};
use bookend_load::output;
use bookend_load::plan::LoadPlan;
use bookend_load::run::{self, LoadOutcome, RunObserver};
use capacity::find_capacity;
use clap::{Args, Command};
use finish::{Measured, finish, watching};
pub use laps::rated;
use no_call::no_call;
pub use observer::Observer;
pub use report_lines::report_lines;
use std::env;
use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::SystemTime;

const EXAMPLES: &str = r#"Examples:
  bookend load --insecure --call helloworld.Greeter/SayHello -d '{"name":"x"}' \
      -c 100 -z 10s localhost:50051
  bookend load --insecure --proto greeter.proto --call pkg.Greeter/SayHello \
      --rps 500 --duration 30s --slo 'p99<20ms,errors<0.1%' localhost:50051"#;

/// Arguments of `bookend load`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct LoadArguments {
    #[command(flatten)]
    flags: LoadFlags,
    #[command(flatten)]
    fleet: FleetFlags,
}

/// The words of the command line with every switch as clap reads it (Go's users write
/// `--insecure=true`), and with those of the file of `--config` behind them.
///
/// # Errors
/// [`Failure`] when a switch is on and off, or the file gives no flags.
pub fn whole_line(words: Vec<OsString>) -> Result<Vec<OsString>, Failure> {
    let command = LoadArguments::augment_args(Command::new("load"));
    let typed = SwitchedWords::of(words, &command);
    // What is wrong with the words is said when all of them are read.
    let Ok(given) = command.clone().try_get_matches_from(typed.words.iter().skip(1)) else {
        return Ok(typed.words);
    };
    typed.check(&given, &command).map_err(Failure::usage)?;
    let mut words = typed.words.clone();
    if let Some(file) = given.get_one::<PathBuf>("config") {
        words.extend(config_file::words(file, &given, &typed, &command).map_err(Failure::usage)?);
    }
    Ok(words)
}

/// Measures, then prints or writes the result. The number is the exit status.
///
/// # Errors
/// [`Failure`] when the flags make no sense or nothing could be measured.
pub fn start(arguments: LoadArguments) -> Result<u8, Failure> {
    let audience = if contract::is_under_the_lab() { Audience::Lab } else { Audience::People };
    let flags = arguments.flags;
    for file in flags.output.iter().chain(&flags.debug).chain(&flags.hdr) {
        output::check(file).map_err(Failure::usage)?;
    }
    files::check_apart(&flags.files_written(), &flags.files_read()).map_err(Failure::usage)?;
    let format = flags.output_format().map_err(Failure::usage)?;
    let typed = arguments.fleet.agents.map(|agents| (arguments.fleet.clone(), agents));
    if let Some((fleet, agents)) = shared::of_this_process(&arguments.fleet).or(typed) {
        let words = whole_line(env::args_os().skip(1).collect())?;
        return fleet::load(&flags, &fleet, agents, format, audience, &words[1..]);
    }
    let read = || LoadPlan::from_flags(&flags, &mut std::io::stdin().lock(), lab::cpus());
    let plan = match &flags.thrift.file {
        Some(_) => read(),
        None => read_schema("load", &flags.call, read),
    };
    let mut plan = plan.map_err(Failure::unprepared)?;
    if let Some(refusal) = plan.fall_back() {
        print_error(&format!("bookend load: {refusal}; epoll is used instead"));
    }
    descriptors::provide(plan.connections, plan.threads).map_err(Failure::nothing_measured)?;
    if let Some(objective) = &flags.find_capacity {
        return find_capacity(&flags, format, &plan, objective);
    }
    if audience == Audience::Lab && contract::makes_laps() {
        return laps::run(plan, std::io::stdin().lock(), no_call);
    }
    let plan = Arc::new(plan);
    let started = SystemTime::now();
    let mut observer = watching(&flags, format, audience, plan.window_ns);
    let outcome = measure(&plan, audience, &mut observer);
    observer.clear();
    let (outcome, skipped) = (outcome?, plan.calls_skipped);
    let measured = Measured { plan: plan.reported(), started, outcome, skipped, fleet: None };
    finish(&flags, format, audience, &observer, measured)
}

fn measure(
    plan: &Arc<LoadPlan>,
    audience: Audience,
    observer: &mut impl RunObserver,
) -> Result<LoadOutcome, Failure> {
    let interrupt =
        interrupt::watch(audience == Audience::Lab).map_err(Failure::nothing_measured)?;
    run::observe(Arc::clone(plan), &interrupt, observer).map_err(|error| no_call(plan, &error))
}
