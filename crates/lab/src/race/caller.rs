//! What makes the calls of a race of servers: the lab knows no protocol.

use super::error::RaceRunError;
use super::server::RaceServer;
use bookend_results::race::RatedCalls;
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
    /// Makes all connections to servers that have just been started.
    ///
    /// # Errors
    /// One does not answer, or such calls cannot be made.
    fn connect(&mut self, servers: &[RaceServer]) -> Result<(), RaceRunError>;

    /// Closes them: no server ends before the connections to it.
    fn disconnect(&mut self);

    /// Calls the server of this number as in this cell for `length`, then waits until no call is
    /// in flight. `None`: the user wants the race to end.
    ///
    /// # Errors
    /// No calls can be made any more, with the reason.
    fn call(
        &mut self,
        cell: usize,
        server: usize,
        length: Duration,
    ) -> Result<Option<CalledLap>, String>;
}
