//! Which addresses the connections of a worker have gone to.

use crate::targets::Endpoint;
use bookend_io::{Address, Target};

/// The addresses that a worker has seen: as many as there are targets, unless names have moved.
#[derive(Clone, Debug, Default)]
pub struct PeerTable {
    entries: Vec<Entry>,
    /// By connection of the worker: the entry that it was dialled at last.
    dialled: Vec<u32>,
}

/// One address.
#[derive(Clone, Debug)]
pub(crate) struct Entry {
    pub endpoint: Endpoint,
    pub connections_opened: u64,
}

/// Where a connection goes to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Place {
    /// The entry of the peers.
    pub entry: u32,
    /// Which of the targets' names it belongs to.
    pub name: usize,
}

impl PeerTable {
    /// A connection is asked for.
    pub(crate) fn dial(&mut self, connection: usize, endpoint: Endpoint) {
        let known = |entry: &Entry| entry.endpoint == endpoint;
        let entry = self.entries.iter().position(known).unwrap_or_else(|| {
            self.entries.push(Entry {
                endpoint,
                connections_opened: 0,
            });
            self.entries.len() - 1
        });
        if self.dialled.len() <= connection {
            self.dialled.resize(connection + 1, 0);
        }
        self.dialled[connection] = entry as u32;
    }

    /// That connection is there.
    pub(crate) fn opened(&mut self, connection: usize) -> Place {
        let entry = self.dialled[connection];
        let opened = &mut self.entries[entry as usize];
        opened.connections_opened += 1;
        Place {
            entry,
            name: opened.endpoint.name,
        }
    }

    /// Which of the targets' names a connection was dialled at last.
    pub(crate) fn name(&self, connection: usize) -> usize {
        let entry = self.dialled[connection] as usize;
        self.entries[entry].endpoint.name
    }

    /// The entry that a connection was dialled at last.
    pub(crate) fn entry(&self, connection: usize) -> u32 {
        self.dialled[connection]
    }

    /// What has happened to a connection, with the address where there are several.
    pub(crate) fn explain(&self, connection: usize, several: bool, text: &str) -> String {
        match several {
            true => format!("{}: {text}", self.address(connection)),
            false => text.to_owned(),
        }
    }

    /// The target that a connection was dialled at last.
    pub(crate) fn target(&self, connection: usize) -> &Target {
        let entry = self.dialled[connection] as usize;
        &self.entries[entry].endpoint.target
    }

    /// The address that a connection was dialled at last.
    pub(crate) fn address(&self, connection: usize) -> &Address {
        let entry = self.dialled[connection] as usize;
        &self.entries[entry].endpoint.target.address
    }

    pub(crate) fn into_entries(self) -> Vec<Entry> {
        self.entries
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
        peers.dial(0, endpoint(1, 0));
        peers.dial(1, endpoint(2, 1));
        assert_eq!(peers.opened(0), Place { entry: 0, name: 0 });
        assert_eq!(peers.opened(1), Place { entry: 1, name: 1 });
        // The name has moved, and moved back.
        peers.dial(0, endpoint(3, 0));
        assert_eq!(peers.opened(0).entry, 2);
        peers.dial(0, endpoint(1, 0));
        assert_eq!(peers.opened(0).entry, 0);
        assert_eq!((peers.entry(0), peers.entry(1)), (0, 1));
        let opened: Vec<_> = (peers.into_entries().iter())
            .map(|entry| entry.connections_opened)
            .collect();
        assert_eq!(opened, [2, 1, 1]);
    }

    #[test]
    fn an_error_names_its_target_where_there_are_several() {
        let mut peers = PeerTable::default();
        peers.dial(0, endpoint(1, 0));
        assert_eq!(peers.explain(0, true, "gone"), "127.0.0.1:1: gone");
        assert_eq!(peers.explain(0, false, "gone"), "gone");
    }
}
