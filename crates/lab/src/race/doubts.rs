//! What to doubt of a race, a clause each.

use super::host::RaceHost;
use super::server::{RaceServerSpec, UsedCpu};
use bookend_results::race::{Race, RaceLap, RaceServerName, STARTS_MIN};

/// A server that is idle for a larger share of its laps does not limit the rate.
const BUSY_SHARE: f64 = 0.9;

/// CPU time outside of its laps, over that inside, that makes a server's figures doubtful.
const OUTSIDE_SHARE: f64 = 0.02;

/// CPU time that is known in ticks, over all, that can matter.
const IN_TICKS_SHARE: f64 = 0.001;

/// Calls of a rate that had to wait, or were never made, above which that is worth saying.
const HELD_BACK_SHARE: f64 = 0.01;

/// Share by which the first calls after a start may cost more than later ones: more is a warm-up
/// that was too short.
const WARM_SHARE: f64 = 0.05;

/// What is to be doubted of a race. `used`: by each server while it was warm, in laps and between
/// them.
pub(super) fn of_servers(
    host: &RaceHost,
    specs: &[RaceServerSpec],
    race: &Race,
    used: &[UsedCpu],
) -> Vec<String> {
    let mut doubts = host.placement.notes.clone();
    for (server, used) in used.iter().enumerate() {
        let total = race.total(server, None);
        let name = &race.servers[server].name;
        doubts.extend(outside(name, &total, used.cpu_ns));
        doubts.extend(in_ticks(name, &total, used.in_ticks_ns));
        doubts.extend(match race.rps {
            Some(_) => held_back(name, race.held_back_share(server, None)),
            None => idle(name, &total, host.server_cpus),
        });
        doubts.extend(cold(race, server));
        if specs[server].runs_already() {
            doubts.push(format!("{name} ran on CPUs of its own choice"));
        }
    }
    doubts.extend(not_restarted(specs));
    doubts
}

/// What is to be doubted of a race of clients. `in_ticks_ns`: of the CPU time of each, what is
/// known in ticks alone. `server_cpu_ns`: what the server that they call used in their laps.
pub(super) fn of_clients(
    host: &RaceHost,
    race: &Race,
    in_ticks_ns: &[u64],
    server_cpu_ns: u64,
) -> Vec<String> {
    let mut doubts = host.placement.notes.clone();
    let mut length_ns = 0;
    for (client, RaceServerName { name, .. }) in race.servers.iter().enumerate() {
        let total = race.total(client, None);
        length_ns += total.length_ns;
        doubts.extend(idle(name, &total, host.generator_cpus()));
        doubts.extend(in_ticks(name, &total, in_ticks_ns[client]));
    }
    let busy = server_cpu_ns as f64 / length_ns as f64 / f64::from(host.server_cpus);
    if busy > BUSY_SHARE {
        let percent = busy * 100.0;
        doubts.push(format!("their server was at {percent:.0} % of its CPUs: it may be the limit"));
    }
    doubts
}

fn not_restarted(servers: &[RaceServerSpec]) -> Option<String> {
    let name = &servers.iter().find(|server| server.runs_already())?.name;
    Some(format!("{name} ran already, so no server was started anew"))
}

fn outside(name: &str, total: &RaceLap, used_ns: u64) -> Option<String> {
    let outside = used_ns.saturating_sub(total.cpu_ns) as f64 / total.cpu_ns as f64;
    (outside > OUTSIDE_SHARE).then(|| {
        let percent = outside * 100.0;
        format!("{name} worked while it was not called, {percent:.0} % of its work for calls")
    })
}

/// Processes that end within a lap have told nothing but ticks.
fn in_ticks(name: &str, total: &RaceLap, in_ticks_ns: u64) -> Option<String> {
    let share = in_ticks_ns as f64 / total.cpu_ns as f64;
    (share > IN_TICKS_SHARE).then(|| {
        let percent = share * 100.0;
        format!(
            "{percent:.1} % of the CPU time of {name} is that of processes which ended within a \
             lap, and is known in steps of 10 ms: a control group would know it exactly"
        )
    })
}

/// A rate that was held but for this is no other rate.
fn held_back(name: &str, share: f64) -> Option<String> {
    (share > HELD_BACK_SHARE).then(|| {
        let percent = share * 100.0;
        format!("{percent:.1} % of the calls to {name} could not be made when they were due")
    })
}

fn idle(name: &str, total: &RaceLap, cpus: u32) -> Option<String> {
    let busy = total.cpu_ns as f64 / total.length_ns as f64;
    (busy < BUSY_SHARE * f64::from(cpus)).then(|| {
        let percent = busy * 100.0;
        format!("{name} was at {percent:.0} % of a CPU, so its calls per second say little")
    })
}

/// Whether the first round after a start cost more than those after it, over enough starts to know.
fn cold(race: &Race, server: usize) -> Option<String> {
    let whole: Vec<_> = race.starts.iter().filter(|start| start.len() > 1).collect();
    if (whole.len() as u64) < STARTS_MIN {
        return None;
    }
    let cost = |laps: Vec<&RaceLap>| {
        let (cpu_ns, ok) =
            laps.iter().fold((0, 0), |(cpu_ns, ok), lap| (cpu_ns + lap.cpu_ns, ok + lap.ok));
        cpu_ns as f64 / ok as f64
    };
    let of = |is_first: bool| {
        let rounds = whole.iter().flat_map(|start| {
            let (first, later) = start.split_at(1);
            if is_first { first } else { later }
        });
        cost(rounds.flatten().flatten().filter(|lap| lap.server == server).collect())
    };
    let more = of(true) / of(false) - 1.0;
    (more > WARM_SHARE).then(|| {
        let (name, percent) = (&race.servers[server].name, more * 100.0);
        format!("{name} was still warming up, by {percent:.0} %: give it a longer --warmup")
    })
}
