//! Races: two servers called by turns, and which of them needs less CPU time a call. With one
//! server, what it needs. Clients that call one server by turns are raced alike.
//!
//! Laps alternate in blocks of four, ABBA or BAAB by lot, so that whatever drifts slowly falls on
//! both alike. A round has one block for each [`RaceCell`] and yields one ratio. Two starts of one
//! program differ by more than its rounds do, so a race is made of starts, each of some rounds. The
//! confidence sequence of the logarithms of their ratios says when there are enough. What is
//! measured is kept whole, as [`RaceLap`]s.

mod dropped;
mod earlier;
mod functions;
mod held_rate;
mod kept;
mod lap;
mod standing;

pub use dropped::{DROPPED_ALWAYS, TooManyDropped};
pub use earlier::{EarlierRace, OverEarlier};
pub use functions::{FunctionCost, FunctionSamples, differing_functions};
pub use held_rate::RateNotHeld;
pub use kept::UnreadableRace;
pub use lap::{BLOCK_LAPS, Block, RaceLap, RaceRound, RatedCalls};
pub use standing::{ComparedFigure, RaceError, RaceVerdict, STARTS_MIN, Standing, is_within};

use crate::gate::{known_inverse, known_ratio};
use crate::suite::TestedEnd;
use bookend_contract::build_facts::BuildFacts;
use bookend_contract::gate::{Gate, JudgedGate};
use bookend_contract::machine::MachineFacts;
use bookend_contract::timestamp::Timestamp;
use serde::{Deserialize, Serialize};
use std::fmt;

/// A race and all its laps.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Race {
    /// Which end was raced: servers, or clients that called one server.
    #[serde(default, skip_serializing_if = "is_of_servers")]
    pub tested: TestedEnd,
    /// The servers, or clients, two or one; ratios are those of the second over the first.
    pub servers: Vec<RaceServerName>,
    /// The ways in which they were called.
    pub cells: Vec<RaceCell>,
    /// Calls a second that were made of each server in each cell, however many were in flight.
    /// `None`: as soon as others ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rps: Option<f64>,
    /// For how long calls were made in a lap, milliseconds.
    pub lap_ms: u64,
    /// Differences up to this share count as equal.
    pub margin: f64,
    /// The seed of the order of laps.
    pub seed: u64,
    /// What to doubt, a sentence each.
    pub doubts: Vec<String>,
    /// The functions in which the servers differ, where they were recorded. `None`: they were not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub functions: Option<Vec<FunctionCost>>,
    /// The rounds of each start of the servers, in the order in which they were run. The last one
    /// may have been cut short.
    pub starts: Vec<Vec<RaceRound>>,
    /// The machine on which it was run. `None`, as the next: before this was recorded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub machine: Option<MachineFacts>,
    /// The build of the command that made the calls.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub build: Option<BuildFacts>,
    /// The command, as a shell reads it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
    /// When it began.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub started: Option<Timestamp>,
    /// Rounds with a lap in which a server answered no call, or used no CPU time. They are in no
    /// figure but those of failed calls.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub dropped: Vec<RaceRound>,
}

/// Which server, or client.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RaceServerName {
    /// Its name.
    pub name: String,
    /// How it was started, or where it ran.
    pub command: String,
}

/// A way in which servers are called.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RaceCell {
    /// Connections to each server.
    pub connections: u32,
    /// Calls in flight over all of them.
    pub concurrency: u32,
}

impl fmt::Display for RaceCell {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "C={} S={}", self.connections, self.concurrency)
    }
}

fn is_of_servers(tested: &TestedEnd) -> bool {
    *tested == TestedEnd::Server
}

impl Race {
    /// Where the race stands after all its rounds.
    ///
    /// # Errors
    /// A server answered no call in a lap, or needed no CPU time.
    pub fn standing(&self) -> Result<Standing, RaceError> {
        self.standing_of(|round| Some(round.as_slice()))
    }

    /// The same for the cell of that number alone.
    ///
    /// # Errors
    /// As [`Race::standing`].
    pub fn standing_in(&self, cell: usize) -> Result<Standing, RaceError> {
        self.standing_of(|round| round.get(cell).map(std::slice::from_ref))
    }

    fn standing_of(
        &self,
        blocks: impl Fn(&RaceRound) -> Option<&[Block]>,
    ) -> Result<Standing, RaceError> {
        let mut standing = Standing::default();
        let last = self.starts.len().saturating_sub(1);
        // Starts become shorter where time runs out.
        let whole = self.starts.iter().take(last).map(Vec::len).min().unwrap_or(0);
        for (number, start) in self.starts.iter().enumerate() {
            start.iter().filter_map(&blocks).try_for_each(|round| standing.push(round))?;
            if number < last || start.len() >= whole {
                standing.end_start();
            }
        }
        Ok(standing)
    }

    /// Judges a condition on the ratio of calls per CPU-second: of the second server to the first,
    /// or of the first to the second where it names that. It has to be known for other starts as
    /// well; a client is started anew for each lap.
    ///
    /// # Errors
    /// As [`Race::standing`].
    pub fn judge(&self, gate: &Gate) -> Result<JudgedGate, RaceError> {
        let standing = self.standing()?;
        let covers_starts = standing.covers_starts() || self.tested == TestedEnd::Client;
        let interval = standing.verdict_interval().filter(|_| covers_starts);
        let is_of_first =
            self.servers.first().is_some_and(|server| server.name == gate.condition.figure);
        let mut judged = gate.judge(match is_of_first {
            true => known_inverse(standing.cost_ratio(), interval),
            false => known_ratio(standing.cost_ratio(), interval),
        });
        judged.measured += &self.failed_clause();
        Ok(judged)
    }

    /// All rounds, whatever their start.
    pub fn rounds(&self) -> impl Iterator<Item = &RaceRound> {
        self.starts.iter().flatten()
    }

    /// All laps of one server, in one cell or in all.
    fn laps(&self, server: usize, cell: Option<usize>) -> impl Iterator<Item = &RaceLap> {
        let is_chosen = move |number: usize| cell.is_none_or(|cell| cell == number);
        self.rounds()
            .flat_map(|round| round.iter().enumerate())
            .filter(move |(number, _)| is_chosen(*number))
            .flat_map(|(_, laps)| laps)
            .filter(move |lap| lap.server == server)
    }

    /// The sum over all laps of one server, in one cell or in all. Latencies have no sum.
    pub fn total(&self, server: usize, cell: Option<usize>) -> RaceLap {
        let zero = RaceLap { server, ok: 0, failed: 0, length_ns: 0, cpu_ns: 0, rated: None };
        self.laps(server, cell).fold(zero, |sum, lap| RaceLap {
            ok: sum.ok + lap.ok,
            failed: sum.failed + lap.failed,
            length_ns: sum.length_ns + lap.length_ns,
            cpu_ns: sum.cpu_ns + lap.cpu_ns,
            ..sum
        })
    }

    /// What a latency comes to in the mean of all laps of one server, in one cell or in all,
    /// nanoseconds: the geometric one, as ratios are of logarithms. `None`: calls were not made by
    /// a rate.
    pub fn mean_latency_ns(
        &self,
        server: usize,
        cell: Option<usize>,
        latency_ns: impl Fn(RatedCalls) -> u64,
    ) -> Option<f64> {
        let laps = self.laps(server, cell).filter_map(|lap| lap.rated);
        let (sum, laps) = laps
            .map(|rated| (latency_ns(rated).max(1) as f64).ln())
            .fold((0.0, 0), |(sum, laps), log| (sum + log, laps + 1));
        (laps > 0).then(|| (sum / f64::from(laps)).exp())
    }
}
