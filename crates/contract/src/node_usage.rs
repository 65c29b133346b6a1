//! What the kernel of a node counted over a window: CPU time, TCP segments, and the traffic of its
//! network interfaces. A node is a machine; where an agent runs in a container, the counts of the
//! network are those of the container's network namespace.

use serde::{Deserialize, Serialize};

/// What a node used over a window. `None`: the kernel does not show it, or a counter went back.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct NodeUsage {
    /// Length of the window by the node's own monotonic clock, seconds.
    pub seconds: f64,
    /// CPU time of everything that ran on the node.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpu: Option<NodeCpuUsage>,
    /// TCP segments sent over IPv4 and IPv6, without those that only retransmit: `OutSegs` of
    /// `/proc/net/snmp`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tcp_sent_segments: Option<u64>,
    /// TCP segments retransmitted: `RetransSegs` of `/proc/net/snmp`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tcp_retransmitted_segments: Option<u64>,
    /// Times that the accept queue of a listening socket was full: `ListenOverflows` of
    /// `/proc/net/netstat`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tcp_listen_overflows: Option<u64>,
    /// Attempts to connect that a listening socket dropped, those by an overflow included:
    /// `ListenDrops` of `/proc/net/netstat`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tcp_listen_drops: Option<u64>,
    /// The network interfaces that carried or dropped packets in the window, by name.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub interfaces: Vec<NetworkInterfaceUsage>,
}

/// CPU time of a whole node, `/proc/stat`, in seconds summed over its CPUs. Most kernels ask at
/// every tick of a clock what runs. A process that timers wake may run at several times the ticks
/// that its time amounts to.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct NodeCpuUsage {
    /// CPUs that were online at both ends of the window.
    pub cpus: u32,
    /// Time in which the CPUs were not idle, which is measured; the kinds below are ticks.
    pub busy_seconds: f64,
    /// User time, with that of niced processes.
    pub user_seconds: f64,
    /// System time without interrupts.
    pub system_seconds: f64,
    /// Soft interrupts, which handle most of what the network receives.
    pub softirq_seconds: f64,
    /// Hard interrupts.
    pub irq_seconds: f64,
    /// Time that the hypervisor took from the CPUs while they had work; not busy time.
    pub steal_seconds: f64,
}

/// What a network interface carried: its line of `/proc/net/dev`. Bytes include the headers of
/// Ethernet, but not preamble, checksum and gap, so that a full line shows a share below 1.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct NetworkInterfaceUsage {
    /// Its name: `eth0`.
    pub name: String,
    /// Bytes received.
    pub received_bytes: u64,
    /// Packets received. A packet that the hardware or the kernel merged counts as one.
    pub received_packets: u64,
    /// Bytes sent.
    pub sent_bytes: u64,
    /// Packets sent. Where the driver leaves segmentation to another, as in most virtual machines,
    /// a packet may be of many segments.
    pub sent_packets: u64,
    /// Packets dropped on their way in: no room for them, or nobody who wanted them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub received_dropped_packets: Option<u64>,
    /// Packets dropped on their way out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sent_dropped_packets: Option<u64>,
    /// Packets received with an error.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub received_error_packets: Option<u64>,
    /// Packets that an error kept from being sent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sent_error_packets: Option<u64>,
    /// The largest packet, bytes: `/sys/class/net/NAME/mtu`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mtu_bytes: Option<u32>,
    /// The speed of the line in each direction, bits a second: `/sys/class/net/NAME/speed`. `None`
    /// where the driver knows no speed, as in most virtual machines. That of a virtual interface
    /// (`veth`, `tun`) is nominal, and more may pass.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub speed_bits_per_second: Option<u64>,
}

impl NodeUsage {
    /// The interface of that name, if it carried traffic.
    pub fn interface(&self, name: &str) -> Option<&NetworkInterfaceUsage> {
        self.interfaces.iter().find(|interface| interface.name == name)
    }

    /// The share of its CPUs' time in which they were busy.
    pub fn cpu_busy_share(&self) -> Option<f64> {
        let cpu = self.cpu.as_ref()?;
        let could_seconds = f64::from(cpu.cpus) * self.seconds;
        (could_seconds > 0.0).then(|| (cpu.busy_seconds / could_seconds).clamp(0.0, 1.0))
    }

    /// The share of all TCP segments that went out for a second time. `None` without segments.
    pub fn tcp_retransmitted_share(&self) -> Option<f64> {
        let retransmitted = self.tcp_retransmitted_segments? as f64;
        let all = self.tcp_sent_segments? as f64 + retransmitted;
        (all > 0.0).then(|| retransmitted / all)
    }
}

impl NetworkInterfaceUsage {
    /// What it received over a window of `seconds`, Gbit/s; 0 without a window.
    pub fn received_gbit_per_second(&self, seconds: f64) -> f64 {
        bits_per_second(self.received_bytes, seconds) / 1e9
    }

    /// What it sent over a window of `seconds`, Gbit/s; 0 without a window.
    pub fn sent_gbit_per_second(&self, seconds: f64) -> f64 {
        bits_per_second(self.sent_bytes, seconds) / 1e9
    }

    /// The share of the line that it used over a window of `seconds`, in the direction that carried
    /// more: each direction has the whole speed. `None` where the speed is not known.
    pub fn line_share(&self, seconds: f64) -> Option<f64> {
        let speed = self.speed_bits_per_second.filter(|speed| *speed > 0)?;
        let bytes = self.received_bytes.max(self.sent_bytes);
        Some(bits_per_second(bytes, seconds) / speed as f64)
    }
}

fn bits_per_second(bytes: u64, seconds: f64) -> f64 {
    if seconds > 0.0 { bytes as f64 * 8.0 / seconds } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn interface() -> NetworkInterfaceUsage {
        NetworkInterfaceUsage {
            name: "eth0".to_owned(),
            received_bytes: 250_000_000,
            sent_bytes: 1_000_000_000,
            speed_bits_per_second: Some(10_000_000_000),
            ..NetworkInterfaceUsage::default()
        }
    }

    fn usage() -> NodeUsage {
        let cpu = NodeCpuUsage { cpus: 4, busy_seconds: 6.0, ..NodeCpuUsage::default() };
        NodeUsage {
            seconds: 2.0,
            cpu: Some(cpu),
            tcp_sent_segments: Some(990),
            tcp_retransmitted_segments: Some(10),
            interfaces: vec![interface()],
            ..NodeUsage::default()
        }
    }

    #[test]
    fn each_direction_has_its_rate_and_the_busier_one_fills_the_line() {
        let usage = usage();
        let interface = usage.interface("eth0").expect("it carried traffic");
        assert_eq!(interface.received_gbit_per_second(usage.seconds), 1.0);
        assert_eq!(interface.sent_gbit_per_second(usage.seconds), 4.0);
        assert_eq!(interface.line_share(usage.seconds), Some(0.4));
        let receiver = NetworkInterfaceUsage { received_bytes: 2_000_000_000, ..interface.clone() };
        assert_eq!(receiver.line_share(usage.seconds), Some(0.8));
        assert_eq!(usage.interface("eth"), None);
    }

    #[test]
    fn a_line_of_unknown_speed_has_no_share() {
        for speed_bits_per_second in [None, Some(0)] {
            let unknown = NetworkInterfaceUsage { speed_bits_per_second, ..interface() };
            assert_eq!(unknown.line_share(2.0), None);
        }
    }

    #[test]
    fn without_a_window_there_is_no_rate_and_no_share_of_cpus() {
        for seconds in [0.0, -1.0] {
            assert_eq!(interface().sent_gbit_per_second(seconds), 0.0);
            assert_eq!(interface().line_share(seconds), Some(0.0));
            assert_eq!(NodeUsage { seconds, ..usage() }.cpu_busy_share(), None);
        }
        assert_eq!(usage().cpu_busy_share(), Some(0.75));
        assert_eq!(NodeUsage { cpu: None, ..usage() }.cpu_busy_share(), None);
    }

    #[test]
    fn retransmissions_are_a_share_of_all_that_went_out() {
        assert_eq!(usage().tcp_retransmitted_share(), Some(0.01));
        let with = |tcp_sent_segments, tcp_retransmitted_segments| NodeUsage {
            tcp_sent_segments,
            tcp_retransmitted_segments,
            ..usage()
        };
        assert_eq!(with(Some(u64::MAX), Some(u64::MAX)).tcp_retransmitted_share(), Some(0.5));
        assert_eq!(with(Some(0), Some(0)).tcp_retransmitted_share(), None);
        assert_eq!(with(None, Some(1)).tcp_retransmitted_share(), None);
    }

    #[test]
    fn what_is_not_known_is_left_out_and_read_as_unknown() {
        let unknown = NodeUsage { seconds: 2.0, ..NodeUsage::default() };
        let json = serde_json::to_string(&unknown).expect("written");
        assert_eq!(json, r#"{"seconds":2.0}"#);
        assert_eq!(serde_json::from_str::<NodeUsage>(&json).expect("read"), unknown);
        let of_interface = serde_json::to_value(interface()).expect("written");
        assert!(of_interface.get("sent_dropped_packets").is_none(), "{of_interface}");
        assert_eq!(of_interface["speed_bits_per_second"], 10_000_000_000_u64);
        let json = serde_json::to_string(&usage()).expect("written");
        assert_eq!(serde_json::from_str::<NodeUsage>(&json).expect("read"), usage());
    }
}
