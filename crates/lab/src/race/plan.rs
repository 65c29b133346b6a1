//! What a race is to be.

use std::time::Duration;

/// What a race is to be, of servers or of clients.
#[derive(Clone, Debug, PartialEq)]
pub struct RacePlan {
    /// In how many ways the contestants call or are called.
    pub cells: usize,
    /// For how long calls are made in a lap.
    pub lap: Duration,
    /// For how long each server is called after every start before anything is measured.
    pub warmup: Duration,
    /// The time for everything, from when the first start is ready.
    pub budget: Duration,
    /// How narrow the interval is to become, as a share to either side; then the race is over.
    pub until: Option<f64>,
    /// How often everything is started anew.
    pub starts: RaceStarts,
}

/// How often the contestants of a race are started anew.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RaceStarts {
    /// Never.
    One,
    /// For each round: clients run once a lap.
    EachRound,
    /// That often; `None`: as often as the budget allows.
    Several(Option<u32>),
}
