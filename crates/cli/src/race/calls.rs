//! The calls of a race: processes of this program make them, each to one server as in one cell.
//!
//! Such a process is `bookend race` with the same arguments, so no flag is translated. A variable
//! makes it what it is, and it speaks the contract of instruments in laps.

use super::arguments::RaceArguments;
use crate::fleet::{FleetOrder, laps as fleet_laps, shared};
use crate::load::laps;
use crate::terminal::Failure;
use bookend_contract::environment::{CONCURRENCY, CONNECTIONS, CPUS, TARGET};
use bookend_lab::race::{RaceRunError, RaceServer, RequestFile};
use bookend_load::flags::LoadFlags;
use bookend_load::flags::sent::SentFlags;
use bookend_load::options::CallOptions;
use bookend_load::plan::LoadPlan;
use bookend_load::probe::{self, ProbeDepth, ProbeRequest};
use bookend_payload::data;
use bookend_results::race::RaceCell;
use std::env;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::io::stdin;
use std::path::Path;
use std::str::FromStr;
use std::time::Duration;

/// Makes a race a maker of its calls. Its value is the path of a file with what was on standard
/// input, on which commands come now; empty where nothing of it was read.
const CALLS_OF_RACE: &str = "BOOKEND_RACE_CALLS";

/// How much longer than its lap, the deadline of its calls and the time to connect a process may
/// take.
const GRACE: Duration = Duration::from_secs(10);

/// Where calls have no deadline: as long as the contract lets one take.
const NO_DEADLINE: Duration = Duration::from_secs(60);

/// The program and its arguments, of a process that makes calls.
///
/// # Errors
/// [`Failure`] when the path of the program is unknown.
pub fn command() -> Result<Vec<OsString>, Failure> {
    let program = env::current_exe().map_err(Failure::nothing_measured)?;
    Ok([program.into()].into_iter().chain(env::args_os().skip(1)).collect())
}

/// Its variables. `input`: what was on standard input.
pub fn variables(input: Option<&RequestFile>) -> Vec<(OsString, OsString)> {
    vec![(CALLS_OF_RACE.into(), input.map(|file| file.path().into()).unwrap_or_default())]
}

/// How much longer than its lap it may take.
pub fn timeout(arguments: &RaceArguments) -> Duration {
    let call = &arguments.call;
    let deadline = Some(call.timeout).filter(|deadline| !deadline.is_zero());
    let times = [call.connect_timeout, GRACE];
    times.into_iter().fold(deadline.unwrap_or(NO_DEADLINE), Duration::saturating_add)
}

/// What this process was started for, if it is such a process.
pub fn input_of_calls() -> Option<OsString> {
    env::var_os(CALLS_OF_RACE)
}

/// Makes the calls that commands on standard input ask for. The number is the exit status; what is
/// wrong is said without the name of this command, for the race to say.
pub fn make(arguments: &RaceArguments, input: &OsStr) -> u8 {
    made(arguments, input).unwrap_or_else(|failure| failure.report_alone())
}

fn made(arguments: &RaceArguments, input: &OsStr) -> Result<u8, Failure> {
    let input = if input.is_empty() { Ok(Vec::new()) } else { fs::read(Path::new(input)) };
    let input = input.map_err(Failure::nothing_measured)?;
    let cell =
        RaceCell { connections: variable(CONNECTIONS)?, concurrency: variable(CONCURRENCY)? };
    let flags = arguments.load_flags(variable(TARGET)?, cell);
    if let Some((fleet, agents)) = shared::of_this_process(&arguments.fleet) {
        let sent = SentFlags::read(&flags, words(&flags), &input).map_err(Failure::unprepared)?;
        return fleet_laps::run(FleetOrder::run(&flags, &fleet, &sent), agents);
    }
    let plan = LoadPlan::from_flags(&flags, &mut input.as_slice(), variable(CPUS)?);
    let plan = plan.map_err(Failure::unprepared)?;
    laps::run(plan, stdin().lock(), |_, error| Failure::nothing_measured(error))
}

/// The flags as another machine reads them.
fn words(flags: &LoadFlags) -> Vec<String> {
    let mut words = flags.call.words();
    words.push(format!("--concurrency={}", flags.concurrency));
    words.push(format!("--connections={}", flags.connections));
    words.push(format!("--rps={}", flags.pacing.rps));
    words.push("--duration=1s".to_owned());
    words
}

fn variable<T: FromStr>(name: &str) -> Result<T, Failure> {
    let value = env::var(name).ok().and_then(|value| value.parse().ok());
    value.ok_or_else(|| Failure::usage(format!("{name} says nothing")))
}

/// What `@`, `-` and `--binary` stand for: read once, and sent to all servers.
///
/// # Errors
/// [`Failure`] when it cannot be read.
pub fn standard_input(arguments: &RaceArguments) -> Result<Vec<u8>, Failure> {
    if !arguments.call.reads_standard_input() {
        return Ok(Vec::new());
    }
    data::standard_input(&mut std::io::stdin().lock()).map_err(Failure::usage)
}

/// The reply to one call, every message of it what the method promises.
///
/// # Errors
/// The flags make no sense, or the server does not answer.
pub fn verify(
    arguments: &RaceArguments,
    server: &RaceServer,
    cell: RaceCell,
    mut input: &[u8],
) -> Result<Vec<Vec<u8>>, RaceRunError> {
    let flags = arguments.load_flags(server.address(), cell);
    let usage = |error: &dyn ToString| RaceRunError::Usage(error.to_string());
    let options = CallOptions::from_flags(&flags.call).map_err(|error| usage(&error))?;
    let request = ProbeRequest::of_first_call(&options, &mut input);
    let request = request.map_err(|error| match error.is_usage() {
        true => usage(&error),
        false => RaceRunError::Unprepared(error.to_string()),
    })?;
    let call = probe::probe(&request, ProbeDepth::Call).call;
    Ok(call.map_err(|error| server.not_called(error.to_string()))?.messages)
}
