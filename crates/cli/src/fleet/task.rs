//! What agents are told to do, and what they answer: the contents of the protocol's messages.

use crate::terminal::Failure;
use bookend_contract::fleet::ServerReport;
use bookend_load::capacity::Trial;
use bookend_load::flags::sent::SentFlags;
use bookend_load::plan::ReportedPlan;
use bookend_load::run::LoadOutcome;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use std::net::IpAddr;

/// What an agent is to prepare for.
#[derive(Debug, Serialize, Deserialize)]
pub enum Task {
    /// To make its share of the calls.
    Load(LoadTask),
    /// To start the server or to find it, and to count what it uses.
    Server(ServerTask),
}

/// A share of the calls of a run.
#[derive(Debug, Serialize, Deserialize)]
pub struct LoadTask {
    /// The flags of the run.
    pub flags: SentFlags,
    /// The seed of what is random, where the flags give none: every agent has the same.
    pub seed: u64,
    /// Which of the generators the agent is.
    pub number: u32,
    /// How many generators there are.
    pub of: u32,
    /// The trial that is made in the place of the run that the flags ask for.
    pub trial: Option<Trial>,
    /// Calls a second of an agent that only probes, in the place of the run's.
    pub probe_rate: Option<f64>,
    /// Whether targets on the loopback are on the coordinator's machine.
    pub servers_are_there: bool,
    /// Whether calls are made in laps, each when it is asked for.
    pub in_laps: bool,
}

/// A lap of a run.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct LapOrder {
    /// When it begins, nanoseconds of the agent's monotonic clock.
    pub begin_ns: u64,
    /// How long calls are made, milliseconds.
    pub length_ms: u64,
    /// Whether it belongs to the window, and not to the warm-up.
    pub counts: bool,
}

/// The server of a run.
#[derive(Debug, Serialize, Deserialize)]
pub struct ServerTask {
    /// The command line of the shell that starts it; `None`: it runs already.
    pub command: Option<String>,
    /// The port on which it listens.
    pub port: u16,
    /// An address from which calls come.
    pub caller: IpAddr,
    /// Length of the warm-up, nanoseconds.
    pub warmup_ns: u64,
    /// Length of the window, nanoseconds; `None`: the coordinator says when it is over.
    pub window_ns: Option<u64>,
}

/// An agent that makes calls is ready.
#[derive(Debug, Serialize, Deserialize)]
pub struct LoadReady {
    /// What a report says of the plan of all.
    pub plan: ReportedPlan,
    /// Calls of the window that are not counted, of all.
    pub calls_skipped: u64,
    /// Calls that it has made to get there: one that was verified, and those for the schema.
    pub preparing_calls: u64,
}

/// What an agent has to report.
#[derive(Debug, Serialize, Deserialize)]
pub enum AgentResult {
    /// Of its calls.
    Load(Box<LoadOutcome>),
    /// Of the server and its node.
    Server(Box<ServerReport>),
}

/// What the agent of that name has said.
///
/// # Errors
/// [`Failure`]: it is nothing that was asked for, which is a defect of ours.
pub fn understood<T: DeserializeOwned>(name: &str, content: &RawValue) -> Result<T, Failure> {
    serde_json::from_str(content.get()).map_err(|error| {
        Failure::nothing_measured(format!("agent {name} said what makes no sense: {error}"))
    })
}
