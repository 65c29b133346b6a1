//! Which end limited a cell, over one round or several.

use crate::grouping::grouped;
use crate::round::MeasuredRound;
use crate::suite::Plan;
use bookend_contract::verdict::{Verdict, verdict};

/// The verdict on all rounds together.
pub(super) fn pooled_verdict(plan: &Plan, rounds: &[MeasuredRound<'_>]) -> Verdict {
    let used: f64 = rounds.iter().map(server_worked).sum();
    let given: f64 = rounds.iter().map(server_could).sum();
    let worked: f64 = rounds.iter().map(MeasuredRound::generator_worked).sum();
    let could: f64 = rounds.iter().map(MeasuredRound::generator_could).sum();
    verdict(used / given, worked / could, plan.handler_waits)
}

/// If rounds disagree on the verdict, the pooled verdict hides it, so the rounds are counted.
pub(super) fn disagreement(plan: &Plan, rounds: &[MeasuredRound<'_>]) -> Option<String> {
    let verdict = |round| pooled_verdict(plan, std::slice::from_ref(round));
    let mut groups = grouped(rounds.iter().map(|round| (verdict(round), ())));
    groups.sort_by_key(|(_, rounds)| std::cmp::Reverse(rounds.len()));
    let counts: Vec<String> =
        groups.iter().map(|(verdict, rounds)| format!("{} {verdict}", rounds.len())).collect();
    (counts.len() > 1).then(|| format!("rounds disagree: {}", counts.join(", ")))
}

/// NaN where it spins: its CPU time does not show how much work it did.
fn server_worked(round: &MeasuredRound<'_>) -> f64 {
    if round.window.spinning.server { f64::NAN } else { round.window.ends.server.cpu_seconds }
}

fn server_could(round: &MeasuredRound<'_>) -> f64 {
    round.window.window_seconds * round.window.ends.server.cpu_limit.unwrap_or_default()
}
