//! A race that was kept, compared with what is measured now.

use super::Race;
use super::standing::RaceError;
use crate::failed_share::FailedShare;
use crate::statistics::{ALPHA, Interval};

/// A server of an earlier race, with which one of now is compared.
#[derive(Clone, Debug)]
pub struct EarlierRace {
    race: Race,
    server: usize,
}

/// Calls a CPU-second of now over those of the earlier race.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct OverEarlier {
    /// The ratio.
    pub ratio: f64,
    /// Its interval.
    pub interval: Interval,
}

impl EarlierRace {
    /// The server called `name` of `race`, or its last one. `None`: it was called in other ways
    /// than `now`, or has no server.
    pub fn of(race: Race, now: &Race) -> Option<Self> {
        let name = &now.servers.first()?.name;
        let server = race
            .servers
            .iter()
            .position(|server| server.name == *name)
            .or(race.servers.len().checked_sub(1))?;
        let how = |race: &Race| (race.cells.clone(), race.tested, race.rps);
        let is_alike = how(&race) == how(now);
        is_alike.then_some(Self { race, server })
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.race.servers[self.server].name
    }

    /// The share of its calls that failed. `None`: none did.
    pub fn failed_share(&self) -> Option<FailedShare> {
        self.race.failed_share(self.server, None)
    }

    /// The only server of `now` over it. They were not called by turns, so what the machine has
    /// done to each stays in the ratio: each has an interval of its own, and the widths add up.
    ///
    /// # Errors
    /// As [`Race::standing`].
    pub fn over(&self, now: &Race) -> Result<Option<OverEarlier>, RaceError> {
        let half = ALPHA / 2.0;
        let earlier = self.alone().standing()?.log_cost(half);
        let over = |((now, half_now), (earlier, half_earlier)): ((f64, f64), (f64, f64))| {
            let (difference, half) = (now - earlier, half_now + half_earlier);
            OverEarlier {
                ratio: difference.exp(),
                interval: Interval {
                    low: (difference - half).exp(),
                    high: (difference + half).exp(),
                },
            }
        };
        Ok(now.standing()?.log_cost(half).zip(earlier).map(over))
    }

    /// The race as if the other server had not run: two of its laps twice.
    fn alone(&self) -> Race {
        let mut race = self.race.clone();
        for block in race.starts.iter_mut().flatten().flatten() {
            let mut own = block
                .map(|lap| (lap.server == self.server).then_some(lap))
                .into_iter()
                .flatten()
                .cycle();
            for lap in block {
                *lap = own.next().map_or(*lap, |own| super::RaceLap { server: 0, ..own });
            }
        }
        race
    }
}
