//! The response of one call of a channel, on its way to the caller.

use crate::channel::shared_stream::SharedStream;
use crate::partial_response::PartialResponse;
use crate::response::Response;
use crate::response_headers::{CachedBlock, ResponseHeaders};
use bookend_wire::HeaderList;
use std::sync::Arc;

/// What was sent of a streaming call, up to which it can be sent again: as much as its send buffer
/// may hold. grpc-go keeps 256 KiB for that.
const REPLAY_BYTES: usize = 64 << 10;

/// How a response reaches its caller. A unary call, the usual one, costs no box.
#[expect(clippy::large_enum_variant)]
pub(super) enum IncomingResponse {
    /// It is gathered, and handed over whole.
    Unary(PartialResponse),
    /// Its readers get each part as it comes.
    Streaming(Box<StreamingResponse>),
}

/// A streaming call on its connection.
pub(super) struct StreamingResponse {
    pub stream: Arc<SharedStream>,
    headers: ResponseHeaders,
    /// All that was sent, while that is little and the server may not have processed it.
    replay: Option<Vec<u8>>,
    /// Whether the call waits for room in the connection's output.
    pub waits_for_room: bool,
}

impl IncomingResponse {
    pub fn streaming(stream: Arc<SharedStream>) -> Self {
        Self::Streaming(Box::new(StreamingResponse {
            stream,
            headers: ResponseHeaders::default(),
            replay: Some(Vec::new()),
            waits_for_room: false,
        }))
    }

    #[inline]
    pub fn has_ended(&self) -> bool {
        match self {
            Self::Unary(response) => response.has_ended(),
            Self::Streaming(response) => response.headers.has_ended(),
        }
    }

    /// As [`ResponseHeaders::read`].
    pub fn headers(&mut self, fields: &HeaderList, end_stream: bool) -> Option<CachedBlock> {
        match self {
            Self::Unary(response) => response.headers(fields, end_stream),
            Self::Streaming(response) => response.headers(fields, end_stream),
        }
    }

    /// As [`ResponseHeaders::read_cached`].
    #[inline]
    pub fn cached_headers(&mut self, block: CachedBlock, end_stream: bool) {
        match self {
            Self::Unary(response) => response.cached_headers(block, end_stream),
            Self::Streaming(response) => response.cached_headers(block, end_stream),
        }
    }

    #[inline]
    pub fn data(&mut self, data: &[u8], limit_bytes: usize, end_stream: bool) {
        match self {
            Self::Unary(response) => response.data(data, limit_bytes, end_stream),
            Self::Streaming(response) => response.data(data, end_stream),
        }
    }

    /// Whether the body is read, or thrown away, as it comes. Otherwise it waits for its readers.
    #[inline]
    pub fn is_consumed_at_once(&self) -> bool {
        match self {
            Self::Unary(_) => true,
            Self::Streaming(response) => !response.headers.is_grpc(),
        }
    }

    /// What ends the call, once that is clear.
    pub fn into_response(self) -> Option<Response> {
        match self {
            Self::Unary(response) => response.into_response(),
            Self::Streaming(response) => response.into_response(),
        }
    }

    /// The server says that it has not processed the call. Whether that can be, and everything is
    /// there to send it again: a server that has begun to answer has processed it.
    pub fn take_back(self) -> bool {
        match self {
            Self::Unary(response) => !response.has_begun(),
            Self::Streaming(response) => response.take_back(),
        }
    }
}

impl StreamingResponse {
    fn headers(&mut self, fields: &HeaderList, end_stream: bool) -> Option<CachedBlock> {
        let is_head = self.headers.head().is_none();
        let cached = self.headers.read(fields, end_stream);
        if is_head && !end_stream {
            self.put_head();
        }
        cached
    }

    fn cached_headers(&mut self, block: CachedBlock, end_stream: bool) {
        self.headers.read_cached(block, end_stream);
        if block == CachedBlock::Head && !end_stream {
            self.put_head();
        }
    }

    fn put_head(&mut self) {
        self.replay = None;
        let metadata = self.headers.head().cloned().unwrap_or_default();
        let encoding = self.headers.encoding().clone();
        self.stream.put_head(metadata, encoding);
    }

    fn data(&mut self, data: &[u8], end_stream: bool) {
        if self.headers.is_grpc() {
            self.stream.put_body(data);
        }
        if end_stream {
            self.headers.end(None);
        }
    }

    /// The head and the messages have gone to the readers.
    fn into_response(self) -> Option<Response> {
        let end = self.headers.into_end()?;
        Some(Response { trailers: end.trailers, ..Response::without_messages(end.status) })
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

    fn take_back(self) -> bool {
        let Some(replay) = self.replay else {
            return false;
        };
        self.stream.put_back(replay);
        true
    }
}
