//! Calls whose request does not come.

use bookend_io::IoContext;

use super::Accepted;
use crate::limits::Limits;

impl Accepted {
    /// Ends the calls whose request has stood still for too long.
    pub(super) fn end_stalled(&mut self, limits: &Limits, now_ns: u64, io: &mut IoContext) {
        let Some(timeout_ns) = limits.request_timeout_ns else {
            return;
        };
        if self.is_ending || self.connection.sender.live_streams() == 0 {
            return;
        }
        if io.backlog(self.id) > 0 {
            // It may not be read from.
            return self.calls.forgive_standstills();
        }
        self.with_output(io, |sender, calls| {
            calls.end_stalled(sender, timeout_ns, now_ns);
        });
    }
}
