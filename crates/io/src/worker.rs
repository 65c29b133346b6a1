//! What a driver's thread has, whatever it waits with: a shard, its turn, an account, a way out.

use crate::clock::clock_ns;
use crate::exchange::RECEIVE_BUFFER_BYTES;
use crate::machine;
use crate::options::{LAST_WORDS_NS, Options, Wait};
use crate::shard::{Closed, Session, Shard};
use crate::socket;
use crate::statistics::Statistics;
use crate::turn::{Turn, Wishes};
use crate::waker::Waker;
use std::io;
use std::mem;

/// One thread's shard and what every driver keeps about it.
pub(crate) struct Worker<S> {
    pub shard: S,
    pub turn: Turn,
    pub buffer: Box<[u8]>,
    pub waker: Waker,
    pub options: Options,
    leave_at_ns: Option<u64>,
    woke_at_ns: u64,
    worked: bool,
    called: bool,
}

impl<S: Shard> Worker<S> {
    /// Sets a shard up on the calling thread and wakes it for the first time.
    pub fn start(shard: S, waker: Waker, options: Options) -> Self {
        machine::sharpen_timers();
        let mut worker = Self {
            shard,
            turn: Turn::default(),
            buffer: vec![0; RECEIVE_BUFFER_BYTES].into(),
            waker,
            options,
            leave_at_ns: None,
            woke_at_ns: clock_ns(),
            worked: true,
            called: false,
        };
        worker.shard.woken(&mut worker.turn);
        worker
    }

    /// Closes the account of the turn and says how long the driver may wait, nanoseconds: until the
    /// shard's deadline or the driver's own, not at all, or for ever.
    #[inline]
    pub fn begin_wait(&mut self, own_deadline_ns: Option<u64>) -> Option<u64> {
        let now_ns = self.account();
        if self.options.wait == Wait::Spin || self.turn.has_work() {
            return Some(0);
        }
        let deadlines = [
            self.shard.next_deadline(),
            own_deadline_ns,
            self.leave_at_ns,
        ];
        let nearest_ns = deadlines.into_iter().flatten().min()?;
        Some(nearest_ns.saturating_sub(now_ns.unwrap_or_else(clock_ns)))
    }

    /// Counts a turn that did work. The clock, if it had to be read.
    #[inline]
    fn account(&mut self) -> Option<u64> {
        if !mem::take(&mut self.worked) {
            return None;
        }
        self.turn.statistics.turns += 1;
        if !self.options.counts_busy_time {
            return None;
        }
        let now_ns = clock_ns();
        self.turn.statistics.busy_ns += now_ns - self.woke_at_ns;
        Some(now_ns)
    }

    /// Opens the account of the next turn.
    #[inline]
    pub fn end_wait(&mut self, worked: bool) {
        self.worked = worked;
        self.called = self.waker.wake_up();
        self.turn.begin();
        if self.options.counts_busy_time {
            self.woke_at_ns = self.turn.now_ns();
        }
    }

    /// The turn did work, although nothing announced it.
    pub fn has_worked(&mut self) {
        self.worked = true;
    }

    /// Wakes the shard if its deadline has passed, somebody has called, or the end begins. True:
    /// somebody has called.
    #[inline]
    pub fn rouse(&mut self) -> bool {
        let due = match self.shard.next_deadline() {
            Some(deadline_ns) => deadline_ns <= self.turn.now_ns(),
            None => false,
        };
        let called = mem::take(&mut self.called);
        if called || due {
            self.worked = true;
            if self.waker.is_stopping() {
                self.turn.stop();
            }
            self.turn.begin();
            self.shard.woken(&mut self.turn);
        }
        called
    }

    /// Whether the driver is to leave its loop; `written` says whether the kernel has all output.
    #[inline]
    pub fn may_leave(&mut self, written: impl FnOnce(&Turn) -> bool) -> bool {
        self.turn.stopping() && self.has_drained(written)
    }

    #[cold]
    fn has_drained(&mut self, written: impl FnOnce(&Turn) -> bool) -> bool {
        let now_ns = clock_ns();
        let leave_at_ns = *self
            .leave_at_ns
            .get_or_insert(now_ns.saturating_add(self.options.drain_ns));
        let idle = !self.turn.has_work() && !self.shard.awaits_others();
        if idle && written(&self.turn) {
            return true;
        }
        if self.turn.drain_is_over() {
            return now_ns >= leave_at_ns;
        }
        if now_ns >= leave_at_ns || self.waker.is_hurried() {
            self.leave_at_ns = Some(now_ns + LAST_WORDS_NS);
            self.end_drain();
        }
        false
    }

    /// What the shard awaits has not come in time: it may say so to its peers.
    fn end_drain(&mut self) {
        self.worked = true;
        self.turn.end_drain();
        self.turn.begin();
        self.shard.woken(&mut self.turn);
    }

    /// Tells the shard which outputs have been written whole since the last turn.
    pub fn tell_writable(&mut self) {
        for session in self.turn.take_writable() {
            if self.turn.is_live(session) {
                self.shard.writable(session, &mut self.turn);
            }
        }
    }

    /// The session of a connection that was accepted. `None` where there is no memory for it, which
    /// is counted.
    #[inline]
    pub fn admit(&mut self) -> Option<Session> {
        let session = self.turn.try_reserve().ok();
        let statistics = &mut self.turn.statistics;
        match session {
            Some(_) => statistics.accepted += 1,
            None => statistics.accept_errors += 1,
        }
        session
    }

    /// A connection that was admitted lacks something to be served; the shard has not seen it.
    #[cold]
    pub fn turn_away(&mut self, session: Session) {
        self.turn.retire(session);
        self.turn.release(session.index);
        self.turn.statistics.accept_errors += 1;
    }

    /// Tells the shard that a connection it asked for could not be made.
    pub fn refuse(&mut self, session: Session, token: u64, error: io::Error) {
        self.close(session, Closed::NotConnected(token, error));
        self.turn.release(session.index);
    }

    /// Gives up a connect that has not begun, if the shard wishes it.
    #[cold]
    pub fn withdraw(&mut self, session: Session, wishes: Wishes) {
        if (wishes.close || wishes.abort)
            && let Some(token) = self.turn.withdraw_connect(session)
        {
            self.refuse(session, token, socket::given_up());
        }
    }

    /// Tells the shard that a connection is gone. From here on its session finds nobody.
    pub fn close(&mut self, session: Session, why: Closed) {
        self.turn.retire(session);
        self.shard.closed(session, why, &mut self.turn);
    }

    /// The shard and what was counted.
    pub fn finish(mut self) -> (S, Statistics) {
        for connect in self.turn.take_connects() {
            self.refuse(connect.session, connect.token, socket::given_up());
        }
        self.begin_wait(None);
        (self.shard, self.turn.statistics())
    }
}
