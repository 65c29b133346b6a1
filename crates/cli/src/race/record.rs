//! What is kept of a race: what it was to be, before anything of it has been run.

use super::arguments::RaceArguments;
use crate::own_build;
use crate::shell::this_command;
use bookend_contract::secrets::in_command;
use bookend_lab::machine::this_machine;
use bookend_lab::race::{RaceClient, RaceServerSpec, RaceStart};
use bookend_results::race::{Race, RaceCell, RaceServerName};
use bookend_results::suite::TestedEnd;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// A race of which nothing has been run.
pub fn new_race(
    arguments: &RaceArguments,
    tested: TestedEnd,
    mut servers: Vec<RaceServerName>,
    cells: &[RaceCell],
) -> Race {
    if !arguments.call.show_secrets {
        servers.iter_mut().for_each(|server| server.command = in_command(&server.command));
    }
    Race {
        tested,
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

/// How servers are named and started.
pub fn names_of_servers(specs: &[RaceServerSpec]) -> Vec<RaceServerName> {
    let named = |spec: &RaceServerSpec| {
        let command = match &spec.start {
            RaceStart::Command { command, .. } => command.clone(),
            RaceStart::Running(address) => address.to_string(),
        };
        RaceServerName { name: spec.name.clone(), command }
    };
    specs.iter().map(named).collect()
}

/// How clients are named and started.
pub fn names_of_clients(clients: &[RaceClient]) -> Vec<RaceServerName> {
    let named = |client: &RaceClient| RaceServerName {
        name: client.name.clone(),
        command: client.command.clone(),
    };
    clients.iter().map(named).collect()
}

fn new_seed() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or(Duration::ZERO);
    since.as_nanos() as u64
}
