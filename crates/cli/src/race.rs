//! `bookend race`: two servers by turns, anywhere, and which of them needs less CPU time a call; or
//! what one server needs; or the same of clients.

mod answer;
mod arguments;
mod calls;
mod cells;
mod clients;
mod contestant_flags;
mod ended;
mod flag_values;
mod load_flags;
mod profile_flags;
mod record;
mod servers;

pub use arguments::RaceArguments;

use crate::lab;
use crate::terminal::{Failure, gate_status, print_error};
use answer::{blame, deliver};
use bookend_contract::exit;
use bookend_contract::gate::Gate;
use bookend_lab::lock::LockTarget;
use bookend_lab::process::become_subreaper;
use bookend_lab::process::interrupt::Interrupt;
use bookend_lab::race::{
    ContestantSpecs, EndedRace, RaceHost, RaceRunError, RaceServerSpec, RaceStart, Revisions,
};
use bookend_lab::run::remove_leftovers;
use bookend_lab::spawner::Spawner;
use bookend_load::flags::files;
use bookend_load::output;
use bookend_payload::given_file::{self, RACE_MAX_BYTES};
use bookend_results::race::{EarlierRace, Race, RaceCell};
use calls::standard_input;
use ended::RaceEnd;
use record::new_race;

/// Races the servers and prints the answer. The number is the exit status.
///
/// # Errors
/// [`Failure`] when the arguments make no sense, or a server cannot be raced.
pub fn start(arguments: RaceArguments) -> Result<u8, Failure> {
    if let Some(input) = calls::input_of_calls() {
        return Ok(calls::make(&arguments, &input));
    }
    let specs = arguments.contestants.read(&arguments.call.targets)?;
    if arguments.contestants.client {
        clients::check(&arguments)?;
        if arguments.fleet.agents.is_some() {
            let line = "--client races programs that make the calls themselves: leave --agents out";
            return Err(Failure::usage(line));
        }
    }
    let (gates, cells) = (gates(&arguments, &specs)?, arguments.cells()?);
    check_files(&arguments)?;
    let earlier = earlier(&arguments, &specs, &cells)?;
    arguments.check_rate()?;
    arguments.profile.check(specs.names().len())?;
    let interrupt = Interrupt::on_signals().map_err(Failure::nothing_measured)?;
    let waits = arguments.wait_for_lock;
    let Some(_lock) = lab::lock(&LockTarget::Machine, waits, &interrupt)? else {
        return Ok(exit::INTERRUPTED);
    };
    let EndedRace { race, failure, .. } = match measure(&arguments, specs, &cells, &interrupt) {
        Ok(ended) => ended,
        Err(RaceEnd::Interrupted) => return Ok(exit::INTERRUPTED),
        Err(RaceEnd::Failed(failure)) => return Err(failure),
    };
    let judged: Result<Vec<_>, _> = gates.iter().map(|gate| race.judge(gate)).collect();
    let judged = judged.map_err(|error| blame(&race, error));
    let delivered = judged
        .and_then(|judged| deliver(&arguments, &race, earlier.as_ref(), &judged).map(|()| judged));
    if let Some(RaceEnd::Failed(failure)) = failure.map(RaceEnd::from) {
        // The status says why there is no more of it.
        let _ = delivered.map_err(|undelivered| undelivered.report("race"));
        return Err(failure);
    }
    let judged = delivered?;
    let status = gate_status("race", &judged);
    let is_decided = status == exit::OBJECTIVE_MISSED;
    Ok(if interrupt.is_raised() && !is_decided { exit::INTERRUPTED } else { status })
}

/// Checks that the race can be kept, and in a file of its own.
fn check_files(arguments: &RaceArguments) -> Result<(), Failure> {
    let Some(file) = &arguments.save else {
        return Ok(());
    };
    output::check(file).map_err(Failure::usage)?;
    let mut read = arguments.call.files_read();
    read.extend(arguments.against.iter().map(|file| ("--against", file.as_path())));
    files::check_apart(&[("--save", file)], &read).map_err(Failure::usage)
}

/// What the race has to show, or must not.
fn gates(arguments: &RaceArguments, specs: &ContestantSpecs) -> Result<Vec<Gate>, Failure> {
    let figures = match specs.names().as_slice() {
        [first, second] => vec![*second, *first, "ratio"],
        _ => Vec::new(),
    };
    arguments.gates.gates(&figures)
}

/// Builds what is to be built, then runs the course.
fn measure(
    arguments: &RaceArguments,
    specs: ContestantSpecs,
    cells: &[RaceCell],
    interrupt: &Interrupt,
) -> Result<EndedRace, RaceEnd> {
    become_subreaper().map_err(Failure::nothing_measured)?;
    let leftovers = remove_leftovers();
    leftovers.iter().filter(|_| !arguments.quiet).for_each(|sentence| print_error(sentence));
    let input = standard_input(arguments)?;
    let spawner = lab::spawner(interrupt.clone())?;
    let flags = &arguments.contestants;
    match specs {
        ContestantSpecs::Servers(specs) => {
            let (specs, _revisions) = checked_out(arguments, specs, &spawner)?;
            let host = RaceHost::new(spawner, flags.server_cpus, None);
            servers::measure(arguments, specs, cells, &host, &input)
        }
        ContestantSpecs::Clients(specs) => {
            let host = RaceHost::new(spawner, flags.server_cpus, Some(flags.client_cpus));
            clients::measure(arguments, specs, cells, &host, &input)
        }
    }
}

/// The servers with the folders of their revisions, which are there as long as the second value.
fn checked_out(
    arguments: &RaceArguments,
    mut servers: Vec<RaceServerSpec>,
    spawner: &Spawner,
) -> Result<(Vec<RaceServerSpec>, Option<Revisions>), RaceRunError> {
    if arguments.contestants.rev.is_empty() {
        return Ok((servers, None));
    }
    let mut revisions = Revisions::new(spawner.clone())?;
    for server in &mut servers {
        if !arguments.quiet {
            print_error(&format!("checking out and building {}", server.name));
        }
        let build = arguments.contestants.build.as_deref();
        let checked_out = revisions.check_out(&server.name, build)?;
        if let RaceStart::Command { folder, .. } = &mut server.start {
            *folder = checked_out;
        }
    }
    Ok((servers, Some(revisions)))
}

/// The race that `--against` names. Nothing of it is left to fail when the race has been run.
fn earlier(
    arguments: &RaceArguments,
    specs: &ContestantSpecs,
    cells: &[RaceCell],
) -> Result<Option<EarlierRace>, Failure> {
    let Some(file) = &arguments.against else {
        return Ok(None);
    };
    if specs.names().len() > 1 {
        return Err(Failure::usage("--against: one is compared with what was kept, not two"));
    }
    let text = given_file::text(file, RACE_MAX_BYTES).map_err(Failure::usage)?;
    let kept = Race::parse(&text)
        .map_err(|error| Failure::usage(format!("{}: {error}", file.display())))?;
    let planned = new_race(arguments, specs, cells);
    EarlierRace::of(kept, &planned).map(Some).ok_or_else(|| {
        Failure::usage("--against: that race had other calls in flight, connections or rate")
    })
}
