//! Somebody who wants to know when a window begins and ends, and of whom.

use crate::cell_error::CellError;
use crate::process::Process;

/// Is told of one window. What it does costs the window time, so measured ones have none.
pub trait Observer {
    /// The window has begun; `under_test` is the process that is measured.
    ///
    /// # Errors
    /// What the row says instead.
    fn begins(&self, under_test: &Process) -> Result<(), CellError>;

    /// The window is over; the process still runs.
    ///
    /// # Errors
    /// What the row says instead.
    fn ends(&self) -> Result<(), CellError>;
}
