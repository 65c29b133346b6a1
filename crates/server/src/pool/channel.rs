//! The channel between a handler on its thread and the shard that owns its call.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use bookend_wire::grpc::{Code, Status};
use thiserror::Error;

use crate::call_event::{CallEventKind, Notifier, ReplyTo};
use crate::compression::deflated;
use crate::limits::STREAM_TURN_BYTES;
use crate::response_metadata::ResponseFields;

/// Requests that wait for their handler, bytes, before flow control stops the client: one default
/// window. The one that goes beyond is still taken.
const MAX_REQUESTS_BYTES: usize = 64 << 10;

/// Replies that wait for their shard, bytes, before their handler blocks: as much as a stream may
/// send in one turn. The one that goes beyond is still taken.
const MAX_REPLIES_BYTES: usize = STREAM_TURN_BYTES;

/// What a message in a queue takes in addition to its bytes, so that empty ones add up too.
const MESSAGE_OVERHEAD_BYTES: usize = 32;

/// One call, shared by two threads.
pub(crate) struct PoolChannel {
    notifier: Notifier,
    /// The client accepts messages under gzip.
    accepts_gzip: bool,
    /// The client waits for an answer no more.
    is_over: AtomicBool,
    state: Mutex<State>,
    changed: Condvar,
}

/// The call is over: cancelled by its client, past its deadline, its connection lost, or ended.
/// There is nothing left to do for it.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
#[error("the call is over")]
pub struct CallOver;

impl From<CallOver> for Status {
    /// `CANCELLED`; the client does not wait for it any more.
    fn from(over: CallOver) -> Self {
        Status::new(Code::Cancelled, over.to_string())
    }
}

/// A request from the client, or a reply for it.
pub(crate) struct PoolMessage {
    pub bytes: Vec<u8>,
    /// The request came compressed, or the reply is compressed, with its prefix, and goes out so.
    pub compressed: bool,
}

#[derive(Default)]
struct State {
    requests: Queue,
    requests_ended: bool,
    /// Of the request that was taken last.
    request_was_compressed: bool,
    /// The next replies go out compressed, if the head has announced that.
    compresses: bool,
    replies: Queue,
    fields: ResponseFields,
    /// Whether the head announces compression, once the shard has it.
    announced: Option<bool>,
    /// The head goes out without waiting for a message.
    head_due: bool,
    result: Option<Result<(), Status>>,
    /// The shard was notified and has not polled yet.
    shard_is_notified: bool,
    /// The shard has requests for which there was no room, and waits for it.
    shard_is_waiting: bool,
    /// How long the handler has waited for its client, or slept.
    waited: Duration,
    /// Since when it does so now.
    waits_since: Option<Instant>,
}

/// What the shard finds when it polls the channel.
pub(crate) struct HandlerProgress {
    /// What was added to the response so far, if its head is due and was not sent.
    pub head: Option<ResponseFields>,
    /// How the call ends after these replies, and its trailers.
    pub end: Option<(Result<(), Status>, ResponseFields)>,
}

impl PoolChannel {
    /// `fields` are what was added to the response before the handler.
    pub fn new(notifier: Notifier, accepts_gzip: bool, fields: ResponseFields) -> Self {
        PoolChannel {
            notifier,
            accepts_gzip,
            is_over: AtomicBool::new(false),
            state: Mutex::new(State { fields, ..State::default() }),
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

    /// Lets the handler wait for its client.
    fn wait<'a>(&self, state: MutexGuard<'a, State>) -> MutexGuard<'a, State> {
        self.wait_by(state, |state| {
            self.changed.wait(state).unwrap_or_else(PoisonError::into_inner)
        })
    }

    /// Lets the handler wait, for whatever it may be.
    fn wait_by<'a>(
        &self,
        mut state: MutexGuard<'a, State>,
        wait: impl FnOnce(MutexGuard<'a, State>) -> MutexGuard<'a, State>,
    ) -> MutexGuard<'a, State> {
        state.waits_since = Some(Instant::now());
        let mut state = wait(state);
        state.waited = state.waited(Instant::now()).unwrap_or(state.waited);
        state.waits_since = None;
        state
    }

    /// How long the handler has waited altogether; `None` if it does not wait now.
    pub fn waited(&self, now: Instant) -> Option<Duration> {
        self.lock().waited(now)
    }

    /// Has the shard end the call, since others wait for its thread.
    pub fn recall(&self) {
        self.notifier.post(CallEventKind::Recalled);
    }

    /// The connection that the call came by.
    pub fn connection(&self) -> &ReplyTo {
        &self.notifier.reply_to
    }

    /// Unlocks the state and notifies the shard, unless it was notified and has not polled yet.
    fn notify_shard(&self, mut state: MutexGuard<'_, State>) {
        let called = std::mem::replace(&mut state.shard_is_notified, true);
        drop(state);
        if !called {
            self.notifier.post(CallEventKind::Ready);
        }
    }
}

/// The handler's end.
impl PoolChannel {
    /// The next request; waits for it. `None` once the client has ended.
    pub fn next_request(&self) -> Result<Option<PoolMessage>, CallOver> {
        let mut state = self.lock();
        loop {
            if self.is_over() {
                return Err(CallOver);
            }
            if let Some(request) = state.requests.pop() {
                state.request_was_compressed = request.compressed;
                if state.shard_is_waiting && !state.requests.is_full(MAX_REQUESTS_BYTES) {
                    state.shard_is_waiting = false;
                    self.notify_shard(state);
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
    pub fn send(&self, bytes: Vec<u8>) -> Result<(), CallOver> {
        let compressed = self.lock().compresses_now();
        let bytes = if compressed { deflated(&bytes) } else { bytes };
        let reply = PoolMessage { bytes, compressed };
        let mut state = self.lock();
        while state.replies.is_full(MAX_REPLIES_BYTES) && !self.is_over() {
            state = self.wait(state);
        }
        if self.is_over() || state.result.is_some() {
            return Err(CallOver);
        }
        state.replies.push(reply);
        self.notify_shard(state);
        Ok(())
    }

    /// Sends the head without waiting for a reply.
    pub fn send_head(&self) {
        let mut state = self.lock();
        state.head_due = true;
        self.notify_shard(state);
    }

    /// Sleeps for `duration`, or until the call is over.
    pub fn sleep(&self, duration: Duration) -> Result<(), CallOver> {
        let goes_on = |_: &mut State| !self.is_over();
        drop(self.wait_by(self.lock(), |state| {
            let slept = self.changed.wait_timeout_while(state, duration, goes_on);
            slept.unwrap_or_else(PoisonError::into_inner).0
        }));
        if self.is_over() { Err(CallOver) } else { Ok(()) }
    }

    /// Changes the response's headers and trailers.
    pub fn change_fields(&self, change: impl FnOnce(&mut ResponseFields)) {
        change(&mut self.lock().fields);
    }

    /// Switches compression of the next replies on or off, if the client accepts it.
    pub fn compress(&self, compresses: bool) {
        let mut state = self.lock();
        state.compresses = compresses;
        state.fields.compress |= compresses && self.accepts_gzip;
    }

    /// The handler has returned.
    pub fn finish(&self, result: Result<(), Status>, late: bool, panicked: bool) {
        self.lock().result = Some(result);
        self.notifier.post(CallEventKind::HandlerFinished { late, panicked });
    }
}

/// The shard's end.
impl PoolChannel {
    /// Whether there is room for another request. If not, the shard is notified once there is.
    pub fn has_room(&self) -> bool {
        let mut state = self.lock();
        state.shard_is_waiting = state.requests.is_full(MAX_REQUESTS_BYTES);
        !state.shard_is_waiting
    }

    /// Requests that their handler has not taken yet, bytes.
    pub fn waiting_bytes(&self) -> usize {
        self.lock().requests.bytes
    }

    /// Replies that their shard has not taken yet, bytes.
    pub fn reply_bytes(&self) -> usize {
        self.lock().replies.bytes
    }

    pub fn push_request(&self, request: PoolMessage) {
        self.lock().requests.push(request);
        self.changed.notify_all();
    }

    pub fn end_requests(&self) {
        self.lock().requests_ended = true;
        self.changed.notify_all();
    }

    /// Takes all replies there are, which makes room for others.
    pub fn poll(
        &self,
        head_was_sent: bool,
        replies: &mut VecDeque<PoolMessage>,
    ) -> HandlerProgress {
        let mut state = self.lock();
        state.shard_is_notified = false;
        let was_full = state.replies.is_full(MAX_REPLIES_BYTES);
        replies.append(&mut state.replies.messages);
        state.replies.bytes = 0;
        let head_is_due = state.head_due || !replies.is_empty();
        let found = HandlerProgress {
            head: (head_is_due && !head_was_sent).then(|| state.fields.clone()),
            end: state.result.take().map(|result| {
                let fields = std::mem::take(&mut state.fields);
                (result, fields)
            }),
        };
        if found.head.is_some() {
            state.announced = Some(state.fields.compress);
        }
        drop(state);
        if was_full {
            self.changed.notify_all();
        }
        found
    }

    /// The client waits for an answer no more: a handler that is blocked returns.
    pub fn cancel(&self) {
        let state = self.lock();
        self.is_over.store(true, Ordering::Release);
        drop(state);
        self.changed.notify_all();
    }
}

impl State {
    /// Whether the next reply goes out compressed.
    fn compresses_now(&self) -> bool {
        self.compresses && self.announced.unwrap_or(self.fields.compress)
    }

    /// How long the handler has waited altogether; `None` if it does not wait now.
    fn waited(&self, now: Instant) -> Option<Duration> {
        let since = self.waits_since?;
        Some(self.waited + now.saturating_duration_since(since))
    }
}

/// Messages, and their size.
#[derive(Default)]
struct Queue {
    messages: VecDeque<PoolMessage>,
    bytes: usize,
}

impl Queue {
    fn push(&mut self, message: PoolMessage) {
        self.bytes += message.queued_bytes();
        self.messages.push_back(message);
    }

    fn pop(&mut self) -> Option<PoolMessage> {
        let message = self.messages.pop_front()?;
        self.bytes -= message.queued_bytes();
        Some(message)
    }

    fn is_full(&self, limit_bytes: usize) -> bool {
        self.bytes >= limit_bytes
    }
}

impl PoolMessage {
    fn queued_bytes(&self) -> usize {
        MESSAGE_OVERHEAD_BYTES + self.bytes.len()
    }
}
