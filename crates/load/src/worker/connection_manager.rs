//! When each connection of a worker is made, and made again. Nothing here looks at all of them: ten
//! thousand connections may be lost and dialled, one event each.

use bookend_io::ConnectionId;
use std::collections::VecDeque;

/// The first wait before a connection is made again, nanoseconds.
pub(crate) const BACK_OFF_MIN_NS: u64 = 100_000_000;
/// The longest such wait: each failure doubles it. A server that comes back is found within it.
pub(crate) const BACK_OFF_MAX_NS: u64 = 2_000_000_000;
/// Lengths that a wait may have: 100, 200, 400, 800, 1,600 and 2,000 ms.
const BACK_OFFS: usize = 6;
/// Connections of a thread that are being made at a time. A server accepts a batch of these without
/// a queue that overflows: the smallest usual one has 128 places (`net.core.somaxconn` before Linux
/// 5.4).
pub const DIALS_AT_ONCE: usize = 64;

/// The connections of one worker, by number.
#[derive(Debug)]
pub(crate) struct ConnectionManager {
    lines: Vec<Line>,
    /// Those of which the run has heard nothing: it waits for them before it begins.
    unsettled: usize,
    in_progress: usize,
    at_once: usize,
    /// To be made as soon as there is room.
    ready: VecDeque<u32>,
    /// To be made later, by the length of the wait: those of one length are due in order.
    resting: [VecDeque<Due>; BACK_OFFS],
    /// Those whose server is to greet, in the order in which its time runs out.
    greeting: VecDeque<Greeting>,
}

/// What becomes of one connection.
#[derive(Clone, Copy, Debug)]
struct Line {
    state: State,
    /// The next wait, as a position among all lengths.
    back_off: u8,
    is_settled: bool,
    /// How often it was dialled: tells a greeting that is awaited from one that no longer is.
    attempt: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Waiting,
    Dialled,
    Greeted,
}

#[derive(Clone, Copy, Debug)]
struct Due {
    at_ns: u64,
    number: u32,
}

/// A greeting that is awaited, as long as the connection has not been dialled again.
#[derive(Clone, Copy, Debug)]
struct Greeting {
    by_ns: u64,
    number: u32,
    attempt: u32,
    id: ConnectionId,
}

/// How a connection ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ConnectionEnd {
    /// It had done its work: the next one is made at once.
    WorkDone,
    /// It was good for something, then it broke.
    Broken,
    /// No call was ever answered on it.
    Useless,
}

impl ConnectionManager {
    /// So many connections, all of them to be made, at most `at_once` at a time.
    pub fn new(count: usize, at_once: usize) -> Self {
        let line = Line {
            state: State::Waiting,
            back_off: 0,
            is_settled: false,
            attempt: 0,
        };
        Self {
            lines: vec![line; count],
            unsettled: count,
            in_progress: 0,
            at_once,
            ready: (0..count as u32).collect(),
            resting: Default::default(),
            greeting: VecDeque::new(),
        }
    }

    /// Whether every connection has greeted or failed at least once.
    pub fn are_settled(&self) -> bool {
        self.unsettled == 0
    }

    /// The next connection that is to be made now, if there is room for one more.
    pub fn next(&mut self, now_ns: u64) -> Option<u32> {
        if self.in_progress >= self.at_once {
            return None;
        }
        let number = self
            .take_rested(now_ns)
            .or_else(|| self.ready.pop_front())?;
        let line = &mut self.lines[number as usize];
        line.state = State::Dialled;
        line.attempt = line.attempt.wrapping_add(1);
        self.in_progress += 1;
        Some(number)
    }

    fn take_rested(&mut self, now_ns: u64) -> Option<u32> {
        let is_due =
            |queue: &&mut VecDeque<Due>| queue.front().is_some_and(|due| due.at_ns <= now_ns);
        let queue = self.resting.iter_mut().find(is_due)?;
        queue.pop_front().map(|due| due.number)
    }

    /// The transport of a connection is there; its server has until `by_ns` to greet. Later calls
    /// have later times.
    pub fn opened(&mut self, number: u32, id: ConnectionId, by_ns: u64) {
        let attempt = self.lines[number as usize].attempt;
        self.greeting.push_back(Greeting {
            by_ns,
            number,
            attempt,
            id,
        });
    }

    /// The server has greeted.
    pub fn greeted(&mut self, number: u32) {
        let line = &mut self.lines[number as usize];
        let was_in_progress = std::mem::replace(&mut line.state, State::Greeted) == State::Dialled;
        self.in_progress -= usize::from(was_in_progress);
        self.settle(number);
        self.forget_greetings();
    }

    /// A connection is gone, or never came.
    pub fn lost(&mut self, number: u32, now_ns: u64, end: ConnectionEnd) {
        self.settle(number);
        let line = &mut self.lines[number as usize];
        let was_in_progress = std::mem::replace(&mut line.state, State::Waiting) == State::Dialled;
        self.in_progress -= usize::from(was_in_progress);
        if end != ConnectionEnd::Useless {
            line.back_off = 0;
        }
        if end == ConnectionEnd::WorkDone {
            self.ready.push_back(number);
        } else {
            let back_off = usize::from(line.back_off);
            line.back_off = (back_off + 1).min(BACK_OFFS - 1) as u8;
            self.resting[back_off].push_back(Due {
                at_ns: now_ns + back_off_ns(back_off),
                number,
            });
        }
        self.forget_greetings();
    }

    /// A connection whose server has not greeted in time.
    pub fn overdue(&mut self, now_ns: u64) -> Option<ConnectionId> {
        self.forget_greetings();
        let is_overdue = |greeting: &&Greeting| greeting.by_ns <= now_ns;
        let id = self.greeting.front().filter(is_overdue)?.id;
        self.greeting.pop_front();
        Some(id)
    }

    /// When something is to be done; `u64::MAX` for never.
    pub fn due_at_ns(&self) -> u64 {
        let has_room = self.in_progress < self.at_once;
        if has_room && !self.ready.is_empty() {
            return 0;
        }
        let greeting_ns = self.greeting.front().map(|greeting| greeting.by_ns);
        let rested = self.resting.iter().filter_map(VecDeque::front);
        let rested_ns = rested.filter(|_| has_room).map(|due| due.at_ns);
        rested_ns.chain(greeting_ns).min().unwrap_or(u64::MAX)
    }

    fn settle(&mut self, number: u32) {
        let line = &mut self.lines[number as usize];
        self.unsettled -= usize::from(!std::mem::replace(&mut line.is_settled, true));
    }

    /// Drops those in front that are not waited for any more.
    fn forget_greetings(&mut self) {
        while let Some(greeting) = self.greeting.front() {
            let line = &self.lines[greeting.number as usize];
            if line.state == State::Dialled && line.attempt == greeting.attempt {
                return;
            }
            self.greeting.pop_front();
        }
    }
}

/// Waits double until the longest.
fn back_off_ns(back_off: usize) -> u64 {
    (BACK_OFF_MIN_NS << back_off).min(BACK_OFF_MAX_NS)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(index: u32) -> ConnectionId {
        ConnectionId {
            index,
            generation: 0,
        }
    }

    #[test]
    fn waits_double_until_a_call_is_answered() {
        let mut dials = ConnectionManager::new(1, 1);
        let mut now_ns = 0;
        let mut waits_ns = Vec::new();
        for _ in 0..7 {
            assert_eq!(dials.next(now_ns), Some(0));
            dials.greeted(0);
            dials.lost(0, now_ns, ConnectionEnd::Useless);
            assert_eq!(dials.next(dials.due_at_ns() - 1), None);
            waits_ns.push(dials.due_at_ns() - now_ns);
            now_ns = dials.due_at_ns();
        }
        let expected_ms = [100, 200, 400, 800, 1_600, 2_000, 2_000];
        assert_eq!(waits_ns, expected_ms.map(|wait_ms| wait_ms * 1_000_000));
        dials.next(now_ns);
        dials.greeted(0);
        dials.lost(0, 0, ConnectionEnd::Broken);
        assert_eq!(dials.due_at_ns(), BACK_OFF_MIN_NS);
    }

    #[test]
    fn a_connection_that_has_done_its_work_is_replaced_at_once() {
        let mut dials = ConnectionManager::new(1, 1);
        dials.next(5);
        dials.greeted(0);
        dials.lost(0, 9, ConnectionEnd::WorkDone);
        assert_eq!((dials.due_at_ns(), dials.next(9)), (0, Some(0)));
    }

    #[test]
    fn only_so_many_are_made_at_a_time_and_each_that_ends_makes_room() {
        let mut dials = ConnectionManager::new(10, 3);
        let made = |dials: &mut ConnectionManager| {
            std::iter::from_fn(|| dials.next(0)).collect::<Vec<_>>()
        };
        assert_eq!(made(&mut dials), [0, 1, 2]);
        assert_eq!(dials.due_at_ns(), u64::MAX, "there is no room");
        dials.greeted(1);
        dials.lost(2, 0, ConnectionEnd::Useless);
        assert_eq!(made(&mut dials), [3, 4]);
        dials.lost(1, 0, ConnectionEnd::WorkDone);
        assert_eq!(
            made(&mut dials),
            [] as [u32; 0],
            "it had its place given back already"
        );
        assert!(!dials.are_settled());
    }

    #[test]
    fn the_run_waits_until_each_has_greeted_or_failed_once() {
        let mut dials = ConnectionManager::new(2, 2);
        while dials.next(0).is_some() {}
        dials.greeted(0);
        dials.lost(0, 0, ConnectionEnd::WorkDone);
        assert!(!dials.are_settled());
        dials.lost(1, 0, ConnectionEnd::Useless);
        assert!(dials.are_settled());
    }

    #[test]
    fn a_server_that_does_not_greet_is_found_and_one_that_did_is_not() {
        let mut dials = ConnectionManager::new(3, 3);
        for number in 0..3 {
            assert_eq!(dials.next(0), Some(number));
            dials.opened(number, id(number), u64::from(number) + 10);
        }
        dials.greeted(0);
        dials.lost(2, 0, ConnectionEnd::WorkDone);
        dials.next(0);
        assert_eq!(dials.due_at_ns(), 11);
        assert_eq!((dials.overdue(10), dials.overdue(11)), (None, Some(id(1))));
        assert_eq!(
            dials.overdue(1_000),
            None,
            "the third has been dialled anew"
        );
    }
}
