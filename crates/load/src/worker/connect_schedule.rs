//! When each connection of a worker is made, and made again. No method walks over all of them: ten
//! thousand connections may close and be made again, one event each.

use bookend_io::{ConnectionId, TimeoutQueue};
use std::collections::VecDeque;

/// The first wait before a connection is made again, nanoseconds.
const BACKOFF_MIN_NS: u64 = 100_000_000;
/// The longest such wait: each failure doubles it. A server that comes back is found within it.
const BACKOFF_MAX_NS: u64 = 2_000_000_000;
/// Lengths that a wait may have: 100, 200, 400, 800, 1,600 and 2,000 ms.
const BACKOFF_STEPS: usize = 6;
/// Connections of a thread that are being made at a time. A server accepts this number before its
/// queue overflows: the smallest usual one has 128 places (`net.core.somaxconn` before Linux 5.4).
pub(crate) const CONNECTING_MAX: usize = 64;

/// The connections of one worker, by number.
#[derive(Debug)]
pub(crate) struct ConnectSchedule {
    slots: Vec<ConnectionSlot>,
    /// Connections that have neither been established nor failed: the run waits for them before it
    /// begins.
    unsettled: usize,
    connecting: usize,
    connecting_max: usize,
    /// To be made as soon as there is room.
    ready: VecDeque<u32>,
    /// To be made later, by the length of the wait.
    backing_off: [TimeoutQueue<u32>; BACKOFF_STEPS],
    /// Connections that wait for the server's SETTINGS, unless they have been made again.
    awaiting_settings: TimeoutQueue<AwaitingSettings>,
}

/// The state of one connection.
#[derive(Clone, Copy, Debug)]
struct ConnectionSlot {
    state: SlotState,
    /// The next wait, as a position among all lengths.
    backoff: u8,
    is_settled: bool,
    /// How often it was made: tells a deadline from one of an earlier attempt.
    attempt: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SlotState {
    /// Not made, or gone.
    Idle,
    /// Requested, and the server's SETTINGS have not come.
    Connecting,
    /// The server's SETTINGS have come.
    Established,
}

/// A connection that waits for the server's SETTINGS.
#[derive(Clone, Copy, Debug)]
struct AwaitingSettings {
    number: u32,
    attempt: u32,
    id: ConnectionId,
}

/// How a connection ended, which says when it is made again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ConnectionEnd {
    /// It had done its work: it is made again at once.
    Finished,
    /// It was of use, then it broke: the first wait.
    Broken,
    /// No call was ever answered on it: a longer wait each time.
    Unanswered,
}

impl ConnectSchedule {
    /// `count` connections, all of them to be made, at most `connecting_max` at a time.
    pub fn new(count: usize, connecting_max: usize) -> Self {
        let slot =
            ConnectionSlot { state: SlotState::Idle, backoff: 0, is_settled: false, attempt: 0 };
        Self {
            slots: vec![slot; count],
            unsettled: count,
            connecting: 0,
            connecting_max,
            ready: (0..count as u32).collect(),
            backing_off: Default::default(),
            awaiting_settings: TimeoutQueue::default(),
        }
    }

    /// Whether every connection has been established or has failed at least once.
    pub fn are_settled(&self) -> bool {
        self.unsettled == 0
    }

    /// The next connection that is to be made now, if there is room for one more.
    pub fn next(&mut self, now_ns: u64) -> Option<u32> {
        if self.connecting >= self.connecting_max {
            return None;
        }
        let number = self
            .backing_off
            .iter_mut()
            .find_map(|queue| queue.pop_due(now_ns))
            .or_else(|| self.ready.pop_front())?;
        let slot = &mut self.slots[number as usize];
        slot.state = SlotState::Connecting;
        slot.attempt = slot.attempt.wrapping_add(1);
        self.connecting += 1;
        Some(number)
    }

    /// The transport of a connection is established; its server has until `by_ns` to send SETTINGS.
    /// Later calls have later times.
    pub fn opened(&mut self, number: u32, id: ConnectionId, by_ns: u64) {
        let attempt = self.slots[number as usize].attempt;
        self.awaiting_settings.push(by_ns, AwaitingSettings { number, attempt, id });
    }

    /// The server's SETTINGS have come.
    pub fn established(&mut self, number: u32) {
        self.leave_connecting(number, SlotState::Established);
    }

    /// A connection is gone, or was never established.
    pub fn closed(&mut self, number: u32, now_ns: u64, end: ConnectionEnd) {
        self.leave_connecting(number, SlotState::Idle);
        let slot = &mut self.slots[number as usize];
        if end != ConnectionEnd::Unanswered {
            slot.backoff = 0;
        }
        if end == ConnectionEnd::Finished {
            self.ready.push_back(number);
        } else {
            let backoff = usize::from(slot.backoff);
            slot.backoff = (backoff + 1).min(BACKOFF_STEPS - 1) as u8;
            self.backing_off[backoff].push(now_ns + backoff_ns(backoff), number);
        }
    }

    /// A connection whose server has not sent SETTINGS in time.
    pub fn next_overdue(&mut self, now_ns: u64) -> Option<ConnectionId> {
        self.drop_stale_deadlines();
        self.awaiting_settings.pop_due(now_ns).map(|overdue| overdue.id)
    }

    /// When something is to be done; `u64::MAX` for never.
    pub fn due_at_ns(&self) -> u64 {
        let has_room = self.connecting < self.connecting_max;
        if has_room && !self.ready.is_empty() {
            return 0;
        }
        self.backing_off
            .iter()
            .filter_map(TimeoutQueue::next_ns)
            .filter(|_| has_room)
            .chain(self.awaiting_settings.next_ns())
            .min()
            .unwrap_or(u64::MAX)
    }

    /// The last attempt to make the connection has ended, if it had not before.
    fn leave_connecting(&mut self, number: u32, state: SlotState) {
        let slot = &mut self.slots[number as usize];
        let before = std::mem::replace(&mut slot.state, state);
        self.connecting -= usize::from(before == SlotState::Connecting);
        self.unsettled -= usize::from(!std::mem::replace(&mut slot.is_settled, true));
        self.drop_stale_deadlines();
    }

    /// Drops the first deadlines as long as they are met or belong to earlier attempts.
    fn drop_stale_deadlines(&mut self) {
        self.awaiting_settings.forget_over(|awaiting| {
            let slot = &self.slots[awaiting.number as usize];
            slot.state != SlotState::Connecting || slot.attempt != awaiting.attempt
        });
    }
}

/// The wait doubles until the longest.
fn backoff_ns(backoff: usize) -> u64 {
    (BACKOFF_MIN_NS << backoff).min(BACKOFF_MAX_NS)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(index: u32) -> ConnectionId {
        ConnectionId { index, generation: 0 }
    }

    #[test]
    fn waits_double_until_a_call_is_answered() {
        let mut schedule = ConnectSchedule::new(1, 1);
        let mut now_ns = 0;
        let mut waits_ns = Vec::new();
        for _ in 0..7 {
            assert_eq!(schedule.next(now_ns), Some(0));
            schedule.established(0);
            schedule.closed(0, now_ns, ConnectionEnd::Unanswered);
            assert_eq!(schedule.next(schedule.due_at_ns() - 1), None);
            waits_ns.push(schedule.due_at_ns() - now_ns);
            now_ns = schedule.due_at_ns();
        }
        let expected_ms = [100, 200, 400, 800, 1_600, 2_000, 2_000];
        assert_eq!(waits_ns, expected_ms.map(|wait_ms| wait_ms * 1_000_000));
        schedule.next(now_ns);
        schedule.established(0);
        schedule.closed(0, 0, ConnectionEnd::Broken);
        assert_eq!(schedule.due_at_ns(), BACKOFF_MIN_NS);
    }

    #[test]
    fn a_connection_that_has_done_its_work_is_replaced_at_once() {
        let mut schedule = ConnectSchedule::new(1, 1);
        schedule.next(5);
        schedule.established(0);
        schedule.closed(0, 9, ConnectionEnd::Finished);
        assert_eq!((schedule.due_at_ns(), schedule.next(9)), (0, Some(0)));
    }

    #[test]
    fn only_so_many_are_made_at_a_time_and_each_that_ends_makes_room() {
        let mut schedule = ConnectSchedule::new(10, 3);
        let made = |schedule: &mut ConnectSchedule| {
            std::iter::from_fn(|| schedule.next(0)).collect::<Vec<_>>()
        };
        assert_eq!(made(&mut schedule), [0, 1, 2]);
        assert_eq!(schedule.due_at_ns(), u64::MAX, "there is no room");
        schedule.established(1);
        schedule.closed(2, 0, ConnectionEnd::Unanswered);
        assert_eq!(made(&mut schedule), [3, 4]);
        schedule.closed(1, 0, ConnectionEnd::Finished);
        assert_eq!(made(&mut schedule), [] as [u32; 0], "it had its place given back already");
        assert!(!schedule.are_settled());
    }

    #[test]
    fn the_run_waits_until_each_has_been_established_or_has_failed_once() {
        let mut schedule = ConnectSchedule::new(2, 2);
        while schedule.next(0).is_some() {}
        schedule.established(0);
        schedule.closed(0, 0, ConnectionEnd::Finished);
        assert!(!schedule.are_settled());
        schedule.closed(1, 0, ConnectionEnd::Unanswered);
        assert!(schedule.are_settled());
    }

    #[test]
    fn a_server_that_sends_no_settings_in_time_is_overdue_and_one_that_did_is_not() {
        let mut schedule = ConnectSchedule::new(3, 3);
        for number in 0..3 {
            assert_eq!(schedule.next(0), Some(number));
            schedule.opened(number, id(number), u64::from(number) + 10);
        }
        schedule.established(0);
        schedule.closed(2, 0, ConnectionEnd::Finished);
        schedule.next(0);
        assert_eq!(schedule.due_at_ns(), 11);
        assert_eq!((schedule.next_overdue(10), schedule.next_overdue(11)), (None, Some(id(1))));
        assert_eq!(schedule.next_overdue(1_000), None, "the third has been made again");
    }
}
