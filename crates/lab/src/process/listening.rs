//! The port on which a process listens, from the kernel: for servers whose library cannot tell.

use super::stat::ProcessStat;
use super::tree::ProcessTree;
use std::collections::HashSet;

/// The state of a listening socket in `/proc/net/tcp`.
const LISTEN: &str = "0A";

/// The first port on which any process of `tree` accepts connections to 127.0.0.1.
pub fn listening_port(tree: &ProcessTree) -> Option<u16> {
    let members = tree.members();
    let sockets: HashSet<u64> = members.iter().flat_map(|stat| sockets_of(stat.pid)).collect();
    let tables = ["tcp", "tcp6"];
    let root = members.first()?.pid;
    tables.iter().find_map(|table| {
        let text = std::fs::read_to_string(format!("/proc/{root}/net/{table}")).ok()?;
        find_port(&text, &sockets)
    })
}

/// Whether a process of `tree` accepts connections on `port`.
pub fn listens_on(tree: &ProcessTree, port: u16) -> bool {
    tree.members().iter().any(|stat| is_listener(stat.pid, port))
}

/// The process that accepts connections on `port`, if we may look at it. Of several, the one that
/// was started first.
pub fn listener(port: u16) -> Option<i32> {
    let mut processes = ProcessStat::read_all();
    processes.sort_unstable_by_key(|stat| stat.start_time);
    processes.iter().map(|stat| stat.pid).find(|pid| is_listener(*pid, port))
}

fn is_listener(pid: i32, port: u16) -> bool {
    let sockets: HashSet<u64> = sockets_of(pid).into_iter().collect();
    ["tcp", "tcp6"].iter().any(|table| {
        let text = std::fs::read_to_string(format!("/proc/{pid}/net/{table}"));
        text.is_ok_and(|text| {
            listeners(&text).any(|(inode, on)| on == port && sockets.contains(&inode))
        })
    })
}

/// The sockets of a table that listen, and their ports.
fn listeners(table: &str) -> impl Iterator<Item = (u64, u16)> {
    table.lines().skip(1).filter_map(|line| {
        let fields: Vec<&str> = line.split_ascii_whitespace().collect();
        let inode = fields.get(9)?.parse().ok()?;
        let (_, port) = fields.get(1)?.split_once(':')?;
        let port = u16::from_str_radix(port, 16).ok()?;
        (fields.get(3) == Some(&LISTEN)).then_some((inode, port))
    })
}

fn sockets_of(pid: i32) -> Vec<u64> {
    std::fs::read_dir(format!("/proc/{pid}/fd"))
        .into_iter()
        .flatten()
        .filter_map(|entry| std::fs::read_link(entry.ok()?.path()).ok())
        .filter_map(|target| socket_number(target.to_str()?))
        .collect()
}

/// `socket:[12345]`
fn socket_number(target: &str) -> Option<u64> {
    target.strip_prefix("socket:[")?.strip_suffix(']')?.parse().ok()
}

/// The lines of `/proc/net/tcp` and `tcp6`: number, local address, remote address, state, queues,
/// timer, retransmits, user, time-out, inode.
fn find_port(table: &str, sockets: &HashSet<u64>) -> Option<u16> {
    table.lines().skip(1).find_map(|line| {
        let fields: Vec<&str> = line.split_ascii_whitespace().collect();
        let inode = fields.get(9)?.parse().ok()?;
        let (address, port) = fields.get(1)?.split_once(':')?;
        let ours = fields.get(3) == Some(&LISTEN) && sockets.contains(&inode);
        let port = u16::from_str_radix(port, 16).ok()?;
        (ours && accepts_loopback(address)).then_some(port)
    })
}

/// Addresses stand as 32-bit words in the machine's byte order. `::` accepts IPv4 as well, unless
/// the server has switched that off.
fn accepts_loopback(address: &str) -> bool {
    let four = u32::from_ne_bytes([127, 0, 0, 1]);
    let mapped = format!("{:016X}{:08X}{four:08X}", 0, u32::from_ne_bytes([0, 0, 255, 255]));
    let is_any = !address.is_empty() && address.bytes().all(|byte| byte == b'0');
    is_any || address == format!("{four:08X}") || address == mapped
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::TcpListener;

    const TABLE: &str = "\
  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 0100007F:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1000        0 111 1
   1: 0100007F:A8A7 00000000:0000 01 00000000:00000000 00:00000000 00000000  1000        0 222 1
   2: 0201A8C0:0050 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1000        0 333 1
   3: 00000000:0051 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1000        0 444 1
";

    #[test]
    #[cfg(target_endian = "little")]
    fn only_our_own_listeners_on_loopback_count() {
        let port = |inode| find_port(TABLE, &HashSet::from([inode]));
        assert_eq!(port(111), Some(8080));
        assert_eq!(port(222), None, "it is connected, not listening");
        assert_eq!(port(333), None, "it listens elsewhere");
        assert_eq!(port(444), Some(81));
        assert_eq!(port(555), None, "it is not ours");
    }

    #[test]
    fn both_ways_of_ipv6_to_take_ipv4_are_known() {
        assert!(accepts_loopback("00000000000000000000000000000000"));
        #[cfg(target_endian = "little")]
        assert!(accepts_loopback("0000000000000000FFFF00000100007F"));
        assert!(!accepts_loopback("00000000000000000000000001000000"));
        assert!(!accepts_loopback(""));
    }

    #[test]
    fn sockets_are_told_from_files() {
        assert_eq!(socket_number("socket:[42]"), Some(42));
        assert_eq!(socket_number("pipe:[42]"), None);
        assert_eq!(socket_number("/dev/null"), None);
    }

    #[test]
    fn this_process_is_found_by_its_listener() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let table = std::fs::read_to_string("/proc/self/net/tcp").unwrap();
        let pid = i32::try_from(std::process::id()).unwrap();
        let expected = listener.local_addr().unwrap().port();
        let all: HashSet<u64> = sockets_of(pid).into_iter().collect();
        // Other tests of this process may listen too, so ours is picked by its port.
        let ours =
            all.iter().find(|inode| find_port(&table, &HashSet::from([**inode])) == Some(expected));
        assert!(ours.is_some());
        let tree = ProcessTree::new(std::process::id(), "none".into(), vec![]);
        assert!(listening_port(&tree).is_some());
    }
}
