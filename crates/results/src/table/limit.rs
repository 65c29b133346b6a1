//! Who was the limit of a cell, over one round or several.

use super::round::Round;
use crate::suite::Plan;
use bookend_contract::verdict::{Verdict, verdict};

/// The verdict on all rounds together.
pub(super) fn pooled_verdict(plan: &Plan, rounds: &[Round<'_>]) -> Verdict {
    let used: f64 = rounds.iter().map(server_worked).sum();
    let given: f64 = rounds.iter().map(server_could).sum();
    verdict(used / given, generator_busy(rounds), plan.handler_waits)
}

/// The share of its time in which the generator did work: as it says itself, else its CPU time
/// over what its threads, on the CPUs that it was pinned to, could have given; for a client under
/// test over what it was allowed.
pub(super) fn generator_busy(rounds: &[Round<'_>]) -> f64 {
    let worked: f64 = rounds.iter().map(generator_worked).sum();
    let could: f64 = rounds.iter().map(generator_could).sum();
    worked / could
}

/// A verdict on the pooled rounds can hide that they disagree; then the rounds are counted.
pub(super) fn disagreement(plan: &Plan, rounds: &[Round<'_>]) -> Option<String> {
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
    let said = counts
        .iter()
        .map(|(verdict, count)| format!("{count} {verdict}"));
    Some(format!(
        "rounds disagree: {}",
        said.collect::<Vec<_>>().join(", ")
    ))
}

/// Not a number where it spins: then nobody knows how much of its CPU time was work.
fn server_worked(round: &Round<'_>) -> f64 {
    match round.measurement.spinning.server {
        true => f64::NAN,
        false => round.measurement.server_cpu_seconds,
    }
}

fn server_could(round: &Round<'_>) -> f64 {
    round.measurement.window_seconds * round.measurement.server_cpu_limit
}

fn generator_worked(round: &Round<'_>) -> f64 {
    let measurement = round.measurement;
    let used = match measurement.spinning.generator {
        true => f64::NAN,
        false => measurement.generator_cpu_seconds,
    };
    measurement.generator_busy_seconds.unwrap_or(used)
}

fn generator_could(round: &Round<'_>) -> f64 {
    let measurement = round.measurement;
    if let Some(limit) = measurement.client_cpu_limit {
        return measurement.window_seconds * limit;
    }
    let cpus = measurement.machine.total_seconds() / measurement.window_seconds;
    let left = cpus - measurement.server_cpu_limit;
    let given = measurement.generator_cpus.map_or(left, f64::from);
    let used = measurement.generator_threads.map_or(given, f64::from);
    measurement.window_seconds * used.min(given.max(1.0)).max(1.0)
}
