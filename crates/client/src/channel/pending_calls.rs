//! The calls that have no response yet, wherever they are.

use super::call_key::CallKey;
use super::call_limit::CallLimit;
use super::pending_call::{CallState, PendingCall};
use crate::response::Response;
use bookend_io::DeadlineHeap;
use bookend_wire::grpc::{Code, Status};
use std::collections::VecDeque;
use std::sync::Arc;

/// Keys in the queue of calls that have ended, beyond as many as there are calls, before they are
/// swept out.
const STALE_MAX: usize = 1_024;

/// All calls without a response, their deadlines, and the queue of those that are not sent yet.
pub(crate) struct PendingCalls {
    slots: Vec<Slot>,
    free: Vec<u32>,
    deadlines: DeadlineHeap<CallKey>,
    /// Some may have ended already.
    queue: VecDeque<CallKey>,
    limit: Arc<CallLimit>,
}

#[derive(Default)]
struct Slot {
    generation: u32,
    call: Option<PendingCall>,
}

impl PendingCalls {
    pub fn new(limit: Arc<CallLimit>) -> Self {
        Self {
            slots: Vec::new(),
            free: Vec::new(),
            deadlines: DeadlineHeap::default(),
            queue: VecDeque::new(),
            limit,
        }
    }

    /// Puts a call at the end of the queue.
    pub fn add(&mut self, call: PendingCall) {
        let index = self.free.pop().unwrap_or_else(|| {
            self.slots.push(Slot::default());
            self.slots.len() as u32 - 1
        });
        let slot = &mut self.slots[index as usize];
        let generation = slot.generation;
        let key = CallKey { index, generation };
        if let Some(deadline_ns) = call.deadline_ns {
            self.deadlines.push(deadline_ns, key);
        }
        call.enter(key);
        slot.call = Some(call);
        self.queue.push_back(key);
    }

    /// Ends a call that was not added, since its server cannot be reached.
    pub fn refuse(&mut self, call: PendingCall, text: String) {
        self.limit.release();
        let status = Status::new(Code::Unavailable, text);
        call.end(Response::without_messages(status));
    }

    /// The call that is to be sent next, which stays in the queue.
    pub fn next_queued(&mut self) -> Option<(CallKey, &mut PendingCall)> {
        while let Some(&key) = self.queue.front() {
            if is_pending(&self.slots, key) {
                let call = self.slots[key.index as usize].call.as_mut()?;
                return Some((key, call));
            }
            self.queue.pop_front();
        }
        None
    }

    /// The call that [`PendingCalls::next_queued`] has given was sent.
    pub fn sent(&mut self) {
        self.queue.pop_front();
    }

    /// Where the call is, unless it has ended.
    pub fn state(&self, key: CallKey) -> Option<CallState> {
        find(&self.slots, key).map(|call| call.state)
    }

    /// Ends a call.
    pub fn end(&mut self, key: CallKey, response: Response) {
        if let Some(call) = self.take(key) {
            self.limit.release();
            call.end(response);
        }
    }

    /// Ends a call with a status of our own.
    pub fn fail(&mut self, key: CallKey, code: Code, text: impl Into<String>) {
        let status = Status::new(code, text);
        self.end(key, Response::without_messages(status));
    }

    /// Whether the deadline of a call has passed. The call may be there for some time yet: those
    /// that are due are ended together, once a millisecond.
    #[cold]
    pub fn is_overdue(&self, key: CallKey, now_ns: u64) -> bool {
        let deadline_ns = find(&self.slots, key).and_then(|call| call.deadline_ns);
        deadline_ns.is_some_and(|deadline_ns| deadline_ns <= now_ns)
    }

    /// A server has refused the call before it was processed: it is sent once more, before all
    /// others. False if that has happened before.
    pub fn send_again(&mut self, key: CallKey) -> bool {
        let slot = &mut self.slots[key.index as usize];
        let Some(call) = slot.call.as_mut().filter(|_| slot.generation == key.generation) else {
            return false;
        };
        let is_first = !std::mem::replace(&mut call.was_refused, true);
        if is_first {
            call.state = CallState::Queued;
            self.queue.push_front(key);
        }
        is_first
    }

    /// Ends the calls in the queue that are not to wait for a server that cannot be reached.
    pub fn fail_queued(&mut self, text: &str) {
        for key in std::mem::take(&mut self.queue) {
            match find(&self.slots, key) {
                Some(call) if call.head.waits_for_ready => self.queue.push_back(key),
                Some(_) => self.fail(key, Code::Unavailable, text),
                None => {}
            }
        }
    }

    /// Ends all calls.
    pub fn fail_all(&mut self, code: Code, text: &str) {
        self.queue.clear();
        for index in 0..self.slots.len() as u32 {
            let generation = self.slots[index as usize].generation;
            self.fail(CallKey { index, generation }, code, text);
        }
        self.deadlines = DeadlineHeap::default();
    }

    /// When a deadline may have passed.
    pub fn next_deadline(&self) -> Option<u64> {
        self.deadlines.next_ns()
    }

    /// A call whose deadline has passed, and where it is.
    pub fn pop_due(&mut self, now_ns: u64) -> Option<(CallKey, CallState)> {
        loop {
            let key = self.deadlines.pop_due(now_ns)?;
            if let Some(state) = self.state(key) {
                return Some((key, state));
            }
        }
    }

    fn take(&mut self, key: CallKey) -> Option<PendingCall> {
        let slot = &mut self.slots[key.index as usize];
        let call = slot.call.take_if(|_| slot.generation == key.generation)?;
        slot.generation = slot.generation.wrapping_add(1);
        self.free.push(key.index);
        self.sweep_after(&call);
        Some(call)
    }

    /// Keeps the keys of calls that have ended from piling up.
    fn sweep_after(&mut self, ended: &PendingCall) {
        let slots = &self.slots;
        if ended.deadline_ns.is_some() && self.deadlines.needs_sweep() {
            self.deadlines.sweep(|&key| is_pending(slots, key));
        }
        let calls = slots.len() - self.free.len();
        if ended.state == CallState::Queued && self.queue.len() > 2 * calls + STALE_MAX {
            self.queue.retain(|&key| is_pending(slots, key));
        }
    }
}

fn find(slots: &[Slot], key: CallKey) -> Option<&PendingCall> {
    let slot = &slots[key.index as usize];
    slot.call.as_ref().filter(|_| slot.generation == key.generation)
}

fn is_pending(slots: &[Slot], key: CallKey) -> bool {
    find(slots, key).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::StreamCall;
    use crate::channel::pending_call::{CallKind, ResponseCallback};

    fn calls_with(deadline_ns: Option<u64>) -> (PendingCalls, CallKey) {
        let mut calls = PendingCalls::new(Arc::new(CallLimit::new(1)));
        let kind = CallKind::Unary(Vec::new(), ResponseCallback::new(drop));
        calls.add(PendingCall::new(StreamCall::new("/a/b"), kind, deadline_ns));
        let (key, _) = calls.next_queued().expect("it was added");
        (calls, key)
    }

    #[test]
    fn a_call_is_overdue_from_its_deadline_on_until_it_has_ended() {
        let (mut calls, key) = calls_with(Some(7));
        assert!(!calls.is_overdue(key, 6));
        assert!(calls.is_overdue(key, 7));
        calls.fail(key, Code::Cancelled, "");
        assert!(!calls.is_overdue(key, 7));
        let (calls, key) = calls_with(None);
        assert!(!calls.is_overdue(key, u64::MAX));
    }
}
