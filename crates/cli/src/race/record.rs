//! What is kept of a race: what it was to be, before anything of it has been run.

use super::arguments::RaceArguments;
use crate::own_build;
use crate::shell::this_command;
use bookend_contract::secrets::in_command;
use bookend_lab::machine::this_machine;
use bookend_lab::race::ContestantSpecs;
use bookend_results::race::{Race, RaceCell};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// A race of which nothing has been run.
pub fn new_race(
    arguments: &RaceArguments,
    contestants: &ContestantSpecs,
    cells: &[RaceCell],
) -> Race {
    let mut servers = contestants.named();
    if !arguments.call.show_secrets {
        servers.iter_mut().for_each(|server| server.command = in_command(&server.command));
    }
    Race {
        tested: contestants.tested(),
        servers,
        cells: cells.to_vec(),
        rps: arguments.rps(),
        lap_ms: u64::try_from(arguments.lap().as_millis()).unwrap_or(u64::MAX),
        margin: arguments.margin,
        seed: arguments.seed.unwrap_or_else(new_seed),
        doubts: Vec::new(),
        functions: None,
        machine: Some(this_machine()),
        build: Some(own_build::facts()),
        command: Some(this_command()),
        started: Some(SystemTime::now().into()),
        starts: Vec::new(),
        dropped: Vec::new(),
    }
}

fn new_seed() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or(Duration::ZERO);
    since.as_nanos() as u64
}
