//! What a handler on its thread and the shard that has its call say to each other.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use bookend_wire::grpc::Status;

use super::CallOver;
use crate::budgets::STREAM_TURN_BYTES;
use crate::responder::{News, Notifier};
use crate::response_metadata::ResponseFields;

/// Requests that wait for their handler, bytes, before the client is stopped: one usual window.
/// The one that goes beyond is still taken.
const REQUESTS_MAX_BYTES: usize = 64 << 10;

/// Replies that wait for their shard, bytes, before their handler is stopped: as much as a stream
/// may send in one turn. The one that goes beyond is still taken.
const REPLIES_MAX_BYTES: usize = STREAM_TURN_BYTES;

/// What a message in a queue takes beside its octets, so that empty ones add up too.
const MESSAGE_OVERHEAD_BYTES: usize = 32;

/// One call between two threads.
pub(crate) struct Channel {
    notifier: Notifier,
    /// The client accepts messages under gzip.
    accepts_gzip: bool,
    /// Nobody waits for an answer any more.
    is_over: AtomicBool,
    state: Mutex<State>,
    changed: Condvar,
}

/// A message that has come.
pub(crate) struct Request {
    pub octets: Vec<u8>,
    pub was_compressed: bool,
}

/// A message that is to go.
pub(crate) struct Outgoing {
    pub octets: Vec<u8>,
    pub compress: bool,
}

#[derive(Default)]
struct State {
    requests: Queue<Request>,
    requests_ended: bool,
    /// Of the request that was handed out last.
    request_was_compressed: bool,
    /// The next replies go out compressed, if the head says that they may.
    compresses: bool,
    replies: Queue<Outgoing>,
    fields: ResponseFields,
    /// The head is to go out without waiting for a message.
    head_due: bool,
    result: Option<Result<(), Status>>,
    /// The shard was called and has not looked yet.
    shard_is_called: bool,
    /// The shard has requests for which there was no room.
    shard_is_stopped: bool,
}

/// What the shard finds when it looks.
pub(crate) struct Found {
    /// What has been said so far about the answer, if its head is due and was not sent.
    pub head: Option<ResponseFields>,
    /// How the call is to end after the replies that were found, and its trailers.
    pub end: Option<(Result<(), Status>, ResponseFields)>,
}

impl Channel {
    pub fn new(notifier: Notifier, accepts_gzip: bool) -> Self {
        Channel {
            notifier,
            accepts_gzip,
            is_over: AtomicBool::new(false),
            state: Mutex::default(),
            changed: Condvar::new(),
        }
    }

    pub fn is_over(&self) -> bool {
        self.is_over.load(Ordering::Acquire)
    }

    /// The state is whole whenever the lock is free: nothing under it panics halfway.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wait<'a>(&self, state: MutexGuard<'a, State>) -> MutexGuard<'a, State> {
        let woken = self.changed.wait(state);
        woken.unwrap_or_else(PoisonError::into_inner)
    }

    /// Lets go of the state and calls the shard, unless it is about to look as it is.
    fn call_shard(&self, mut state: MutexGuard<'_, State>) {
        let called = std::mem::replace(&mut state.shard_is_called, true);
        drop(state);
        if !called {
            self.notifier.post(News::Look);
        }
    }
}

/// The handler's end.
impl Channel {
    /// The next request; waits for it. `None` once the client has ended.
    pub fn next_request(&self) -> Result<Option<Request>, CallOver> {
        let mut state = self.lock();
        loop {
            if self.is_over() {
                return Err(CallOver);
            }
            if let Some(request) = state.requests.pop(Request::bytes) {
                state.request_was_compressed = request.was_compressed;
                if state.shard_is_stopped && !state.requests.is_full(REQUESTS_MAX_BYTES) {
                    state.shard_is_stopped = false;
                    self.call_shard(state);
                }
                return Ok(Some(request));
            }
            if state.requests_ended {
                return Ok(None);
            }
            state = self.wait(state);
        }
    }

    pub fn request_was_compressed(&self) -> bool {
        self.lock().request_was_compressed
    }

    /// Sends a reply; waits for room.
    pub fn send(&self, octets: Vec<u8>) -> Result<(), CallOver> {
        let mut state = self.lock();
        while state.replies.is_full(REPLIES_MAX_BYTES) && !self.is_over() {
            state = self.wait(state);
        }
        if self.is_over() || state.result.is_some() {
            return Err(CallOver);
        }
        let compress = state.compresses;
        let reply = Outgoing { octets, compress };
        state.replies.push(reply, Outgoing::bytes);
        self.call_shard(state);
        Ok(())
    }

    /// Has the head go out without waiting for a reply.
    pub fn send_head(&self) {
        let mut state = self.lock();
        state.head_due = true;
        self.call_shard(state);
    }

    /// Waits until the time has passed, or the call is over.
    pub fn sleep(&self, duration: Duration) -> Result<(), CallOver> {
        let goes_on = |_: &mut State| !self.is_over();
        let waited = self
            .changed
            .wait_timeout_while(self.lock(), duration, goes_on);
        drop(waited.unwrap_or_else(PoisonError::into_inner));
        match self.is_over() {
            true => Err(CallOver),
            false => Ok(()),
        }
    }

    /// Changes what goes before and behind the replies.
    pub fn change_fields(&self, change: impl FnOnce(&mut ResponseFields)) {
        change(&mut self.lock().fields);
    }

    /// Whether the next replies go out compressed, where the client accepts that.
    pub fn compress(&self, compresses: bool) {
        let mut state = self.lock();
        state.compresses = compresses;
        state.fields.compress |= compresses && self.accepts_gzip;
    }

    /// The handler has come to its end.
    pub fn finish(&self, result: Result<(), Status>, late: bool, panicked: bool) {
        self.lock().result = Some(result);
        self.notifier.post(News::HandlerEnded { late, panicked });
    }
}

/// The shard's end.
impl Channel {
    /// Whether another request may be handed over. If not, the shard is called once it may.
    pub fn has_room(&self) -> bool {
        let mut state = self.lock();
        state.shard_is_stopped = state.requests.is_full(REQUESTS_MAX_BYTES);
        !state.shard_is_stopped
    }

    /// Requests that their handler has not taken yet, bytes.
    pub fn waiting_bytes(&self) -> usize {
        self.lock().requests.bytes
    }

    pub fn push_request(&self, request: Request) {
        self.lock().requests.push(request, Request::bytes);
        self.changed.notify_all();
    }

    pub fn end_requests(&self) {
        self.lock().requests_ended = true;
        self.changed.notify_all();
    }

    /// Takes all replies there are, which makes room for others, and what else is to be known.
    pub fn look(&self, head_was_sent: bool, replies: &mut VecDeque<Outgoing>) -> Found {
        let mut state = self.lock();
        state.shard_is_called = false;
        let was_full = state.replies.is_full(REPLIES_MAX_BYTES);
        replies.append(&mut state.replies.messages);
        state.replies.bytes = 0;
        let head_is_due = state.head_due || !replies.is_empty();
        let found = Found {
            head: (head_is_due && !head_was_sent).then(|| state.fields.clone()),
            end: state.result.take().map(|result| {
                let fields = std::mem::take(&mut state.fields);
                (result, fields)
            }),
        };
        drop(state);
        if was_full {
            self.changed.notify_all();
        }
        found
    }

    /// Nobody waits for an answer any more: a handler that is blocked hears of it.
    pub fn give_up(&self) {
        let state = self.lock();
        self.is_over.store(true, Ordering::Release);
        drop(state);
        self.changed.notify_all();
    }
}

/// Messages, and how much they are.
struct Queue<T> {
    messages: VecDeque<T>,
    bytes: usize,
}

impl<T> Queue<T> {
    fn push(&mut self, message: T, bytes: fn(&T) -> usize) {
        self.bytes += bytes(&message);
        self.messages.push_back(message);
    }

    fn pop(&mut self, bytes: fn(&T) -> usize) -> Option<T> {
        let message = self.messages.pop_front()?;
        self.bytes -= bytes(&message);
        Some(message)
    }

    fn is_full(&self, limit_bytes: usize) -> bool {
        self.bytes >= limit_bytes
    }
}

impl<T> Default for Queue<T> {
    fn default() -> Self {
        Queue {
            messages: VecDeque::new(),
            bytes: 0,
        }
    }
}

impl Request {
    fn bytes(&self) -> usize {
        MESSAGE_OVERHEAD_BYTES + self.octets.len()
    }
}

impl Outgoing {
    fn bytes(&self) -> usize {
        MESSAGE_OVERHEAD_BYTES + self.octets.len()
    }
}
