//! Which end limited a cell, over one round or several.

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
    let mut counts: Vec<(Verdict, usize)> = Vec::new();
    for round in rounds {
        let one = pooled_verdict(plan, std::slice::from_ref(round));
        match counts.iter_mut().find(|(verdict, _)| *verdict == one) {
            Some((_, count)) => *count += 1,
            None => counts.push((one, 1)),
        }
    }
    if counts.len() < 2 {
        return None;
    }
    counts.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    let said = counts.iter().map(|(verdict, count)| format!("{count} {verdict}"));
    Some(format!("rounds disagree: {}", said.collect::<Vec<_>>().join(", ")))
}

/// NaN where it spins: its CPU time does not show how much work it did.
fn server_worked(round: &MeasuredRound<'_>) -> f64 {
    if round.window.spinning.server { f64::NAN } else { round.window.server_cpu_seconds }
}

fn server_could(round: &MeasuredRound<'_>) -> f64 {
    round.window.window_seconds * round.window.server_cpu_limit
}
