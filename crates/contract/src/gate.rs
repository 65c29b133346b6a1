//! What a measurement has to reach, or must not: `--slo 'p99<20ms,errors<0.1%'` and
//! `--fail-if 'new<0.95'`.
//!
//! Every command has these two flags in one grammar and with one meaning. A condition compares a
//! figure with a bound, and a figure is known within a range: as wide as its interval, or a single
//! value. A condition holds where it holds in the whole range, and does not where it holds nowhere
//! in it; in between nothing is decided, and that is neither passed nor failed.

use crate::{duration, exit};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// A figure, an operator and a bound. `FromStr` reads `p99<20ms`.
#[derive(Clone, Debug, PartialEq)]
pub struct Condition {
    /// The figure's name; each command has its own.
    pub figure: String,
    comparison: Comparison,
    bound: Bound,
}

/// What a figure is compared with.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Bound {
    /// `0.95`.
    Number(f64),
    /// `0.1%`, as a share of one.
    Share(f64),
    /// `20ms`, nanoseconds.
    TimeNs(u64),
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

/// Why a text is no condition. Always the user's fault.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ConditionError {
    /// There is nothing to compare with.
    #[error("\"{0}\" compares nothing: write one like p99<20ms or new<0.95, with < <= > or >=")]
    Comparison(String),
    /// The bound is no number, share or time.
    #[error("\"{0}\" is no bound: write a number like 0.95, a share like 0.1% or a time like 20ms")]
    Bound(String),
}

impl FromStr for Condition {
    type Err = ConditionError;

    fn from_str(text: &str) -> Result<Self, ConditionError> {
        let no_comparison = || ConditionError::Comparison(text.to_owned());
        let start = text.find(['<', '>']).ok_or_else(no_comparison)?;
        let (figure, rest) = text.split_at(start);
        let (operator, comparison) = COMPARISONS
            .into_iter()
            .find(|(operator, _)| rest.starts_with(operator))
            .ok_or_else(no_comparison)?;
        let figure = figure.trim();
        if figure.is_empty() {
            return Err(no_comparison());
        }
        let bound = rest[operator.len()..].trim();
        Ok(Self { figure: figure.to_owned(), comparison, bound: bound.parse()? })
    }
}

impl FromStr for Bound {
    type Err = ConditionError;

    fn from_str(text: &str) -> Result<Self, ConditionError> {
        let number = |text: &str| {
            let number = text.trim_end().parse().ok();
            number.filter(|number: &f64| number.is_finite() && *number >= 0.0)
        };
        let share = || Some(Bound::Share(number(text.strip_suffix('%')?)? / 100.0));
        let time = || Some(Bound::TimeNs(duration::nanoseconds(duration::parse(text).ok()?)));
        let bound = number(text).map(Bound::Number).or_else(share).or_else(time);
        bound.ok_or_else(|| ConditionError::Bound(text.to_owned()))
    }
}

impl Condition {
    /// What the figure is compared with.
    pub fn bound(&self) -> Bound {
        self.bound
    }

    /// Whether it holds for a figure that is known to be from `low` to `high`, in the unit of the
    /// bound. `None`: it holds in a part of that.
    fn holds(&self, low: f64, high: f64) -> Option<bool> {
        let bound = self.bound.value();
        let (holds, fails) = match self.comparison {
            Comparison::Below => (high < bound, low >= bound),
            Comparison::AtMost => (high <= bound, low > bound),
            Comparison::Above => (low > bound, high <= bound),
            Comparison::AtLeast => (low >= bound, high < bound),
        };
        (holds || fails).then_some(holds)
    }
}

impl Bound {
    /// The number, the share of one, or nanoseconds.
    pub fn value(self) -> f64 {
        match self {
            Bound::Number(value) | Bound::Share(value) => value,
            Bound::TimeNs(time_ns) => time_ns as f64,
        }
    }
}

impl fmt::Display for Condition {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let operator = COMPARISONS
            .into_iter()
            .find(|(_, known)| *known == self.comparison)
            .map_or("", |(operator, _)| operator);
        write!(formatter, "{}{operator}{}", self.figure, self.bound)
    }
}

impl fmt::Display for Bound {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Bound::Number(number) => write!(formatter, "{number}"),
            // A share of one as binary fractions has it may be a last digit off.
            Bound::Share(share) => write!(formatter, "{}%", (share * 1e8).round() / 1e6),
            Bound::TimeNs(time_ns) => match time_ns {
                0..1_000 => write!(formatter, "{time_ns}ns"),
                1_000..1_000_000 => write!(formatter, "{}us", time_ns as f64 / 1e3),
                1_000_000..1_000_000_000 => write!(formatter, "{}ms", time_ns as f64 / 1e6),
                _ => write!(formatter, "{}s", time_ns as f64 / 1e9),
            },
        }
    }
}

/// Conditions with commas between them, as one flag takes them. `FromStr` reads
/// `p99<20ms,errors<0.1%`.
#[derive(Clone, Debug, PartialEq)]
pub struct GateConditions(pub Vec<Condition>);

impl FromStr for GateConditions {
    type Err = ConditionError;

    fn from_str(text: &str) -> Result<Self, ConditionError> {
        let conditions: Result<_, _> = text.split(',').map(|one| one.trim().parse()).collect();
        Ok(Self(conditions?))
    }
}

impl fmt::Display for GateConditions {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let conditions: Vec<String> = self.0.iter().map(Condition::to_string).collect();
        formatter.write_str(&conditions.join(","))
    }
}

/// What a condition is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum GateKind {
    /// `--slo`: it has to hold.
    Slo,
    /// `--fail-if`: it must not.
    FailIf,
}

/// A condition and what it is for.
#[derive(Clone, Debug, PartialEq)]
pub struct Gate {
    /// What it is for.
    pub kind: GateKind,
    /// The condition.
    pub condition: Condition,
}

/// What is known of a figure.
#[derive(Clone, Debug, PartialEq)]
pub struct KnownFigure {
    /// It is no less than this.
    pub low: f64,
    /// It is no more than this; infinite where it has no end.
    pub high: f64,
    /// The same for people: `99.6 ms`, `0.91 (0.90 to 0.93)`.
    pub text: String,
}

/// Whether a gate was passed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum GateOutcome {
    /// It was.
    Met,
    /// It is shown that it was not.
    Missed,
    /// Nothing is shown.
    NotDecided,
}

/// A gate with its outcome. `Display` is a line for people.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct JudgedGate {
    /// What the condition is for.
    pub kind: GateKind,
    /// The condition.
    pub condition: String,
    /// Whether it was passed.
    pub outcome: GateOutcome,
    /// What there was, or why nothing is known.
    pub measured: String,
}

impl Gate {
    /// Judges it by what is known of its figure, or by why nothing is.
    pub fn judge(&self, known: Result<KnownFigure, String>) -> JudgedGate {
        let holds =
            known.as_ref().ok().and_then(|known| self.condition.holds(known.low, known.high));
        let outcome = match (holds, self.kind) {
            (None, _) => GateOutcome::NotDecided,
            (Some(true), GateKind::Slo) | (Some(false), GateKind::FailIf) => GateOutcome::Met,
            (Some(false), GateKind::Slo) | (Some(true), GateKind::FailIf) => GateOutcome::Missed,
        };
        let measured = known.map_or_else(|why| why, |known| known.text);
        JudgedGate { kind: self.kind, condition: self.condition.to_string(), outcome, measured }
    }
}

impl fmt::Display for JudgedGate {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { condition, measured, .. } = self;
        match (self.outcome, self.kind) {
            (GateOutcome::NotDecided, _) => write!(
                formatter,
                "NOT DECIDED, exit status {}: {condition}: {measured}",
                exit::NOT_DECIDED
            ),
            (GateOutcome::Met, GateKind::Slo) => {
                write!(formatter, "{condition} was met: it was {measured}")
            }
            (GateOutcome::Missed, GateKind::Slo) => {
                write!(formatter, "{condition} was not met: it was {measured}")
            }
            (GateOutcome::Met, GateKind::FailIf) => {
                write!(formatter, "{condition} does not hold: it was {measured}")
            }
            (GateOutcome::Missed, GateKind::FailIf) => write!(
                formatter,
                "FAILED, exit status {}: {condition} holds: it was {measured}",
                exit::OBJECTIVE_MISSED
            ),
        }
    }
}

/// The exit status: a gate that was missed counts before one that was not decided.
pub fn exit_status(gates: &[JudgedGate]) -> u8 {
    let any = |outcome| gates.iter().any(|gate| gate.outcome == outcome);
    if any(GateOutcome::Missed) {
        exit::OBJECTIVE_MISSED
    } else if any(GateOutcome::NotDecided) {
        exit::NOT_DECIDED
    } else {
        exit::MEASURED
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judged(kind: GateKind, text: &str, low: f64, high: f64) -> GateOutcome {
        let condition = text.parse().unwrap_or_else(|error| panic!("{error}"));
        let known = KnownFigure { low, high, text: String::new() };
        Gate { kind, condition }.judge(Ok(known)).outcome
    }

    #[test]
    fn a_condition_is_decided_where_the_whole_range_lies_on_one_side() {
        use GateOutcome::{Met, Missed, NotDecided};
        for (text, low, high, outcome) in [
            ("new<0.95", 0.90, 0.94, Missed),
            ("new<0.95", 0.90, 0.95, NotDecided),
            ("new<=0.95", 0.90, 0.95, Missed),
            ("new<0.95", 0.95, 1.10, Met),
            ("new<=0.95", 0.95, 1.10, NotDecided),
            ("new>1.05", 1.06, 1.10, Missed),
            ("new>1.05", 0.90, 1.05, Met),
            ("new>1.05", 0.90, 1.10, NotDecided),
            ("new >= 1.05", 1.05, 1.10, Missed),
            ("new>=1.05", 0.90, 1.05, NotDecided),
        ] {
            assert_eq!(judged(GateKind::FailIf, text, low, high), outcome, "{text} {low} {high}");
            let opposite = match outcome {
                Met => Missed,
                Missed => Met,
                NotDecided => NotDecided,
            };
            assert_eq!(judged(GateKind::Slo, text, low, high), opposite, "{text} {low} {high}");
        }
        assert_eq!(judged(GateKind::Slo, "p99<1h", f64::INFINITY, f64::INFINITY), Missed);
    }

    #[test]
    fn what_is_not_known_is_not_decided_and_ends_with_a_status_of_its_own() {
        let gate = Gate { kind: GateKind::FailIf, condition: "new<0.95".parse().unwrap() };
        let judged = gate.judge(Err("there is no interval".to_owned()));
        let expected = "NOT DECIDED, exit status 6: new<0.95: there is no interval";
        assert_eq!(judged.to_string(), expected);
        let met = JudgedGate { outcome: GateOutcome::Met, ..judged.clone() };
        let missed = JudgedGate { outcome: GateOutcome::Missed, ..judged.clone() };
        assert_eq!(exit_status(&[met.clone(), judged.clone()]), exit::NOT_DECIDED);
        assert_eq!(exit_status(&[judged, missed]), exit::OBJECTIVE_MISSED);
        assert_eq!((exit_status(&[met]), exit_status(&[])), (exit::MEASURED, exit::MEASURED));
    }

    #[test]
    fn a_condition_is_written_as_it_is_read() {
        for text in ["p99<20ms", "p99.9<=1.5s", "errors<0.1%", "new>=0.95", "max>200us", "a<7ns"] {
            assert_eq!(text.parse::<Condition>().unwrap().to_string(), text);
        }
        let both: GateConditions = " p50 < 1ms , errors<= 2 ".parse().unwrap();
        assert_eq!(both.to_string(), "p50<1ms,errors<=2");
    }

    #[test]
    fn what_is_no_condition_is_answered_with_what_to_write() {
        for (text, said) in [
            ("", "compares nothing"),
            ("p99", "compares nothing"),
            ("<1", "compares nothing"),
            ("p99=1ms", "compares nothing"),
            ("p99<", "is no bound"),
            ("p99<x", "is no bound"),
            ("p99<nan", "is no bound"),
            ("p99<inf", "is no bound"),
            ("p99<-1", "is no bound"),
            ("p99<20 parsecs", "is no bound"),
            ("p99<1ms,", "compares nothing"),
        ] {
            let error = text.parse::<GateConditions>().unwrap_err().to_string();
            assert!(error.contains(said), "{text}: {error}");
        }
    }
}
