//! What the two halves of a streaming call share with the thread of their channel.

use super::calls::Ticket;
use super::waiting::{InsideCallback, may_wait};
use crate::encoding::AnswerEncoding;
use bookend_wire::grpc::Metadata;
use bookend_wire::grpc::{Code, Status};
use std::mem;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use thiserror::Error;

/// Request messages, with their prefixes, that wait for the thread of the channel; one message that
/// is larger waits alone. As much again may wait for the server's window. It is HTTP/2's default
/// window: more would only wait elsewhere.
pub(crate) const OUTBOX_BYTES: usize = 65_535;

/// How a streaming call ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallEnd {
    /// What the server said, or why it could not.
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
pub(crate) struct StreamState {
    state: Mutex<State>,
    may_send: Condvar,
    may_read: Condvar,
    /// As in `state`: a reader that has fetched messages asks before each of them.
    given_up: AtomicBool,
}

/// Whether the thread of the channel is to be told. It is not where it knows already.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub(crate) enum Notice {
    Due,
    Needless,
}

#[derive(Debug, Default)]
struct State {
    ticket: Option<Ticket>,
    /// Request messages with their prefixes.
    outbox: Vec<u8>,
    /// No further request message will come.
    finished: bool,
    cancelled: bool,
    /// Octets of the answer that were read, and that the server does not know of.
    read_bytes: usize,
    /// The thread of the channel has been told and has not looked yet.
    noticed: bool,
    /// The thread of the channel comes by itself as soon as more can be sent.
    held_up: bool,
    sender_waits: bool,

    head: Option<(Metadata, AnswerEncoding)>,
    /// The answer's body: messages with their prefixes, in order.
    body: Vec<u8>,
    /// How much of the body the reader waits for, if it does.
    awaited_bytes: Option<usize>,
    end: Option<CallEnd>,
}

impl State {
    fn notice(&mut self) -> Notice {
        match mem::replace(&mut self.noticed, true) {
            true => Notice::Needless,
            false => Notice::Due,
        }
    }

    fn notice_of_outbox(&mut self) -> Notice {
        match self.held_up {
            true => Notice::Needless,
            false => self.notice(),
        }
    }

    fn has_room_for(&self, bytes: usize) -> bool {
        self.outbox.is_empty() || self.outbox.len().saturating_add(bytes) <= OUTBOX_BYTES
    }
}

/// What a reader gets when it asks for more.
pub(crate) enum Arrived {
    /// The body goes on.
    Body,
    /// All of the body was given out before.
    End(CallEnd),
}

/// The callers' side.
impl StreamState {
    /// Puts a message in the outbox, once there is room for `bytes`.
    pub fn send(
        &self,
        bytes: usize,
        append: impl FnOnce(&mut Vec<u8>),
    ) -> Result<Notice, SendError> {
        let mut state = self.lock();
        while state.end.is_none() && !state.has_room_for(bytes) {
            may_wait()?;
            state.sender_waits = true;
            state = wait(&self.may_send, state);
        }
        if state.end.is_some() {
            return Err(SendError::Ended);
        }
        append(&mut state.outbox);
        Ok(state.notice_of_outbox())
    }

    /// No further message will be sent.
    pub fn finish(&self) -> Notice {
        let mut state = self.lock();
        state.finished = true;
        state.notice_of_outbox()
    }

    /// Ends the call for another reason than the server's. Nobody reads what has come.
    pub fn give_up(&self, status: Status) -> Notice {
        let mut state = self.lock();
        if state.end.is_some() {
            return Notice::Needless;
        }
        state.cancelled = true;
        self.given_up.store(true, Ordering::Relaxed);
        state.body = Vec::new();
        state.outbox = Vec::new();
        self.end_locked(&mut state, CallEnd::without_trailers(status));
        state.notice()
    }

    /// Whether the callers have ended the call: nobody wants what has come of it.
    pub fn is_given_up(&self) -> bool {
        self.given_up.load(Ordering::Relaxed)
    }

    /// Waits until there is a head, or none will come.
    pub fn head(&self) -> Result<(Metadata, AnswerEncoding), InsideCallback> {
        let mut state = self.lock();
        while state.head.is_none() && state.end.is_none() {
            may_wait()?;
            state = wait(&self.may_read, state);
        }
        Ok(state.head.clone().unwrap_or_default())
    }

    /// Waits for `wanted_bytes` of the body, or for its end, and appends to `into` what there is.
    pub fn receive(
        &self,
        wanted_bytes: usize,
        into: &mut Vec<u8>,
    ) -> Result<Arrived, InsideCallback> {
        let mut state = self.lock();
        while state.body.len() < wanted_bytes && state.end.is_none() {
            may_wait()?;
            state.awaited_bytes = Some(wanted_bytes);
            state = wait(&self.may_read, state);
        }
        state.awaited_bytes = None;
        match &state.end {
            Some(end) if state.body.is_empty() => Ok(Arrived::End(end.clone())),
            _ => {
                move_all(&mut state.body, into);
                Ok(Arrived::Body)
            }
        }
    }

    /// So much of the body was read: the server may send as much again.
    pub fn has_read(&self, bytes: usize) -> Notice {
        let mut state = self.lock();
        state.read_bytes += bytes;
        state.notice()
    }
}

/// What the callers want of the thread of the channel.
pub(crate) struct Wishes {
    pub ticket: Option<Ticket>,
    pub cancelled: bool,
    pub read_bytes: usize,
}

/// The side of the channel's thread.
impl StreamState {
    pub fn enter(&self, ticket: Ticket) {
        self.lock().ticket = Some(ticket);
    }

    /// Looks at what the callers want, which are to tell again of anything that comes later.
    pub fn take_wishes(&self) -> Wishes {
        let mut state = self.lock();
        state.noticed = false;
        Wishes {
            ticket: state.ticket,
            cancelled: state.cancelled,
            read_bytes: mem::take(&mut state.read_bytes),
        }
    }

    /// Moves the outbox to `into`, which is empty. True: nothing will follow it.
    pub fn take_outbox(&self, into: &mut Vec<u8>) -> bool {
        let mut state = self.lock();
        mem::swap(&mut state.outbox, into);
        state.held_up = false;
        if mem::take(&mut state.sender_waits) {
            self.may_send.notify_one();
        }
        state.finished
    }

    /// No more can be sent now; whoever holds this comes back without being told.
    pub fn hold_up(&self) {
        self.lock().held_up = true;
    }

    /// The server has looked at nothing of what was sent: it is to be sent again.
    pub fn put_back(&self, mut sent: Vec<u8>) {
        let mut state = self.lock();
        sent.append(&mut state.outbox);
        state.outbox = sent;
        state.held_up = false;
    }

    pub fn put_head(&self, metadata: Metadata, encoding: AnswerEncoding) {
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
        if state
            .awaited_bytes
            .is_some_and(|bytes| state.body.len() >= bytes)
        {
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
    /// An end of which the server said nothing.
    pub(crate) fn without_trailers(status: Status) -> Self {
        Self {
            status,
            trailers: Metadata::new(),
        }
    }
}

fn wait<'a>(condition: &Condvar, state: MutexGuard<'a, State>) -> MutexGuard<'a, State> {
    condition
        .wait(state)
        .unwrap_or_else(PoisonError::into_inner)
}

/// As [`Vec::append`], without a copy where there is nothing to append to.
fn move_all(from: &mut Vec<u8>, into: &mut Vec<u8>) {
    match into.is_empty() {
        true => mem::swap(from, into),
        false => into.append(from),
    }
}

/// The right of a streaming call to an end, kept whatever becomes of the channel.
#[derive(Debug)]
pub(crate) struct OnEnd(Arc<StreamState>);

impl OnEnd {
    pub fn new(stream: Arc<StreamState>) -> Self {
        Self(stream)
    }

    pub fn stream(&self) -> &Arc<StreamState> {
        &self.0
    }
}

impl Drop for OnEnd {
    fn drop(&mut self) {
        let status = Status::new(Code::Unavailable, "the channel has ended");
        self.0.end(CallEnd::without_trailers(status));
    }
}
