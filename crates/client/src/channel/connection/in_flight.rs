//! The calls on one connection, and what the server has said about the connection itself.

use super::incoming::{IncomingBody, IncomingResponse, StreamingCall};
use crate::channel::call_key::CallKey;
use bookend_wire::StreamKey;

/// The calls on a connection by their streams, and what is to be done once a read was handled.
#[derive(Default)]
pub(super) struct CallsInFlight {
    /// By the index of their stream.
    calls: Vec<Option<SentCall>>,
    count: usize,
    /// Whether the server's SETTINGS have come.
    pub has_settings: bool,
    /// Whether a call was answered since this was last set to false.
    pub was_answered: bool,
    /// What the server's GOAWAY said.
    pub goaway: Option<String>,
    /// Whether the server has complained about PINGs.
    pub too_many_pings: bool,
    /// Streams whose window has opened: they may send on.
    pub writable: Vec<StreamKey>,
    /// Streams to be reset: over for us, and maybe not for the server.
    pub to_reset: Vec<StreamKey>,
    /// Streams to be ended: over for the server, and maybe not for us.
    pub to_end: Vec<StreamKey>,
}

/// One call that was sent.
pub(super) struct SentCall {
    stream: StreamKey,
    pub key: CallKey,
    pub response: IncomingResponse,
}

impl CallsInFlight {
    /// Whether no call waits for a response here.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// A call was sent on that stream.
    pub fn insert(&mut self, stream: StreamKey, key: CallKey, response: IncomingResponse) {
        let index = stream.index as usize;
        if self.calls.len() <= index {
            self.calls.resize_with(index + 1, || None);
        }
        self.count += 1;
        self.calls[index] = Some(SentCall { stream, key, response });
    }

    /// The response that comes on a stream.
    #[inline]
    pub fn response_on(&mut self, stream: StreamKey) -> Option<&mut IncomingResponse> {
        let call = self.calls.get_mut(stream.index as usize)?.as_mut()?;
        (call.stream == stream).then_some(&mut call.response)
    }

    /// The streaming call on a stream.
    pub fn streaming_call_on(&mut self, stream: StreamKey) -> Option<&mut StreamingCall> {
        match &mut self.response_on(stream)?.body {
            IncomingBody::Streaming(call) => Some(call),
            IncomingBody::Unary(_) => None,
        }
    }

    /// Takes out the call on a stream: its response is whole, or nobody waits for it any more.
    #[inline]
    pub fn remove(&mut self, stream: StreamKey) -> Option<SentCall> {
        let call = self.calls.get_mut(stream.index as usize)?;
        let removed = call.take_if(|call| call.stream == stream)?;
        self.count -= 1;
        Some(removed)
    }

    /// Whether streams wait for what could not be done while bytes were read.
    #[inline]
    pub fn has_streams_to_handle(&self) -> bool {
        !(self.writable.is_empty() && self.to_reset.is_empty() && self.to_end.is_empty())
    }

    /// All calls that have no response yet.
    pub fn into_keys(self) -> impl Iterator<Item = CallKey> {
        self.calls.into_iter().flatten().map(|call| call.key)
    }
}
