//! The kernel's counters of TCP, `/proc/net/snmp` and `/proc/net/netstat`: a line of names and a
//! line of values, both with the protocol before them.

use super::difference::counted;

/// Counts since the network namespace was made, or between two readings.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TcpCounters {
    pub sent_segments: Option<u64>,
    pub retransmitted_segments: Option<u64>,
    pub listen_overflows: Option<u64>,
    pub listen_drops: Option<u64>,
}

impl TcpCounters {
    /// Reads the texts of `/proc/net/snmp` and `/proc/net/netstat`.
    pub fn parse(snmp: &str, netstat: &str) -> TcpCounters {
        TcpCounters {
            sent_segments: value(snmp, "Tcp:", "OutSegs"),
            retransmitted_segments: value(snmp, "Tcp:", "RetransSegs"),
            listen_overflows: value(netstat, "TcpExt:", "ListenOverflows"),
            listen_drops: value(netstat, "TcpExt:", "ListenDrops"),
        }
    }

    /// What was counted since `before`.
    pub fn since(&self, before: &TcpCounters) -> TcpCounters {
        let field = |of: fn(&TcpCounters) -> Option<u64>| counted(of(self), of(before));
        TcpCounters {
            sent_segments: field(|tcp| tcp.sent_segments),
            retransmitted_segments: field(|tcp| tcp.retransmitted_segments),
            listen_overflows: field(|tcp| tcp.listen_overflows),
            listen_drops: field(|tcp| tcp.listen_drops),
        }
    }
}

/// The value under `name`. Kernels differ in which names they have, and in their order.
fn value(text: &str, protocol: &str, name: &str) -> Option<u64> {
    let mut lines = text.lines().filter_map(|line| line.strip_prefix(protocol));
    let (names, values) = (lines.next()?, lines.next()?);
    let column = names.split_ascii_whitespace().position(|word| word == name)?;
    values.split_ascii_whitespace().nth(column)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    const SNMP: &str = "\
Ip: Forwarding DefaultTTL OutSegs
Ip: 2 64 77
TcpX: OutSegs RetransSegs
TcpX: 1 2
Tcp: RtoAlgorithm MaxConn InSegs OutSegs RetransSegs InErrs
Tcp: 1 -1 500 400 30 0
UdpLite: InDatagrams
UdpLite: 0
";
    const NETSTAT: &str = "\
TcpExt: SyncookiesSent ListenOverflows ListenDrops
TcpExt: 0 5 6
IpExt: InNoRoutes
IpExt: 0
";

    fn counters() -> TcpCounters {
        TcpCounters {
            sent_segments: Some(400),
            retransmitted_segments: Some(30),
            listen_overflows: Some(5),
            listen_drops: Some(6),
        }
    }

    #[test]
    fn values_are_found_under_their_names() {
        assert_eq!(TcpCounters::parse(SNMP, NETSTAT), counters());
    }

    #[test]
    fn what_the_text_does_not_have_is_not_known() {
        assert_eq!(TcpCounters::parse("", ""), TcpCounters::default());
        let names_alone = "Tcp: OutSegs RetransSegs\n";
        assert_eq!(TcpCounters::parse(names_alone, "TcpExt:"), TcpCounters::default());
        assert_eq!(value(SNMP, "Tcp:", "MaxConn"), None, "-1 is no count");
        assert_eq!(value(SNMP, "Tcp:", "Seg"), None);
        let cut = SNMP.split_at(SNMP.find(" 30 0").expect("a value")).0;
        let tcp = TcpCounters::parse(cut, NETSTAT);
        assert_eq!((tcp.sent_segments, tcp.retransmitted_segments), (Some(400), None));
    }

    #[test]
    fn each_counter_goes_its_own_way() {
        let later = TcpCounters {
            sent_segments: Some(460),
            retransmitted_segments: Some(29),
            listen_overflows: None,
            listen_drops: Some(6),
        };
        let expected = TcpCounters {
            sent_segments: Some(60),
            listen_drops: Some(0),
            ..TcpCounters::default()
        };
        assert_eq!(later.since(&counters()), expected);
    }
}
