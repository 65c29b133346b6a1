//! What kept a run from more: its server, the way to it, its schedule, or the generator.

use crate::fleet::{FleetReport, ServerReport};
use crate::generator_stops::clause;
use crate::report::{Extension, LoadReport, OpenLoopReport};
use crate::verdict::GENERATOR_SATURATED;

/// With fewer calls in flight on a connection, the way there and back is most of a call.
const FEW_IN_FLIGHT: f64 = 4.0;
/// A schedule is kept where at least this share of its calls was made when it was due, and a target
/// has kept up with a load where it has answered at least this share of the calls.
const KEPT: f64 = 0.999;
/// Calls that are made later than this are not made when they are due: longer than a time slice of
/// the kernel's scheduler, nanoseconds.
const LAG_MAX_NS: u64 = 10_000_000;

impl OpenLoopReport {
    /// Whether enough calls were made when they were due for the rate to be that of the schedule.
    fn is_kept(&self) -> bool {
        let on_time = self.made.saturating_sub(self.waited);
        on_time as f64 >= self.due as f64 * KEPT
    }
}

impl LoadReport {
    /// Calls that were answered OK or should have been, and those of them that failed, were due and
    /// never made, or never came back: these are in no latency.
    pub fn all_and_failed(&self) -> (u64, u64) {
        let facts = &self.bookend;
        let not_made = facts.open_loop.iter().flat_map(|calls| calls.not_made.values());
        let failed: u64 = facts.errors.values().chain(not_made).sum();
        let failed = failed + facts.never_came_back;
        (facts.ok + failed, failed)
    }
}

/// What the limit was, and why, in words; `None` where no call ended.
pub fn limit(report: &LoadReport) -> Option<String> {
    Some(of_run(report)? + &clause(report.bookend.generator_stops))
}

fn of_run(report: &LoadReport) -> Option<String> {
    let facts = &report.bookend;
    let messages = facts.streams.as_ref().map_or(0, |messages| messages.received);
    let (all, failed) = report.all_and_failed();
    if all + messages == 0 {
        return None;
    }
    if facts.ok + messages == 0 {
        return Some(format!("unknown: none of {all} calls was answered OK"));
    }
    if let Some(lost) = facts.fleet.as_ref().and_then(|fleet| fleet.lost.first()) {
        return Some(format!("unknown: agent {} was lost", lost.name));
    }
    let busy = busy_text(facts);
    let has_kept_up = facts.ok as f64 >= all as f64 * KEPT;
    let unanswered = format!("{failed} of {all} calls failed or have no answer");
    if let Some(limit) = facts.fleet.as_deref().and_then(|fleet| of_agents(fleet, has_kept_up)) {
        return Some(limit);
    }
    if facts.busy_share() >= GENERATOR_SATURATED {
        let at_least = match has_kept_up {
            true => ": the target can do at least this much",
            false => &format!(", and {unanswered}"),
        };
        return Some(format!("this generator was the limit ({busy}){at_least}"));
    }
    let server = facts.fleet.as_ref().and_then(|fleet| fleet.server.as_ref());
    if let Some(why) = server.and_then(ServerReport::path_limit) {
        return Some(format!("the path to the server: {why}"));
    }
    let answers = has_kept_up.then_some(()).ok_or(unanswered.as_str());
    if let Some(limit) = of_schedule(facts, &busy, answers) {
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
    if let Err(unanswered) = answers {
        return Some(format!(
            "the server, or the network to it: the generator was {busy}, and {unanswered}"
        ));
    }
    if in_flight_a_connection(report) < FEW_IN_FLIGHT {
        return Some(format!(
            "the way there and back: few calls are in flight, each waits for its response, and the \
             generator was {busy}; more of them (-c) tell what the server can do"
        ));
    }
    Some(format!("the server, or the network to it: the generator was {busy} and waited for it"))
}

/// Whether one of several generators was the limit, for its share of the load is that of others.
fn of_agents(fleet: &FleetReport, has_kept_up: bool) -> Option<String> {
    let busiest = fleet.busiest().filter(|agent| agent.busy_share >= GENERATOR_SATURATED)?;
    let at_least = if has_kept_up { ": the target can do at least this much" } else { "" };
    let share = busiest.busy_share * 100.0;
    Some(format!(
        "agent {} was the limit ({share:.0} % busy){at_least}; more agents tell what the server \
         can do",
        busiest.name
    ))
}

/// How busy the generator was, of all its threads or of what its control groups left of them.
fn busy_text(facts: &Extension) -> String {
    let share = facts.busy_share() * 100.0;
    match facts.cpu_quota.filter(|cpus| *cpus < f64::from(facts.threads)) {
        None => format!("{share:.0} % busy"),
        Some(cpus) => format!("{share:.0} % busy of the {cpus:.2} CPUs that its quota gives"),
    }
}

/// In an open loop: whether the schedule was kept, and if not, why. `answers` says of the calls
/// that the target has kept up with them, or how many have no answer.
fn of_schedule(facts: &Extension, busy: &str, answers: Result<(), &str>) -> Option<String> {
    let open_loop = facts.open_loop.as_ref()?;
    let lag_ns = open_loop.lag.p99_ns;
    if open_loop.is_kept() {
        return Some(match answers {
            Err(unanswered) => format!(
                "the server, or the network to it: calls were made when they were due, the \
                 generator was {busy}, and {unanswered}"
            ),
            Ok(()) if lag_ns > LAG_MAX_NS => format!(
                "this generator was late ({busy}): one call in a hundred was made {} ms or more \
                 after it was due",
                lag_ns / 1_000_000
            ),
            Ok(()) => format!(
                "the schedule: all calls were made when they were due, the generator was {busy}; \
                 the target can do at least this much"
            ),
        });
    }
    let mostly = open_loop.not_made.iter().max_by_key(|(_, calls)| **calls);
    Some(match mostly.map(|(why, _)| why.as_str()) {
        Some("generator") => format!("this generator did not keep to its schedule ({busy})"),
        Some("no connection") => "there was no connection for the calls that were due".to_owned(),
        Some("stream limit") => "the server's limit of streams: calls waited for one".to_owned(),
        _ => {
            // After a stop there are as many whatever the server does.
            let whose = if facts.generator_stops.is_none() { "the server: " } else { "" };
            format!("{whose}as many calls were in flight as may be, and others waited")
        }
    })
}

fn in_flight_a_connection(report: &LoadReport) -> f64 {
    let number = |name: &str| {
        report.options.get(name).and_then(serde_json::Value::as_f64).unwrap_or(1.0).max(1.0)
    };
    number("concurrency") / number("connections")
}
