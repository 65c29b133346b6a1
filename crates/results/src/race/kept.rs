//! Races as they were kept, read again: by anybody, from a file that anybody may have written.

use super::standing::RaceError;
use super::{BLOCK_LAPS, Block, Race, RaceLap, RaceRound};
use bookend_contract::count::{self, TooMany};
use bookend_contract::input;
use thiserror::Error;

/// Why a text keeps no race.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum UnreadableRace {
    /// It is not the JSON of a race.
    #[error("it keeps no race: {0}")]
    Json(String),
    /// It is, and nobody has run such a race.
    #[error("it keeps a race that is damaged: {0}")]
    Damaged(&'static str),
    /// A lap yields no figure, and its round was not dropped.
    #[error("it keeps a race that is damaged: {0}")]
    Lap(#[from] RaceError),
    /// Its laps add up to more than is plausible.
    #[error("it keeps a race that is damaged: {0}")]
    TooMany(#[from] TooMany),
}

impl Race {
    /// Reads what was kept of a race. Every round that is not dropped yields figures.
    ///
    /// # Errors
    /// See [`UnreadableRace`].
    pub fn parse(text: &str) -> Result<Race, UnreadableRace> {
        let race: Race = serde_json::from_str(text)
            .map_err(|error| UnreadableRace::Json(input::reason(&error)))?;
        race.check_shape().map_err(UnreadableRace::Damaged)?;
        race.check_amounts()?;
        race.standing()?;
        Ok(race)
    }

    fn check_shape(&self) -> Result<(), &'static str> {
        if !(1..=2).contains(&self.servers.len()) {
            return Err("it has neither one server nor two");
        }
        if self.cells.is_empty() {
            return Err("its servers were called in no way");
        }
        if self.lap_ms == 0 {
            return Err("its laps have no length");
        }
        if !self.margin.is_finite() || self.margin < 0.0 {
            return Err("its margin is no share");
        }
        if self.rps.is_some_and(|rps| !rps.is_finite() || rps <= 0.0) {
            return Err("its rate is not a positive number");
        }
        if self.rounds().next().is_none() {
            return Err("it has no round");
        }
        match self.rounds().chain(&self.dropped).all(|round| self.has_its_laps(round)) {
            true => Ok(()),
            false => Err("a round does not have the laps of its servers in each of its cells"),
        }
    }

    /// Whether it has a block for each cell, in which each server has as many laps as the other.
    fn has_its_laps(&self, round: &RaceRound) -> bool {
        let servers = self.servers.len();
        let laps =
            |block: &[RaceLap], server| block.iter().filter(|lap| lap.server == server).count();
        let is_whole =
            |block: &Block| (0..servers).all(|server| laps(block, server) == BLOCK_LAPS / servers);
        round.len() == self.cells.len() && round.iter().all(is_whole)
    }

    /// Whether all laps add up, for each figure of theirs.
    fn check_amounts(&self) -> Result<(), TooMany> {
        let mut sums = [0_u64; 6];
        for lap in self.rounds().chain(&self.dropped).flatten().flatten() {
            let rated = lap.rated.unwrap_or_default();
            let amounts =
                [lap.ok, lap.failed, lap.length_ns, lap.cpu_ns, rated.due, rated.held_back];
            for (sum, amount) in sums.iter_mut().zip(amounts) {
                *sum = sum.checked_add(count::checked(amount)?).ok_or(TooMany)?;
            }
        }
        Ok(())
    }
}
