//! The addresses that the connections of a worker have gone to.

use crate::targets::Endpoint;
use bookend_io::{Address, Target};

/// The addresses that a worker has connected to: as many as there are targets, unless a name has
/// moved to another address.
#[derive(Clone, Debug, Default)]
pub struct PeerTable {
    peers: Vec<PeerRecord>,
    /// By connection of the worker: the peer that it went to last.
    of_connection: Vec<u32>,
}

/// One address.
#[derive(Clone, Debug)]
pub(crate) struct PeerRecord {
    pub endpoint: Endpoint,
    pub connections_opened: u64,
}

impl PeerTable {
    /// A connection is requested.
    pub(crate) fn connect(&mut self, connection: usize, endpoint: Endpoint) {
        let known = |peer: &PeerRecord| peer.endpoint == endpoint;
        let index = self.peers.iter().position(known).unwrap_or_else(|| {
            self.peers.push(PeerRecord { endpoint, connections_opened: 0 });
            self.peers.len() - 1
        });
        if self.of_connection.len() <= connection {
            self.of_connection.resize(connection + 1, 0);
        }
        self.of_connection[connection] = index as u32;
    }

    /// That connection is established.
    pub(crate) fn opened(&mut self, connection: usize) {
        let index = self.of_connection[connection] as usize;
        self.peers[index].connections_opened += 1;
    }

    /// The index of the peer that a connection went to last.
    pub(crate) fn index(&self, connection: usize) -> u32 {
        self.of_connection[connection]
    }

    /// Which of the targets' names a connection went to last.
    pub(crate) fn name(&self, connection: usize) -> usize {
        self.endpoint(connection).name
    }

    /// The target that a connection went to last.
    pub(crate) fn target(&self, connection: usize) -> &Target {
        &self.endpoint(connection).target
    }

    /// The address that a connection went to last.
    pub(crate) fn address(&self, connection: usize) -> &Address {
        &self.target(connection).address
    }

    /// What has happened to a connection, with its address where there are several.
    pub(crate) fn explain(&self, connection: usize, several: bool, text: &str) -> String {
        if several { format!("{}: {text}", self.address(connection)) } else { text.to_owned() }
    }

    fn endpoint(&self, connection: usize) -> &Endpoint {
        &self.peers[self.index(connection) as usize].endpoint
    }

    /// All addresses, by their index.
    pub(crate) fn into_peers(self) -> Vec<PeerRecord> {
        self.peers
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::SocketAddr;

    fn endpoint(port: u16, name: usize) -> Endpoint {
        let target = SocketAddr::from(([127, 0, 0, 1], port)).into();
        Endpoint { target, name }
    }

    #[test]
    fn connections_are_counted_where_they_were_made() {
        let mut peers = PeerTable::default();
        let mut open = |connection, endpoint| {
            peers.connect(connection, endpoint);
            peers.opened(connection);
            (peers.index(connection), peers.name(connection))
        };
        assert_eq!(open(0, endpoint(1, 0)), (0, 0));
        assert_eq!(open(1, endpoint(2, 1)), (1, 1));
        // The name has moved, and moved back.
        assert_eq!(open(0, endpoint(3, 0)), (2, 0));
        assert_eq!(open(0, endpoint(1, 0)), (0, 0));
        assert_eq!((peers.index(0), peers.index(1)), (0, 1));
        let opened: Vec<_> =
            (peers.into_peers().iter()).map(|peer| peer.connections_opened).collect();
        assert_eq!(opened, [2, 1, 1]);
    }

    #[test]
    fn an_error_names_its_target_where_there_are_several() {
        let mut peers = PeerTable::default();
        peers.connect(0, endpoint(1, 0));
        assert_eq!(peers.explain(0, true, "gone"), "127.0.0.1:1: gone");
        assert_eq!(peers.explain(0, false, "gone"), "gone");
    }
}
