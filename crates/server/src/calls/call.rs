use bookend_wire::StreamKey;

use crate::head_cache::HeadIndex;
use crate::preparation::Preparation;
use crate::response_metadata::ResponseFields;
use crate::streaming_call::StreamingCall;
use crate::unary_request::PartialRequest;

/// One call, as its connection knows it.
pub(super) struct ServerCall {
    pub stream_id: u32,
    /// `None` once the handler has had it.
    pub head: Option<HeadIndex>,
    pub deadline_ns: Option<u64>,
    pub phase: CallPhase,
}

/// How far a call has come.
///
/// ```text
/// from                  event                               to
/// (HEADERS)             unary method                        Awaiting
/// (HEADERS)             streaming method                    Streaming
/// Awaiting              part of the message                 Receiving
/// Awaiting, Receiving   whole message, inline handler       Over
/// Awaiting, Receiving   whole message, deferred handler     Deferred
/// Awaiting, Receiving   whole message, handler on the pool  Streaming
/// Receiving             whole message, which is large       Preparing
/// Preparing             decoded by another thread           as Receiving
/// Deferred              answer from another thread          Over
/// Streaming             end of the response                 Over
/// any                   deadline, RST_STREAM, failure       Over
/// ```
pub(super) enum CallPhase {
    /// Nothing of the one request has come.
    Awaiting,
    /// Part of the one request has come.
    Receiving(Box<PartialRequest>),
    /// Another thread inflates and decodes the one request.
    Preparing(Preparation),
    /// Another thread has the call; with the metadata of its answer, if there is any.
    Deferred(Option<Box<ResponseFields>>),
    /// A state machine has the call.
    Streaming(Box<StreamingCall>),
    /// Answered; what still comes is discarded.
    Over { discarded_bytes: usize },
}

impl CallPhase {
    pub const OVER: CallPhase = CallPhase::Over { discarded_bytes: 0 };
}

impl ServerCall {
    /// A slot that no call has used.
    pub fn none() -> Self {
        ServerCall { stream_id: 0, head: None, deadline_ns: None, phase: CallPhase::OVER }
    }

    pub fn over(stream: StreamKey) -> Self {
        ServerCall { stream_id: stream.id, ..ServerCall::none() }
    }

    #[inline]
    pub fn awaiting(stream: StreamKey, head: HeadIndex, deadline_ns: Option<u64>) -> Self {
        ServerCall {
            stream_id: stream.id,
            head: Some(head),
            deadline_ns,
            phase: CallPhase::Awaiting,
        }
    }

    /// Whether this is the call of that stream, and not of an earlier one in its slot.
    pub fn is(&self, stream: StreamKey) -> bool {
        self.stream_id == stream.id
    }
}
