//! When the connections of a worker are checked for silent servers.

use super::load_connection::LoadConnection;
use bookend_wire::Keepalive;

/// When the connections of a worker are checked for silent servers.
#[derive(Debug)]
pub(super) struct KeepaliveSweep {
    /// What holds for the next connection.
    pub next: Option<Keepalive>,
    /// All connections are checked then; `u64::MAX` for never.
    pub at_ns: u64,
}

impl KeepaliveSweep {
    pub fn new(keepalive: Option<Keepalive>) -> Self {
        Self { next: keepalive, at_ns: u64::MAX }
    }

    /// There is a connection to check.
    pub fn begin(&mut self, now_ns: u64) {
        if let Some(keepalive) = self.next {
            let first_ns = now_ns.saturating_add(keepalive.check_interval_ns());
            self.at_ns = self.at_ns.min(first_ns);
        }
    }

    /// A connection is gone. Where its server received too many PINGs, the next ones get half as
    /// many as it did, which is one step for all connections that end so at a time.
    pub fn learn_from(&mut self, connection: &LoadConnection) {
        let goaway = connection.goaway.as_ref();
        let too_many_pings = goaway.is_some_and(|goaway| goaway.too_many_pings);
        if let Some(used) = connection.keepalive.filter(|_| too_many_pings) {
            let slower = used.at_half_rate();
            self.next = self.next.filter(|next| next.time_ns > slower.time_ns).or(Some(slower));
        }
    }
}
