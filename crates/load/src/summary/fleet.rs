//! What a summary says of the machines of a run.

use super::units::duration;
use bookend_contract::fleet::{
    AgentReport, FleetReport, LostAgent, ProbeAgentReport, ServerReport,
};
use bookend_contract::printable;

/// A line for the start, one an agent, and one for each thing else that is known.
pub(super) fn lines(fleet: &FleetReport) -> String {
    let doubts = fleet.doubts.iter().map(|doubt| line("Doubt", doubt));
    std::iter::once(start(fleet))
        .chain(fleet.agents.iter().map(agent))
        .chain(fleet.lost.iter().map(lost))
        .chain(fleet.server.iter().flat_map(|server| [self::server(server), path(fleet, server)]))
        .chain(fleet.probe.iter().map(probe))
        .chain(doubts)
        .collect()
}

fn line(name: &str, text: &str) -> String {
    format!("  {name}:\t{}\n", printable::line(text))
}

fn start(fleet: &FleetReport) -> String {
    let (reached, bound) = (fleet.start.reached_ns, fleet.start.bound_ns);
    let count = fleet.agents.len();
    let calls = fleet.preparing_calls;
    let lost = fleet.lost.iter().filter(|lost| lost.share > 0.0).count();
    let of_all = if lost > 0 { format!(" of {} to the end", count + lost) } else { String::new() };
    let text = format!(
        "{count}{of_all}, started {} apart, and their clocks are known to {}; {calls} calls before the run",
        duration(reached),
        duration(bound)
    );
    line("Agents", &text)
}

fn agent(agent: &AgentReport) -> String {
    let lag = agent.lag_p99_ns.map(|lag_ns| format!(", lag p99 {}", duration(lag_ns)));
    let text = format!(
        "{:.2} requests/sec, {} failed, p50 {}, p99 {}{}, {:.1} % busy, {:.2} s CPU",
        agent.requests_per_second,
        agent.failed,
        duration(agent.p50_ns),
        duration(agent.p99_ns),
        lag.unwrap_or_default(),
        agent.busy_share * 100.0,
        agent.cpu_seconds
    );
    line(&format!("Agent {}", printable::line(&agent.name)), &text)
}

fn lost(lost: &LostAgent) -> String {
    let text = format!(
        "{} after {:.1} s, with {:.0} % of the load, {} whole seconds of which it had told: {}",
        lost.name,
        lost.at_seconds,
        lost.share * 100.0,
        lost.seconds_told,
        lost.reason
    );
    line("Lost", &text)
}

fn server(server: &ServerReport) -> String {
    let counted = match server.in_control_group {
        true => "by its control group",
        false => "by its processes' clocks",
    };
    let node = server.node.cpu.as_ref().map(|cpu| {
        format!(
            "; its node was busy for {:.2} s of {} CPUs, {:.2} s in softirq",
            cpu.busy_seconds, cpu.cpus, cpu.softirq_seconds
        )
    });
    let text = format!(
        "{:.2} s CPU in {:.2} s ({counted}), {:.2} requests per CPU-second, {} MiB{}",
        server.cpu_seconds,
        server.node.seconds,
        server.requests_per_cpu_second,
        server.memory_bytes >> 20,
        node.unwrap_or_default()
    );
    line("Server", &text)
}

/// The way to the server's node, as far as it is known.
fn path(fleet: &FleetReport, server: &ServerReport) -> String {
    let least_ns = fleet.agents.iter().map(|agent| agent.round_trip_min_ns).min().unwrap_or(0);
    let median_ns = fleet.agents.iter().map(|agent| agent.round_trip_median_ns).max().unwrap_or(0);
    let round_trip = format!(
        "round trips of agents {} at least, {} in the median",
        duration(least_ns),
        duration(median_ns)
    );
    let seconds = server.node.seconds;
    let interface = server.interface.as_deref().and_then(|name| server.node.interface(name));
    let interface = interface.map(|interface| {
        let mtu = interface.mtu_bytes.map(|bytes| format!(", MTU {bytes}")).unwrap_or_default();
        let share = interface.line_share(seconds);
        let share = share.map(|share| format!(" ({:.1} % of its line)", share * 100.0));
        format!(
            "{mtu}, {} {:.3} Gbit/s in and {:.3} out{}",
            interface.name,
            interface.received_gbit_per_second(seconds),
            interface.sent_gbit_per_second(seconds),
            share.unwrap_or_default()
        )
    });
    let sent = server.node.tcp_sent_segments.zip(server.node.tcp_retransmitted_segments);
    let sent = sent.map(|(sent, again)| format!(", {again} of {sent} segments sent again"));
    line("Path", &(round_trip + &interface.unwrap_or_default() + &sent.unwrap_or_default()))
}

fn probe(probe: &ProbeAgentReport) -> String {
    let text = format!(
        "{} made {:.0} calls a second from a node without load: {} OK, {} failed, p50 {}, p99 {}, \
         at most {}",
        probe.name,
        probe.rate,
        probe.ok,
        probe.failed,
        duration(probe.p50_ns),
        duration(probe.p99_ns),
        duration(probe.max_ns)
    );
    line("Probe", &text)
}
