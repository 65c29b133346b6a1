//! Somebody who wants to know when a window begins and ends, and of whom.

use crate::process::Process;
use crate::stop::Stop;

/// Is told of one window. What it does costs the window time, so measured ones have none.
pub trait Observer {
    /// The window has begun; `under_test` is the process that is measured.
    ///
    /// # Errors
    /// What the row says instead.
    fn begins(&self, under_test: &Process) -> Result<(), Stop>;

    /// The window is over; the process still runs.
    ///
    /// # Errors
    /// What the row says instead.
    fn ends(&self) -> Result<(), Stop>;
}
