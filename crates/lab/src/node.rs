//! What a whole node uses: the kernel's counters of its CPUs, of TCP and of its network interfaces,
//! read at both ends of a window.

mod difference;
mod interfaces;
mod route;
mod tcp;

pub use route::interface_of;

use crate::cpu::{CpuTimes, CpuTimesDelta};
use bookend_contract::node_usage::{NodeCpuUsage, NodeUsage};
use interfaces::Interfaces;
use std::path::Path;
use std::time::Instant;
use tcp::TcpCounters;

/// What a node's kernel has counted since the node started.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NodeCounters {
    read_at: Instant,
    cpu: CpuTimes,
    tcp: TcpCounters,
    interfaces: Interfaces,
}

impl NodeCounters {
    /// Reads them. What the system does not show is not known.
    pub fn read() -> NodeCounters {
        NodeCounters::read_under(Path::new("/"), Instant::now())
    }

    /// The same from a tree of files under `root`, at a time that the caller names.
    fn read_under(root: &Path, read_at: Instant) -> NodeCounters {
        let text = |file: &str| std::fs::read_to_string(root.join(file)).unwrap_or_default();
        NodeCounters {
            read_at,
            // The clock bounds the CPUs' time, so they are read first.
            cpu: CpuTimes::parse(&text("proc/stat")),
            tcp: TcpCounters::parse(&text("proc/net/snmp"), &text("proc/net/netstat")),
            interfaces: Interfaces::read(root),
        }
    }

    /// What the node used since `before`. A count that went back, and an interface or a CPU that
    /// was not there at both ends, is left out.
    pub fn since(&self, before: &NodeCounters) -> NodeUsage {
        let seconds = self.read_at.saturating_duration_since(before.read_at).as_secs_f64();
        let tcp = self.tcp.since(&before.tcp);
        NodeUsage {
            seconds,
            cpu: cpu_usage(&self.cpu.since(&before.cpu), seconds),
            tcp_sent_segments: tcp.sent_segments,
            tcp_retransmitted_segments: tcp.retransmitted_segments,
            tcp_listen_overflows: tcp.listen_overflows,
            tcp_listen_drops: tcp.listen_drops,
            interfaces: self.interfaces.since(&before.interfaces),
        }
    }
}

fn cpu_usage(used: &CpuTimesDelta, seconds: f64) -> Option<NodeCpuUsage> {
    let cpus = used.cpus();
    let total = used.total();
    (!cpus.is_empty()).then(|| NodeCpuUsage {
        cpus: cpus.len() as u32,
        // Idle time is in whole ticks, so that it may be longer than a window of idle CPUs.
        busy_seconds: used.not_idle_seconds(&cpus, seconds).max(0.0),
        user_seconds: total.user_seconds,
        system_seconds: total.system_seconds,
        softirq_seconds: total.softirq_seconds,
        irq_seconds: total.irq_seconds,
        steal_seconds: total.steal_seconds,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    const STAT: &str =
        "cpu  1 0 1 1 0 0 0 0\ncpu0 100 0 50 1000 0 3 10 2\ncpu1 40 0 20 500 0 0 0 1\n";
    const LATER_STAT: &str =
        "cpu0 160 0 80 1100 0 4 15 7\ncpu1 40 0 20 700 0 0 0 1\ncpu2 9 9 9 9\n";

    fn node(files: &[(&str, &str)], read_at: Instant) -> NodeCounters {
        let root = tempfile::tempdir().expect("a temporary folder");
        for (name, text) in files {
            let file = root.path().join(name);
            std::fs::create_dir_all(file.parent().expect("a folder")).expect("created");
            std::fs::write(file, text).expect("written");
        }
        NodeCounters::read_under(root.path(), read_at)
    }

    fn stat_usage(before: &str, after: &str, seconds: f64) -> NodeUsage {
        let began = Instant::now();
        let ended = began + Duration::from_secs_f64(seconds);
        node(&[("proc/stat", after)], ended).since(&node(&[("proc/stat", before)], began))
    }

    #[test]
    fn every_file_counts() {
        let line = |bytes| format!("eth0: {bytes} 2 0 0 0 0 0 0 {bytes} 3 0 0 0 0 0 0\n");
        let files = |stat, snmp, netstat, device| {
            let snmp_text = format!("Tcp: OutSegs RetransSegs\nTcp: {snmp} 1\n");
            let netstat_text = format!("TcpExt: ListenDrops\nTcpExt: {netstat}\n");
            let texts = [snmp_text, netstat_text, line(device)];
            let [snmp, netstat, device] = texts.each_ref().map(String::as_str);
            let files = [
                ("proc/stat", stat),
                ("proc/net/snmp", snmp),
                ("proc/net/netstat", netstat),
                ("proc/net/dev", device),
                ("sys/class/net/eth0/mtu", "1500\n"),
                ("sys/class/net/eth0/speed", "25000\n"),
            ];
            node(&files, Instant::now())
        };
        let usage = files(LATER_STAT, 50, 8, 1_000).since(&files(STAT, 20, 6, 100));
        assert_eq!(usage.cpu.map(|cpu| cpu.cpus), Some(2));
        assert_eq!(usage.tcp_sent_segments, Some(30));
        assert_eq!(usage.tcp_retransmitted_segments, Some(0));
        assert_eq!((usage.tcp_listen_overflows, usage.tcp_listen_drops), (None, Some(2)));
        let [interface] = &usage.interfaces[..] else { panic!("{:?}", usage.interfaces) };
        assert_eq!((interface.received_bytes, interface.mtu_bytes), (900, Some(1500)));
        assert_eq!(interface.speed_bits_per_second, Some(25_000_000_000));
    }

    #[test]
    fn cpu_time_is_that_of_the_cpus_that_were_there_at_both_ends() {
        let cpu = stat_usage(STAT, LATER_STAT, 3.0).cpu.expect("there are CPUs");
        let expected = NodeCpuUsage {
            cpus: 2,
            busy_seconds: 2.95,
            user_seconds: 0.6,
            system_seconds: 0.3,
            softirq_seconds: 0.05,
            irq_seconds: 0.01,
            steal_seconds: 0.05,
        };
        assert_eq!(cpu, expected);
    }

    #[test]
    fn a_node_was_busy_while_it_was_not_idle() {
        let busy = |seconds| {
            stat_usage(STAT, LATER_STAT, seconds).cpu.expect("there are CPUs").busy_seconds
        };
        assert!((busy(1.75) - 0.45).abs() < 1e-9, "two CPUs of 1.75 s were idle for 3 s");
        assert_eq!(busy(1.0), 0.0, "a window shorter than the idle time");
    }

    #[test]
    fn a_window_is_no_shorter_than_nothing() {
        assert_eq!(stat_usage(STAT, STAT, 2.5).seconds, 2.5);
        let early = Instant::now();
        let late = early + Duration::from_secs(1);
        assert_eq!(node(&[], early).since(&node(&[], late)).seconds, 0.0);
    }

    #[test]
    fn a_system_that_shows_nothing_used_nothing_that_is_known() {
        let read_at = Instant::now();
        assert_eq!(node(&[], read_at).since(&node(&[], read_at)), NodeUsage::default());
        let usage = stat_usage("", LATER_STAT, 1.0);
        assert_eq!(usage.cpu, None);
    }

    #[test]
    fn this_node_has_counters_that_do_not_go_back() {
        let before = NodeCounters::read();
        let usage = NodeCounters::read().since(&before);
        assert!(usage.seconds > 0.0);
        assert!(usage.cpu.is_some_and(|cpu| cpu.cpus > 0));
        assert!(usage.tcp_sent_segments.is_some() && usage.tcp_listen_drops.is_some());
    }
}
