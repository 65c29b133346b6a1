//! Races of clients. Each lap is a run of its own, against the reference server, which stays.

use super::arguments::RaceArguments;
use super::caller::verify;
use super::course::new_race;
use super::doubts;
use super::ended::RaceEnd;
use super::progress::RaceProgress;
use crate::terminal::Failure;
use bookend_contract::environment::{Environment, Role, WindowLength};
use bookend_lab::race::{
    ClientLap, RaceClient, RaceHost, RacePort, RaceRunError, RaceServer, RaceServerSpec, RaceStart,
    RequestFile, run_block, run_client_lap,
};
use bookend_load::plan::{GrpcCall, LoadPlan};
use bookend_results::race::{Race, RaceCell, RaceRound, RaceServerName, Standing};
use bookend_results::suite::TestedEnd;
use fastrand::Rng;
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// How the server is called in what is said of it.
const SERVER: &str = "the reference server";

/// What clients are asked by the contract.
struct ContractCall {
    environment: Environment,
    /// What the environment names.
    _request: RequestFile,
}

/// A race of clients that goes on.
pub struct ClientCourse<'a> {
    arguments: &'a RaceArguments,
    clients: &'a [RaceClient],
    host: &'a RaceHost,
    server: RaceServer,
    call: ContractCall,
    random: Rng,
    race: Race,
    standing: Standing,
    /// Of each client's CPU time, what is known in ticks alone.
    in_ticks_ns: Vec<u64>,
    server_cpu_ns: u64,
    begin: Instant,
    progress: RaceProgress,
}

/// Refuses flags that mean nothing to clients.
///
/// # Errors
/// [`Failure`] naming the first one, and why.
pub fn check(arguments: &RaceArguments) -> Result<(), Failure> {
    let call = &arguments.call;
    let has_metadata = call.metadata.is_some() || call.metadata_file.is_some();
    let each = "each lap of a client is a start of its own";
    for (is_given, flag, why) in [
        (!arguments.at.is_empty(), "--at", "clients are started for each lap"),
        (!arguments.rev.is_empty(), "--rev", "give two commands, each with its own folder"),
        (arguments.starts.is_some(), "--starts", each),
        (arguments.no_restart, "--no-restart", each),
        (arguments.rps().is_some(), "--rps", "the contract of clients has no rate"),
        (arguments.profile, "--profile", "it is servers that are recorded"),
        (arguments.wants_tls(), "TLS", "clients are raced in plain text"),
        (has_metadata, "--metadata", "the contract of clients has none"),
    ] {
        if is_given {
            return Err(Failure::usage(format!("--client and {flag}: {why}")));
        }
    }
    Ok(())
}

impl<'a> ClientCourse<'a> {
    /// Starts the server and has one call to it answered. No client has been started yet.
    ///
    /// # Errors
    /// The server does not serve the method, or the request cannot be made.
    pub fn new(
        arguments: &'a RaceArguments,
        clients: &'a [RaceClient],
        cells: &[RaceCell],
        host: &'a RaceHost,
        input: &[u8],
    ) -> Result<ClientCourse<'a>, RaceEnd> {
        let server = RaceServer::start(host, &reference(arguments, host))?;
        let cpus = u32::try_from(host.placement.generator.len()).unwrap_or(u32::MAX).max(1);
        let call = ContractCall::new(arguments, (&server, cells[0]), cpus, input)?;
        let named = |client: &RaceClient| RaceServerName {
            name: client.name.clone(),
            command: client.command.clone(),
        };
        let names = clients.iter().map(named).collect();
        let race = new_race(arguments, TestedEnd::Client, names, cells);
        Ok(ClientCourse {
            arguments,
            clients,
            host,
            server,
            call,
            random: Rng::with_seed(race.seed),
            race,
            standing: Standing::default(),
            in_ticks_ns: vec![0; clients.len()],
            server_cpu_ns: 0,
            begin: Instant::now(),
            progress: RaceProgress::new(arguments),
        })
    }

    /// Runs it. Interrupted, it returns what was measured.
    ///
    /// # Errors
    /// A client failed, or nothing was measured before the interrupt.
    pub fn run(mut self) -> Result<Race, RaceEnd> {
        while !self.is_over() {
            let Some(round) = self.round()? else {
                break;
            };
            self.standing.push(&round).map_err(|error| {
                let name = self.clients[error.server()].name.clone();
                RaceRunError::Client(name, error.to_string())
            })?;
            self.standing.end_start();
            self.race.starts.push(vec![round]);
            self.progress.show(self.begin.elapsed(), &self.standing, &self.race);
        }
        self.progress.end(self.begin.elapsed(), &self.standing);
        if self.race.starts.is_empty() {
            return Err(RaceEnd::Interrupted);
        }
        let Self { host, arguments, in_ticks_ns, server_cpu_ns, .. } = &self;
        self.race.doubts =
            doubts::of_clients(host, &self.race, arguments, in_ticks_ns, *server_cpu_ns);
        Ok(self.race)
    }

    fn is_over(&self) -> bool {
        let is_narrow = self.arguments.until.is_some_and(|width| self.standing.is_within(width));
        let covers = self.standing.covers_starts();
        (is_narrow && covers) || self.begin.elapsed() >= self.arguments.budget()
    }

    /// A block in each cell, in random order. `None`: the user wants the race to end.
    fn round(&mut self) -> Result<Option<RaceRound>, RaceRunError> {
        let mut order: Vec<usize> = (0..self.race.cells.len()).collect();
        self.random.shuffle(&mut order);
        let mut blocks = Vec::new();
        for cell in order {
            let environment = self.call.in_cell(self.race.cells[cell]);
            let (host, clients, server) = (self.host, self.clients, &mut self.server);
            let (in_ticks, server_cpu_ns) = (&mut self.in_ticks_ns, &mut self.server_cpu_ns);
            let block = run_block(clients.len(), &mut self.random, |number| {
                let lap = run_client_lap(host, clients, number, &environment, server)?;
                Ok(lap.map(|ClientLap { client, in_ticks_ns, server_cpu_ns: used_ns }| {
                    in_ticks[number] += in_ticks_ns;
                    *server_cpu_ns += used_ns;
                    client
                }))
            })?;
            let Some(block) = block else {
                return Ok(None);
            };
            blocks.push((cell, block));
        }
        blocks.sort_unstable_by_key(|(cell, _)| *cell);
        Ok(Some(blocks.into_iter().map(|(_, block)| block).collect()))
    }
}

impl ContractCall {
    /// `cpus` is how many a client has. One call is made as in `cell`.
    fn new(
        arguments: &RaceArguments,
        (server, cell): (&RaceServer, RaceCell),
        cpus: u32,
        mut input: &[u8],
    ) -> Result<ContractCall, Failure> {
        let flags = arguments.load_flags(server.address(), cell);
        verify(server, &flags, input)?;
        let plan = LoadPlan::from_flags(&flags, &mut input, 1).map_err(Failure::unprepared)?;
        let of_contract = |call: &&GrpcCall| call.messages.len() == 1 && call.template.is_none();
        let Some(call) = plan.call.grpc().filter(of_contract) else {
            return Err(Failure::usage(
                "--client: all calls of the contract carry one message, and no template",
            ));
        };
        let request = RequestFile::write(&call.messages[0]).map_err(Failure::nothing_measured)?;
        let milliseconds = |time: Duration| u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
        let environment = Environment {
            cpus: Some(cpus),
            method: Some(call.path.trim_start_matches('/').to_owned()),
            request_file: Some(request.path()),
            target: Some(server.address().to_string()),
            warmup_ms: Some(milliseconds(arguments.warmup)),
            window_length: Some(WindowLength::Milliseconds(milliseconds(arguments.lap()))),
            deadline_ms: plan.timeout_ns.map(|timeout_ns| timeout_ns.div_ceil(1_000_000)),
            ..Environment::of(Role::Client)
        };
        Ok(ContractCall { environment, _request: request })
    }

    fn in_cell(&self, cell: RaceCell) -> Environment {
        Environment {
            connections: Some(cell.connections),
            concurrency: Some(cell.concurrency),
            ..self.environment.clone()
        }
    }
}

/// The server that all clients call: this program.
fn reference(arguments: &RaceArguments, host: &RaceHost) -> RaceServerSpec {
    let program = host.spawner.bookend.display().to_string().replace('\'', r"'\''");
    let threads = arguments.server_cpus;
    let command =
        format!("exec '{program}' serve --preset trusted --threads {threads} --port {{port}}");
    let start = RaceStart::Command { command, port: RacePort::Told, folder: PathBuf::from(".") };
    RaceServerSpec { name: SERVER.to_owned(), start }
}
