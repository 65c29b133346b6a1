//! How many connections come from each address.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The connections of a server, by where they come from.
pub(crate) struct PeerAddresses {
    /// For each; `None` for no limit.
    limit: Option<u32>,
    connections: Mutex<HashMap<IpAddr, u32>>,
}

/// An address with too many connections.
pub(crate) struct TooMany;

impl PeerAddresses {
    pub fn new(limit: Option<u32>) -> Self {
        PeerAddresses { limit, connections: Mutex::default() }
    }

    /// A connection comes from that address. What is to be given to [`PeerAddresses::leave`] later,
    /// if it counts: those of this machine do not.
    pub fn enter(&self, address: Option<IpAddr>) -> Result<Option<IpAddr>, TooMany> {
        let (Some(limit), Some(address)) = (self.limit, address.map(network)) else {
            return Ok(None);
        };
        if address.is_loopback() {
            return Ok(None);
        }
        let mut connections = self.lock();
        let count = connections.entry(address).or_default();
        if *count >= limit {
            return Err(TooMany);
        }
        *count += 1;
        Ok(Some(address))
    }

    /// A connection that has entered from that address is gone.
    pub fn leave(&self, address: IpAddr) {
        let address = network(address);
        let mut connections = self.lock();
        // Those that do not count have no entry.
        if let Some(count) = connections.get_mut(&address) {
            *count -= 1;
            if *count == 0 {
                connections.remove(&address);
            }
        }
    }

    /// Nothing that panics happens under the lock but running out of memory.
    fn lock(&self) -> MutexGuard<'_, HashMap<IpAddr, u32>> {
        self.connections.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What one user has: an address of IPv4, or the 64 bits of IPv6 in front of the interface's.
fn network(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(address) if !address.is_loopback() => {
            let prefix = u128::from(address) >> 64 << 64;
            IpAddr::V6(prefix.into())
        }
        address => address,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn enter(addresses: &PeerAddresses, text: &str) -> Option<Option<IpAddr>> {
        addresses.enter(Some(text.parse().unwrap())).ok()
    }

    #[test]
    fn each_address_has_its_own_limit_and_gets_back_what_it_leaves() {
        let addresses = PeerAddresses::new(Some(2));
        let first = enter(&addresses, "192.0.2.1").unwrap();
        assert!(enter(&addresses, "::ffff:192.0.2.1").is_some());
        assert!(enter(&addresses, "192.0.2.1").is_none());
        assert!(enter(&addresses, "192.0.2.2").is_some());
        addresses.leave(first.unwrap());
        assert!(enter(&addresses, "192.0.2.1").is_some());
    }

    #[test]
    fn a_network_of_ipv6_counts_as_one_address() {
        let addresses = PeerAddresses::new(Some(1));
        assert!(enter(&addresses, "2001:db8:0:1::1").is_some());
        assert!(enter(&addresses, "2001:db8:0:1::2").is_none());
        assert!(enter(&addresses, "2001:db8:0:2::1").is_some());
    }

    #[test]
    fn this_machine_has_no_limit_and_addresses_that_left_take_no_memory() {
        let addresses = PeerAddresses::new(Some(1));
        for _ in 0..10 {
            assert_eq!(enter(&addresses, "127.0.0.1"), Some(None));
            assert_eq!(enter(&addresses, "::1"), Some(None));
            assert_eq!(addresses.enter(None).ok(), Some(None));
        }
        let counted = enter(&addresses, "192.0.2.1").unwrap();
        addresses.leave(counted.unwrap());
        assert!(addresses.lock().is_empty());
    }
}
