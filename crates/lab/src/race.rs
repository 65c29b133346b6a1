//! Races: servers that stay alive are called by turns, on the same CPUs; or clients call one server
//! by turns.
//!
//! [`run_race`] is the course of both, and a [`RacePlan`] says what it is to be. A [`RaceServer`]
//! is started by a command of the user's, or runs already; nothing is asked of it but to listen.
//! [`RaceServers`] are called by processes of a [`LapCallerSpec`], in laps of the contract: the lab
//! knows no protocol. [`RaceClients`] speak the contract as well, and are started for each lap.
//! [`ContestantSpecs`] are read from the words of users.

mod clients;
mod contestant_specs;
mod contestants;
mod course;
mod doubts;
mod error;
mod host;
mod lap_callers;
mod plan;
mod profile;
mod progress;
mod revision;
mod schedule;
mod server;
mod servers;

pub use clients::{RaceClient, RaceClients, RequestFile};
pub use contestant_specs::ContestantSpecs;
pub use contestants::Contestants;
pub use course::{EndedRace, RaceView, run_race};
pub use error::RaceRunError;
pub use host::RaceHost;
pub use lap_callers::{LapCallerSpec, VerifyServer};
pub use plan::{RacePlan, RaceStarts};
pub use profile::RaceProfiler;
pub use progress::RaceProgress;
pub use revision::Revisions;
pub use server::{PORT_WORD, RacePort, RaceServer, RaceServerSpec, RaceStart};
pub use servers::RaceServers;
