//! Why a race cannot be run, or go on. Each names the server or client whose fault it is.

use crate::perf::PerfUnavailable;
use crate::spawner::SpawnError;
use bookend_results::race::{RateNotHeld, TooManyDropped};
use std::io;
use std::net::SocketAddr;
use thiserror::Error;

/// Why a race cannot be run, or go on.
#[derive(Debug, Error)]
pub enum RaceRunError {
    /// A command was not started.
    #[error("{0} was not started: {1}")]
    Start(String, SpawnError),
    /// No port is free, or a control group cannot be made.
    #[error("{0} was not started: {1}")]
    Machine(String, io::Error),
    /// There is no such revision.
    #[error(
        "{0} is no commit of this repository: `git fetch` it, in a workflow by `fetch-depth: 0`, and \
         give a branch that is only there as origin/NAME"
    )]
    NoRevision(String),
    /// A revision could not be checked out or built.
    #[error("{0} failed: {1}")]
    NotBuilt(String, String),
    /// A server ended by itself; how, in its own words where it has any.
    #[error("{0} has ended: {1}")]
    Ended(String, String),
    /// A server does not accept connections.
    #[error("{0}")]
    NotReady(String),
    /// Something else listens on a server's port.
    #[error(
        "{0}: another process listens on port {1}, and no process of its command does; a command \
         that hands its server to another one, such as a container's daemon, cannot be measured"
    )]
    ForeignListener(String, u16),
    /// No process that we may look at listens there.
    #[error("{0}: no process of this machine that we may look at listens on {1}")]
    NoListener(String, SocketAddr),
    /// Such calls make no sense, whatever the servers do; the fault of the command line.
    #[error("{0}")]
    Usage(String),
    /// Such calls cannot be prepared.
    #[error("{0}")]
    Unprepared(String),
    /// Calls cannot be made any more.
    #[error("{0} cannot be called: {1}")]
    NotCalled(String, String),
    /// An agent that made calls was lost.
    #[error("{0}")]
    AgentLost(String),
    /// What the children of a server or client use before they end is lost.
    #[error(
        "{0} ignores how its children end (SIGCHLD), so what they use is in no account: let it wait \
         for them, or race it where control groups can be made, as root for example"
    )]
    LosesChildren(String),
    /// A client failed, and why.
    #[error("{0}: {1}")]
    Client(String, String),
    /// A client says that it cannot do what was asked for.
    #[error("{0} cannot do this: {1}")]
    Unsupported(String, String),
    /// The servers could not be recorded.
    #[error("no profile: {0}")]
    NotRecorded(String),
    /// Nothing can be recorded.
    #[error(transparent)]
    NoPerf(#[from] PerfUnavailable),
    /// There is a result, and it could not be written to its destination.
    #[error("{0}")]
    NotDelivered(String),
    /// Its figures would be those of another race.
    #[error(transparent)]
    RateNotHeld(#[from] RateNotHeld),
    /// There is nothing to compare.
    #[error(transparent)]
    TooManyDropped(#[from] TooManyDropped),
    /// The user wants the race to end.
    #[error("interrupted")]
    Interrupted,
}
