//! What the two halves of a streaming call share with the thread of their channel.

use super::call_key::CallKey;
use super::waiting::{InsideCallback, may_wait};
use crate::compression::ResponseEncoding;
use bookend_wire::grpc::{Metadata, Status};
use std::mem;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use thiserror::Error;

/// Request messages, with their prefixes, that wait for the thread of the channel; one message that
/// is larger waits alone. As much again may wait for the server's window. It is HTTP/2's default
/// window: more would only wait elsewhere.
pub(crate) const SEND_BUFFER_BYTES: usize = 65_535;

/// How a streaming call ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallEnd {
    /// The server's status, or one of the channel's.
    pub status: Status,
    /// Metadata of the trailers.
    pub trailers: Metadata,
}

/// Why a message cannot be sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum SendError {
    /// The call is over: it was answered, it failed, or it was cancelled.
    /// [`crate::Responses::end`] has the status.
    #[error("the call has ended: its status says why")]
    Ended,
    /// The message is longer than 4 GiB. The caller's fault; the call goes on.
    #[error("the message is longer than 4 GiB")]
    TooLong,
    /// The message would have to wait, and the caller is a channel's thread, inside a callback, for
    /// which others wait. The caller's fault; the call goes on.
    #[error("a callback of a channel must not wait: use a thread")]
    InsideCallback,
}

impl From<InsideCallback> for SendError {
    fn from(_: InsideCallback) -> Self {
        Self::InsideCallback
    }
}

/// A streaming call between its callers and the thread of its channel.
#[derive(Debug, Default)]
pub(crate) struct SharedStream {
    state: Mutex<State>,
    may_send: Condvar,
    may_read: Condvar,
    /// The callers have ended the call. Outside the lock, because a reader that has fetched
    /// messages asks before each of them.
    cancelled: AtomicBool,
}

/// Whether the thread of the channel has to be notified of a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub(crate) enum Notification {
    Needed,
    /// The thread will look at the stream anyway.
    Redundant,
}

#[derive(Debug, Default)]
struct State {
    /// What the channel knows the call by, once it does.
    key: Option<CallKey>,
    /// Request messages with their prefixes.
    send_buffer: Vec<u8>,
    /// No further request message will come.
    finished: bool,
    /// Bytes of the response that were read, and that no WINDOW_UPDATE has covered.
    read_bytes: usize,
    /// The thread of the channel was notified and has not looked yet.
    notified: bool,
    /// The thread of the channel comes by itself as soon as more can be sent.
    blocked: bool,
    sender_waits: bool,

    head: Option<(Metadata, ResponseEncoding)>,
    /// The body of the response: messages with their prefixes, in order.
    body: Vec<u8>,
    /// How much of the body the reader waits for, if it does.
    awaited_bytes: Option<usize>,
    end: Option<CallEnd>,
}

impl State {
    fn notify(&mut self) -> Notification {
        if mem::replace(&mut self.notified, true) {
            Notification::Redundant
        } else {
            Notification::Needed
        }
    }

    fn notify_of_send_buffer(&mut self) -> Notification {
        if self.blocked { Notification::Redundant } else { self.notify() }
    }

    fn has_room_for(&self, bytes: usize) -> bool {
        let buffered_bytes = self.send_buffer.len();
        buffered_bytes == 0 || buffered_bytes.saturating_add(bytes) <= SEND_BUFFER_BYTES
    }
}

/// The callers' side.
impl SharedStream {
    /// Puts a message in the send buffer, once there is room for `bytes`.
    pub fn send(
        &self,
        bytes: usize,
        append: impl FnOnce(&mut Vec<u8>),
    ) -> Result<Notification, SendError> {
        let mut state = self.lock();
        while state.end.is_none() && !state.has_room_for(bytes) {
            may_wait()?;
            state.sender_waits = true;
            state = wait(&self.may_send, state);
        }
        if state.end.is_some() {
            return Err(SendError::Ended);
        }
        append(&mut state.send_buffer);
        Ok(state.notify_of_send_buffer())
    }

    /// No further message will be sent.
    pub fn finish(&self) -> Notification {
        let mut state = self.lock();
        state.finished = true;
        state.notify_of_send_buffer()
    }

    /// Ends the call with a status of our own. What has come and was not read is dropped.
    pub fn give_up(&self, status: Status) -> Notification {
        let mut state = self.lock();
        if state.end.is_some() {
            return Notification::Redundant;
        }
        self.cancelled.store(true, Ordering::Relaxed);
        state.body = Vec::new();
        state.send_buffer = Vec::new();
        self.end_locked(&mut state, CallEnd::without_trailers(status));
        state.notify()
    }

    /// Whether the callers have ended the call, and want nothing of what has come.
    pub fn is_cancelled(&self) -> bool {
        self.cancelled.load(Ordering::Relaxed)
    }

    /// Waits until there is a head, or none will come.
    pub fn head(&self) -> Result<(Metadata, ResponseEncoding), InsideCallback> {
        let mut state = self.lock();
        while state.head.is_none() && state.end.is_none() {
            may_wait()?;
            state = wait(&self.may_read, state);
        }
        Ok(state.head.clone().unwrap_or_default())
    }

    /// Waits for `wanted_bytes` of the body, or for its end, and appends to `into` what there is.
    /// Returns the end once all of the body was fetched before.
    pub fn receive(
        &self,
        wanted_bytes: usize,
        into: &mut Vec<u8>,
    ) -> Result<Option<CallEnd>, InsideCallback> {
        let mut state = self.lock();
        while state.body.len() < wanted_bytes && state.end.is_none() {
            may_wait()?;
            state.awaited_bytes = Some(wanted_bytes);
            state = wait(&self.may_read, state);
        }
        state.awaited_bytes = None;
        if state.body.is_empty() {
            return Ok(state.end.clone());
        }
        move_all(&mut state.body, into);
        Ok(None)
    }

    /// `bytes` bytes of the body were read: the server may send as much again.
    pub fn has_read(&self, bytes: usize) -> Notification {
        let mut state = self.lock();
        state.read_bytes += bytes;
        state.notify()
    }
}

/// What the callers have done since the thread of the channel last looked.
pub(crate) struct CallerUpdate {
    pub key: Option<CallKey>,
    pub cancelled: bool,
    pub read_bytes: usize,
}

/// The side of the channel's thread.
impl SharedStream {
    pub fn enter(&self, key: CallKey) {
        self.lock().key = Some(key);
    }

    /// Takes what the callers have done. They notify the thread again of anything later.
    pub fn take_update(&self) -> CallerUpdate {
        let mut state = self.lock();
        state.notified = false;
        CallerUpdate {
            key: state.key,
            cancelled: self.is_cancelled(),
            read_bytes: mem::take(&mut state.read_bytes),
        }
    }

    /// Moves the send buffer to `into`, which is empty. True: nothing will follow it.
    pub fn take_sent(&self, into: &mut Vec<u8>) -> bool {
        let mut state = self.lock();
        mem::swap(&mut state.send_buffer, into);
        state.blocked = false;
        if mem::take(&mut state.sender_waits) {
            self.may_send.notify_one();
        }
        state.finished
    }

    /// No more can be sent now; the thread of the channel comes back without a notification.
    pub fn set_blocked(&self) {
        self.lock().blocked = true;
    }

    /// The server has processed nothing of what was sent: it is to be sent again.
    pub fn put_back(&self, mut sent: Vec<u8>) {
        let mut state = self.lock();
        sent.append(&mut state.send_buffer);
        state.send_buffer = sent;
        state.blocked = false;
    }

    pub fn put_head(&self, metadata: Metadata, encoding: ResponseEncoding) {
        let mut state = self.lock();
        state.head = Some((metadata, encoding));
        self.may_read.notify_one();
    }

    /// More of the body has come.
    pub fn put_body(&self, data: &[u8]) {
        let mut state = self.lock();
        if state.end.is_some() {
            return;
        }
        state.body.extend_from_slice(data);
        if state.awaited_bytes.is_some_and(|bytes| state.body.len() >= bytes) {
            state.awaited_bytes = None;
            self.may_read.notify_one();
        }
    }

    /// The call is over. What has come of the answer can still be read. Only the first end counts.
    pub fn end(&self, end: CallEnd) {
        let mut state = self.lock();
        if state.end.is_none() {
            self.end_locked(&mut state, end);
        }
    }

    fn end_locked(&self, state: &mut State, end: CallEnd) {
        state.end = Some(end);
        self.may_send.notify_all();
        self.may_read.notify_all();
    }

    /// A panic while the lock was held (out of memory) left the state whole.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl CallEnd {
    /// An end with a status of our own.
    pub(crate) fn without_trailers(status: Status) -> Self {
        Self { status, trailers: Metadata::new() }
    }
}

fn wait<'a>(condition: &Condvar, state: MutexGuard<'a, State>) -> MutexGuard<'a, State> {
    condition.wait(state).unwrap_or_else(PoisonError::into_inner)
}

/// As [`Vec::append`], without a copy where there is nothing to append to.
fn move_all(from: &mut Vec<u8>, into: &mut Vec<u8>) {
    if into.is_empty() {
        mem::swap(from, into);
    } else {
        into.append(from);
    }
}
