//! `--fail-if 'new<0.95'`: one server, one operator, one number.

use super::standing::Standing;
use std::str::FromStr;

/// A bound on the ratio of a server to the baseline, such as `new<0.95`. `FromStr` reads it.
#[derive(Clone, Debug, PartialEq)]
pub struct RaceGate {
    /// The server that must not be so.
    pub server: String,
    is_below: bool,
    bound: f64,
}

/// The text is no bound.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no bound: write one like new<0.95, a server's name, < or >, and a ratio")]
pub struct RaceGateError(String);

impl RaceGate {
    /// Whether it is shown that the ratio is beyond the bound: the whole interval is. `server` is
    /// the number of [`RaceGate::server`], and ratios are over the other one.
    pub fn is_shown(&self, standing: &Standing, server: usize) -> bool {
        let Some(interval) = standing.cost_interval() else {
            return false;
        };
        let (low, high) = match server {
            0 => (1.0 / interval.high, 1.0 / interval.low),
            _ => (interval.low, interval.high),
        };
        if self.is_below { high < self.bound } else { low > self.bound }
    }
}

impl FromStr for RaceGate {
    type Err = RaceGateError;

    fn from_str(text: &str) -> Result<Self, RaceGateError> {
        let error = || RaceGateError(text.to_owned());
        let (server, bound) = text.split_once(['<', '>']).ok_or_else(error)?;
        if server.trim().is_empty() {
            return Err(error());
        }
        let is_possible = |bound: &f64| bound.is_finite() && *bound > 0.0;
        let bound = bound.trim().parse().ok().filter(is_possible).ok_or_else(error)?;
        Ok(Self { server: server.trim().to_owned(), is_below: text.contains('<'), bound })
    }
}
