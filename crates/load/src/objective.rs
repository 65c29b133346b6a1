//! What a run has to reach: `p99<20ms,errors<0.1%`.

use crate::contract::duration;
use crate::record::Latencies;
use crate::run::LoadOutcome;
use crate::summary;
use std::fmt;
use std::str::FromStr;

/// Conditions that a run has to meet, all of them.
#[derive(Clone, Debug, PartialEq)]
pub struct Objective {
    conditions: Vec<Condition>,
}

/// One condition.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Condition {
    figure: Figure,
    comparison: Comparison,
    /// Nanoseconds, calls, calls a second, or a share of one.
    bound: f64,
}

/// What is compared.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Figure {
    /// The latency that so many percent of the OK calls do not exceed.
    Percentile(f64),
    /// The mean latency of the OK calls.
    Mean,
    /// The longest latency of an OK call.
    Max,
    /// Calls that failed or, in an open loop, were due and never made.
    Errors,
    /// Their share of all calls.
    ErrorShare,
    /// Calls that ended a second.
    Rate,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Comparison {
    Below,
    AtMost,
    Above,
    AtLeast,
}

/// Longer operators before those that they begin with.
const COMPARISONS: [(&str, Comparison); 4] = [
    ("<=", Comparison::AtMost),
    (">=", Comparison::AtLeast),
    ("<", Comparison::Below),
    (">", Comparison::Above),
];

/// Why a text is no objective. Always the user's fault.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ObjectiveError {
    /// There is nothing to compare with.
    #[error("\"{0}\" compares nothing: write one like p99<20ms")]
    Comparison(String),
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
        /// The bound as given.
        bound: String,
        /// What it should look like.
        expected: &'static str,
    },
}

/// A condition that was not met.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Missed(String);

impl fmt::Display for Missed {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl Objective {
    /// The first condition that the run does not meet.
    ///
    /// # Errors
    /// [`Missed`] with the condition and what there was instead.
    pub fn check(&self, outcome: &LoadOutcome) -> Result<(), Missed> {
        self.conditions.iter().try_for_each(|condition| condition.check(outcome))
    }
}

impl fmt::Display for Objective {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (place, condition) in self.conditions.iter().enumerate() {
            let gap = if place > 0 { "," } else { "" };
            write!(formatter, "{gap}{condition}")?;
        }
        Ok(())
    }
}

impl FromStr for Objective {
    type Err = ObjectiveError;

    fn from_str(text: &str) -> Result<Self, ObjectiveError> {
        let conditions: Result<_, _> = text.split(',').map(|one| one.trim().parse()).collect();
        Ok(Self { conditions: conditions? })
    }
}

impl Condition {
    fn check(&self, outcome: &LoadOutcome) -> Result<(), Missed> {
        let Some(value) = self.figure.of(outcome) else {
            return Err(Missed(format!("{self} was not met: no call was answered OK")));
        };
        let is_met = match self.comparison {
            Comparison::Below => value < self.bound,
            Comparison::AtMost => value <= self.bound,
            Comparison::Above => value > self.bound,
            Comparison::AtLeast => value >= self.bound,
        };
        if is_met {
            return Ok(());
        }
        Err(Missed(format!("{self} was not met: it was {}", self.figure.written(value))))
    }
}

impl FromStr for Condition {
    type Err = ObjectiveError;

    fn from_str(text: &str) -> Result<Self, ObjectiveError> {
        let (name, comparison, bound) = COMPARISONS
            .into_iter()
            .find_map(|(operator, comparison)| {
                text.split_once(operator)
                    .map(|(figure, bound)| (figure.trim(), comparison, bound.trim()))
            })
            .ok_or_else(|| ObjectiveError::Comparison(text.to_owned()))?;
        let figure = Figure::of_name(name, bound.ends_with('%'))?;
        let bound = figure.bound(bound).ok_or_else(|| ObjectiveError::Bound {
            figure: name.to_owned(),
            bound: bound.to_owned(),
            expected: figure.expected(),
        })?;
        Ok(Self { figure, comparison, bound })
    }
}

impl fmt::Display for Condition {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let operator = COMPARISONS
            .into_iter()
            .find(|(_, known)| *known == self.comparison)
            .map_or("", |(operator, _)| operator);
        write!(formatter, "{}{operator}{}", self.figure, self.figure.written(self.bound))
    }
}

impl Figure {
    fn of_name(name: &str, is_share: bool) -> Result<Self, ObjectiveError> {
        let percentile = name.strip_prefix('p').and_then(|percent| percent.parse().ok());
        match name {
            _ if let Some(percent) =
                percentile.filter(|percent| (0.0..=100.0).contains(percent)) =>
            {
                Ok(Self::Percentile(percent))
            }
            "mean" | "average" => Ok(Self::Mean),
            "max" | "slowest" => Ok(Self::Max),
            "errors" if is_share => Ok(Self::ErrorShare),
            "errors" => Ok(Self::Errors),
            "rps" => Ok(Self::Rate),
            _ => Err(ObjectiveError::Figure(name.to_owned())),
        }
    }

    fn bound(self, text: &str) -> Option<f64> {
        let number = |text: &str| {
            let number = text.trim().parse().ok();
            number.filter(|number: &f64| number.is_finite() && *number >= 0.0)
        };
        match self {
            Self::Percentile(_) | Self::Mean | Self::Max => {
                duration::parse(text).ok().map(|time| time.as_nanos() as f64)
            }
            Self::ErrorShare => Some(number(text.strip_suffix('%')?)? / 100.0),
            Self::Errors | Self::Rate => number(text),
        }
    }

    fn expected(self) -> &'static str {
        match self {
            Self::Percentile(_) | Self::Mean | Self::Max => "it is a time like 20ms",
            Self::ErrorShare => "it is a share like 0.1%",
            Self::Errors => "it is a number of calls, or a share like 0.1%",
            Self::Rate => "it is a number of calls a second",
        }
    }

    /// `None` where there is nothing that it could be of.
    fn of(self, outcome: &LoadOutcome) -> Option<f64> {
        let latencies = outcome.latencies_to_report();
        let not_made: u64 = outcome
            .open_loop
            .iter()
            .flat_map(|calls| calls.not_made())
            .map(|(_, calls)| calls)
            .sum();
        let failed = (outcome.errors.total() + not_made) as f64;
        let of_latencies = |value: fn(&Latencies) -> u64| {
            (!latencies.histogram.is_empty()).then(|| value(latencies) as f64)
        };
        match self {
            Self::Percentile(percent) => of_latencies(|_| 0).map(|_| latencies.at(percent) as f64),
            Self::Mean => of_latencies(Latencies::mean_ns),
            Self::Max => of_latencies(|latencies| latencies.max_ns),
            Self::Errors => Some(failed),
            Self::ErrorShare => {
                let calls = outcome.ok as f64 + failed;
                (calls > 0.0).then(|| failed / calls)
            }
            Self::Rate => {
                let ended = (outcome.ok + outcome.errors.total()) as f64;
                (outcome.window_ns > 0).then(|| ended * 1e9 / outcome.window_ns as f64)
            }
        }
    }

    fn written(self, value: f64) -> String {
        match self {
            Self::Percentile(_) | Self::Mean | Self::Max => {
                summary::duration(value as u64).replace(' ', "")
            }
            Self::ErrorShare => format!("{}%", (value * 1e8).round() / 1e6),
            Self::Errors => value.to_string(),
            Self::Rate => format!("{value:.2}"),
        }
    }
}

impl fmt::Display for Figure {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Percentile(percent) => write!(formatter, "p{percent}"),
            Self::Mean => formatter.write_str("mean"),
            Self::Max => formatter.write_str("max"),
            Self::Errors | Self::ErrorShare => formatter.write_str("errors"),
            Self::Rate => formatter.write_str("rps"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bookend_wire::grpc::Code;

    fn outcome() -> LoadOutcome {
        let mut outcome = LoadOutcome { ok: 999, window_ns: 1_000_000_000, ..Default::default() };
        outcome.errors.add(Code::Internal, "no", 1);
        for latency_ms in 1..=100 {
            outcome.latencies.record(latency_ms * 1_000_000);
        }
        outcome
    }

    fn missed(text: &str) -> Option<String> {
        let objective: Objective = text.parse().unwrap_or_else(|error| panic!("{error}"));
        objective.check(&outcome()).err().map(|missed| missed.to_string())
    }

    #[test]
    fn what_is_met_is_met() {
        for text in [
            "p99<100ms",
            "p50 <= 51ms, p99.9<101ms",
            "mean<51ms,max<=100ms",
            "errors<=0.1%",
            "errors<2",
            "rps>999",
        ] {
            assert_eq!(missed(text), None, "{text}");
        }
    }

    #[test]
    fn what_is_missed_is_said_with_what_there_was() {
        let expected = "p99<20.00ms was not met: it was 99.";
        let said = missed("errors<1%,p99<20ms").unwrap();
        assert!(said.starts_with(expected), "{said}");
        assert_eq!(missed("errors<0.1%").unwrap(), "errors<0.1% was not met: it was 0.1%");
        assert_eq!(missed("rps>=2000").unwrap(), "rps>=2000.00 was not met: it was 1000.00");
    }

    #[test]
    fn without_an_answer_no_latency_is_low_enough() {
        let objective: Objective = "p99<1h".parse().unwrap();
        let missed = objective.check(&LoadOutcome::default()).unwrap_err();
        assert!(missed.to_string().contains("no call was answered OK"), "{missed}");
    }

    #[test]
    fn calls_that_were_never_made_are_errors() {
        use crate::record::{Obstacle, OpenLoopCalls};
        let mut outcome = outcome();
        let mut calls = OpenLoopCalls::default();
        calls.record_not_made(1_000, Obstacle::Generator);
        outcome.open_loop = Some(calls);
        let objective: Objective = "errors<1%".parse().unwrap();
        assert!(objective.check(&outcome).is_err());
    }

    #[test]
    fn what_is_no_objective_is_said() {
        for (text, said) in [
            ("p99", "compares nothing"),
            ("", "compares nothing"),
            ("p101<1ms", "no figure \"p101\""),
            ("speed>1", "no figure"),
            ("p99<20", "a time like 20ms"),
            ("p99<20%", "a time like"),
            ("errors<x", "number of calls"),
            ("rps>1ms", "calls a second"),
        ] {
            let error = text.parse::<Objective>().unwrap_err().to_string();
            assert!(error.contains(said), "{text}: {error}");
        }
    }
}
