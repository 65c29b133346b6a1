//! The response of one call of a channel, on its way to the caller.

use crate::channel::shared_stream::SharedStream;
use crate::partial_message::PartialMessage;
use crate::response::Response;
use crate::response_headers::{CachedBlock, ResponseHeaders};
use bookend_wire::HeaderList;
use std::sync::Arc;

/// What was sent of a streaming call, up to which it can be sent again: as much as its send buffer
/// may hold. grpc-go keeps 256 KiB for that.
const REPLAY_BYTES: usize = 64 << 10;

/// A response that comes in.
pub(super) struct IncomingResponse {
    headers: ResponseHeaders,
    pub body: IncomingBody,
}

/// How the messages reach the caller. A unary call, the usual one, costs no box.
pub(super) enum IncomingBody {
    /// The one message is gathered, and handed over whole.
    Unary(PartialMessage),
    /// The readers get each part as it comes.
    Streaming(Box<StreamingCall>),
}

/// A streaming call on its connection.
pub(super) struct StreamingCall {
    pub stream: Arc<SharedStream>,
    /// All that was sent, while that is little and the server may not have processed it.
    replay: Option<Vec<u8>>,
    /// Whether the call waits for room in the connection's output.
    pub waits_for_room: bool,
}

impl IncomingResponse {
    pub fn unary() -> Self {
        let body = IncomingBody::Unary(PartialMessage::default());
        Self { headers: ResponseHeaders::default(), body }
    }

    pub fn streaming(stream: Arc<SharedStream>) -> Self {
        let call = StreamingCall { stream, replay: Some(Vec::new()), waits_for_room: false };
        let body = IncomingBody::Streaming(Box::new(call));
        Self { headers: ResponseHeaders::default(), body }
    }

    #[inline]
    pub fn has_ended(&self) -> bool {
        self.headers.has_ended()
    }

    /// As [`ResponseHeaders::read`].
    pub fn headers(&mut self, fields: &HeaderList, end_stream: bool) -> Option<CachedBlock> {
        let is_head = self.headers.head().is_none();
        let cached = self.headers.read(fields, end_stream);
        self.headers_were_read(is_head && !end_stream);
        cached
    }

    /// As [`ResponseHeaders::read_cached`].
    #[inline]
    pub fn cached_headers(&mut self, block: CachedBlock, end_stream: bool) {
        self.headers.read_cached(block, end_stream);
        self.headers_were_read(block == CachedBlock::Head && !end_stream);
    }

    #[inline]
    fn headers_were_read(&mut self, body_follows: bool) {
        match &mut self.body {
            IncomingBody::Unary(message) if self.headers.is_ok() => {
                self.headers.require(message.check_end());
            }
            IncomingBody::Streaming(call) if body_follows => call.put_head(&self.headers),
            _ => {}
        }
    }

    #[inline]
    pub fn data(&mut self, data: &[u8], limit_bytes: usize, end_stream: bool) {
        match &mut self.body {
            // A page for people.
            _ if !self.headers.is_grpc() => {}
            IncomingBody::Unary(message) if !self.headers.has_ended() => {
                let pushed = message.push(data, self.headers.encoding(), limit_bytes);
                self.headers.require(pushed);
            }
            IncomingBody::Unary(_) => {}
            IncomingBody::Streaming(call) => call.stream.put_body(data),
        }
        if end_stream {
            self.headers.end(None);
        }
    }

    /// Whether the body is read, or thrown away, as it comes. Otherwise it waits for its readers.
    #[inline]
    pub fn is_consumed_at_once(&self) -> bool {
        matches!(self.body, IncomingBody::Unary(_)) || !self.headers.is_grpc()
    }

    /// What ends the call, once that is clear. Head and messages of a streaming call have gone to
    /// its readers.
    pub fn into_response(self) -> Option<Response> {
        let response = self.headers.into_response()?;
        Some(match self.body {
            IncomingBody::Unary(message) => message.complete(response),
            IncomingBody::Streaming(_) => response,
        })
    }

    /// The server says that it has not processed the call. Whether that can be, and everything is
    /// there to send it again: a server that has begun to answer has processed it.
    pub fn take_back(self) -> bool {
        match self.body {
            IncomingBody::Unary(_) => self.headers.head().is_none(),
            IncomingBody::Streaming(call) => {
                call.replay.map(|sent| call.stream.put_back(sent)).is_some()
            }
        }
    }
}

impl StreamingCall {
    fn put_head(&mut self, headers: &ResponseHeaders) {
        self.replay = None;
        let metadata = headers.head().cloned().unwrap_or_default();
        self.stream.put_head(metadata, headers.encoding().clone());
    }

    /// Part of the request is sent: kept for a replay, as long as all of it fits.
    pub fn keep_for_replay(&mut self, body: &[u8]) {
        if let Some(replay) = &mut self.replay {
            if replay.len() + body.len() <= REPLAY_BYTES {
                replay.extend_from_slice(body);
            } else {
                self.replay = None;
            }
        }
    }
}
