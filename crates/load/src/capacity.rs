//! The highest rate of an open loop that keeps an objective, by search.
//!
//! First the server is asked by closed loops of more and more calls in flight, which says where to
//! search and how it scales ([`fit`]). Then rates are tried: half of the way between the
//! highest that kept the objective and the lowest that did not, until they are near each other. A
//! trial that misses the objective is repeated, and two of three decide, since machines have bad
//! moments. Where trials of a rate, or of rates in the wrong order, disagree, that is said.

mod trial;
mod usl;

pub use trial::{Trial, TrialLoad};
pub use usl::fit;

use crate::objective::Objective;
use crate::record::{Obstacle, OpenLoopCalls};
use crate::run::LoadOutcome;
use bookend_contract::capacity::{Capacity, ClosedLoop, RateTrial};
use bookend_contract::gate::GateOutcome;
use std::sync::atomic::{AtomicBool, Ordering};

/// How long a rate is tried, unless told otherwise, nanoseconds.
const TRIAL_NS: u64 = 2_000_000_000;
/// How long each number of calls in flight is tried, nanoseconds.
const SWEEP_NS: u64 = 700_000_000;
/// The most calls in flight of a closed loop.
const SWEEP_IN_FLIGHT_MAX: u32 = 1_024;
/// A closed loop whose rate falls below this share of the best one is beyond the peak.
const BEYOND_PEAK: f64 = 0.8;
/// The search is over when the rates on both sides are so near to each other.
const NEAR: f64 = 0.02;
/// Most rates that the search tries.
const RATES_MAX: usize = 16;
/// The first rates that are tried lie up to this factor above the best rate of a closed loop.
const ABOVE_CLOSED_LOOP: f64 = 1.3;
/// A server that refuses more of the calls than this keeps no rate, unless the objective says how
/// many may fail.
const ERRORS_ALLOWED: &str = "errors<=0.1%";
/// A generator that does not make this share of the calls that are due is the limit itself.
const GENERATOR_LATE: f64 = 0.001;

/// Searches the highest rate that keeps the objective: `run` makes a trial, of the plan's window or
/// shorter. `interrupt` ends the search early: what was found by then is returned.
///
/// # Errors
/// What `run` fails with.
pub fn find<E>(
    connections: u32,
    window_ns: Option<u64>,
    objective: &Objective,
    interrupt: &AtomicBool,
    run: impl FnMut(Trial) -> Result<LoadOutcome, E>,
) -> Result<Capacity, E> {
    let mut objective = objective.clone();
    if !objective.bounds_errors() {
        objective = objective.and(ERRORS_ALLOWED.parse().expect("it is a constant"));
    }
    let mut search = Search {
        run,
        connections,
        trial_ns: window_ns.unwrap_or(TRIAL_NS),
        objective: &objective,
        interrupt,
        trials: Vec::new(),
        late_rates: Vec::new(),
    };
    let closed_loops = search.closed_loops()?;
    let best = closed_loops.iter().map(|point| point.ok_per_second).fold(0.0, f64::max);
    let (kept_rate, missed_rate) = search.bisect(best * ABOVE_CLOSED_LOOP)?;
    search.trials.sort_by(|one, other| one.rate.total_cmp(&other.rate));
    Ok(Capacity {
        objective: objective.to_string(),
        kept_rate,
        kept_ok_per_second: kept_rate.and_then(|rate| ok_per_second(&search.trials, rate)),
        missed_rate,
        trials_disagree: disagreement(&search.trials),
        generator_was_limit: missed_rate.is_some_and(|rate| search.late_rates.contains(&rate)),
        agents: Vec::new(),
        trials: search.trials,
        fit: fit(&closed_loops),
        closed_loops,
    })
}

struct Search<'a, R> {
    /// Makes a trial.
    run: R,
    connections: u32,
    /// How long a rate is tried, nanoseconds.
    trial_ns: u64,
    objective: &'a Objective,
    interrupt: &'a AtomicBool,
    trials: Vec<RateTrial>,
    /// Rates that were missed because of the generator.
    late_rates: Vec<f64>,
}

impl<R, E> Search<'_, R>
where
    R: FnMut(Trial) -> Result<LoadOutcome, E>,
{
    /// Twice as many calls in flight each time, until that gives no higher rate.
    fn closed_loops(&mut self) -> Result<Vec<ClosedLoop>, E> {
        let mut points: Vec<ClosedLoop> = Vec::new();
        let mut in_flight = self.connections;
        while in_flight <= SWEEP_IN_FLIGHT_MAX && !self.interrupt.load(Ordering::Relaxed) {
            let window_ns = self.trial_ns.min(SWEEP_NS);
            let outcome = (self.run)(Trial { window_ns, load: TrialLoad::InFlight(in_flight) })?;
            if outcome.cancelled {
                break;
            }
            let ok_per_second = per_second(outcome.ok, &outcome);
            let best = points.iter().map(|point| point.ok_per_second).fold(0.0, f64::max);
            points.push(ClosedLoop {
                in_flight,
                ok_per_second,
                error_share: error_share(&outcome),
            });
            // One bad moment is no peak, and a fit needs its points.
            if points.len() >= usl::POINTS_MIN && ok_per_second < best * BEYOND_PEAK {
                break;
            }
            in_flight = in_flight.saturating_mul(2);
        }
        Ok(points)
    }

    /// The highest rate that kept the objective and the lowest that missed it, below `most`.
    fn bisect(&mut self, most: f64) -> Result<(Option<f64>, Option<f64>), E> {
        let (mut kept, mut missed) = (0.0, None);
        let mut rate = most / 2.0;
        for _ in 0..RATES_MAX {
            if rate < 1.0 || self.interrupt.load(Ordering::Relaxed) {
                break;
            }
            match self.keeps(rate)? {
                Some(true) => kept = rate,
                Some(false) => missed = Some(rate),
                None => break,
            }
            let above = missed.unwrap_or(most);
            if above - kept <= above * NEAR {
                break;
            }
            rate = f64::midpoint(kept, above);
        }
        Ok(((kept > 0.0).then_some(kept), missed))
    }

    /// Whether a rate keeps the objective. `None`: an interrupt came before that was decided.
    fn keeps(&mut self, rate: f64) -> Result<Option<bool>, E> {
        let mut kept = 0;
        for tried in 1..=3 {
            let Some(is_kept) = self.try_rate(rate)? else {
                return Ok(None);
            };
            kept += u32::from(is_kept);
            if kept > tried / 2 {
                return Ok(Some(true));
            }
            if tried - kept == 2 {
                break;
            }
        }
        Ok(Some(false))
    }

    /// Whether one trial of a rate keeps the objective; one that is interrupted says nothing.
    fn try_rate(&mut self, rate: f64) -> Result<Option<bool>, E> {
        let load = TrialLoad::Rate { per_second: rate, seed: fastrand::u64(..) };
        let outcome = (self.run)(Trial { window_ns: self.trial_ns, load })?;
        if outcome.cancelled {
            return Ok(None);
        }
        let unmet = self.objective.first_unmet(&outcome);
        let is_undecided =
            unmet.as_ref().is_some_and(|gate| gate.outcome == GateOutcome::NotDecided);
        // Of calls that were due, nothing but the generator's own lag leaves that open.
        let is_late = is_undecided && due(&outcome) > 0 || is_generator_late(&outcome);
        if is_late {
            self.late_rates.push(rate);
        }
        let missed = match unmet {
            _ if is_late => Some("the generator did not keep to the schedule".to_owned()),
            Some(_) if is_undecided => Some("no call was due".to_owned()),
            unmet => unmet.map(|gate| gate.to_string()),
        };
        let is_kept = missed.is_none();
        self.trials.push(trial(rate, &outcome, missed));
        Ok(Some(is_kept))
    }
}

fn trial(rate: f64, outcome: &LoadOutcome, missed: Option<String>) -> RateTrial {
    let latencies = outcome.latencies_to_report();
    let ok_per_second = per_second(outcome.ok, outcome);
    RateTrial {
        rate,
        ok_per_second,
        in_flight: ok_per_second * outcome.latencies.mean_ns() as f64 / 1e9,
        p50_ns: latencies.at(50.0),
        p99_ns: latencies.at(99.0),
        error_share: error_share(outcome),
        missed,
    }
}

/// The share of the calls that ended without OK.
fn error_share(outcome: &LoadOutcome) -> f64 {
    let failed = outcome.failed();
    let all = outcome.ok + failed;
    if all == 0 { 0.0 } else { failed as f64 / all as f64 }
}

fn due(outcome: &LoadOutcome) -> u64 {
    outcome.open_loop.as_ref().map_or(0, OpenLoopCalls::due)
}

fn is_generator_late(outcome: &LoadOutcome) -> bool {
    let due = due(outcome);
    let not_made = outcome.open_loop.iter().flat_map(|calls| calls.not_made());
    let late: u64 =
        not_made.filter(|(why, _)| *why == Obstacle::Generator).map(|(_, calls)| calls).sum();
    late as f64 > due as f64 * GENERATOR_LATE
}

/// Calls a second of a rate that were answered OK, in the mean of the trials that kept the
/// objective.
fn ok_per_second(trials: &[RateTrial], rate: f64) -> Option<f64> {
    let kept = trials.iter().filter(|trial| trial.rate == rate && trial.missed.is_none());
    let failed: Vec<f64> = kept.map(|trial| trial.error_share).collect();
    let share = failed.iter().sum::<f64>() / failed.len() as f64;
    (!failed.is_empty()).then_some(rate * (1.0 - share))
}

/// From the lowest rate of which a trial missed the objective to the highest of which one kept it,
/// where that is no lower: in between, trials disagree.
fn disagreement(trials: &[RateTrial]) -> Option<[f64; 2]> {
    let rates = |is_kept| {
        let of_outcome = move |trial: &&RateTrial| trial.missed.is_none() == is_kept;
        trials.iter().filter(of_outcome).map(|trial| trial.rate)
    };
    let (lowest_missed, highest_kept) =
        (rates(false).reduce(f64::min)?, rates(true).reduce(f64::max)?);
    (lowest_missed <= highest_kept).then_some([lowest_missed, highest_kept])
}

fn per_second(calls: u64, outcome: &LoadOutcome) -> f64 {
    if outcome.window_ns == 0 { 0.0 } else { calls as f64 * 1e9 / outcome.window_ns as f64 }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn trials(rates: &[(f64, bool)]) -> Vec<RateTrial> {
        let trial = |&(rate, is_kept): &(f64, bool)| RateTrial {
            rate,
            ok_per_second: rate,
            in_flight: 1.0,
            p50_ns: 1,
            p99_ns: 1,
            error_share: 0.04,
            missed: (!is_kept).then(|| "late".to_owned()),
        };
        rates.iter().map(trial).collect()
    }

    #[test]
    fn trials_disagree_where_a_lower_rate_missed_than_one_that_kept() {
        let between = |rates: &[(f64, bool)]| disagreement(&trials(rates));
        assert_eq!(between(&[(5.0, true), (7.0, true), (8.0, false)]), None);
        assert_eq!(between(&[(5.0, true), (8.0, false), (8.0, true)]), Some([8.0, 8.0]));
        let crossed = [(7.0, false), (7.0, true), (9.0, true), (18.0, false)];
        assert_eq!(between(&crossed), Some([7.0, 9.0]));
        assert_eq!((between(&[(7.0, false)]), between(&[])), (None, None));
    }

    #[test]
    fn refused_calls_are_no_capacity() {
        let trials = trials(&[(100.0, true), (200.0, false)]);
        assert_eq!(ok_per_second(&trials, 100.0), Some(96.0));
        assert_eq!(ok_per_second(&trials, 200.0), None);
    }
}
