//! What TLS takes of the limits of a server, for handshakes of which no shard knows yet and for
//! open connections.

use std::net::IpAddr;
use std::sync::Arc;

use bookend_io::tls::SharedLimits;

use crate::memory::MemoryBudget;
use crate::peer_addresses::PeerAddresses;

/// The limits of all connections of a server.
pub(crate) struct HandshakeLimits {
    pub memory: Arc<MemoryBudget>,
    pub addresses: Arc<PeerAddresses>,
}

impl SharedLimits for HandshakeLimits {
    fn add(&self, bytes: usize) {
        self.memory.add(bytes);
    }

    fn subtract(&self, bytes: usize) {
        self.memory.subtract(bytes);
    }

    fn is_tight(&self) -> bool {
        self.memory.is_tight()
    }

    fn is_exceeded(&self) -> bool {
        self.memory.is_exceeded()
    }

    fn enter(&self, address: IpAddr) -> bool {
        self.addresses.enter(Some(address)).is_ok()
    }

    fn leave(&self, address: IpAddr) {
        self.addresses.leave(address);
    }
}
