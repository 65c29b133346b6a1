//! What other threads report about a call to the shard that owns it.

use bookend_io::{ConnectionId, Mailbox};
use bookend_wire::StreamKey;
use bookend_wire::grpc::Status;

use crate::large_request::PreparedRequest;

/// Something that happened to a call on another thread.
#[derive(Debug)]
pub(crate) struct CallEvent {
    pub id: ConnectionId,
    pub stream: StreamKey,
    pub kind: CallEventKind,
}

/// What happened.
#[derive(Debug)]
pub(crate) enum CallEventKind {
    /// The answer to a deferred call.
    Reply(Result<Vec<u8>, Status>),
    /// A handler on the pool has replies to send, or room for requests; or a stream was woken.
    Ready,
    /// A handler on the pool has waited for its client for too long, and others wait for its
    /// thread.
    Recalled,
    /// A large request is ready for its handler.
    Prepared(Result<PreparedRequest, Status>),
    /// A handler on the pool has returned: whether its call was over by then, and whether it
    /// panicked.
    HandlerFinished { late: bool, panicked: bool },
}

impl CallEventKind {
    /// Whether this is the last event of its call.
    pub fn is_last(&self) -> bool {
        !matches!(self, CallEventKind::Ready | CallEventKind::Recalled)
    }

    pub fn is_panic(&self) -> bool {
        matches!(self, CallEventKind::HandlerFinished { panicked: true, .. })
    }

    /// Whether this is an answer that comes too late, now that the connection is gone.
    pub fn is_late(&self) -> bool {
        match self {
            CallEventKind::Reply(_) => true,
            CallEventKind::Ready | CallEventKind::Recalled | CallEventKind::Prepared(_) => false,
            CallEventKind::HandlerFinished { late, .. } => *late,
        }
    }
}

/// Reaches the shard that owns one call.
#[derive(Clone, Debug)]
pub(crate) struct Notifier {
    mailbox: Mailbox<CallEvent>,
    id: ConnectionId,
    stream: StreamKey,
}

impl Notifier {
    pub fn post(&self, kind: CallEventKind) {
        self.mailbox.push(CallEvent { id: self.id, stream: self.stream, kind });
    }

    pub fn is_of_same_connection(&self, other: &Notifier) -> bool {
        self.id == other.id && self.mailbox.is(&other.mailbox)
    }
}

/// Where events of the calls of one connection go.
pub(crate) struct ReplyTo {
    pub mailbox: Mailbox<CallEvent>,
    pub id: ConnectionId,
}

impl ReplyTo {
    pub fn notifier(&self, stream: StreamKey) -> Notifier {
        Notifier { mailbox: self.mailbox.clone(), id: self.id, stream }
    }
}
