//! What a run has to reach, or must not: `p99<20ms,errors<0.1%`.
//!
//! A call that failed, was due and never made, or never came back has no latency: it counts as
//! slower than any bound. So does a call that was cut off when it had already been in flight for
//! longer than the bound.

use crate::record::{Latencies, OpenLoopCalls};
use crate::run::LoadOutcome;
use crate::summary;
use bookend_contract::gate::{
    Bound, Condition, ConditionError, Gate, GateConditions, GateKind, GateOutcome, JudgedGate,
    KnownFigure,
};
use std::fmt;
use std::str::FromStr;

/// Where the generator was late by more than this share of a bound, a latency that counts from when
/// calls were due says as much about it as about the server.
const LAG_SHARE_MAX: f64 = 0.5;

/// GateConditions on figures of a run. `FromStr` reads them.
#[derive(Clone, Debug, PartialEq)]
pub struct Objective {
    conditions: Vec<(Condition, Figure)>,
}

/// What is compared.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Figure {
    /// The latency that this percentage of the calls does not exceed.
    Percentile(f64),
    /// The mean latency.
    Mean,
    /// The longest latency.
    Max,
    /// Calls that failed, were due and never made, or never came back.
    Errors,
    /// Their share of all calls.
    ErrorShare,
    /// Calls that were answered OK a second.
    Rate,
}

/// Why a text is no objective. Always the user's fault.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ObjectiveError {
    /// It is no list of conditions.
    #[error(transparent)]
    Condition(#[from] ConditionError),
    /// A figure that does not exist.
    #[error(
        "there is no figure \"{0}\": there is p50, p99 and every other pN, mean, max, errors and rps"
    )]
    Figure(String),
    /// A bound that is not of the figure's kind.
    #[error("\"{bound}\" is no bound for {figure}: {expected}")]
    Bound {
        /// The figure.
        figure: String,
        /// The bound.
        bound: String,
        /// What it should look like.
        expected: &'static str,
    },
}

impl Objective {
    /// Judges every condition by what the run has measured.
    pub fn judge(&self, kind: GateKind, outcome: &LoadOutcome) -> Vec<JudgedGate> {
        let judge = |(condition, figure): &(Condition, Figure)| {
            let gate = Gate { kind, condition: condition.clone() };
            gate.judge(match outcome.cancelled {
                true => Err("the run was interrupted".to_owned()),
                false => figure.known(condition.bound(), outcome),
            })
        };
        self.conditions.iter().map(judge).collect()
    }

    /// The first condition that has to hold and was missed; where none was, the first that is not
    /// decided.
    pub fn first_unmet(&self, outcome: &LoadOutcome) -> Option<JudgedGate> {
        let judged = self.judge(GateKind::Slo, outcome);
        let first = |outcome| judged.iter().find(|gate| gate.outcome == outcome).cloned();
        first(GateOutcome::Missed).or_else(|| first(GateOutcome::NotDecided))
    }

    /// Whether it says how many calls may fail.
    pub fn bounds_errors(&self) -> bool {
        let is_of_errors = |(_, figure): &(Condition, Figure)| {
            matches!(figure, Figure::Errors | Figure::ErrorShare)
        };
        self.conditions.iter().any(is_of_errors)
    }

    /// The conditions of both.
    pub fn and(mut self, other: Self) -> Self {
        self.conditions.extend(other.conditions);
        self
    }
}

impl fmt::Display for Objective {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let conditions = self.conditions.iter().map(|(condition, _)| condition.clone());
        GateConditions(conditions.collect()).fmt(formatter)
    }
}

impl FromStr for Objective {
    type Err = ObjectiveError;

    fn from_str(text: &str) -> Result<Self, ObjectiveError> {
        let GateConditions(conditions) = text.parse()?;
        let of_run =
            |condition: Condition| Figure::of(&condition).map(|figure| (condition, figure));
        Ok(Self { conditions: conditions.into_iter().map(of_run).collect::<Result<_, _>>()? })
    }
}

impl Figure {
    /// The figure that a condition names, if its bound is of the same kind.
    fn of(condition: &Condition) -> Result<Self, ObjectiveError> {
        let (name, bound) = (condition.figure.as_str(), condition.bound());
        let percent = name.strip_prefix('p').and_then(|percent| percent.parse().ok());
        let figure = match (name, bound) {
            _ if let Some(percent) = percent.filter(|percent| (0.0..=100.0).contains(percent)) => {
                Self::Percentile(percent)
            }
            ("mean" | "average", _) => Self::Mean,
            ("max" | "slowest", _) => Self::Max,
            ("errors", Bound::Share(_)) => Self::ErrorShare,
            ("errors", _) => Self::Errors,
            ("rps", _) => Self::Rate,
            _ => return Err(ObjectiveError::Figure(name.to_owned())),
        };
        if figure.takes(bound) {
            return Ok(figure);
        }
        Err(ObjectiveError::Bound {
            figure: name.to_owned(),
            bound: bound.to_string(),
            expected: figure.expected(),
        })
    }

    fn takes(self, bound: Bound) -> bool {
        match self {
            Self::Percentile(_) | Self::Mean | Self::Max => {
                matches!(bound, Bound::TimeNs(_)) || bound == Bound::Number(0.0)
            }
            Self::ErrorShare => matches!(bound, Bound::Share(_)),
            Self::Errors | Self::Rate => matches!(bound, Bound::Number(_)),
        }
    }

    fn expected(self) -> &'static str {
        match self {
            Self::Percentile(_) | Self::Mean | Self::Max => "it is a time like 20ms",
            Self::ErrorShare | Self::Errors => "it is a number of calls, or a share like 0.1%",
            Self::Rate => "it is a number of calls a second",
        }
    }

    /// What the run has measured of it, where it is compared with that bound; or why nothing.
    fn known(self, bound: Bound, outcome: &LoadOutcome) -> Result<KnownFigure, String> {
        let calls = (outcome.ok + outcome.failed()) as f64;
        let value = match self {
            Self::Percentile(_) | Self::Mean | Self::Max => {
                return self.known_latency(bound.value(), outcome);
            }
            Self::Errors => outcome.failed() as f64,
            Self::ErrorShare if calls == 0.0 => return Err("no call ended".to_owned()),
            Self::ErrorShare => outcome.failed() as f64 / calls,
            Self::Rate if outcome.window_ns == 0 => return Err("no time has passed".to_owned()),
            Self::Rate => outcome.ok as f64 * 1e9 / outcome.window_ns as f64,
        };
        let text = match self {
            Self::ErrorShare => Bound::Share(value).to_string(),
            Self::Rate => format!("{value:.2}"),
            _ => value.to_string(),
        };
        Ok(KnownFigure { low: value, high: value, text })
    }

    fn known_latency(self, bound_ns: f64, outcome: &LoadOutcome) -> Result<KnownFigure, String> {
        let failed = outcome.failed_or_longer_than(bound_ns as u64);
        let latencies = outcome.latencies_to_report();
        let Some(high) = self.latency_ns(latencies, outcome.ok, failed)? else {
            let all = outcome.ok + failed;
            let text = format!("without an end, since {failed} of {all} calls have no answer");
            return Ok(KnownFigure { low: f64::INFINITY, high: f64::INFINITY, text });
        };
        let from_start = self.latency_ns(&outcome.latencies, outcome.ok, failed)?.unwrap_or(high);
        let lag_ns = outcome.open_loop.as_ref().map_or(0, |calls| self.lag_ns(calls));
        let stop_ns = if self == Self::Max { outcome.stops.longest_ns } else { 0 };
        let (late_ns, low) = (lag_ns.max(stop_ns), from_start.min(high.saturating_sub(stop_ns)));
        let written = |time_ns: u64| summary::duration(time_ns).replace(' ', "");
        if late_ns as f64 <= bound_ns * LAG_SHARE_MAX || low >= high {
            return Ok(KnownFigure { low: high as f64, high: high as f64, text: written(high) });
        }
        let (low_text, high_text, late) = (written(low), written(high), written(late_ns));
        let text = format!("{low_text} to {high_text}: this generator was up to {late} late");
        Ok(KnownFigure { low: low as f64, high: high as f64, text })
    }

    /// The figure where `failed` calls in addition to those that were answered OK took longer than
    /// any bound. `None`: it has no end.
    fn latency_ns(
        self,
        latencies: &Latencies,
        ok: u64,
        failed: u64,
    ) -> Result<Option<u64>, String> {
        let all = ok + failed;
        if all == 0 {
            return Err("no call ended".to_owned());
        }
        Ok(match self {
            Self::Percentile(percent) if failed == 0 => Some(latencies.at(percent)),
            Self::Percentile(percent) => {
                let rank = (all as f64 * percent / 100.0).ceil().max(1.0);
                // Half a rank below it, so that no rounding makes it the next one.
                (rank <= ok as f64).then(|| latencies.at((rank - 0.5) / ok as f64 * 100.0))
            }
            Self::Mean => (failed == 0).then(|| latencies.mean_ns()),
            _ => (failed == 0).then_some(latencies.max_ns),
        })
    }

    /// How late the generator was, in the calls that the figure is of.
    fn lag_ns(self, calls: &OpenLoopCalls) -> u64 {
        match self {
            Self::Percentile(percent) => calls.lag.at(percent),
            Self::Mean => calls.lag.mean_ns(),
            _ => calls.lag.max_ns,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::{InFlightAges, Obstacle};
    use bookend_contract::generator_stops::STOP_MIN_NS;
    use bookend_wire::grpc::Code;

    const MS: u64 = 1_000_000;

    /// 100 calls of 1 to 100 ms, in an open loop that was never late.
    fn outcome() -> LoadOutcome {
        let mut outcome = LoadOutcome { ok: 100, window_ns: 1_000 * MS, ..Default::default() };
        let mut open_loop = OpenLoopCalls::default();
        for latency_ms in 1..=100 {
            outcome.latencies.record(latency_ms * MS);
            open_loop.from_intended.record(latency_ms * MS);
        }
        outcome.open_loop = Some(open_loop);
        outcome
    }

    fn judged(text: &str, outcome: &LoadOutcome) -> JudgedGate {
        let objective: Objective = text.parse().unwrap_or_else(|error| panic!("{error}"));
        let judged = objective.judge(GateKind::Slo, outcome);
        assert_eq!(judged.len(), 1);
        judged.into_iter().next().unwrap()
    }

    #[track_caller]
    fn assert_all(outcome: &LoadOutcome, expected: GateOutcome, conditions: &[&str]) {
        for text in conditions {
            let judged = judged(text, outcome);
            assert_eq!(judged.outcome, expected, "{judged}");
        }
    }

    #[test]
    fn what_is_met_is_met_and_what_is_missed_is_said_with_what_there_was() {
        let outcome = outcome();
        let met = ["p99<100ms", "p50 <= 51ms", "mean<51ms", "max<=100ms", "errors<1", "rps>99"];
        assert_all(&outcome, GateOutcome::Met, &met);
        let said = judged("p99<20ms", &outcome).to_string();
        assert_eq!(said, "p99<20ms was not met: it was 99.00ms");
        let said = judged("rps>=2000", &outcome).to_string();
        assert_eq!(said, "rps>=2000 was not met: it was 100.00");
    }

    #[test]
    fn a_call_that_failed_is_slower_than_any_bound() {
        let mut outcome = outcome();
        outcome.errors.add(Code::ResourceExhausted, "no", 3);
        assert_all(&outcome, GateOutcome::Met, &["p97<101ms", "errors<3%", "errors<=3", "rps>99"]);
        let missed = ["p98<1h", "p99<1h", "max<1h", "mean<1h", "errors<2.5%", "rps>100"];
        assert_all(&outcome, GateOutcome::Missed, &missed);
        let said = judged("p99<1h", &outcome).to_string();
        assert!(said.contains("3 of 103 calls have no answer"), "{said}");
        let nothing = LoadOutcome { ok: 0, latencies: Latencies::default(), ..outcome };
        assert_all(&nothing, GateOutcome::Missed, &["p0<1h", "p50<1h", "errors<99%", "rps>0"]);
    }

    #[test]
    fn a_call_that_was_never_made_is_slower_than_any_bound() {
        let mut outcome = outcome();
        for obstacle in Obstacle::ALL {
            outcome.open_loop.as_mut().unwrap().record_not_made(1, obstacle);
        }
        assert_all(&outcome, GateOutcome::Missed, &["p97<1h", "max<1h", "errors<1%"]);
        assert_all(&outcome, GateOutcome::Met, &["p96<101ms", "errors<4%"]);
    }

    #[test]
    fn a_call_that_never_came_back_is_slower_than_any_bound() {
        let stopped = InFlightAges::at(2_000 * MS, std::iter::repeat_n(1, 100));
        let outcome = LoadOutcome { unanswered: stopped, ..outcome() };
        assert_all(&outcome, GateOutcome::Missed, &["p51<1h", "errors<49%", "max<1h"]);
        assert_all(&outcome, GateOutcome::Met, &["p50<101ms", "errors<=50%"]);
        // A server that is as slow as this may answer yet.
        let slow = InFlightAges::at(100 * MS, std::iter::repeat_n(1, 100));
        let outcome = LoadOutcome { unanswered: slow, ..outcome };
        assert_all(&outcome, GateOutcome::Met, &["p99<100ms", "errors<1", "max<101ms"]);
        let late = LoadOutcome { failed_after_window: 100, ..outcome };
        assert_all(&late, GateOutcome::Missed, &["p51<1h", "errors<49%"]);
    }

    #[test]
    fn a_call_that_was_cut_off_when_it_was_older_than_the_bound_is_slower_than_it() {
        let old = InFlightAges::at(60 * MS, std::iter::repeat_n(1, 100));
        let outcome = LoadOutcome { in_flight_at_end: old, ..outcome() };
        assert_all(&outcome, GateOutcome::Missed, &["p50<50ms"]);
        assert_all(&outcome, GateOutcome::Met, &["p50<60ms", "errors<1"]);
    }

    #[test]
    fn a_streaming_call_may_go_on() {
        let ages = || InFlightAges::at(2_000 * MS, std::iter::repeat_n(1, 100));
        let (in_flight_at_end, unanswered) = (ages(), ages());
        let streams = Some(Box::default());
        let outcome = LoadOutcome { in_flight_at_end, unanswered, streams, ..outcome() };
        assert_all(&outcome, GateOutcome::Met, &["max<101ms", "errors<1"]);
    }

    #[test]
    fn what_the_generator_added_is_not_held_against_the_server() {
        let mut outcome = outcome();
        let mut calls = OpenLoopCalls::default();
        for latency_ms in 1..=100 {
            calls.from_intended.record((latency_ms + 60) * MS);
            calls.record_made(0, 60 * MS, false);
        }
        outcome.open_loop = Some(calls);
        assert_all(&outcome, GateOutcome::NotDecided, &["p99<110ms", "max<110ms", "mean<60ms"]);
        assert_all(&outcome, GateOutcome::Missed, &["p99<99ms", "p50<20ms"]);
        assert_all(&outcome, GateOutcome::Met, &["p99<161ms"]);
        let said = judged("p99<110ms", &outcome).to_string();
        let expected = ": 99.00ms to 159.00ms: this generator was up to 60.00ms late";
        assert!(said.ends_with(expected), "{said}");
        let first_unmet = |text: &str, outcome: &LoadOutcome| {
            let objective: Objective = text.parse().unwrap();
            objective.first_unmet(outcome).map(|gate| (gate.condition, gate.outcome))
        };
        let both = "p99<110ms,errors<1";
        let undecided = Some(("p99<110ms".to_owned(), GateOutcome::NotDecided));
        assert_eq!(first_unmet(both, &outcome), undecided);
        outcome.errors.add(Code::Unavailable, "no", 1);
        let missed = Some(("errors<1".to_owned(), GateOutcome::Missed));
        assert_eq!(first_unmet(both, &outcome), missed, "that is not the generator's");
    }

    #[test]
    fn the_longest_latency_may_be_a_stop_of_the_generator() {
        let mut outcome = LoadOutcome { open_loop: None, ..outcome() };
        outcome.stops.woken(0, 95 * MS + STOP_MIN_NS);
        outcome.latencies.record(250 * MS);
        outcome.ok += 1;
        assert_all(&outcome, GateOutcome::NotDecided, &["max<100ms"]);
        assert_all(&outcome, GateOutcome::Missed, &["max<50ms", "p99<20ms"]);
        assert_all(&outcome, GateOutcome::Met, &["max<300ms", "p99<101ms"]);
    }

    #[test]
    fn a_run_that_was_interrupted_or_measured_nothing_decides_nothing() {
        let interrupted = LoadOutcome { cancelled: true, ..outcome() };
        assert_all(&interrupted, GateOutcome::NotDecided, &["p99<1h", "errors<1", "rps>1000"]);
        let nothing = LoadOutcome::default();
        assert_all(&nothing, GateOutcome::NotDecided, &["p99<1h", "errors<1%", "rps>1"]);
    }

    #[test]
    fn what_is_no_objective_is_said() {
        for (text, said) in [
            ("p99", "compares nothing"),
            ("p101<1ms", "no figure \"p101\""),
            ("speed>1", "no figure"),
            ("p99<20", "a time like 20ms"),
            ("p99<20%", "a time like"),
            ("errors<20ms", "number of calls"),
            ("errors<x", "is no bound"),
            ("rps>1ms", "calls a second"),
        ] {
            let error = text.parse::<Objective>().unwrap_err().to_string();
            assert!(error.contains(said), "{text}: {error}");
        }
    }
}
