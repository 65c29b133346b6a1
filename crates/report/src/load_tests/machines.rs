//! What there is to say of the machines of a load test: its agents, the server's node, and a node
//! without load.

use super::load_test::LoadTest;
use super::tables::{row, table};
use super::wording::{figure_text, per_second_text, time_text};
use crate::first_few::first_few;
use crate::html::HtmlRow;
use crate::result_page::PageTable;
use bookend_contract::fleet::{AgentReport, FleetReport, LostAgent};
use bookend_results::quoted::quoted_line;
use bookend_results::text::{memory_text, percent_text};

/// Most agents of a load test that have a row.
const AGENTS_MAX: usize = 100;

/// The agents, those that were lost, and what there is to doubt, as sentences.
pub(super) fn sentences(test: &LoadTest) -> Option<String> {
    let fleet = test.report.bookend.fleet.as_deref()?;
    let start = &fleet.start;
    let lost_callers = fleet.lost.iter().filter(|lost| lost.share > 0.0).count();
    let first = format!(
        "Agents that made the calls: {}, which started {} apart by clocks that are known to {}.",
        fleet.agents.len() + lost_callers,
        time_text(start.reached_ns),
        time_text(start.bound_ns)
    );
    let lost: Vec<String> = fleet.lost.iter().map(lost).collect();
    let lost = (!lost.is_empty()).then(|| format!("Lost: {}.", first_few(&lost)));
    let doubts: Vec<String> = fleet.doubts.iter().map(|doubt| quoted_line(doubt)).collect();
    let doubts = (!doubts.is_empty()).then(|| format!("Doubts: {}.", first_few(&doubts)));
    let all: Vec<String> = [Some(first), lost, doubts].into_iter().flatten().collect();
    Some(all.join(" "))
}

fn lost(lost: &LostAgent) -> String {
    format!(
        "agent {} after {} s, with {} of the load ({})",
        quoted_line(&lost.name),
        figure_text(lost.at_seconds),
        percent_text(lost.share),
        quoted_line(&lost.reason)
    )
}

/// The tables of the machines that have rows.
pub(super) fn tables(tests: &[LoadTest]) -> Vec<PageTable> {
    let each = |rows: fn(&LoadTest, &FleetReport) -> Vec<HtmlRow>| {
        let of_test = |test: &LoadTest| {
            test.report.bookend.fleet.as_deref().map(|fleet| rows(test, fleet)).unwrap_or_default()
        };
        tests.iter().flat_map(of_test).collect::<Vec<_>>()
    };
    let agents = [
        "name",
        "agent",
        "calls (1/s)",
        "failed",
        "50 %",
        "99 %",
        "lag, 99 %",
        "busy",
        "CPU (s)",
        "began late by",
        "round trip",
    ];
    let server = [
        "name",
        "agent",
        "CPU (s)",
        "requests per CPU-second",
        "memory",
        "its node busy (s)",
        "in softirq (s)",
        "segments sent again",
        "in (Gbit/s)",
        "out (Gbit/s)",
    ];
    let probe = ["name", "agent", "calls (1/s)", "OK", "failed", "50 %", "99 %", "longest"];
    let tables = [
        table("Agents", &agents, each(agent_rows)),
        table("The server's node", &server, each(server_row)),
        table("Calls from a node without load", &probe, each(probe_row)),
    ];
    tables.into_iter().filter(|table| !table.rows.is_empty()).collect()
}

fn agent_rows(test: &LoadTest, fleet: &FleetReport) -> Vec<HtmlRow> {
    let one = |agent: &AgentReport| {
        let figures = vec![
            per_second_text(agent.requests_per_second),
            agent.failed.to_string(),
            time_text(agent.p50_ns),
            time_text(agent.p99_ns),
            agent.lag_p99_ns.map_or_else(dash, time_text),
            percent_text(agent.busy_share),
            figure_text(agent.cpu_seconds),
            time_text(agent.start_late_ns),
            time_text(agent.round_trip_median_ns),
        ];
        row([&test.name, &quoted_line(&agent.name)], Ok(figures))
    };
    let more = fleet.agents.len().saturating_sub(AGENTS_MAX);
    let more = (more > 0).then(|| row([&test.name, ""], Err(format!("{more} more agents"))));
    fleet.agents.iter().take(AGENTS_MAX).map(one).chain(more).collect()
}

fn server_row(test: &LoadTest, fleet: &FleetReport) -> Vec<HtmlRow> {
    let Some(server) = &fleet.server else {
        return Vec::new();
    };
    let (node, seconds) = (&server.node, server.node.seconds);
    let interface = server.interface.as_deref().and_then(|name| node.interface(name));
    let of_cpu = |seconds: Option<f64>| seconds.map_or_else(dash, figure_text);
    let figures = vec![
        figure_text(server.cpu_seconds),
        per_second_text(server.requests_per_cpu_second),
        memory_text(server.memory_bytes as f64),
        of_cpu(node.cpu.as_ref().map(|cpu| cpu.busy_seconds)),
        of_cpu(node.cpu.as_ref().map(|cpu| cpu.softirq_seconds)),
        node.tcp_retransmitted_share().map_or_else(dash, percent_text),
        interface.map_or_else(dash, |one| figure_text(one.received_gbit_per_second(seconds))),
        interface.map_or_else(dash, |one| figure_text(one.sent_gbit_per_second(seconds))),
    ];
    vec![row([&test.name, &quoted_line(&server.name)], Ok(figures))]
}

fn probe_row(test: &LoadTest, fleet: &FleetReport) -> Vec<HtmlRow> {
    let Some(probe) = &fleet.probe else {
        return Vec::new();
    };
    let figures = vec![
        per_second_text(probe.rate),
        probe.ok.to_string(),
        probe.failed.to_string(),
        time_text(probe.p50_ns),
        time_text(probe.p99_ns),
        time_text(probe.max_ns),
    ];
    vec![row([&test.name, &quoted_line(&probe.name)], Ok(figures))]
}

fn dash() -> String {
    "-".to_owned()
}
