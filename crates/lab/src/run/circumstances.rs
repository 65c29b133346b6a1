//! What limits and accounts of a run come from and what is odd about where it runs, a sentence
//! each, printed above the table.

use super::crew::backends;
use crate::control_group::Capability;
use crate::round::{Bench, Crew};
use crate::subject::Protocol;
use bookend_results::suite::Plan;

/// The sentences.
pub fn notes(bench: &Bench, plan: &Plan, crew: &Crew) -> Vec<String> {
    let mut notes = vec![format!("limits: {}", bench.groups.capabilities())];
    notes.extend(bench.placement.notes.iter().cloned());
    notes.extend(processes(bench));
    notes.extend(client_cpus(bench));
    if let Some(deadline_ms) = plan.deadline_ms {
        notes.push(format!("deadline of each call: {deadline_ms} ms"));
    }
    let backends: Vec<String> = backends(plan, crew).into_iter().collect();
    if !backends.is_empty() {
        notes.push(format!("behind the servers: {}", backends.join(", ")));
        notes.extend(backend_cpus(bench));
    }
    notes.extend(unverified(crew));
    notes
}

fn processes(bench: &Bench) -> Option<String> {
    let limit = bench.server_processes?;
    let capabilities = bench.groups.capabilities();
    Some(match capabilities.of(Capability::Processes) {
        Some(_) => format!("processes and threads of the server: at most {limit}"),
        None => {
            format!("{limit} processes for the server: not limited, no control group can do it")
        }
    })
}

fn client_cpus(bench: &Bench) -> Option<String> {
    let (asked, left) = (bench.client_cpu_limit?, bench.generator_threads()?);
    (asked > f64::from(left))
        .then(|| format!("{asked} CPUs for the client: the server leaves {left}"))
}

fn backend_cpus(bench: &Bench) -> Option<String> {
    if bench.placement.generator.is_empty() {
        return None;
    }
    if !bench.backend_is_apart() {
        return Some("backends share the CPUs of the generator: there are no others".to_owned());
    }
    let cpus: Vec<String> = bench.placement.spare.iter().map(usize::to_string).collect();
    Some(format!("backends run on CPU {}", cpus.join(",")))
}

fn unverified(crew: &Crew) -> impl Iterator<Item = String> {
    let members = crew.iter().filter_map(|(name, member)| {
        let protocol = member.as_ref().ok()?.variant.protocol;
        (protocol != Protocol::Grpc).then_some((name, protocol))
    });
    members.map(|(name, protocol)| {
        format!("{name} speaks {protocol}: the lab makes no call itself, callers check every reply")
    })
}
