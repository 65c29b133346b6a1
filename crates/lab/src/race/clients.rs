//! The clients of a race: each lap is a run of its own, against a server that stays.

use super::client::{ClientLap, RaceClient, run_client_lap};
use super::contestants::Contestants;
use super::error::RaceRunError;
use super::host::RaceHost;
use super::server::RaceServer;
use bookend_contract::environment::Environment;
use bookend_results::race::RaceLap;

/// Clients that are raced.
#[derive(Debug)]
pub struct RaceClients<'a> {
    /// Where they run.
    pub host: &'a RaceHost,
    /// All of them.
    pub clients: &'a [RaceClient],
    /// What they call.
    pub server: RaceServer,
    /// What they are asked by the contract, in each cell.
    pub environments: Vec<Environment>,
    /// Of each client's CPU time, what is known in ticks alone, nanoseconds.
    pub in_ticks_ns: Vec<u64>,
    /// CPU time of the server in all laps, nanoseconds.
    pub server_cpu_ns: u64,
}

impl Contestants for RaceClients<'_> {
    fn count(&self) -> usize {
        self.clients.len()
    }

    /// Each lap starts its client.
    fn start(&mut self, _is_reversed: bool) -> Result<(), RaceRunError> {
        Ok(())
    }

    fn lap(&mut self, cell: usize, contestant: usize) -> Result<RaceLap, RaceRunError> {
        let (clients, environment) = (self.clients, &self.environments[cell]);
        let lap = run_client_lap(self.host, clients, contestant, environment, &mut self.server)?;
        let ClientLap { client, in_ticks_ns, server_cpu_ns } = lap;
        self.in_ticks_ns[contestant] += in_ticks_ns;
        self.server_cpu_ns += server_cpu_ns;
        Ok(client)
    }

    fn end_round(&mut self) {}

    fn failed(&self, contestant: usize, reason: String) -> RaceRunError {
        RaceRunError::Client(self.clients[contestant].name.clone(), reason)
    }
}
