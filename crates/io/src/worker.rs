//! What every driver's thread has: a shard, its context, the account of its time, and its end.

use crate::clock::clock_ns;
use crate::connection_state::RECEIVE_BUFFER_BYTES;
use crate::context::{IoContext, PendingOps};
use crate::kernel;
use crate::machine;
use crate::options::{FINAL_FLUSH_NS, IoOptions, Wait};
use crate::shard::{Closed, ConnectionId, Opened, Shard};
use crate::socket;
use crate::statistics::IoStatistics;
use crate::waker::Waker;
use rustix::fd::OwnedFd;
use std::io;
use std::mem;

/// A deadline that no clock reaches.
const NEVER: u64 = u64::MAX;

/// One thread's shard and what every driver keeps about it.
pub(crate) struct Worker<S> {
    pub shard: S,
    pub io: IoContext,
    pub buffer: Box<[u8]>,
    pub waker: Waker,
    pub options: IoOptions,
    leave_at_ns: Option<u64>,
    woke_at_ns: u64,
    worked: bool,
    called: bool,
}

/// Until when a driver may wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NextWake {
    /// There is something to do.
    AtOnce,
    /// Until something happens.
    Never,
    /// Until that time of the clock. `now_ns` is the clock, if it was read just now.
    Until { until_ns: u64, now_ns: Option<u64> },
}

impl<S: Shard> Worker<S> {
    /// Sets a shard up on the calling thread and wakes it for the first time.
    pub fn start(shard: S, waker: Waker, options: IoOptions) -> Self {
        machine::sharpen_timers();
        let mut worker = Self {
            shard,
            io: IoContext::default(),
            buffer: vec![0; RECEIVE_BUFFER_BYTES].into(),
            waker,
            options,
            leave_at_ns: None,
            woke_at_ns: clock_ns(),
            worked: true,
            called: false,
        };
        worker.shard.woken(&mut worker.io);
        worker
    }

    /// Closes the account of the turn and says how long the driver may wait, nanoseconds: until the
    /// shard's deadline or the driver's own, not at all, or for ever.
    #[inline]
    pub fn begin_wait(&mut self, own_deadline_ns: Option<u64>) -> Option<u64> {
        match self.next_wake(self.shard_deadline_ns(), own_deadline_ns) {
            NextWake::AtOnce => Some(0),
            NextWake::Never => None,
            NextWake::Until { until_ns, now_ns } => {
                Some(until_ns.saturating_sub(now_ns.unwrap_or_else(clock_ns)))
            }
        }
    }

    /// When the shard is to be woken; [`NEVER`] where it has no deadline.
    #[inline]
    pub fn shard_deadline_ns(&self) -> u64 {
        self.shard.next_deadline().unwrap_or(NEVER)
    }

    /// Closes the account of the turn and says until when the driver may wait. `shard_ns` is
    /// [`Worker::shard_deadline_ns`], which may be known since the shard's last call.
    #[inline]
    pub fn next_wake(&mut self, shard_ns: u64, own_deadline_ns: Option<u64>) -> NextWake {
        let now_ns = self.account();
        if self.options.wait == Wait::Spin || self.io.has_work() {
            return NextWake::AtOnce;
        }
        let until_ns =
            shard_ns.min(own_deadline_ns.unwrap_or(NEVER)).min(self.leave_at_ns.unwrap_or(NEVER));
        if until_ns == NEVER { NextWake::Never } else { NextWake::Until { until_ns, now_ns } }
    }

    /// Counts a turn that did work. The clock, if it had to be read.
    #[inline]
    fn account(&mut self) -> Option<u64> {
        if !mem::take(&mut self.worked) {
            return None;
        }
        self.io.statistics.turns += 1;
        if !self.options.counts_busy_time {
            return None;
        }
        let now_ns = clock_ns();
        self.io.statistics.busy_ns += now_ns - self.woke_at_ns;
        Some(now_ns)
    }

    /// Opens the account of the next turn.
    #[inline]
    pub fn end_wait(&mut self, worked: bool) {
        self.worked = worked;
        self.called = self.waker.wake_up();
        self.io.begin();
        if self.options.counts_busy_time {
            self.woke_at_ns = self.io.now_ns();
        }
    }

    /// Marks the turn as one that did work, although no event announced it.
    pub fn has_worked(&mut self) {
        self.worked = true;
    }

    /// Wakes the shard if its deadline has passed, its waker was called, or the driver is to stop.
    /// Returns whether the waker was called.
    #[inline]
    pub fn wake_shard(&mut self) -> bool {
        let is_due = self.is_shard_due(self.shard_deadline_ns());
        let called = mem::take(&mut self.called);
        if is_due {
            self.worked = true;
            if self.waker.is_stopping() {
                self.io.stop();
            }
            self.io.begin();
            self.shard.woken(&mut self.io);
        }
        called
    }

    /// Whether the shard, which has that deadline, must be woken now.
    #[inline]
    pub fn is_shard_due(&self, deadline_ns: u64) -> bool {
        self.called || (deadline_ns != NEVER && deadline_ns <= self.io.now_ns())
    }

    /// Whether the driver may end its loop; `written` answers whether the kernel has all output.
    #[inline]
    pub fn may_leave(&mut self, written: impl FnOnce(&IoContext) -> bool) -> bool {
        self.io.stopping() && self.has_drained(written)
    }

    #[cold]
    fn has_drained(&mut self, written: impl FnOnce(&IoContext) -> bool) -> bool {
        let now_ns = clock_ns();
        let leave_at_ns =
            *self.leave_at_ns.get_or_insert(now_ns.saturating_add(self.options.drain_ns));
        let idle = !self.io.has_work() && !self.shard.has_outstanding();
        if idle && written(&self.io) {
            return true;
        }
        if self.io.drain_is_over() {
            return now_ns >= leave_at_ns;
        }
        if now_ns >= leave_at_ns || self.waker.is_stopping_now() {
            self.leave_at_ns = Some(now_ns + FINAL_FLUSH_NS);
            self.end_drain();
        }
        false
    }

    /// The drain time has passed: the shard may tell its peers so.
    fn end_drain(&mut self) {
        self.worked = true;
        self.io.end_drain();
        self.io.begin();
        self.shard.woken(&mut self.io);
    }

    /// Tells the shard which outputs have been written whole since the last turn.
    pub fn notify_writable(&mut self) {
        for id in self.io.take_writable() {
            if self.io.is_live(id) {
                self.shard.writable(id, &mut self.io);
            }
        }
    }

    /// The id of an accepted connection. `None` where there is no memory for it, which is counted.
    #[inline]
    pub fn admit(&mut self, socket: &OwnedFd) -> Option<ConnectionId> {
        let id = self.io.try_reserve().ok();
        if let Some(peer) = id.and_then(|id| self.io.peer_mut(id)) {
            peer.address = kernel::peer_address(socket);
        }
        let statistics = &mut self.io.statistics;
        match id {
            Some(_) => statistics.accepted += 1,
            None => statistics.accept_errors += 1,
        }
        id
    }

    /// Tells the shard that a connection is established.
    #[inline]
    pub fn open(&mut self, id: ConnectionId, how: Opened) {
        self.shard.opened(id, how, &mut self.io);
    }

    /// Drops an admitted connection that cannot be served; the shard has not seen it.
    #[cold]
    pub fn reject_accepted(&mut self, id: ConnectionId) {
        self.io.retire(id);
        self.io.release(id.index);
        self.io.statistics.accept_errors += 1;
    }

    /// Tells the shard that a connection it asked for could not be made.
    pub fn fail_connect(&mut self, id: ConnectionId, token: u64, error: io::Error) {
        self.close(id, Closed::NotConnected(token, error));
        self.io.release(id.index);
    }

    /// Aborts a connect that has not begun, if the shard asked for that.
    #[cold]
    pub fn withdraw(&mut self, id: ConnectionId, pending: PendingOps) {
        if (pending.close || pending.abort)
            && let Some(token) = self.io.withdraw_connect(id)
        {
            self.fail_connect(id, token, socket::given_up());
        }
    }

    /// Tells the shard that a connection is gone. From here on its id is stale.
    pub fn close(&mut self, id: ConnectionId, why: Closed) {
        self.io.retire(id);
        self.shard.closed(id, why, &mut self.io);
    }

    /// The shard and what was counted.
    pub fn finish(mut self) -> (S, IoStatistics) {
        for connect in self.io.take_connects() {
            self.fail_connect(connect.id, connect.token, socket::given_up());
        }
        self.begin_wait(None);
        (self.shard, self.io.statistics())
    }
}
