//! `--slo` and `--fail-if` of the commands that compare: conditions on ratios of calls per
//! CPU-second.

use crate::terminal::Failure;
use bookend_contract::gate::{Bound, Condition, Gate, GateConditions, GateKind};
use clap::Args;

/// What a comparison has to show, or must not.
#[derive(Debug, Args)]
pub struct GateArguments {
    /// Conditions to show, such as "new>=0.97" (calls per CPU-second over those of the other); exit
    /// status 3 if not met, 6 if undecided; repeatable
    #[arg(long, value_name = "EXPR", help_heading = "Gates")]
    pub slo: Vec<GateConditions>,
    /// Conditions to fail on, such as "new<0.97"; exit status 3 if shown, 6 if undecided;
    /// repeatable
    #[arg(long, value_name = "EXPR", help_heading = "Gates")]
    pub fail_if: Vec<GateConditions>,
}

impl GateArguments {
    /// Each condition with what it is for.
    ///
    /// # Errors
    /// One is on a figure that is not among `figures`, or bounds it by a time.
    pub fn gates(&self, figures: &[&str]) -> Result<Vec<Gate>, Failure> {
        let of_kind = |kind, flags: &[GateConditions]| -> Vec<Gate> {
            let conditions = flags.iter().flat_map(|GateConditions(conditions)| conditions.clone());
            conditions.map(|condition| Gate { kind, condition }).collect()
        };
        let gates =
            [of_kind(GateKind::Slo, &self.slo), of_kind(GateKind::FailIf, &self.fail_if)].concat();
        gates.iter().try_for_each(|gate| check(gate.kind, &gate.condition, figures))?;
        Ok(gates)
    }
}

fn check(kind: GateKind, condition: &Condition, figures: &[&str]) -> Result<(), Failure> {
    let flag = match kind {
        GateKind::Slo => "--slo",
        GateKind::FailIf => "--fail-if",
    };
    let figure = condition.figure.as_str();
    if figures.is_empty() {
        let line = format!("{flag} {condition}: what is alone is compared with nothing");
        return Err(Failure::usage(line));
    }
    if !figures.contains(&figure) {
        let there_is = figures.join(", ");
        let line = format!("{flag} {condition}: `{figure}` is not compared: there is {there_is}");
        return Err(Failure::usage(line));
    }
    if matches!(condition.bound(), Bound::TimeNs(_)) || condition.bound().value() <= 0.0 {
        let line = format!("{flag} {condition}: a ratio has a bound like 0.97 or 97%");
        return Err(Failure::usage(line));
    }
    Ok(())
}
