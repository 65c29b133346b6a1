//! The calls that have no answer yet, wherever they are.

use super::shared::CallLimit;
use super::stream_state::{CallEnd, OnEnd, StreamState};
use crate::answer::Answer;
use crate::encoding::Encoding;
use crate::error::ConnectError;
use bookend_io::{ConnectionId, DeadlineHeap};
use bookend_wire::StreamKey;
use bookend_wire::grpc::Metadata;
use bookend_wire::grpc::{Code, Status};
use std::borrow::Cow;
use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::mpsc::SyncSender;

/// What other threads send to that of a channel.
pub(crate) enum Mail {
    /// A new call.
    Call(Pending),
    /// A streaming call whose callers want something.
    Attend(Arc<StreamState>),
    /// A thread that waits for a connection.
    AwaitConnection(SyncSender<Result<(), ConnectError>>),
}

/// A call without an answer.
pub(crate) struct Pending {
    pub head: RequestHead,
    pub work: Work,
    pub deadline_ns: Option<u64>,
    pub place: Place,
    /// A server has refused it once without looking at it.
    pub refused: bool,
}

/// What goes out in front of all messages.
pub(crate) struct RequestHead {
    pub path: Cow<'static, str>,
    pub metadata: Metadata,
    pub encoding: Encoding,
    pub waits_for_ready: bool,
}

/// What is sent behind the head, and who waits for the answer.
pub(crate) enum Work {
    /// One message each way. Its prefix is yet to be put before it, unless it is compressed.
    Unary(Vec<u8>, OnAnswer),
    /// Any number of messages each way.
    Stream(OnEnd),
}

/// The callback of a call, called exactly once. One that is dropped is called with `UNAVAILABLE`,
/// so that no caller waits for ever, wherever in the channel the call was lost.
pub(crate) struct OnAnswer(Option<Box<dyn FnOnce(Answer) + Send>>);

impl OnAnswer {
    pub fn new(on_answer: impl FnOnce(Answer) + Send + 'static) -> Self {
        Self(Some(Box::new(on_answer)))
    }

    pub fn answer(mut self, answer: Answer) {
        self.call(answer);
    }

    fn call(&mut self, answer: Answer) {
        if let Some(on_answer) = self.0.take() {
            // The panic has been reported by its hook, and costs the other calls nothing.
            let _ = catch_unwind(AssertUnwindSafe(|| on_answer(answer)));
        }
    }
}

impl Drop for OnAnswer {
    fn drop(&mut self) {
        if self.0.is_some() {
            let status = Status::new(Code::Unavailable, "the channel has ended");
            self.call(Answer::without_response(status));
        }
    }
}

impl Pending {
    pub fn new(head: RequestHead, work: Work, deadline_ns: Option<u64>) -> Self {
        Self {
            head,
            work,
            deadline_ns,
            place: Place::Waiting,
            refused: false,
        }
    }

    /// Ends the call.
    fn answer(self, answer: Answer) {
        match self.work {
            Work::Unary(_, on_answer) => on_answer.answer(answer),
            Work::Stream(on_end) => on_end.stream().end(CallEnd {
                status: answer.status,
                trailers: answer.trailers,
            }),
        }
    }
}

/// Where a call is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// In the queue.
    Waiting,
    /// On its way.
    Sent(ConnectionId, StreamKey),
}

/// Names a call; once that is over, nobody.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Ticket {
    pub index: u32,
    pub generation: u32,
}

#[derive(Default)]
struct Slot {
    generation: u32,
    pending: Option<Pending>,
}

/// All calls without an answer, their deadlines, and the queue of those that wait to be sent.
pub(crate) struct Calls {
    slots: Vec<Slot>,
    free: Vec<u32>,
    deadlines: DeadlineHeap<Ticket>,
    /// Some may be over already.
    waiting: VecDeque<Ticket>,
    limit: Arc<CallLimit>,
}

impl Calls {
    pub fn new(limit: Arc<CallLimit>) -> Self {
        Self {
            slots: Vec::new(),
            free: Vec::new(),
            deadlines: DeadlineHeap::default(),
            waiting: VecDeque::new(),
            limit,
        }
    }

    /// Puts a call at the end of the queue.
    pub fn add(&mut self, pending: Pending) {
        let index = self.free.pop().unwrap_or_else(|| {
            self.slots.push(Slot::default());
            self.slots.len() as u32 - 1
        });
        let slot = &mut self.slots[index as usize];
        let generation = slot.generation;
        let ticket = Ticket { index, generation };
        if let Some(deadline_ns) = pending.deadline_ns {
            self.deadlines.push(deadline_ns, ticket);
        }
        if let Work::Stream(on_end) = &pending.work {
            on_end.stream().enter(ticket);
        }
        slot.pending = Some(pending);
        self.waiting.push_back(ticket);
    }

    /// Ends a call that was not added, since its server cannot be reached.
    pub fn refuse(&mut self, pending: Pending, text: String) {
        self.limit.release();
        pending.answer(Answer::without_response(Status::new(
            Code::Unavailable,
            text,
        )));
    }

    /// The call that is to be sent next, which stays in the queue.
    pub fn next_waiting(&mut self) -> Option<(Ticket, &mut Pending)> {
        while let Some(&ticket) = self.waiting.front() {
            if is_pending(&self.slots, ticket) {
                let pending = self.slots[ticket.index as usize].pending.as_mut()?;
                return Some((ticket, pending));
            }
            self.waiting.pop_front();
        }
        None
    }

    /// The call that [`Calls::next_waiting`] has given was sent.
    pub fn sent(&mut self) {
        self.waiting.pop_front();
    }

    /// Where the call is, unless it is over.
    pub fn place(&self, ticket: Ticket) -> Option<Place> {
        let slot = &self.slots[ticket.index as usize];
        let pending = slot.pending.as_ref()?;
        (slot.generation == ticket.generation).then_some(pending.place)
    }

    /// Ends a call.
    pub fn answer(&mut self, ticket: Ticket, answer: Answer) {
        if let Some(pending) = self.take(ticket) {
            self.limit.release();
            pending.answer(answer);
        }
    }

    /// Ends a call to which no server has answered.
    pub fn fail(&mut self, ticket: Ticket, code: Code, text: impl Into<String>) {
        let status = Status::new(code, text);
        self.answer(ticket, Answer::without_response(status));
    }

    /// Whether the deadline of a call has passed. The call may be there for some time yet: those
    /// that are due are given up together, once a millisecond.
    #[cold]
    pub fn is_overdue(&self, ticket: Ticket, now_ns: u64) -> bool {
        let slot = &self.slots[ticket.index as usize];
        let pending = slot.pending.as_ref();
        let deadline_ns = pending.and_then(|pending| pending.deadline_ns);
        slot.generation == ticket.generation && deadline_ns.is_some_and(|due| due <= now_ns)
    }

    /// A server has refused the call without looking at it: it is sent once more, before all
    /// others. False if that has happened before.
    pub fn send_again(&mut self, ticket: Ticket) -> bool {
        let slot = &mut self.slots[ticket.index as usize];
        let is_same = slot.generation == ticket.generation;
        let Some(pending) = slot.pending.as_mut().filter(|_| is_same) else {
            return false;
        };
        let first = !std::mem::replace(&mut pending.refused, true);
        if first {
            pending.place = Place::Waiting;
            self.waiting.push_front(ticket);
        }
        first
    }

    /// Ends the calls in the queue that are not to wait for a server that cannot be reached.
    pub fn fail_impatient(&mut self, text: &str) {
        let patient = |calls: &Self, ticket: Ticket| {
            let pending = calls.slots[ticket.index as usize].pending.as_ref();
            pending.is_some_and(|pending| pending.head.waits_for_ready)
        };
        for ticket in std::mem::take(&mut self.waiting) {
            if !is_pending(&self.slots, ticket) {
                continue;
            }
            match patient(self, ticket) {
                true => self.waiting.push_back(ticket),
                false => self.fail(ticket, Code::Unavailable, text),
            }
        }
    }

    /// Ends all calls.
    pub fn fail_all(&mut self, code: Code, text: &str) {
        self.waiting.clear();
        for index in 0..self.slots.len() as u32 {
            let generation = self.slots[index as usize].generation;
            self.fail(Ticket { index, generation }, code, text);
        }
        self.deadlines = DeadlineHeap::default();
    }

    /// When a deadline may have passed.
    pub fn next_deadline(&self) -> Option<u64> {
        self.deadlines.next_ns()
    }

    /// A call whose deadline has passed, and where it is.
    pub fn take_due(&mut self, now_ns: u64) -> Option<(Ticket, Place)> {
        loop {
            let ticket = self.deadlines.pop_due(now_ns)?;
            if let Some(place) = self.place(ticket) {
                return Some((ticket, place));
            }
        }
    }

    fn take(&mut self, ticket: Ticket) -> Option<Pending> {
        if !is_pending(&self.slots, ticket) {
            return None;
        }
        let slot = &mut self.slots[ticket.index as usize];
        let pending = slot.pending.take()?;
        slot.generation = slot.generation.wrapping_add(1);
        self.free.push(ticket.index);
        self.forget(&pending);
        Some(pending)
    }

    /// Keeps what names calls that are over from growing.
    fn forget(&mut self, pending: &Pending) {
        let slots = &self.slots;
        if pending.deadline_ns.is_some() && self.deadlines.needs_sweep() {
            self.deadlines.sweep(|&ticket| is_pending(slots, ticket));
        }
        if pending.place == Place::Waiting && self.waiting.len() > 2 * self.pending() + STALE_MAX {
            self.waiting.retain(|&ticket| is_pending(slots, ticket));
        }
    }

    fn pending(&self) -> usize {
        self.slots.len() - self.free.len()
    }
}

/// Tickets in the queue of calls that are over, beyond as many as there are calls, before they are
/// swept out.
const STALE_MAX: usize = 1_024;

fn is_pending(slots: &[Slot], ticket: Ticket) -> bool {
    let slot = &slots[ticket.index as usize];
    slot.generation == ticket.generation && slot.pending.is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn calls_with(deadline_ns: Option<u64>) -> (Calls, Ticket) {
        let mut calls = Calls::new(Arc::new(CallLimit::new(1)));
        let head = RequestHead {
            path: "/a/b".into(),
            metadata: Metadata::new(),
            encoding: Encoding::Identity,
            waits_for_ready: false,
        };
        let work = Work::Unary(Vec::new(), OnAnswer::new(drop));
        calls.add(Pending::new(head, work, deadline_ns));
        let (ticket, _) = calls.next_waiting().expect("it was added");
        (calls, ticket)
    }

    #[test]
    fn a_call_is_overdue_from_its_deadline_on_until_it_is_over() {
        let (mut calls, ticket) = calls_with(Some(7));
        assert!(!calls.is_overdue(ticket, 6));
        assert!(calls.is_overdue(ticket, 7));
        calls.fail(ticket, Code::Cancelled, "");
        assert!(!calls.is_overdue(ticket, 7));
        let (calls, ticket) = calls_with(None);
        assert!(!calls.is_overdue(ticket, u64::MAX));
    }
}
