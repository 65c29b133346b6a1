//! `bookend check`: is the instrument sound, on this machine, today? The lab holds its figures
//! against known ones.

use crate::lab;
use crate::terminal::{Failure, print, print_error, program};
use bookend_contract::{exit, printable};
use bookend_lab::check::{Bench, CheckPart, CheckStop, PARTS, check, kept};
use bookend_lab::lock::LockTarget;
use bookend_lab::process::interrupt::Interrupt;
use bookend_load::flags::whole;
use bookend_report::check::check_text;
use bookend_results::calibration::InstrumentCheck;
use clap::Args;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use std::path::PathBuf;

/// Arguments of `bookend check`.
#[derive(Debug, Args)]
pub struct CheckArguments {
    /// Check only these kinds of figures, separated by commas
    #[arg(long, value_name = "LIST", value_parser = parts(), value_delimiter = ',')]
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

/// Reads the name of a kind of figures.
fn parts() -> impl TypedValueParser<Value = CheckPart> {
    let names = PARTS.map(|part| PossibleValue::new(part.name).help(part.figures));
    PossibleValuesParser::new(names).try_map(|typed| {
        PARTS.into_iter().find(|part| part.name == typed).ok_or("not a kind of figures")
    })
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
    let spawner = lab::spawner(interrupt)?;
    let CheckArguments { subjects_dir, proto_dir, repeat, .. } = arguments;
    let on_line = &mut |line: &str| print_error(line);
    let checked = Bench::prepare(spawner, subjects_dir, proto_dir, *repeat, on_line)
        .and_then(|bench| measure(arguments, &bench));
    let check = match checked {
        Ok(check) => check,
        Err(CheckStop::Interrupted) => return Ok(exit::INTERRUPTED),
        Err(CheckStop::Failed(reason)) => return Err(Failure::nothing_measured(reason)),
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

fn measure(arguments: &CheckArguments, bench: &Bench) -> Result<InstrumentCheck, CheckStop> {
    let parts = match arguments.only.as_slice() {
        [] => &PARTS,
        only => only,
    };
    check(bench, parts, &mut |part| {
        if !arguments.quiet {
            print_error(&format!("checking {}", part.name));
        }
    })
}

/// What the last check says of the instrument that runs now, in one line.
pub fn kept_line() -> String {
    kept::line(&program())
}
