//! Numbers on the command line.

use std::str::FromStr;

/// Reads a whole number.
///
/// # Errors
/// When the text is not a whole number, or too large for `N`.
pub fn whole<N: FromStr>(text: &str) -> Result<N, &'static str> {
    text.parse().map_err(|_| "not a whole number, or too large")
}
