//! Whether the calls of a race by a rate could be made when they were due. Where they could not,
//! its figures are those of another race.

use super::{Race, RaceCell};
use crate::statistics::median_ns;
use crate::text::{precise_latency_text, rate_text};
use thiserror::Error;

/// Rounds that are enough to see that a rate is too high: then nearly all calls wait.
const ROUNDS_MIN: usize = 2;

/// A larger share of calls that had to wait is no neighbour's work.
const HELD_BACK_MAX: f64 = 0.1;

/// A generator that is later than this in the typical lap does not keep up. It sleeps between
/// calls, and is woken within a millisecond wherever it has its CPU for itself.
const LAG_MAX_NS: u64 = 10_000_000;

/// The rate of a race cannot be held.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum RateNotHeld {
    /// A server is slower than that.
    #[error(
        "{name} does not keep up with {} calls a second at {cell}: {:.0} % of them had to wait, \
         because {} were in flight. Give a lower --rps, or a larger -c", rate_text(*.rps),
        .share * 100.0, .cell.concurrency
    )]
    Server {
        /// Its name.
        name: String,
        /// Calls a second.
        rps: f64,
        /// How it was called.
        cell: RaceCell,
        /// The share of calls that could not be made when they were due.
        share: f64,
    },
    /// We are slower than that.
    #[error(
        "bookend itself does not keep up with {} calls a second at {cell} on this machine: they \
         were {} late. Give a lower --rps", rate_text(*.rps), precise_latency_text(*.lag_ns as f64)
    )]
    Generator {
        /// Calls a second.
        rps: f64,
        /// How servers were called.
        cell: RaceCell,
        /// How late calls were made, nanoseconds.
        lag_ns: u64,
    },
}

impl Race {
    /// Whether every server is called at the rate of the race, as far as that is known by now.
    ///
    /// # Errors
    /// [`RateNotHeld`], with whose fault it is.
    pub fn check_rate(&self) -> Result<(), RateNotHeld> {
        let Some(rps) = self.rps else {
            return Ok(());
        };
        if self.rounds().count() < ROUNDS_MIN {
            return Ok(());
        }
        for (number, cell) in self.cells.iter().enumerate() {
            for server in 0..self.servers.len() {
                self.check_rate_of(server, number, rps, *cell)?;
            }
        }
        Ok(())
    }

    fn check_rate_of(
        &self,
        server: usize,
        number: usize,
        rps: f64,
        cell: RaceCell,
    ) -> Result<(), RateNotHeld> {
        let lag_ns = self.lag_ns(server, Some(number));
        if lag_ns > LAG_MAX_NS {
            return Err(RateNotHeld::Generator { rps, cell, lag_ns });
        }
        let share = self.held_back_share(server, Some(number));
        if share > HELD_BACK_MAX {
            let name = self.servers[server].name.clone();
            return Err(RateNotHeld::Server { name, rps, cell, share });
        }
        Ok(())
    }

    /// The share of the calls due to one server, in one cell or in all, that had to wait or were
    /// never made. 0 where calls are not made by a rate.
    pub fn held_back_share(&self, server: usize, cell: Option<usize>) -> f64 {
        let rated = self.laps(server, cell).filter_map(|lap| lap.rated);
        let (due, held_back) = rated
            .fold((0, 0), |(due, held_back), rated| (due + rated.due, held_back + rated.held_back));
        held_back as f64 / due.max(1) as f64
    }

    /// The generator's own lag in the typical lap, nanoseconds.
    fn lag_ns(&self, server: usize, cell: Option<usize>) -> u64 {
        let rated = self.laps(server, cell).filter_map(|lap| lap.rated);
        median_ns(rated.map(|rated| rated.lag_ns)).unwrap_or(0)
    }
}
