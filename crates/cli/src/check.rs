//! `bookend check`: is the instrument sound, on this machine, today? Each kind of figure is held
//! against a witness that shares no code with what it checks.

mod bare_client;
mod bench;
mod clockwork;
mod counts;
mod cpu;
mod delay;
pub mod kept;
mod memory;
mod observe;
mod omission;
mod path;
mod rate;
mod relay;
mod start;
mod stop;
mod verdicts;

use crate::lab;
use crate::terminal::{Failure, print, print_error};
use bench::Bench;
use bookend_contract::{exit, printable};
use bookend_lab::lock::LockTarget;
use bookend_lab::process::interrupt::Interrupt;
use bookend_load::flags::whole;
use bookend_report::check::check_text;
use bookend_results::calibration::{Calibration, InstrumentCheck};
use clap::{Args, ValueEnum};
use std::path::PathBuf;
use std::time::{Instant, SystemTime};
use stop::CheckStop;

/// Arguments of `bookend check`.
#[derive(Debug, Args)]
pub struct CheckArguments {
    /// Check only these kinds of figures, separated by commas
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    only: Vec<CheckPart>,
    /// How often to ask for each verdict
    #[arg(long, value_name = "N", value_parser = whole::<u32>, default_value_t = 3)]
    repeat: u32,
    /// Print the result as JSON
    #[arg(long)]
    json: bool,
    /// Folder of subjects, of which the witness is one
    #[arg(long, value_name = "DIR", default_value = "subjects")]
    subjects_dir: PathBuf,
    /// Folder of service definitions
    #[arg(long, value_name = "DIR", default_value = "proto")]
    proto_dir: PathBuf,
    /// Wait while another lab measures on this machine, instead of exiting
    #[arg(long)]
    wait_for_lock: bool,
    /// Show no progress
    #[arg(long)]
    quiet: bool,
}

/// A kind of figure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum CheckPart {
    /// Latencies
    Delay,
    /// What a server that stands still does to latencies
    Omission,
    /// Calls by how they ended
    Counts,
    /// CPU time
    Cpu,
    /// Memory
    Memory,
    /// Rates and gaps of an open loop
    Rate,
    /// How connections, targets and workers begin
    Start,
    /// What limited a run
    Verdicts,
}

impl CheckPart {
    fn run(self, bench: &Bench, repeat: u32) -> Result<Vec<Calibration>, CheckStop> {
        match self {
            CheckPart::Delay => delay::calibrate(bench),
            CheckPart::Omission => omission::calibrate(bench),
            CheckPart::Counts => counts::calibrate(bench),
            CheckPart::Cpu => cpu::calibrate(bench),
            CheckPart::Memory => memory::calibrate(bench),
            CheckPart::Rate => rate::calibrate(bench),
            CheckPart::Start => start::calibrate(bench),
            CheckPart::Verdicts => verdicts::calibrate(bench, repeat),
        }
    }
}

/// Checks, prints, and keeps the result. The number is the exit status: 3 where something missed.
///
/// # Errors
/// [`Failure`] when the witness cannot be built or called.
pub fn start(arguments: &CheckArguments) -> Result<u8, Failure> {
    let interrupt = Interrupt::on_signals().map_err(Failure::nothing_measured)?;
    let waits = arguments.wait_for_lock;
    let Some(_lock) = lab::lock(&LockTarget::Machine, waits, &interrupt)? else {
        return Ok(exit::INTERRUPTED);
    };
    let check = match measure(arguments, interrupt) {
        Ok(check) => check,
        Err(CheckStop::Interrupted) => return Ok(exit::INTERRUPTED),
        Err(CheckStop::Failed(failure)) => return Err(failure),
    };
    let json = serde_json::to_string(&check).map_err(Failure::nothing_measured)?;
    let json = printable::json(&json).into_owned();
    print(&if arguments.json { json.clone() + "\n" } else { check_text(&check) })?;
    // A part says nothing of the rest, so it does not replace a whole.
    if arguments.only.is_empty() {
        kept::keep(&json).map_err(Failure::not_delivered)?;
    }
    Ok(if check.has_held() { exit::MEASURED } else { exit::OBJECTIVE_MISSED })
}

fn measure(arguments: &CheckArguments, interrupt: Interrupt) -> Result<InstrumentCheck, CheckStop> {
    let bench = Bench::prepare(&arguments.subjects_dir, &arguments.proto_dir, interrupt)?;
    let (begin, started) = (Instant::now(), SystemTime::now());
    let parts = match arguments.only.as_slice() {
        [] => CheckPart::value_variants(),
        only => only,
    };
    let mut calibrations = Vec::new();
    for part in parts {
        if !arguments.quiet {
            let name = part
                .to_possible_value()
                .map(|value| value.get_name().to_owned())
                .unwrap_or_default();
            print_error(&format!("checking {name}"));
        }
        calibrations.extend(part.run(&bench, arguments.repeat)?);
    }
    Ok(InstrumentCheck {
        origin: kept::origin(&bench.version),
        started_unix_ms: kept::unix_ms(started),
        seconds: begin.elapsed().as_secs_f64(),
        notes: bench.placement.notes.clone(),
        calibrations,
    })
}
