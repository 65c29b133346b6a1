//! Calls that wait for each other: so many in flight, and the rate that this gives.

use serde::Serialize;

/// A closed loop that was tried.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct ClosedLoop {
    /// Calls in flight.
    pub in_flight: u32,
    /// Calls a second that were answered OK.
    pub ok_per_second: f64,
}
