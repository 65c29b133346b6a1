//! Races of servers, which are called by turns.

use super::arguments::RaceArguments;
use super::calls::{self, verify};
use super::ended::{RaceEnd, run};
use super::record::new_race;
use crate::fleet::shared::SharedFleet;
use crate::terminal::{Failure, print_error};
use bookend_lab::race::{
    ContestantSpecs, EndedRace, LapCallerSpec, RaceHost, RaceServer, RaceServerSpec, RaceServers,
    RaceStarts, RequestFile,
};
use bookend_results::race::RaceCell;

/// Runs the race. Interrupted, it returns what was measured.
///
/// # Errors
/// Nothing was measured.
pub fn measure(
    arguments: &RaceArguments,
    specs: Vec<RaceServerSpec>,
    cells: &[RaceCell],
    host: &RaceHost,
    input: &[u8],
) -> Result<EndedRace, RaceEnd> {
    let profiler = arguments.profile.profiler()?;
    let plan = arguments.plan(cells.len(), starts(arguments, &specs));
    let race = new_race(arguments, &ContestantSpecs::Servers(specs.clone()), cells);
    let fleet = match arguments.fleet.agents {
        Some(agents) => {
            let interrupt = || host.spawner.interrupt.is_raised();
            let fleet = SharedFleet::await_all(&arguments.fleet, agents, interrupt)?;
            Some((agents, fleet.ok_or(RaceEnd::Interrupted)?))
        }
        None => None,
    };
    let of_fleet = fleet.iter().flat_map(|(agents, fleet)| fleet.variables(*agents));
    let is_read = arguments.call.reads_standard_input();
    let file = is_read.then(|| RequestFile::write(input)).transpose();
    let file = file.map_err(Failure::nothing_measured)?;
    let calls = LapCallerSpec {
        command: calls::command()?,
        variables: calls::variables(file.as_ref()).into_iter().chain(of_fleet).collect(),
        cells,
        timeout: calls::timeout(arguments),
        verify: &|server: &RaceServer| verify(arguments, server, cells[0], input),
    };
    let mut servers = RaceServers::new(host, &specs, &plan, &calls);
    let mut ended = run(arguments, race, &plan, &mut servers)?;
    ended.overrun(plan.budget).iter().for_each(|line| print_error(line));
    if let (Some(profiler), None) = (profiler, &ended.failure) {
        match profiler.record(host, &mut servers, &ended.race) {
            Ok(functions) => ended.race.functions = functions,
            Err(failure) => ended.failure = Some(failure),
        }
    }
    Ok(ended)
}

/// How often they are started anew.
fn starts(arguments: &RaceArguments, specs: &[RaceServerSpec]) -> RaceStarts {
    let is_one = arguments.no_restart || arguments.starts == Some(1);
    match is_one || specs.iter().any(RaceServerSpec::runs_already) {
        true => RaceStarts::One,
        false => RaceStarts::Several(arguments.starts),
    }
}
