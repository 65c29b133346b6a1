//! Races of servers, which are called by turns.

use super::arguments::RaceArguments;
use super::calls::{self, verify};
use super::doubts::{of_servers, running_already};
use super::ended::{MeasuredRace, RaceEnd};
use super::profile::RaceProfiler;
use super::record::{names_of_servers, new_race};
use crate::terminal::Failure;
use crate::terminal::print_error;
use bookend_lab::race::{
    EndedRace, LapCallerSpec, RaceHost, RaceServer, RaceServerSpec, RaceServers, RaceStarts,
    RequestFile,
};
use bookend_results::race::{RaceCell, STARTS_MIN};
use bookend_results::suite::TestedEnd;
use std::cell::Cell;
use std::time::Duration;

/// A race that takes longer than this multiple of its budget says so.
const OVERRUN_SAID: f64 = 1.1;

/// Runs the race. Interrupted, it returns what was measured.
///
/// # Errors
/// Nothing was measured.
pub fn measure(
    arguments: &RaceArguments,
    specs: &[RaceServerSpec],
    cells: &[RaceCell],
    host: &RaceHost,
    input: &[u8],
) -> Result<MeasuredRace, RaceEnd> {
    let profiler = RaceProfiler::find(arguments)?;
    let plan = arguments.plan(cells.len(), starts(arguments, specs));
    let race = new_race(arguments, TestedEnd::Server, names_of_servers(specs), cells);
    let replies_differ = Cell::new(false);
    let verify_all = |servers: &[RaceServer]| {
        let reply = |server| verify(arguments, server, cells[0], input);
        let replies: Vec<_> = servers.iter().map(reply).collect::<Result<_, _>>()?;
        let differ = replies.iter().any(|reply| *reply != replies[0]);
        replies_differ.set(replies_differ.get() || differ);
        Ok(())
    };
    let is_read = arguments.call.reads_standard_input();
    let file = is_read.then(|| RequestFile::write(input)).transpose();
    let file = file.map_err(Failure::nothing_measured)?;
    let calls = LapCallerSpec {
        command: calls::command()?,
        variables: calls::variables(file.as_ref()),
        cells,
        timeout: calls::timeout(arguments),
        verify: &verify_all,
    };
    let mut servers = RaceServers::new(host, specs, &plan, &calls);
    let all_doubts = |ended: &EndedRace, servers: &RaceServers<'_>| {
        overrun(ended, plan.budget).iter().for_each(|line| print_error(line));
        let differ =
            replies_differ.get().then(|| "their replies to the first call differ".to_owned());
        let doubts = of_servers(arguments, host, specs, &ended.race, servers.used());
        differ.into_iter().chain(too_short(ended)).chain(doubts).collect()
    };
    let mut measured = MeasuredRace::run(arguments, race, &plan, &mut servers, all_doubts)?;
    if let (Some(profiler), None) = (profiler, &measured.end) {
        let window = arguments.profile_window;
        match profiler.record(host, window, &mut servers, &measured.race) {
            Ok(functions) => measured.race.functions = functions,
            Err(end) => measured.end = Some(end),
        }
    }
    Ok(measured)
}

/// How often they are started anew.
fn starts(arguments: &RaceArguments, specs: &[RaceServerSpec]) -> RaceStarts {
    let is_one = arguments.no_restart || arguments.starts == Some(1);
    match is_one || running_already(specs).is_some() {
        true => RaceStarts::One,
        false => RaceStarts::Several(arguments.starts),
    }
}

/// Says that there was no time for the starts that would have shown how others differ.
fn too_short(ended: &EndedRace) -> Option<String> {
    ended.budget_needed.map(|needed| {
        let seconds = needed.as_secs_f64().ceil();
        format!(
            "the budget has time for one start, so this says nothing of other starts: \
             {STARTS_MIN} of them take about --budget {seconds}s"
        )
    })
}

/// Says that the starts have taken longer than they should.
fn overrun(ended: &EndedRace, budget: Duration) -> Option<String> {
    let (starts, elapsed) = (ended.race.starts.len(), ended.elapsed);
    (starts > 1 && elapsed > budget.mul_f64(OVERRUN_SAID)).then(|| {
        let [took, given] = [elapsed, budget].map(|time| time.as_secs_f64());
        format!("this took {took:.1} s instead of {given} s, for {starts} starts take so long")
    })
}
