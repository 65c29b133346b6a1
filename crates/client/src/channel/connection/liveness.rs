//! Whether the server is still there while calls wait for it.

use bookend_wire::Keepalive;
use bookend_wire::keepalive::{KeepaliveAction, KeepaliveState};

/// What has come from the server, and when to check whether more has.
#[derive(Debug, Default)]
pub(super) struct Liveness {
    received_bytes: u64,
    keepalive_state: KeepaliveState,
    /// `None` while no call waits.
    check_at_ns: Option<u64>,
}

impl Liveness {
    /// `bytes` bytes have come.
    #[inline]
    pub fn received(&mut self, bytes: usize) {
        self.received_bytes += bytes as u64;
    }

    /// Checks whether the server is silent, if it is time to and calls wait for it.
    pub fn check(
        &mut self,
        calls_wait: bool,
        how: Keepalive,
        now_ns: u64,
    ) -> Option<KeepaliveAction> {
        if !calls_wait {
            self.keepalive_state.pause();
            self.check_at_ns = None;
            return None;
        }
        if self.check_at_ns.is_some_and(|at_ns| now_ns < at_ns) {
            return None;
        }
        let action = self.keepalive_state.check(self.received_bytes, how, now_ns);
        self.check_at_ns = Some(self.keepalive_state.next_ns(how, now_ns));
        action
    }

    /// When to check next, while calls wait.
    pub fn check_at_ns(&self) -> Option<u64> {
        self.check_at_ns
    }
}
