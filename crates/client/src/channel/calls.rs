//! The calls that have no answer yet, wherever they are.

use super::deadlines::Deadlines;
use super::gate::Gate;
use super::on_answer::OnAnswer;
use super::unary_call::UnaryCall;
use crate::answer::Answer;
use bookend_io::Session;
use bookend_wire::Stream;
use bookend_wire::grpc::{Code, Status};
use std::collections::VecDeque;
use std::sync::Arc;

/// A call without an answer.
pub(crate) struct Pending {
    pub call: UnaryCall,
    pub deadline_ns: Option<u64>,
    pub on_answer: OnAnswer,
    pub place: Place,
    /// A server has refused it once without looking at it.
    pub refused: bool,
}

/// Where a call is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// In the queue.
    Waiting,
    /// On its way.
    Sent(Session, Stream),
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
    deadlines: Deadlines,
    with_deadline: usize,
    /// Some may be over already.
    waiting: VecDeque<Ticket>,
    gate: Arc<Gate>,
}

impl Calls {
    pub fn new(gate: Arc<Gate>) -> Self {
        Self {
            slots: Vec::new(),
            free: Vec::new(),
            deadlines: Deadlines::default(),
            with_deadline: 0,
            waiting: VecDeque::new(),
            gate,
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
            self.with_deadline += 1;
            self.deadlines.add(deadline_ns, ticket);
        }
        slot.pending = Some(pending);
        self.waiting.push_back(ticket);
    }

    /// Ends a call that was not added, since its server cannot be reached.
    pub fn refuse(&mut self, pending: Pending, text: &str) {
        self.gate.leave();
        pending.on_answer.fail(Code::Unavailable, text);
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
            self.gate.leave();
            pending.on_answer.answer(answer);
        }
    }

    /// Ends a call to which no server has answered.
    pub fn fail(&mut self, ticket: Ticket, code: Code, text: impl Into<String>) {
        let status = Status::new(code, text);
        self.answer(ticket, Answer::without_response(status));
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
            pending.is_some_and(|pending| pending.call.waits_for_ready)
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
        self.deadlines = Deadlines::default();
    }

    /// When a deadline may have passed.
    pub fn next_deadline(&self) -> Option<u64> {
        self.deadlines.next()
    }

    /// A call whose deadline has passed, and where it is.
    pub fn take_due(&mut self, now_ns: u64) -> Option<(Ticket, Place)> {
        loop {
            let ticket = self.deadlines.take_due(now_ns)?;
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
        if pending.deadline_ns.is_some() {
            self.with_deadline -= 1;
            let matters = |ticket| is_pending(slots, ticket);
            self.deadlines.sweep(self.with_deadline, matters);
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
