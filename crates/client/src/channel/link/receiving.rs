//! The answer to one call of a channel, on its way to whoever waits for it.

use crate::answer::Answer;
use crate::channel::stream_state::StreamState;
use crate::response::Response;
use crate::verdict::{Plain, Verdict};
use bookend_wire::HeaderList;
use std::sync::Arc;

/// What was sent of a streaming call, up to which it can be sent again: as much as a stream may
/// have in its outbox. grpc-go keeps 256 KiB for that.
const REPLAY_BYTES: usize = 64 << 10;

/// Where an answer goes.
pub(super) enum Receiving {
    /// It is gathered, and handed over whole.
    Unary(Response),
    /// It goes on to its readers as it comes.
    Streaming(Box<Streaming>),
}

/// A streaming call on its connection.
pub(super) struct Streaming {
    pub state: Arc<StreamState>,
    verdict: Verdict,
    /// All that was sent, while that is little and the server may not have looked at it.
    sent: Option<Vec<u8>>,
    /// It waits for room in the output.
    pub is_crowded: bool,
}

impl Receiving {
    pub fn streaming(state: Arc<StreamState>) -> Self {
        Self::Streaming(Box::new(Streaming {
            state,
            verdict: Verdict::default(),
            sent: Some(Vec::new()),
            is_crowded: false,
        }))
    }

    #[inline]
    pub fn has_ended(&self) -> bool {
        match self {
            Self::Unary(response) => response.has_ended(),
            Self::Streaming(streaming) => streaming.verdict.has_ended(),
        }
    }

    pub fn headers(&mut self, fields: &HeaderList, end_stream: bool) -> Option<Plain> {
        match self {
            Self::Unary(response) => response.headers(fields, end_stream),
            Self::Streaming(streaming) => streaming.headers(fields, end_stream),
        }
    }

    #[inline]
    pub fn plain(&mut self, plain: Plain, end_stream: bool) {
        match self {
            Self::Unary(response) => response.plain(plain, end_stream),
            Self::Streaming(streaming) => streaming.plain(plain, end_stream),
        }
    }

    #[inline]
    pub fn data(&mut self, data: &[u8], limit_bytes: usize, end_stream: bool) {
        match self {
            Self::Unary(response) => response.data(data, limit_bytes, end_stream),
            Self::Streaming(streaming) => streaming.data(data, end_stream),
        }
    }

    /// Whether the body is read, or thrown away, as it comes. Else it waits for its readers.
    #[inline]
    pub fn is_consumed_at_once(&self) -> bool {
        match self {
            Self::Unary(_) => true,
            Self::Streaming(streaming) => !streaming.verdict.has_messages(),
        }
    }

    /// What ends the call, once that is clear.
    pub fn into_answer(self) -> Option<Answer> {
        match self {
            Self::Unary(response) => response.into_answer(),
            Self::Streaming(streaming) => streaming.into_answer(),
        }
    }

    /// The server says that it has not looked at the call. Whether that can be, and everything is
    /// there to send it again: who has begun to answer has looked.
    pub fn take_back(self) -> bool {
        match self {
            Self::Unary(response) => !response.has_begun(),
            Self::Streaming(streaming) => streaming.take_back(),
        }
    }
}

impl Streaming {
    fn headers(&mut self, fields: &HeaderList, end_stream: bool) -> Option<Plain> {
        let is_head = self.verdict.head().is_none();
        let plain = self.verdict.headers(fields, end_stream);
        if is_head && !end_stream {
            self.tell_head();
        }
        plain
    }

    fn plain(&mut self, plain: Plain, end_stream: bool) {
        self.verdict.plain(plain, end_stream);
        if plain == Plain::Head && !end_stream {
            self.tell_head();
        }
    }

    fn tell_head(&mut self) {
        self.sent = None;
        let metadata = self.verdict.head().cloned().unwrap_or_default();
        self.state
            .put_head(metadata, self.verdict.encoding().clone());
    }

    fn data(&mut self, data: &[u8], end_stream: bool) {
        if self.verdict.has_messages() {
            self.state.put_body(data);
        }
        if end_stream {
            self.verdict.end(None);
        }
    }

    fn into_answer(self) -> Option<Answer> {
        let ended = self.verdict.into_end()?;
        Some(Answer {
            trailers: ended.trailers,
            ..Answer::without_response(ended.status)
        })
    }

    /// Part of the request goes out.
    pub fn remember(&mut self, body: &[u8]) {
        self.sent = self.sent.take().filter(|sent| {
            let all_bytes = sent.len() + body.len();
            all_bytes <= REPLAY_BYTES
        });
        if let Some(sent) = &mut self.sent {
            sent.extend_from_slice(body);
        }
    }

    fn take_back(self) -> bool {
        let Some(sent) = self.sent else { return false };
        self.state.put_back(sent);
        true
    }
}
