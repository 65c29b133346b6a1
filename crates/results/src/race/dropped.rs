//! Rounds that yield no ratio, because a server answered no call in a lap. They are in no figure,
//! and to leave them out without a word would flatter the server that failed.

use super::standing::{RaceError, Standing};
use super::{Race, RaceLap};
use crate::failed_share::FailedShare;
use thiserror::Error;

/// Rounds that may be dropped in any race, for others may need the CPUs for a lap or two.
pub const DROPPED_ALWAYS: usize = 2;

/// A larger share of rounds is no neighbour's work.
const DROPPED_SHARE_MAX: f64 = 0.1;

/// A server answered no call in the laps of too many rounds for a race to be about it.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{laps}: {calls} calls to it failed in these, so there is nothing to compare")]
pub struct TooManyDropped {
    laps: String,
    calls: u64,
}

impl Race {
    /// Whether enough rounds have an answer of every server in every lap: all but two, or all but
    /// one in ten.
    ///
    /// # Errors
    /// [`TooManyDropped`], with whose fault it is.
    pub fn check_dropped(&self) -> Result<(), TooManyDropped> {
        let most = DROPPED_SHARE_MAX * (self.dropped.len() + self.rounds().count()) as f64;
        if self.dropped.len() <= DROPPED_ALWAYS || self.dropped.len() as f64 <= most {
            return Ok(());
        }
        let worst = self.faults().into_iter().max_by_key(|(_, rounds)| *rounds);
        let Some((error, rounds)) = worst else {
            return Ok(());
        };
        let blocks = self.dropped.iter().flatten();
        let calls = blocks.flatten().filter(|lap| lap.server == error.server());
        Err(TooManyDropped {
            laps: self.fault_text(error, rounds),
            calls: calls.map(|lap| lap.failed).sum(),
        })
    }

    /// How many rounds were dropped, and why, if any were.
    pub fn dropped_line(&self) -> Option<String> {
        let faults =
            self.faults().into_iter().map(|(error, rounds)| self.fault_text(error, rounds));
        let texts: Vec<String> = faults.collect();
        (!texts.is_empty()).then(|| format!("{}; they are in no figure.", texts.join(", ")))
    }

    /// Calls that failed, in dropped rounds too; in one cell or in all.
    pub fn calls_failed(&self, server: usize, cell: Option<usize>) -> u64 {
        let dropped: u64 = self.dropped_laps(server, cell).map(|lap| lap.failed).sum();
        self.total(server, cell).failed + dropped
    }

    /// The share of its calls that failed, in dropped rounds too; in one cell or in all.
    pub fn failed_share(&self, server: usize, cell: Option<usize>) -> Option<FailedShare> {
        let dropped: u64 = self.dropped_laps(server, cell).map(|lap| lap.ok).sum();
        let ok = self.total(server, cell).ok + dropped;
        FailedShare::of_calls(self.calls_failed(server, cell), ok)
    }

    /// What follows a verdict where many calls failed: `, while 26.4 % of new's calls failed`.
    pub fn failed_clause(&self) -> String {
        let share = |server| self.failed_share(server, None);
        let named = self.servers.iter().enumerate();
        FailedShare::clause(named.map(|(number, server)| (share(number), server.name.clone())))
    }

    fn dropped_laps(&self, server: usize, cell: Option<usize>) -> impl Iterator<Item = &RaceLap> {
        let is_chosen = move |number: usize| cell.is_none_or(|cell| cell == number);
        let blocks = self.dropped.iter().flat_map(|round| round.iter().enumerate());
        let laps = blocks.filter(move |(number, _)| is_chosen(*number)).flat_map(|(_, laps)| laps);
        laps.filter(move |lap| lap.server == server)
    }

    /// Why rounds were dropped, and how many for each reason.
    fn faults(&self) -> Vec<(RaceError, usize)> {
        let mut faults: Vec<(RaceError, usize)> = Vec::new();
        let errors = self.dropped.iter().filter_map(|round| Standing::default().push(round).err());
        for error in errors {
            match faults.iter_mut().find(|(other, _)| *other == error) {
                Some((_, rounds)) => *rounds += 1,
                None => faults.push((error, 1)),
            }
        }
        faults
    }

    /// `3 of 31 rounds had a lap in which NAME answered no call`
    fn fault_text(&self, error: RaceError, rounds: usize) -> String {
        let all = self.dropped.len() + self.rounds().count();
        let name = &self.servers[error.server()].name;
        let what = match error {
            RaceError::NoCalls(_) => "answered no call",
            RaceError::NoCpuTime(_) => "used no CPU time",
            RaceError::NoLength(_) => "answered in no time",
        };
        format!("{rounds} of {all} rounds had a lap in which {name} {what}")
    }
}
