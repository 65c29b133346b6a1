//! A call without a response, and what ends it.

use super::call_key::CallKey;
use super::shared_stream::{CallEnd, SharedStream};
use crate::call::StreamCall;
use crate::error::ConnectError;
use crate::response::Response;
use bookend_io::ConnectionId;
use bookend_wire::StreamKey;
use bookend_wire::grpc::{Code, Status};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::mpsc::SyncSender;

/// What other threads send to that of a channel.
pub(crate) enum ChannelCommand {
    /// A new call.
    Call(PendingCall),
    /// The callers of a stream have sent, read or cancelled.
    StreamChanged(Arc<SharedStream>),
    /// A thread waits for a connection.
    AwaitConnection(SyncSender<Result<(), ConnectError>>),
}

/// A call without a response.
pub(crate) struct PendingCall {
    /// The call without its messages.
    pub head: StreamCall,
    pub kind: CallKind,
    pub deadline_ns: Option<u64>,
    pub state: CallState,
    /// A server has refused it once, before it was processed.
    pub was_refused: bool,
}

/// What is sent behind the head, and where the response goes.
pub(crate) enum CallKind {
    /// One message each way. It has no prefix yet, unless it is compressed.
    Unary(Vec<u8>, ResponseCallback),
    /// Any number of messages each way.
    Stream(StreamGuard),
}

/// Where a call is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CallState {
    /// In the queue.
    Queued,
    /// On a connection.
    Sent(ConnectionId, StreamKey),
}

impl PendingCall {
    pub fn new(head: StreamCall, kind: CallKind, deadline_ns: Option<u64>) -> Self {
        Self { head, kind, deadline_ns, state: CallState::Queued, was_refused: false }
    }

    /// Takes note of the key that the call has got.
    pub fn enter(&self, key: CallKey) {
        if let CallKind::Stream(guard) = &self.kind {
            guard.0.enter(key);
        }
    }

    /// Ends the call.
    pub fn end(self, response: Response) {
        match self.kind {
            CallKind::Unary(_, callback) => callback.call(response),
            CallKind::Stream(guard) => {
                guard.0.end(CallEnd { status: response.status, trailers: response.trailers })
            }
        }
    }
}

/// The callback of a call, called exactly once. One that is dropped is called with `UNAVAILABLE`,
/// so that no caller waits for ever, wherever in the channel the call was lost.
pub(crate) struct ResponseCallback(Option<Box<dyn FnOnce(Response) + Send>>);

impl ResponseCallback {
    pub fn new(on_response: impl FnOnce(Response) + Send + 'static) -> Self {
        Self(Some(Box::new(on_response)))
    }

    pub fn call(mut self, response: Response) {
        self.call_once(response);
    }

    fn call_once(&mut self, response: Response) {
        if let Some(on_response) = self.0.take() {
            // The panic has been reported by its hook, and costs the other calls nothing.
            let _ = catch_unwind(AssertUnwindSafe(|| on_response(response)));
        }
    }
}

impl Drop for ResponseCallback {
    fn drop(&mut self) {
        if self.0.is_some() {
            self.call_once(Response::without_messages(channel_ended()));
        }
    }
}

/// The channel's side of a streaming call: dropped, it ends the call with `UNAVAILABLE`.
pub(crate) struct StreamGuard(pub Arc<SharedStream>);

impl Drop for StreamGuard {
    fn drop(&mut self) {
        self.0.end(CallEnd::without_trailers(channel_ended()));
    }
}

/// The status of a call that the channel has lost.
pub(crate) fn channel_ended() -> Status {
    Status::new(Code::Unavailable, "the channel has ended")
}
