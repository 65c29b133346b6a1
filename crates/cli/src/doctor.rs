//! `bookend doctor`: what is missing on this machine.

use crate::failure::Failure;

/// # Errors
/// Always, so far.
pub fn start() -> Result<u8, Failure> {
    Err(Failure::usage("not built yet"))
}
