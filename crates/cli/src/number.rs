//! Numbers on the command line.

use std::str::FromStr;

/// A whole number, with an error that says so.
///
/// # Errors
/// When the text is something else, or too large for `N`.
pub fn whole<N: FromStr>(text: &str) -> Result<N, &'static str> {
    text.parse().map_err(|_| "not a whole number, or too large")
}
