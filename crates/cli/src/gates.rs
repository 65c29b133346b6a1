//! `--slo` and `--fail-if` of the commands that compare: conditions on ratios of calls per
//! CPU-second.

use crate::terminal::Failure;
use bookend_contract::gate::{Bound, Condition, Gate, GateConditions, GateKind};
use clap::Args;

/// What a comparison has to show, or must not.
#[derive(Debug, Args)]
pub struct GateArguments {
    /// What has to be shown, such as "new>=0.97", calls per CPU-second over those of the other,
    /// else the exit status is 3, or 6 where that is not decided; may be given again
    #[arg(long, value_name = "EXPR")]
    pub slo: Vec<GateConditions>,
    /// What must not be so, such as "new<0.97": the exit status is 3 if it is shown, and 6 where it
    /// is not decided; may be given again
    #[arg(long, value_name = "EXPR")]
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
