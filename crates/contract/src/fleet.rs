//! What a load test by several machines says of them: of its agents, of its start, of the server's
//! node, and of the way between.

use crate::machine::MachineFacts;
use crate::node_usage::NodeUsage;
use serde::{Deserialize, Serialize};

/// An interface that carries this share of its line's speed is full: what headers, checksums and
/// gaps take is not counted.
const LINE_FULL: f64 = 0.85;

/// More segments retransmitted than this share of those sent are losses of the path.
const RETRANSMITTED_SHARE: f64 = 0.01;

/// The machines of a load test.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct FleetReport {
    /// Those that made the calls.
    pub agents: Vec<AgentReport>,
    /// How near to the same time they began.
    pub start: StartSkew,
    /// Calls that agents made before the run: one each that was verified, and those by which the
    /// server told its schema. They are in no other count.
    pub preparing_calls: u64,
    /// Agents that were lost.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub lost: Vec<LostAgent>,
    /// The server and its node, where an agent was there.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub server: Option<ServerReport>,
    /// Latencies of few calls from a node that did nothing else.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub probe: Option<ProbeAgentReport>,
    /// What there is to doubt, a sentence each: agents on machines that differ, a clock that
    /// jumped.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub doubts: Vec<String>,
}

/// How near to the same time the agents began.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct StartSkew {
    /// How far apart two agents may have been told to begin, for all that is known of their clocks,
    /// nanoseconds.
    pub bound_ns: u64,
    /// How much later one agent began than another, by how late each was on its own clock,
    /// nanoseconds; [`StartSkew::bound_ns`] comes on top of it.
    pub reached_ns: u64,
}

/// An agent that made calls.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AgentReport {
    /// Its name.
    pub name: String,
    /// Its machine.
    pub machine: MachineFacts,
    /// Worker threads.
    pub threads: u32,
    /// Connections made in the whole run.
    pub connections_opened: u64,
    /// OK calls of the window.
    pub ok: u64,
    /// Failed calls of the window.
    pub failed: u64,
    /// Calls of the window a second.
    pub requests_per_second: f64,
    /// Half of its OK calls took no longer, nanoseconds.
    pub p50_ns: u64,
    /// 99 percent of its OK calls took no longer, nanoseconds.
    pub p99_ns: u64,
    /// 99 percent of its calls that found room at once were made no later after they were due,
    /// nanoseconds, in an open loop.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub lag_p99_ns: Option<u64>,
    /// CPU time of its process in the window, seconds.
    pub cpu_seconds: f64,
    /// The share of the time that its threads could work in which they did.
    pub busy_share: f64,
    /// How long after the time that it was given it began, nanoseconds.
    pub start_late_ns: u64,
    /// How far its clock may be from what is known of it, nanoseconds.
    pub clock_error_ns: u64,
    /// The shortest round trip to it, nanoseconds.
    pub round_trip_min_ns: u64,
    /// The median of the round trips, nanoseconds.
    pub round_trip_median_ns: u64,
}

/// An agent that was lost.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LostAgent {
    /// Its name.
    pub name: String,
    /// When that was noticed, since the start of the run, seconds.
    pub at_seconds: f64,
    /// Seconds of the window of which it has told what it did.
    pub seconds_told: u32,
    /// Its share of the load, which nobody made from then on.
    pub share: f64,
    /// Why, as a clause.
    pub reason: String,
}

/// The server's process and its node over the window, by the clock of that node.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ServerReport {
    /// The agent's name.
    pub name: String,
    /// CPU time of all processes of the server, seconds.
    pub cpu_seconds: f64,
    /// Whether a control group has counted it: what a process used that began and ended within the
    /// window is in it then.
    pub in_control_group: bool,
    /// Memory of all its processes at the end of the window, bytes.
    pub memory_bytes: u64,
    /// OK calls of the window over `cpu_seconds`.
    pub requests_per_cpu_second: f64,
    /// What its node used.
    pub node: NodeUsage,
    /// The interface that carried the calls.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub interface: Option<String>,
}

/// Calls from a node that did nothing else.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ProbeAgentReport {
    /// The agent's name.
    pub name: String,
    /// Calls a second.
    pub rate: f64,
    /// OK calls of the window. They are in no other count.
    pub ok: u64,
    /// Failed calls of the window.
    pub failed: u64,
    /// Half of its OK calls took no longer, nanoseconds, from when they were due.
    pub p50_ns: u64,
    /// 99 percent of them took no longer, nanoseconds.
    pub p99_ns: u64,
    /// The longest, nanoseconds.
    pub max_ns: u64,
}

impl FleetReport {
    /// Whether figures of the run can be quoted: every agent was there from its start to its end.
    pub fn is_quotable(&self) -> bool {
        self.lost.is_empty()
    }

    /// The agent that was the busiest.
    pub fn busiest(&self) -> Option<&AgentReport> {
        self.agents.iter().max_by(|one, other| one.busy_share.total_cmp(&other.busy_share))
    }
}

impl ServerReport {
    /// Why the way to the server was the limit, as a clause; `None` where nothing shows that.
    pub fn path_limit(&self) -> Option<String> {
        let interface = self.node.interface(self.interface.as_deref()?)?;
        let share = interface.line_share(self.node.seconds);
        if let Some(share) = share.filter(|share| *share >= LINE_FULL) {
            return Some(format!(
                "{} of the server's node carried {:.0} % of its line's speed",
                interface.name,
                share * 100.0
            ));
        }
        let retransmitted = self.node.tcp_retransmitted_share();
        let retransmitted = retransmitted.filter(|share| *share >= RETRANSMITTED_SHARE)?;
        Some(format!("the server's node sent {:.1} % of its segments again", retransmitted * 100.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::node_usage::NetworkInterfaceUsage;

    fn server(sent_bytes: u64, retransmitted: u64) -> ServerReport {
        let interface = NetworkInterfaceUsage {
            name: "eth0".to_owned(),
            sent_bytes,
            speed_bits_per_second: Some(1_000_000_000),
            ..NetworkInterfaceUsage::default()
        };
        let node = NodeUsage {
            seconds: 1.0,
            tcp_sent_segments: Some(1_000),
            tcp_retransmitted_segments: Some(retransmitted),
            interfaces: vec![interface],
            ..NodeUsage::default()
        };
        ServerReport { interface: Some("eth0".to_owned()), node, ..ServerReport::default() }
    }

    #[test]
    fn a_full_line_and_losses_are_limits_of_the_path() {
        assert_eq!(server(50_000_000, 3).path_limit(), None);
        let full = server(115_000_000, 0).path_limit().expect("92 % of a gigabit");
        assert_eq!(full, "eth0 of the server's node carried 92 % of its line's speed");
        let lossy = server(1_000, 50).path_limit().expect("5 %");
        assert_eq!(lossy, "the server's node sent 4.8 % of its segments again");
        let elsewhere = ServerReport { interface: None, ..server(115_000_000, 50) };
        assert_eq!(elsewhere.path_limit(), None);
    }
}
