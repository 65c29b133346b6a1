//! Races of clients. Each lap is a run of its own, against the reference server, which stays.

use super::arguments::RaceArguments;
use super::calls::verify;
use super::ended::{RaceEnd, run};
use super::record::new_race;
use crate::terminal::Failure;
use bookend_contract::environment::{Environment, Role, WindowLength};
use bookend_lab::race::{
    ContestantSpecs, EndedRace, RaceClient, RaceClients, RaceHost, RacePort, RaceServer,
    RaceServerSpec, RaceStart, RaceStarts, RequestFile,
};
use bookend_load::plan::{GrpcCall, LoadPlan};
use bookend_results::race::RaceCell;
use std::path::PathBuf;
use std::time::Duration;

/// How the server is called in what is said of it.
const SERVER: &str = "the reference server";

/// Refuses flags that mean nothing to clients.
///
/// # Errors
/// [`Failure`] naming the first one, and why.
pub fn check(arguments: &RaceArguments) -> Result<(), Failure> {
    let (call, contestants) = (&arguments.call, &arguments.contestants);
    let has_metadata = call.metadata.is_some() || call.metadata_file.is_some();
    let each = "each lap of a client is a start of its own";
    for (is_given, flag, why) in [
        (!contestants.at.is_empty(), "--at", "clients are started for each lap"),
        (!contestants.rev.is_empty(), "--rev", "give two commands, each with its own folder"),
        (arguments.starts.is_some(), "--starts", each),
        (arguments.no_restart, "--no-restart", each),
        (arguments.rps().is_some(), "--rps", "the contract of clients has no rate"),
        (arguments.profile.is_wanted(), "--profile", "it is servers that are recorded"),
        (arguments.wants_tls(), "TLS", "clients are raced in plain text"),
        (has_metadata, "--metadata", "the contract of clients has none"),
    ] {
        if is_given {
            return Err(Failure::usage(format!("--client and {flag}: {why}")));
        }
    }
    Ok(())
}

/// Runs the race. Interrupted, it returns what was measured.
///
/// # Errors
/// Nothing was measured.
pub fn measure(
    arguments: &RaceArguments,
    clients: Vec<RaceClient>,
    cells: &[RaceCell],
    host: &RaceHost,
    input: &[u8],
) -> Result<EndedRace, RaceEnd> {
    let server = RaceServer::start(host, &reference(arguments, host))?;
    verify(arguments, &server, cells[0], input)?;
    let (environments, _request) = asked(arguments, &server, cells, host, input)?;
    let mut contestants = RaceClients::new(host, &clients, server, environments);
    let race = new_race(arguments, &ContestantSpecs::Clients(clients.clone()), cells);
    let plan = arguments.plan(cells.len(), RaceStarts::EachRound);
    run(arguments, race, &plan, &mut contestants)
}

/// What clients are asked by the contract, in each cell; and the request's file, which is there as
/// long as the second value.
fn asked(
    arguments: &RaceArguments,
    server: &RaceServer,
    cells: &[RaceCell],
    host: &RaceHost,
    mut input: &[u8],
) -> Result<(Vec<Environment>, RequestFile), RaceEnd> {
    let flags = arguments.load_flags(server.address(), cells[0]);
    let plan = LoadPlan::from_flags(&flags, &mut input, 1).map_err(Failure::unprepared)?;
    let of_contract = |call: &&GrpcCall| call.messages.len() == 1 && call.template.is_none();
    let Some(call) = plan.call.grpc().filter(of_contract) else {
        let why = "--client: all calls of the contract carry one message, and no template";
        return Err(Failure::usage(why).into());
    };
    let request = RequestFile::write(&call.messages[0]).map_err(Failure::nothing_measured)?;
    let milliseconds = |time: Duration| u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
    let in_cell = |cell: &RaceCell| Environment {
        cpus: Some(host.generator_cpus()),
        method: Some(call.path.trim_start_matches('/').to_owned()),
        request_file: Some(request.path()),
        target: Some(server.address().to_string()),
        connections: Some(cell.connections),
        concurrency: Some(cell.concurrency),
        warmup_ms: Some(milliseconds(arguments.warmup)),
        window_length: Some(WindowLength::Milliseconds(milliseconds(arguments.lap()))),
        deadline_ms: plan.timeout_ns.map(|timeout_ns| timeout_ns.div_ceil(1_000_000)),
        ..Environment::of(Role::Client)
    };
    Ok((cells.iter().map(in_cell).collect(), request))
}

/// The server that all clients call: this program.
fn reference(arguments: &RaceArguments, host: &RaceHost) -> RaceServerSpec {
    let program = host.spawner.bookend.display().to_string().replace('\'', r"'\''");
    let threads = arguments.contestants.server_cpus;
    let command =
        format!("exec '{program}' serve --preset trusted --threads {threads} --port {{port}}");
    let start = RaceStart::Command { command, port: RacePort::Told, folder: PathBuf::from(".") };
    RaceServerSpec { name: SERVER.to_owned(), start }
}
