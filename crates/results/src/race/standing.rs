//! The state of a race after its rounds and starts so far, and its verdict.
//!
//! A program may have two kinds of starts, a rare one among them. Where one start in ten is slower
//! by 6 %, eight starts have none of these in 43 of 100 races; their interval is narrow then and
//! leaves the mean out. It does so in 42 of 100 races at eight starts, in 8 after 24 and in 1 after
//! 60; where one in five is slower by 5 %, in 16, 3 and less than 1. An interval cannot know of
//! what was not seen. So a verdict asks for more: one more start, `STARTS_APART` from the mean to
//! either side, would not change it.
//!
//! In simulated races of sixty starts, with a look after each from the eighth on, the wrong server
//! was then better in at most 4 of 100 where the kinds are up to 5.5 % apart, whatever their shares
//! and however near the means, and in 6 of 100 where they are 6.4 % apart; by the interval alone in
//! up to 66. What it takes: 2 % between the means is found after 10 starts instead of 8, and 1 %
//! after 21 instead of 9, where starts are normal with a deviation of 0.7 %.

use super::lap::{BLOCK_LAPS, Block, RaceLap, RatedCalls};
use crate::statistics::{ALPHA, ConfidenceSequence, Interval, StartMeans};

/// Fewest starts for which an interval is reported. With five it would be four standard deviations
/// wide to either side, with eight it is one and a half.
pub const STARTS_MIN: u64 = 8;

/// How far a start may be from the others of its program, as a share: starts were seen 2 % above
/// their mean and 2 % below it.
const STARTS_APART: f64 = 0.04;

/// The ratios of the second server to the first; of one server, what its figures themselves are.
#[derive(Clone, Debug, Default)]
pub struct Standing {
    /// Of calls a CPU-second.
    cost: TrackedRatio,
    /// Of calls a second.
    rate: TrackedRatio,
    /// Of latencies from when calls were due, where they were made by a rate: of half of the calls.
    p50: TrackedRatio,
    /// And of 99 % of them.
    p99: TrackedRatio,
    /// Whether there is one server.
    is_alone: bool,
}

/// The ratios of one figure, as logarithms.
#[derive(Clone, Debug)]
struct TrackedRatio {
    rounds: ConfidenceSequence,
    /// Of whole starts.
    starts: ConfidenceSequence,
    /// The rounds of the start that has not ended.
    start: Vec<f64>,
    means: StartMeans,
}

impl Default for TrackedRatio {
    fn default() -> Self {
        Self {
            rounds: ConfidenceSequence::default(),
            starts: ConfidenceSequence::of_starts(),
            start: Vec::new(),
            means: StartMeans::default(),
        }
    }
}

impl TrackedRatio {
    fn push(&mut self, ratio: f64) {
        self.rounds.push(ratio);
        self.start.push(ratio);
    }

    fn end_start(&mut self) {
        if let Some(mean) = self.means.of_start(&self.start) {
            self.starts.push(mean);
        }
        self.start.clear();
    }

    /// Whether it is known of several starts, so that what is said holds for others as well.
    fn covers_starts(&self) -> bool {
        self.starts.count() > 1
    }

    fn sequence(&self) -> &ConfidenceSequence {
        if self.covers_starts() { &self.starts } else { &self.rounds }
    }

    fn ratio(&self) -> f64 {
        self.sequence().mean().exp()
    }

    /// The interval of the logarithm; `None` where there are too few values for one.
    fn interval(&self, alpha: f64) -> Option<Interval> {
        let has_enough = !self.covers_starts() || self.starts.count() >= STARTS_MIN;
        self.sequence().interval_of(alpha).filter(|_| has_enough)
    }

    /// The interval of the logarithm that a verdict is made by: where it is one of starts, it
    /// reaches as far as it would with one more start, [`STARTS_APART`] from the mean.
    fn verdict_interval(&self) -> Option<Interval> {
        let interval = self.interval(ALPHA)?;
        if !self.covers_starts() {
            return Some(interval);
        }
        let with_start_at = |distance: f64| {
            let mut starts = self.starts.clone();
            starts.push(starts.mean() + distance);
            starts.interval()
        };
        let (lower, higher) = (with_start_at(-STARTS_APART)?, with_start_at(STARTS_APART)?);
        Some(Interval { low: interval.low.min(lower.low), high: interval.high.max(higher.high) })
    }

    fn compared(&self) -> ComparedFigure {
        ComparedFigure { ratio: self.ratio(), interval: self.interval(ALPHA).map(ratios) }
    }
}

/// A figure of the second server over that of the first.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ComparedFigure {
    /// The ratio.
    pub ratio: f64,
    /// Its interval, which holds however often it is looked at.
    pub interval: Option<Interval>,
}

/// What a race says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RaceVerdict {
    /// The server of this number needs less CPU time a call.
    Better(usize),
    /// They differ by no more than the margin.
    Equivalent,
    /// Either may be better.
    Inconclusive,
}

/// Why a block yields no ratio.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RaceError {
    /// The server of this number answered no call in a lap.
    #[error("no call was answered in a lap")]
    NoCalls(usize),
    /// The server of this number used no CPU time: other processes answered.
    #[error("calls were answered, and its processes used no CPU time")]
    NoCpuTime(usize),
    /// A lap of the server of this number had no length: a client said that its window had none.
    #[error("calls were answered in a lap of no length")]
    NoLength(usize),
}

impl RaceError {
    /// Whose fault it is.
    pub fn server(self) -> usize {
        match self {
            RaceError::NoCalls(server)
            | RaceError::NoCpuTime(server)
            | RaceError::NoLength(server) => server,
        }
    }
}

impl Standing {
    /// Takes the next round: its blocks count alike.
    ///
    /// # Errors
    /// It yields no ratio.
    pub fn push(&mut self, round: &[Block]) -> Result<(), RaceError> {
        let laps = || round.iter().flatten();
        laps().try_for_each(check)?;
        let has_two = laps().any(|lap| lap.server == 1);
        self.is_alone = !has_two;
        let ratio = |figure: &dyn Fn(&RaceLap) -> f64| {
            let logarithms = laps().map(|lap| share(lap.server, has_two) * figure(lap).ln());
            logarithms.sum::<f64>() / round.len() as f64
        };
        self.cost.push(ratio(&RaceLap::calls_per_cpu_second));
        self.rate.push(ratio(&RaceLap::calls_per_second));
        if laps().all(|lap| lap.rated.is_some()) {
            let latency = |of: fn(RatedCalls) -> u64| {
                ratio(&|lap: &RaceLap| lap.rated.map_or(1.0, |rated| of(rated).max(1) as f64))
            };
            self.p50.push(latency(|rated| rated.p50_ns));
            self.p99.push(latency(|rated| rated.p99_ns));
        }
        Ok(())
    }

    /// The servers of the rounds so far have ended, after as many rounds as those of other starts.
    pub fn end_start(&mut self) {
        let Self { cost, rate, p50, p99, .. } = self;
        [cost, rate, p50, p99].into_iter().for_each(TrackedRatio::end_start);
    }

    /// The number of rounds.
    pub fn rounds(&self) -> u64 {
        self.cost.rounds.count()
    }

    /// The number of starts that have ended.
    pub fn starts(&self) -> u64 {
        self.cost.starts.count()
    }

    /// Whether the intervals are of starts, so that they hold for other starts as well. Those of a
    /// single start are of its rounds.
    pub fn covers_starts(&self) -> bool {
        self.cost.covers_starts()
    }

    /// Calls a CPU-second of the second server over those of the first.
    pub fn cost_ratio(&self) -> f64 {
        self.cost.ratio()
    }

    /// The interval of [`Standing::cost_ratio`], which holds however often it is looked at.
    pub fn cost_interval(&self) -> Option<Interval> {
        self.cost.compared().interval
    }

    /// Calls a second.
    pub fn rate(&self) -> ComparedFigure {
        self.rate.compared()
    }

    /// Latencies from when calls were due, of half of the calls and of 99 % of them, in the mean of
    /// all laps. `None`: calls were not made by a rate.
    pub fn latencies(&self) -> Option<[ComparedFigure; 2]> {
        let is_rated = self.p50.rounds.count() > 0;
        is_rated.then(|| [self.p50.compared(), self.p99.compared()])
    }

    /// The logarithm of [`Standing::cost_ratio`], and half of the width of its interval where that
    /// may be wrong in the share `alpha` of all races.
    pub fn log_cost(&self, alpha: f64) -> Option<(f64, f64)> {
        let interval = self.cost.interval(alpha)?;
        Some((self.cost.sequence().mean(), (interval.high - interval.low) / 2.0))
    }

    /// The verdict where differences up to the share `margin` count as equal. One more start of a
    /// kind that was not seen yet would not change it.
    pub fn verdict(&self, margin: f64) -> RaceVerdict {
        verdict_by(self.verdict_interval(), margin)
    }

    /// Whether there is no verdict only because one more start may change it.
    pub fn may_change(&self, margin: f64) -> bool {
        verdict_by(self.cost_interval(), margin) != self.verdict(margin)
    }

    /// The interval that [`Standing::verdict`] goes by; [`Standing::cost_interval`] is within it.
    pub fn verdict_interval(&self) -> Option<Interval> {
        self.cost.verdict_interval().map(ratios)
    }

    /// Whether the interval reaches no further than the share `width` to either side.
    ///
    /// One server alone needs the interval of half of the doubt: two such intervals make up the
    /// one of a comparison with another race, so a shorter race could be compared with none.
    pub fn is_within(&self, width: f64) -> bool {
        self.log_cost(self.alpha()).is_some_and(|(_, half)| half <= width)
    }

    /// How many times as much it takes in all as so far until [`Standing::is_within`] holds, if
    /// what comes differs as it did so far. `None` while there is no interval, or where it would
    /// take for ever.
    pub fn times_until(&self, width: f64) -> Option<f64> {
        self.cost.interval(self.alpha())?;
        let sequence = self.cost.sequence();
        Some(sequence.values_until(width, self.alpha())? as f64 / sequence.count() as f64)
    }

    fn alpha(&self) -> f64 {
        if self.is_alone { ALPHA / 2.0 } else { ALPHA }
    }
}

fn verdict_by(interval: Option<Interval>, margin: f64) -> RaceVerdict {
    match interval {
        Some(interval) if interval.low > 1.0 => RaceVerdict::Better(1),
        Some(interval) if interval.high < 1.0 => RaceVerdict::Better(0),
        Some(interval) if is_within(interval, margin) => RaceVerdict::Equivalent,
        Some(_) | None => RaceVerdict::Inconclusive,
    }
}

/// Whether all of it is nearer to 1 than the margin.
pub fn is_within(interval: Interval, margin: f64) -> bool {
    interval.low >= 1.0 / (1.0 + margin) && interval.high <= 1.0 + margin
}

/// What a lap counts in its block. Of two servers, each has half of the laps.
fn share(server: usize, has_two: bool) -> f64 {
    match (server, has_two) {
        (_, false) => 1.0 / BLOCK_LAPS as f64,
        (0, true) => -2.0 / BLOCK_LAPS as f64,
        (_, true) => 2.0 / BLOCK_LAPS as f64,
    }
}

fn check(lap: &RaceLap) -> Result<(), RaceError> {
    if lap.ok == 0 {
        return Err(RaceError::NoCalls(lap.server));
    }
    if lap.cpu_ns == 0 {
        return Err(RaceError::NoCpuTime(lap.server));
    }
    if lap.length_ns == 0 {
        return Err(RaceError::NoLength(lap.server));
    }
    Ok(())
}

fn ratios(logarithms: Interval) -> Interval {
    Interval { low: logarithms.low.exp(), high: logarithms.high.exp() }
}
