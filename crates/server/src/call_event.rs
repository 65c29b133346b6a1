//! What other threads report about a call to the shard that owns it.

use bookend_io::{ConnectionId, Mailbox};
use bookend_wire::StreamKey;
use bookend_wire::grpc::Status;

use crate::large_request::PreparationResult;

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
    /// A handler on the pool waits, and others have a better claim to its thread.
    Recalled,
    /// A large request is ready for its handler.
    Prepared(PreparationResult),
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
    pub reply_to: ReplyTo,
    stream: StreamKey,
}

impl Notifier {
    pub fn post(&self, kind: CallEventKind) {
        let ReplyTo { mailbox, id } = &self.reply_to;
        mailbox.push(CallEvent { id: *id, stream: self.stream, kind });
    }
}

/// Where events of the calls of one connection go. No two connections have the same.
#[derive(Clone, Debug)]
pub(crate) struct ReplyTo {
    pub mailbox: Mailbox<CallEvent>,
    pub id: ConnectionId,
}

impl PartialEq for ReplyTo {
    fn eq(&self, other: &Self) -> bool {
        self.id == other.id && self.mailbox.is(&other.mailbox)
    }
}

impl ReplyTo {
    pub fn notifier(&self, stream: StreamKey) -> Notifier {
        Notifier { reply_to: self.clone(), stream }
    }
}
