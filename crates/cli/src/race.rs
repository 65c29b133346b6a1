//! `bookend race`: two servers by turns, anywhere, and which of them needs less CPU time a call; or
//! what one server needs; or the same of clients.

mod arguments;
mod calls;
mod clients;
mod doubts;
mod ended;
mod profile;
mod progress;
mod record;
mod servers;
mod specs;

pub use arguments::RaceArguments;

use crate::check::kept_line;
use crate::lab;
use crate::terminal::{Failure, gate_status, print, print_error};
use bookend_contract::exit;
use bookend_contract::gate::JudgedGate;
use bookend_contract::printable;
use bookend_lab::control_group::ControlGroups;
use bookend_lab::cpu::Placement;
use bookend_lab::lock::LockTarget;
use bookend_lab::process::interrupt::Interrupt;
use bookend_lab::process::{become_subreaper, tree};
use bookend_lab::race::{RaceHost, RaceRunError, RaceServerSpec, RaceStart, Revisions};
use bookend_lab::run::remove_leftovers;
use bookend_lab::spawner::Spawner;
use bookend_load::flags::files;
use bookend_load::output;
use bookend_payload::given_file::{self, RACE_MAX_BYTES};
use bookend_report::race::RaceAnswer;
use bookend_results::race::{EarlierRace, Race, RaceCell, RaceError, RaceServerName};
use bookend_results::suite::TestedEnd;
use calls::standard_input;
use ended::{MeasuredRace, RaceEnd};
use record::new_race;
use specs::Specs;

/// Races the servers and prints the answer. The number is the exit status.
///
/// # Errors
/// [`Failure`] when the arguments make no sense, or a server cannot be raced.
pub fn start(arguments: RaceArguments) -> Result<u8, Failure> {
    if let Some(input) = calls::input_of_calls() {
        return Ok(calls::make(&arguments, &input));
    }
    let specs = Specs::read(&arguments)?;
    if arguments.client {
        clients::check(&arguments)?;
    }
    let (gates, cells) = (specs.gates(&arguments)?, arguments.cells()?);
    check_files(&arguments)?;
    let earlier = earlier(&arguments, &specs, &cells)?;
    arguments.check_rate()?;
    if arguments.profile && arguments.profile_folder.is_none() && specs.names().len() < 2 {
        return Err(Failure::usage(
            "--profile: one server alone differs from nothing; add --profile-folder for its flame \
             graph",
        ));
    }
    let interrupt = Interrupt::on_signals().map_err(Failure::nothing_measured)?;
    let waits = arguments.wait_for_lock;
    let Some(_lock) = lab::lock(&LockTarget::Machine, waits, &interrupt)? else {
        return Ok(exit::INTERRUPTED);
    };
    let MeasuredRace { race, end } = match measure(&arguments, &specs, &cells, interrupt.clone()) {
        Ok(measured) => measured,
        Err(RaceEnd::Interrupted) => return Ok(exit::INTERRUPTED),
        Err(RaceEnd::Failed(failure)) => return Err(failure),
    };
    let judged: Result<Vec<_>, _> = gates.iter().map(|gate| race.judge(gate)).collect();
    let judged = judged.map_err(|error| blame(&race, error));
    let delivered = judged
        .and_then(|judged| deliver(&arguments, &race, earlier.as_ref(), &judged).map(|()| judged));
    if let Some(RaceEnd::Failed(failure)) = end {
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

/// Builds what is to be built, then runs the course.
fn measure(
    arguments: &RaceArguments,
    specs: &Specs,
    cells: &[RaceCell],
    interrupt: Interrupt,
) -> Result<MeasuredRace, RaceEnd> {
    become_subreaper().map_err(Failure::nothing_measured)?;
    let leftovers = remove_leftovers();
    leftovers.iter().filter(|_| !arguments.quiet).for_each(|sentence| print_error(sentence));
    let input = standard_input(arguments)?;
    let spawner = lab::spawner(interrupt)?;
    let server_cpus = f64::from(arguments.server_cpus);
    let groups = || ControlGroups::prepare(tree::kill_group);
    let specs = match specs {
        Specs::Servers(specs) => specs,
        Specs::Clients(contestants) => {
            let placement = Placement::on_this_machine(server_cpus, Some(arguments.client_cpus));
            let host = RaceHost { spawner, groups: groups(), placement };
            return clients::measure(arguments, contestants, cells, &host, &input);
        }
    };
    let (specs, _revisions) = checked_out(arguments, specs, &spawner)?;
    let placement = Placement::on_this_machine(server_cpus, None);
    let host = RaceHost { spawner, groups: groups(), placement };
    servers::measure(arguments, &specs, cells, &host, &input)
}

/// The servers with the folders of their revisions, which are there as long as the second value.
fn checked_out(
    arguments: &RaceArguments,
    servers: &[RaceServerSpec],
    spawner: &Spawner,
) -> Result<(Vec<RaceServerSpec>, Option<Revisions>), RaceRunError> {
    let mut servers = servers.to_vec();
    if arguments.rev.is_empty() {
        return Ok((servers, None));
    }
    let mut revisions = Revisions::new(spawner.clone())?;
    for server in &mut servers {
        if !arguments.quiet {
            print_error(&format!("checking out and building {}", server.name));
        }
        let checked_out = revisions.check_out(&server.name, arguments.build.as_deref())?;
        if let RaceStart::Command { folder, .. } = &mut server.start {
            *folder = checked_out;
        }
    }
    Ok((servers, Some(revisions)))
}

/// The race that `--against` names. Nothing of it is left to fail when the race has been run.
fn earlier(
    arguments: &RaceArguments,
    specs: &Specs,
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
    let tested = match specs {
        Specs::Servers(_) => TestedEnd::Server,
        Specs::Clients(_) => TestedEnd::Client,
    };
    let named = |name: &str| RaceServerName { name: name.to_owned(), command: String::new() };
    let names = specs.names().into_iter().map(named).collect();
    let planned = new_race(arguments, tested, names, cells);
    EarlierRace::of(kept, &planned).map(Some).ok_or_else(|| {
        Failure::usage("--against: that race had other calls in flight, connections or rate")
    })
}

fn deliver(
    arguments: &RaceArguments,
    race: &Race,
    earlier: Option<&EarlierRace>,
    gates: &[JudgedGate],
) -> Result<(), Failure> {
    let text = if arguments.json {
        let mut answer =
            RaceAnswer::new(race, earlier).json().map_err(|error| blame(race, error))?;
        answer["gates"] = serde_json::to_value(gates).map_err(Failure::nothing_measured)?;
        format!("{}\n", printable::json(&answer.to_string()))
    } else {
        let answer = RaceAnswer::new(race, earlier).text().map_err(|error| blame(race, error))?;
        format!("{answer}{}\n", kept_line())
    };
    print(&text)?;
    if let Some(file) = &arguments.save {
        let kept = serde_json::to_string(race).map_err(Failure::nothing_measured)?;
        output::write(&format!("{}\n", printable::json(&kept)), Some(file))
            .map_err(Failure::not_delivered)?;
    }
    Ok(())
}

fn blame(race: &Race, error: RaceError) -> Failure {
    let server = &race.servers[error.server()].name;
    Failure::nothing_measured(format!("{server}: {error}"))
}
