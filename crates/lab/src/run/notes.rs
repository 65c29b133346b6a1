//! The notes above a run's tables: where limits and accounting come from, and what is odd about
//! where it runs, a sentence each.

use super::setup::backends;
use crate::build::PreparedSubjects;
use crate::context::RunContext;
use crate::control_group::Capability;
use crate::cpu::list;
use crate::subject::Protocol;

/// The notes of a run.
pub fn notes(context: &RunContext) -> Vec<String> {
    let mut notes = vec![format!("limits: {}", context.groups.capabilities())];
    notes.extend(context.placement.notes.iter().cloned());
    notes.extend(processes(context));
    notes.extend(client_cpus(context));
    if let Some(deadline_ms) = context.plan.deadline_ms {
        notes.push(format!("deadline of each call: {deadline_ms} ms"));
    }
    let backends = Vec::from_iter(backends(&context.plan, &context.prepared));
    if !backends.is_empty() {
        notes.push(format!("behind the servers: {}", backends.join(", ")));
        notes.extend(backend_cpus(context));
    }
    notes.extend(unverified(&context.prepared));
    notes
}

fn processes(context: &RunContext) -> Vec<String> {
    let can_limit = context.groups.capabilities().of(Capability::Processes).is_some();
    let say = |whose: &str, limit: u32| match can_limit {
        true => format!("processes and threads of {whose}: at most {limit}"),
        false => format!("{limit} processes for {whose}: not limited, no control group can do it"),
    };
    let of_all = context.plan.limits.server_processes.map(|limit| say("the server", limit));
    let own = context
        .plan
        .subjects
        .iter()
        .filter_map(|subject| Some(say(&subject.name, subject.server_processes?)));
    of_all.into_iter().chain(own).collect()
}

fn client_cpus(context: &RunContext) -> Option<String> {
    let (asked, left) = (context.plan.limits.client_cpus?, context.generator_cpus()?);
    (asked > f64::from(left))
        .then(|| format!("{asked} CPUs for the client: the server leaves {left}"))
}

fn backend_cpus(context: &RunContext) -> Option<String> {
    if context.placement.generator.is_empty() {
        return None;
    }
    if !context.backend_has_own_cpus() {
        return Some("backends share the CPUs of the generator: there are no others".to_owned());
    }
    Some(format!("backends run on CPU {}", list(&context.placement.spare)))
}

fn unverified(prepared: &PreparedSubjects) -> impl Iterator<Item = String> {
    let others = prepared
        .iter()
        .map(|(name, prepared)| (name, prepared.variant.protocol))
        .filter(|(_, protocol)| *protocol != Protocol::Grpc);
    others.map(|(name, protocol)| {
        let callers = match protocol {
            Protocol::Http2 => "callers read no status",
            _ => "callers check every reply",
        };
        format!("{name} speaks {protocol}: the lab makes no call itself, {callers}")
    })
}
