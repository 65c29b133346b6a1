//! Servers that say nothing while calls wait for them: when they are asked for a sign of life, and
//! given up.

use super::LoadShard;
use crate::worker::load_connection::LoadConnection;
use bookend_io::IoContext;
use bookend_wire::Keepalive;
use std::time::Duration;

/// When the silent are asked, and when somebody looks who they are.
#[derive(Debug)]
pub(super) struct KeepaliveSweep {
    /// What holds for the next connection.
    pub how: Option<Keepalive>,
    /// All connections are looked at then; `u64::MAX` for never.
    pub at_ns: u64,
}

impl KeepaliveSweep {
    pub fn new(how: Option<Keepalive>) -> Self {
        Self {
            how,
            at_ns: u64::MAX,
        }
    }

    /// There is a connection to look at.
    pub fn begin(&mut self, now_ns: u64) {
        if let Some(how) = self.how {
            let first_ns = now_ns.saturating_add(how.look_interval_ns());
            self.at_ns = self.at_ns.min(first_ns);
        }
    }

    /// A connection is gone. Where its server was asked too often, the next ones are asked half as
    /// often as it was, which is one step for all that are told so at a time.
    pub fn learn_from(&mut self, link: &LoadConnection) {
        let asked_too_often = link
            .farewell
            .as_ref()
            .is_some_and(|said| said.asked_too_often);
        if let Some(asked) = link.liveness.how().filter(|_| asked_too_often) {
            let calmed = asked.calmed();
            self.how = self
                .how
                .filter(|how| how.time_ns > calmed.time_ns)
                .or(Some(calmed));
        }
    }
}

impl LoadShard {
    /// Looks at all connections, if it is time to, and gives up those whose server has vanished.
    pub(super) fn keep_alive(&mut self, io: &mut IoContext) {
        if io.now_ns() < self.patrol.at_ns {
            return;
        }
        self.patrol.at_ns = u64::MAX;
        for index in 0..self.links.len() {
            let Some(link) = &mut self.links[index] else {
                continue;
            };
            match link.look_for_life(io) {
                Some(next_ns) => self.patrol.at_ns = self.patrol.at_ns.min(next_ns),
                None => {
                    let id = link.id;
                    let text = vanished(link.liveness.how());
                    self.lost(id, &text, io);
                    io.abort(id);
                }
            }
        }
    }
}

/// Why the calls of such a connection have failed.
fn vanished(how: Option<Keepalive>) -> String {
    let waited = Duration::from_nanos(how.map_or(0, |how| how.timeout_ns));
    format!(
        "nothing came for {waited:?} after a keepalive PING: the server is gone, or the network to it"
    )
}
