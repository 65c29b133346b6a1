//! What kept a run from more: its server, the way to it, its schedule, or the generator.

use crate::report::{Extension, LoadReport, OpenLoopReport};
use crate::verdict::GENERATOR_SATURATED;

/// Where so few calls are in flight on a connection, the way there and back is most of a call.
const FEW_IN_FLIGHT: f64 = 4.0;
/// A schedule is kept where at least this share of its calls was made when it was due.
const SCHEDULE_KEPT: f64 = 0.999;

impl OpenLoopReport {
    /// Whether so many calls were made when they were due that the rate was that of the schedule.
    fn is_kept(&self) -> bool {
        let on_time = self.made.saturating_sub(self.waited);
        on_time as f64 >= self.due as f64 * SCHEDULE_KEPT
    }
}

/// What the limit was, and why, in words; `None` where no call ended.
pub fn limit(report: &LoadReport) -> Option<String> {
    let facts = &report.bookend;
    let calls = report.count + facts.streams.as_ref().map_or(0, |messages| messages.received);
    if calls == 0 {
        return None;
    }
    let busy = busy_text(facts);
    if facts.busy_share() >= GENERATOR_SATURATED {
        return Some(format!(
            "this generator was the limit ({busy}): the target can do at least this much"
        ));
    }
    if let Some(limit) = of_schedule(facts, &busy) {
        return Some(limit);
    }
    if facts.connections_given_up > 0 {
        return Some(
            "calls that were given up: a server lets few be reset, and connections were replaced"
                .to_owned(),
        );
    }
    if let Some(streams) = facts.streams_allowed {
        return Some(format!("the server allows {streams} streams a connection"));
    }
    if in_flight_a_connection(report) < FEW_IN_FLIGHT {
        return Some(format!(
            "the way there and back: few calls are in flight, each waits for its response, and the \
             generator was {busy}; more of them (-c) tell what the server can do"
        ));
    }
    Some(format!("the server, or the network to it: the generator was {busy} and waited for it"))
}

/// How busy the generator was, of all its threads or of what its control groups left of them.
fn busy_text(facts: &Extension) -> String {
    let share = facts.busy_share() * 100.0;
    match facts.cpu_quota.filter(|cpus| *cpus < f64::from(facts.threads)) {
        None => format!("{share:.0} % busy"),
        Some(cpus) => format!("{share:.0} % busy of the {cpus:.2} CPUs that its quota gives"),
    }
}

/// In an open loop: whether the schedule was kept, and if not, why.
fn of_schedule(facts: &Extension, busy: &str) -> Option<String> {
    let open_loop = facts.open_loop.as_ref()?;
    if open_loop.is_kept() {
        return Some(format!(
            "the schedule: all calls were made when they were due, the generator was {busy}; the \
             target can do at least this much"
        ));
    }
    let mostly = open_loop.not_made.iter().max_by_key(|(_, calls)| **calls);
    Some(match mostly.map(|(why, _)| why.as_str()) {
        Some("generator") => format!("this generator did not keep to its schedule ({busy})"),
        Some("no connection") => "there was no connection for the calls that were due".to_owned(),
        Some("stream limit") => "the server's limit of streams: calls waited for one".to_owned(),
        _ => "the server: as many calls were in flight as may be, and others waited".to_owned(),
    })
}

fn in_flight_a_connection(report: &LoadReport) -> f64 {
    let number = |name: &str| {
        report.options.get(name).and_then(serde_json::Value::as_f64).unwrap_or(1.0).max(1.0)
    };
    number("concurrency") / number("connections")
}
