//! The kernel's counters of the network interfaces, `/proc/net/dev`, and what an interface is,
//! `/sys/class/net`.

use super::difference::counted;
use bookend_contract::node_usage::NetworkInterfaceUsage;
use std::collections::BTreeMap;
use std::path::Path;

/// The speed of a line is in megabits a second.
const SPEED_UNIT_BITS: u64 = 1_000_000;

/// The interfaces of a network namespace by name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Interfaces(BTreeMap<String, Interface>);

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Interface {
    received: Traffic,
    sent: Traffic,
    properties: Properties,
}

/// What passed in one direction since the interface was made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Traffic {
    bytes: u64,
    packets: u64,
    errors: u64,
    dropped: u64,
}

/// What an interface is. `None`: the system does not show it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Properties {
    /// Another interface that takes the same name has another index.
    index: Option<u32>,
    mtu_bytes: Option<u32>,
    speed_bits_per_second: Option<u64>,
}

impl Interfaces {
    /// Reads them from the files under `root`.
    pub fn read(root: &Path) -> Interfaces {
        let text = std::fs::read_to_string(root.join("proc/net/dev")).unwrap_or_default();
        let mut interfaces = Interfaces::parse(&text);
        // After all counters: a driver may ask the hardware for the speed, and that takes time.
        for (name, interface) in &mut interfaces.0 {
            interface.properties = Properties::read(&root.join("sys/class/net").join(name));
        }
        interfaces
    }

    /// Reads the text of `/proc/net/dev`.
    fn parse(text: &str) -> Interfaces {
        Interfaces(text.lines().filter_map(parse_line).collect())
    }

    /// What each of them carried since `before`. An interface without traffic is left out, and one
    /// that was not there then or whose traffic went back.
    pub fn since(&self, before: &Interfaces) -> Vec<NetworkInterfaceUsage> {
        let since_before = |(name, now): (&String, &Interface)| {
            let usage = now.since(before.0.get(name)?, name)?;
            has_traffic(&usage).then_some(usage)
        };
        self.0.iter().filter_map(since_before).collect()
    }
}

impl Interface {
    fn since(&self, before: &Interface, name: &str) -> Option<NetworkInterfaceUsage> {
        if self.properties.index != before.properties.index {
            return None;
        }
        let received =
            |of: fn(&Traffic) -> u64| counted(Some(of(&self.received)), Some(of(&before.received)));
        let sent = |of: fn(&Traffic) -> u64| counted(Some(of(&self.sent)), Some(of(&before.sent)));
        Some(NetworkInterfaceUsage {
            name: name.to_owned(),
            received_bytes: received(|traffic| traffic.bytes)?,
            received_packets: received(|traffic| traffic.packets)?,
            sent_bytes: sent(|traffic| traffic.bytes)?,
            sent_packets: sent(|traffic| traffic.packets)?,
            received_dropped_packets: received(|traffic| traffic.dropped),
            sent_dropped_packets: sent(|traffic| traffic.dropped),
            received_error_packets: received(|traffic| traffic.errors),
            sent_error_packets: sent(|traffic| traffic.errors),
            mtu_bytes: self.properties.mtu_bytes,
            speed_bits_per_second: self.properties.speed_bits_per_second,
        })
    }
}

impl Properties {
    /// Reads them from the folder of an interface.
    fn read(folder: &Path) -> Properties {
        let text = |file: &str| std::fs::read_to_string(folder.join(file)).unwrap_or_default();
        Properties {
            index: text("ifindex").trim().parse().ok(),
            mtu_bytes: text("mtu").trim().parse().ok(),
            speed_bits_per_second: parse_speed(&text("speed")),
        }
    }
}

fn has_traffic(usage: &NetworkInterfaceUsage) -> bool {
    let dropped = [usage.received_dropped_packets, usage.sent_dropped_packets];
    let bytes = [usage.received_bytes, usage.sent_bytes];
    let packets = [usage.received_packets, usage.sent_packets];
    let counts = bytes.into_iter().chain(packets).chain(dropped.into_iter().flatten());
    counts.max() > Some(0)
}

/// `NAME:` and sixteen numbers, eight for each direction, which begin with bytes, packets, errors
/// and dropped packets. The two lines above them have no colon.
fn parse_line(line: &str) -> Option<(String, Interface)> {
    let (name, numbers) = line.split_once(':')?;
    let numbers: Vec<u64> =
        numbers.split_ascii_whitespace().map_while(|word| word.parse().ok()).collect();
    let (received, sent) = numbers.split_at_checked(8)?;
    let interface = Interface {
        received: Traffic::parse(received)?,
        sent: Traffic::parse(sent)?,
        properties: Properties::default(),
    };
    Some((name.trim().to_owned(), interface))
}

impl Traffic {
    fn parse(numbers: &[u64]) -> Option<Traffic> {
        let [bytes, packets, errors, dropped, ..] = *numbers else { return None };
        Some(Traffic { bytes, packets, errors, dropped })
    }
}

/// A driver that does not know the speed says -1, which old kernels print as 4294967295.
fn parse_speed(text: &str) -> Option<u64> {
    let megabits: i32 = text.trim().parse().ok()?;
    let megabits = u64::try_from(megabits).ok().filter(|megabits| *megabits > 0)?;
    Some(megabits * SPEED_UNIT_BITS)
}

#[cfg(test)]
mod tests {
    use super::*;

    const BEFORE: &str = "\
Inter-|   Receive                                                |  Transmit
 face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs drop fifo
    lo: 900 9 0 98 0 0 0 0 900 9 0 0 0 0 0 0
  ifb0:       0       0    0    0    0     0          0         0        0       0    0 0 0 0 0 0
  eth0:1000 10 1 2 0 0 0 0 3000 30 3 4 0 0 0 0
";
    const AFTER: &str = "\
    lo: 900 9 0 98 0 0 0 0 900 9 0 0 0 0 0 0
  ifb0: 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0
  eth0: 1500 15 1 9 0 0 0 0 3700 37 3 3 0 0 0 0
  tun0: 5 5 0 0 0 0 0 0 5 5 0 0 0 0 0 0
";

    fn since(after: &str, before: &str) -> Vec<NetworkInterfaceUsage> {
        Interfaces::parse(after).since(&Interfaces::parse(before))
    }

    fn with_properties(properties: Properties) -> Interfaces {
        let mut interfaces = Interfaces::parse(BEFORE);
        for interface in interfaces.0.values_mut() {
            interface.properties = properties;
        }
        interfaces
    }

    #[test]
    fn an_interface_that_carried_traffic_is_named_with_what_it_carried() {
        let expected = NetworkInterfaceUsage {
            name: "eth0".to_owned(),
            received_bytes: 500,
            received_packets: 5,
            sent_bytes: 700,
            sent_packets: 7,
            received_dropped_packets: Some(7),
            // It went from 4 to 3.
            sent_dropped_packets: None,
            received_error_packets: Some(0),
            sent_error_packets: Some(0),
            mtu_bytes: None,
            speed_bits_per_second: None,
        };
        assert_eq!(since(AFTER, BEFORE), [expected]);
    }

    #[test]
    fn an_interface_that_came_or_went_is_left_out() {
        assert_eq!(since(AFTER, ""), []);
        assert_eq!(since("", BEFORE), []);
    }

    #[test]
    fn an_interface_whose_bytes_or_packets_went_back_is_left_out() {
        let eth0 = |counts: &str| since(&format!("eth0: {counts} 0 0\n"), BEFORE).len();
        assert_eq!(eth0("1001 11 1 2 0 0 0 0 3001 31 3 4 0 0"), 1);
        for back in [
            "999 11 1 2 0 0 0 0 3001 31 3 4 0 0",
            "1001 9 1 2 0 0 0 0 3001 31 3 4 0 0",
            "1001 11 1 2 0 0 0 0 2999 31 3 4 0 0",
            "1001 11 1 2 0 0 0 0 3001 29 3 4 0 0",
        ] {
            assert_eq!(eth0(back), 0, "{back}");
        }
    }

    #[test]
    fn one_that_only_drops_is_named() {
        let [usage] = &since(
            "eth0: 1000 10 1 3 0 0 0 0 3000 30 3 4 0 0 0 0\n",
            "eth0: 1000 10 1 2 0 0 0 0 3000 30 3 4 0 0 0 0\n",
        )[..] else {
            panic!("it dropped a packet");
        };
        assert_eq!(usage.received_dropped_packets, Some(1));
    }

    #[test]
    fn another_interface_of_the_same_name_is_another() {
        let index = |index| Properties { index, ..Properties::default() };
        let mut after = with_properties(index(Some(4)));
        let eth0 = after.0.get_mut("eth0").expect("it is listed");
        eth0.sent.packets += 1;
        assert_eq!(after.since(&with_properties(index(Some(4)))).len(), 1);
        assert_eq!(after.since(&with_properties(index(Some(3)))), []);
    }

    #[test]
    fn lines_that_make_no_sense_are_no_interfaces() {
        for text in ["", "eth0", "eth0:", ":", "eth0: a b", "eth0: 1 2 3 4 5 6 7 8 9 10 11"] {
            assert_eq!(Interfaces::parse(text), Interfaces::default(), "{text:?}");
        }
        let cut = "lo: 1 2 3 4 5 6 7 8 9 10 11 12\neth0: 1 2";
        assert_eq!(Interfaces::parse(cut).0.keys().collect::<Vec<_>>(), ["lo"]);
    }

    #[test]
    fn a_speed_is_in_megabits_and_an_unknown_one_is_not_a_speed() {
        assert_eq!(parse_speed("25000\n"), Some(25_000_000_000));
        for unknown in ["", "-1\n", "0\n", "4294967295\n", "fast"] {
            assert_eq!(parse_speed(unknown), None, "{unknown:?}");
        }
    }

    #[test]
    fn this_machine_has_a_loopback_interface() {
        let interfaces = Interfaces::read(Path::new("/"));
        let loopback = interfaces.0.get("lo").expect("every machine has one");
        assert_eq!(loopback.properties.speed_bits_per_second, None);
        assert!(loopback.properties.mtu_bytes.is_some());
    }
}
