//! The addresses that the connections of a worker have gone to.

use super::recorder::TargetCounts;
use bookend_client::targets::Endpoint;
use serde::{Deserialize, Serialize};

/// The addresses that a worker has connected to: as many as there are targets, unless a name has
/// moved to another address.
#[derive(Clone, Debug, Default)]
pub struct PeerTable {
    peers: Vec<Peer>,
    /// By connection of the worker: the peer that it went to last.
    of_connection: Vec<u32>,
}

#[derive(Clone, Debug)]
struct Peer {
    endpoint: Endpoint,
    connections_opened: u64,
}

/// What one address has done.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TargetOutcome {
    /// Which of the targets' names it belongs to, from 0.
    pub name: usize,
    /// The address.
    pub address: String,
    /// Connections made to it in the whole run.
    pub connections_opened: u64,
    /// Calls of the window that it answered, and that failed.
    pub calls: TargetCounts,
}

impl PeerTable {
    /// A connection is requested.
    pub(crate) fn connect(&mut self, connection: usize, endpoint: Endpoint) {
        let known = |peer: &Peer| peer.endpoint == endpoint;
        let index = self.peers.iter().position(known).unwrap_or_else(|| {
            self.peers.push(Peer { endpoint, connections_opened: 0 });
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

    /// The address that a connection went to last, and whose it is.
    pub(crate) fn endpoint(&self, connection: usize) -> &Endpoint {
        &self.peers[self.index(connection) as usize].endpoint
    }

    /// What has happened to a connection, with its address where there are several.
    pub(crate) fn explain(&self, connection: usize, several: bool, text: &str) -> String {
        if !several {
            return text.to_owned();
        }
        let address = self.endpoint(connection).target.address.to_string();
        if text.contains(&address) { text.to_owned() } else { format!("{address}: {text}") }
    }

    /// All addresses, by their index, with the calls made to each.
    pub(crate) fn into_outcomes(self, calls: &[TargetCounts]) -> Vec<TargetOutcome> {
        let calls = calls.iter().copied().chain(std::iter::repeat(TargetCounts::default()));
        let outcome = |(peer, calls): (Peer, TargetCounts)| TargetOutcome {
            name: peer.endpoint.name,
            address: peer.endpoint.target.address.to_string(),
            connections_opened: peer.connections_opened,
            calls,
        };
        self.peers.into_iter().zip(calls).map(outcome).collect()
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
            (peers.index(connection), peers.endpoint(connection).name)
        };
        assert_eq!(open(0, endpoint(1, 0)), (0, 0));
        assert_eq!(open(1, endpoint(2, 1)), (1, 1));
        // The name has moved, and moved back.
        assert_eq!(open(0, endpoint(3, 0)), (2, 0));
        assert_eq!(open(0, endpoint(1, 0)), (0, 0));
        assert_eq!((peers.index(0), peers.index(1)), (0, 1));
        let opened: Vec<_> =
            (peers.into_outcomes(&[]).iter()).map(|peer| peer.connections_opened).collect();
        assert_eq!(opened, [2, 1, 1]);
    }

    #[test]
    fn an_error_names_its_target_where_there_are_several() {
        let mut peers = PeerTable::default();
        peers.connect(0, endpoint(1, 0));
        assert_eq!(peers.explain(0, true, "gone"), "127.0.0.1:1: gone");
        assert_eq!(peers.explain(0, false, "gone"), "gone");
        let named = "nobody listens at 127.0.0.1:1";
        assert_eq!(peers.explain(0, true, named), named);
    }
}
