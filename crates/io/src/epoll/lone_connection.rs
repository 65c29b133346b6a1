//! A connection that is alone on its thread is read without asking epoll first.
//!
//! That saves a system call a read. Everything else waits for the end of the read, and so it is
//! done only where nothing else is likely: there is one connection, which has been busy for a
//! while, no answer is outstanding and no deadline is near. What comes all the same (a new
//! connection, a stop, a call of the [`Waker`](crate::waker::Waker)) waits for [`ASK_EVERY_NS`] and
//! a tick of the kernel's clock at most.

use super::{EpollDriver, WAKER_KEY};
use crate::driver_timeouts::entry_of;
use crate::kernel;
use crate::polled_connection::Read;
use crate::shard::Shard;
use crate::worker::Worker;
use rustix::event::epoll::Event;
use rustix::net::RecvFlags;
use std::time::Duration;

/// How long such a read waits. The kernel rounds it up to a tick of its own clock, 1 to 10 ms. A
/// connection that says nothing for so long is left to epoll.
const READ_WAIT: Duration = Duration::from_millis(1);

/// Nearer deadlines are left to epoll, which is exact: two of the longest ticks.
const NEAR_NS: u64 = 20_000_000;

/// How often epoll is asked all the same.
const ASK_EVERY_NS: u64 = 1_000_000;

/// So many turns in a row epoll must have reported this connection and nothing else. Where a client
/// goes on opening connections, none of them is accepted late.
const TURNS_ALONE: u32 = 256;

/// What the last turns say about who is there.
#[derive(Debug, Default)]
pub(super) struct LoneConnection {
    /// What epoll reported last.
    key: u64,
    /// Turns in a row in which it reported that and nothing else.
    turns: u32,
    /// When epoll was asked last, once there were enough of them.
    asked_at_ns: u64,
}

impl LoneConnection {
    /// Counts a turn in which epoll has reported these.
    #[inline]
    fn count(&mut self, events: &[Event]) {
        let key = match events {
            [event] => event.data.u64(),
            _ => WAKER_KEY,
        };
        if key != self.key || key >= WAKER_KEY {
            *self = Self { key, ..Self::default() };
        }
        self.turns = self.turns.saturating_add(1);
    }
}

impl<S: Shard> EpollDriver<S> {
    /// Whether bytes of one connection are all that can be expected, for as long as a wait with
    /// that timeout would take.
    #[inline]
    pub(super) fn expects_only_lone(&mut self, timeout_ns: Option<u64>) -> bool {
        let Some(lone) = self.lone.as_ref().filter(|lone| lone.turns >= TURNS_ALONE) else {
            return false;
        };
        timeout_ns.is_none_or(|timeout_ns| timeout_ns >= NEAR_NS)
            && self.worker.io.now_ns() < lone.asked_at_ns + ASK_EVERY_NS
            && self.worker.io.connection_count() == 1
            && !self.worker.shard.has_outstanding()
            && entry_of(&mut self.entries, lone.key)
                .is_some_and(|entry| !entry.lingering && entry.is_watched_as_plain())
    }

    /// Waits for these bytes and handles them.
    #[inline]
    pub(super) fn read_lone(&mut self) {
        let Some(lone) = &mut self.lone else {
            return;
        };
        let Some(entry) = entry_of(&mut self.entries, lone.key) else {
            return;
        };
        let connection = &mut entry.connection;
        let Worker { buffer, io, .. } = &mut self.worker;
        let read = connection.read(buffer, RecvFlags::empty(), io);
        let is_silent = matches!(read, Read::Nothing);
        if is_silent {
            lone.turns = 0;
        }
        self.worker.end_wait(!is_silent);
        let index = connection.state.id.index;
        let status = connection.handle(read, &mut self.worker);
        self.apply_status_before_output(index, status);
        if self.worker.io.has_requests() {
            self.apply_requests();
        }
    }

    /// Notes what epoll has reported.
    #[inline]
    pub(super) fn look_for_lone(&mut self, events: &[Event]) {
        let Some(lone) = &mut self.lone else {
            return;
        };
        lone.count(events);
        if lone.turns >= TURNS_ALONE {
            lone.asked_at_ns = self.worker.io.now_ns();
        }
        if lone.turns == TURNS_ALONE {
            let entry = entry_of(&mut self.entries, lone.key);
            let socket = entry.map(|entry| &entry.connection.socket);
            if socket.is_none_or(|socket| kernel::wait_in_reads(socket, READ_WAIT).is_err()) {
                lone.turns = 0;
            }
        }
    }
}
