use bookend_wire::StreamKey;

use crate::heads::HeadIndex;
use crate::response_metadata::ResponseFields;
use crate::stream_call::StreamCall;
use crate::unary::Gathered;

/// One call, as a connection knows it.
pub(crate) struct Call {
    pub stream_id: u32,
    /// `None` once the handler has had it.
    pub head: Option<HeadIndex>,
    pub deadline_ns: Option<u64>,
    pub phase: Phase,
}

/// How far a call has come.
pub(crate) enum Phase {
    /// Answered; what still comes is thrown away.
    Over { discarded_bytes: usize },
    /// Nothing of the one request has come.
    Awaiting,
    /// Part of the one request has come.
    Gathering(Box<Gathered>),
    /// Another thread has the call; with the metadata of its answer, if there is any.
    Deferred(Option<Box<ResponseFields>>),
    /// A state machine has the call.
    Streaming(Box<StreamCall>),
}

impl Phase {
    pub const OVER: Phase = Phase::Over { discarded_bytes: 0 };
}

impl Call {
    /// A place that no call has used.
    pub fn none() -> Self {
        Call {
            stream_id: 0,
            head: None,
            deadline_ns: None,
            phase: Phase::OVER,
        }
    }

    pub fn over(stream: StreamKey) -> Self {
        Call {
            stream_id: stream.id,
            ..Call::none()
        }
    }

    #[inline]
    pub fn awaiting(stream: StreamKey, head: HeadIndex, deadline_ns: Option<u64>) -> Self {
        Call {
            stream_id: stream.id,
            head: Some(head),
            deadline_ns,
            phase: Phase::Awaiting,
        }
    }

    /// Whether this is the call of that stream, and not of an earlier one with its key.
    pub fn is(&self, stream: StreamKey) -> bool {
        self.stream_id == stream.id
    }
}
