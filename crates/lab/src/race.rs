//! Races: servers that stay alive are called by turns, on the same CPUs; or clients call one server
//! by turns.
//!
//! A [`RaceServer`] is started by a command of the user's, or runs already; nothing is asked of it
//! but to listen. A [`RaceCaller`] makes the calls: the lab knows no protocol. [`run_lap`] reads
//! the servers' CPU time around each lap. A [`RaceClient`] speaks the contract, and is started for
//! each lap. [`run_block`] runs four laps.

mod client;
mod error;
mod host;
mod profile;
mod revision;
mod server;

pub use client::{ClientLap, RaceClient, RequestFile, run_client_lap};
pub use error::RaceRunError;
pub use host::RaceHost;
pub use profile::{RaceRecorder, RaceRecording};
pub use revision::Revisions;
pub use server::{PORT_WORD, RacePort, RaceServer, RaceServerSpec, RaceStart};

use bookend_results::race::{BLOCK_LAPS, Block, RaceLap, RatedCalls};
use fastrand::Rng;
use std::time::Duration;

/// What was called in a lap.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CalledLap {
    /// Calls that were answered OK.
    pub ok: u64,
    /// Calls that failed.
    pub failed: u64,
    /// From its start to the end of its last call, nanoseconds.
    pub length_ns: u64,
    /// When calls were made, where that was by a rate.
    pub rated: Option<RatedCalls>,
}

/// Makes the calls of laps.
pub trait RaceCaller {
    /// Calls the server of this number for `length`, then waits until no call is in flight.
    /// `None`: the user wants the race to end.
    ///
    /// # Errors
    /// No calls can be made any more, with the reason.
    fn call(&mut self, server: usize, length: Duration) -> Result<Option<CalledLap>, String>;
}

/// Runs one lap. `None`: the user wants the race to end.
///
/// # Errors
/// A server has ended, or cannot be called any more.
pub fn run_lap(
    servers: &mut [RaceServer],
    server: usize,
    caller: &mut impl RaceCaller,
    length: Duration,
) -> Result<Option<RaceLap>, RaceRunError> {
    let before_ns = servers[server].cpu_ns();
    let called = caller.call(server, length);
    // A server that has ended is why its calls failed, and says why.
    servers.iter().try_for_each(RaceServer::check)?;
    let lap = called.map_err(|reason| servers[server].not_called(reason))?;
    let cpu_ns = servers[server].cpu_ns().saturating_sub(before_ns);
    Ok(lap.map(|CalledLap { ok, failed, length_ns, rated }| RaceLap {
        server,
        ok,
        failed,
        length_ns,
        cpu_ns,
        rated,
    }))
}

/// Runs four laps of `contestants`, ABBA or BAAB by lot; AAAA where there is one. `None`: the user
/// wants the race to end.
///
/// # Errors
/// As `lap`, which runs the lap of that number.
pub fn run_block(
    contestants: usize,
    random: &mut Rng,
    mut lap: impl FnMut(usize) -> Result<Option<RaceLap>, RaceRunError>,
) -> Result<Option<Block>, RaceRunError> {
    let second = contestants - 1;
    let outer = if random.bool() { second } else { 0 };
    let inner = second - outer;
    let mut laps = [None; BLOCK_LAPS];
    for (place, contestant) in laps.iter_mut().zip([outer, inner, inner, outer]) {
        *place = lap(contestant)?;
        if place.is_none() {
            return Ok(None);
        }
    }
    let [Some(first), Some(second), Some(third), Some(fourth)] = laps else {
        return Ok(None);
    };
    Ok(Some([first, second, third, fourth]))
}
