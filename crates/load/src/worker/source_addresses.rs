//! Where connections come from. A connection takes a port of this machine, and keeps it for a
//! minute after we have closed it (TIME_WAIT, RFC 9293 section 3.6.1). On the loopback there are
//! more addresses, each with its own ports.

use bookend_io::{Target, is_out_of_descriptors};
use std::io;
use std::net::{IpAddr, Ipv4Addr};

/// Addresses besides the first that connections come from: 127.0.0.2 to 127.0.0.254. At the usual
/// 28,232 ports each and 60 s, they last for 119,000 connections a second.
const OTHER_ADDRESSES: u8 = 253;
/// The last number of the first of these.
const FIRST_OTHER_NUMBER: u8 = 2;

/// The addresses of this machine that connections come from, used one after the other.
#[derive(Debug, Default)]
pub(crate) struct SourceAddresses {
    /// 0: the address that routing chooses; else the n-th other.
    current: u8,
    /// Addresses in a row that had no port, since a connection was last made.
    empty_in_a_row: u32,
    most_used: u8,
}

/// What a driver hands back with a connection: which it is, and where it was to come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ConnectToken {
    /// Which connection of the worker.
    pub number: u32,
    source: u8,
}

impl ConnectToken {
    pub fn of(number: u64) -> Self {
        Self { number: number as u32, source: (number >> u32::BITS) as u8 }
    }

    pub fn to_number(self) -> u64 {
        u64::from(self.source) << u32::BITS | u64::from(self.number)
    }
}

impl SourceAddresses {
    /// The target of a connection that is to be made now.
    #[inline]
    pub fn target(&self, target: &Target, number: u32) -> (Target, ConnectToken) {
        let source = if may_vary(target) { self.current } else { 0 };
        let mut target = target.clone();
        if source > 0 {
            let last = FIRST_OTHER_NUMBER + source - 1;
            target.source = Some(IpAddr::V4(Ipv4Addr::new(127, 0, 0, last)));
        }
        (target, ConnectToken { number, source })
    }

    /// A connection was made.
    #[inline]
    pub fn opened(&mut self) {
        self.empty_in_a_row = 0;
    }

    /// Whether a connection that could not be made may be made from another address.
    pub fn has_another(&mut self, target: &Target, token: ConnectToken, error: &io::Error) -> bool {
        if error.kind() != io::ErrorKind::AddrNotAvailable || !may_vary(target) {
            return false;
        }
        // Another connection may have noticed before.
        if token.source == self.current {
            self.empty_in_a_row += 1;
            self.current = (self.current + 1) % (OTHER_ADDRESSES + 1);
            self.most_used = self.most_used.max(self.current);
        }
        self.empty_in_a_row <= u32::from(OTHER_ADDRESSES)
    }

    /// Addresses used besides the first.
    pub fn used(&self) -> u32 {
        u32::from(self.most_used)
    }

    /// What this machine lacks for another connection, and what to do about it; `None` where it is
    /// not to blame.
    pub fn explain(&self, error: &io::Error) -> Option<&'static str> {
        match error.kind() {
            io::ErrorKind::AddrNotAvailable => Some(NO_PORT),
            _ if is_out_of_descriptors(error) => Some(NO_DESCRIPTOR),
            _ => None,
        }
    }
}

const NO_PORT: &str = "this machine has no free port left toward the target (each connection that \
     we close keeps its own for 60 s): widen net.ipv4.ip_local_port_range, or give several targets";

const NO_DESCRIPTOR: &str = "this process has no descriptor left for another connection: raise the \
     limit with ulimit -n";

/// Whether connections to that target may come from any of the loopback's addresses.
fn may_vary(target: &Target) -> bool {
    let address = target.address.tcp().map(|address| address.ip());
    let is_loopback = matches!(address, Some(IpAddr::V4(address)) if address.is_loopback());
    is_loopback && target.source.is_none()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::SocketAddr;

    fn target(address: &str) -> Target {
        address.parse::<SocketAddr>().unwrap().into()
    }

    fn no_port() -> io::Error {
        io::ErrorKind::AddrNotAvailable.into()
    }

    #[test]
    fn on_the_loopback_the_next_address_is_taken_when_ports_run_out() {
        let mut sources = SourceAddresses::default();
        let server = target("127.0.0.1:1");
        let (first, token) = sources.target(&server, 7);
        assert_eq!((first.source, ConnectToken::of(token.to_number())), (None, token));
        assert!(sources.has_another(&server, token, &no_port()));
        let (second, next) = sources.target(&server, 8);
        assert_eq!(second.source, Some(IpAddr::from([127, 0, 0, 2])));
        assert!(sources.has_another(&server, token, &no_port()), "asked before the change");
        assert_eq!(sources.target(&server, 8), (second, next));
        assert_eq!(sources.used(), 1);
    }

    #[test]
    fn when_none_of_them_has_a_port_the_call_fails_and_says_what_to_do() {
        let mut sources = SourceAddresses::default();
        let server = target("127.0.0.1:1");
        let mut tried = 0;
        while sources.has_another(&server, sources.target(&server, 0).1, &no_port()) {
            tried += 1;
        }
        assert_eq!(tried, u32::from(OTHER_ADDRESSES));
        assert!(sources.explain(&no_port()).unwrap().contains("ip_local_port_range"));
        sources.opened();
        assert!(sources.has_another(&server, sources.target(&server, 0).1, &no_port()));
    }

    #[test]
    fn elsewhere_and_for_other_errors_there_is_no_other_address() {
        let mut sources = SourceAddresses::default();
        let refused = io::Error::from(io::ErrorKind::ConnectionRefused);
        for (address, error) in
            [("192.0.2.1:1", no_port()), ("[::1]:1", no_port()), ("127.0.0.1:1", refused)]
        {
            let server = target(address);
            let token = sources.target(&server, 0).1;
            assert!(!sources.has_another(&server, token, &error), "{address}");
        }
        assert_eq!(sources.used(), 0);
    }
}
