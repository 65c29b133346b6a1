//! A request that lies whole in what was read: a head that came before, and one DATA frame that
//! ends the stream. Most requests of unary clients are such.
//!
//! Its stream would be entered into the table, found again and removed within a microsecond. So it
//! is not entered: both frames are checked together, the visitor answers, and only the highest id
//! stays. An answer that cannot go out at once enters the stream after all
//! ([`Sender::enlist`]). Anything else is left to the frames one by one, which say what is wrong
//! with it.

use super::headers::STREAM_ID_STEP;
use super::{Receiver, split_frame};
use crate::frame::{flag, kind};
use crate::header_block_cache::BlockPosition;
use crate::sender::Sender;
use crate::streams::StreamKey;
use crate::visitor::{Visitor, WholeRequest};

impl Receiver {
    /// Takes the request that the bytes begin with. Returns how many bytes it has; `None` where
    /// they begin with anything else, or the visitor wants it frame by frame.
    #[inline]
    pub(super) fn whole_request<V: Visitor>(
        &mut self,
        sender: &mut Sender,
        bytes: &[u8],
        visitor: &mut V,
    ) -> Option<usize> {
        let (head, block, rest) = split_frame(bytes)?;
        if head.kind != kind::HEADERS || head.flags != flag::END_HEADERS {
            return None;
        }
        let (data, body, rest) = split_frame(rest)?;
        let is_body = data.kind == kind::DATA
            && data.flags == flag::END_STREAM
            && data.stream_id == head.stream_id;
        let frame_bytes_max = self.own.max_frame_bytes as usize;
        if !is_body || head.length.max(data.length) > frame_bytes_max {
            return None;
        }
        let generation = self.decoder.generation();
        let known = self.cache.recall(block, BlockPosition::Head, generation)?;
        let is_as_long = known.content_length.is_none_or(|bytes| bytes == body.len() as u64);
        let id = head.stream_id;
        // The next id; the first of all, and one that skips others, come the long way.
        let is_next = sender.last_peer_id != 0 && id == sender.last_peer_id + STREAM_ID_STEP;
        if !is_as_long || !is_next || !sender.admits_whole(body.len()) {
            return None;
        }
        let stream = StreamKey::unlisted(id);
        let request = WholeRequest { stream, head: known.token, body };
        if !visitor.takes_whole_request(request) {
            return None;
        }
        sender.begin_whole(id, body.len());
        visitor.whole_request(sender, request);
        sender.end_whole();
        Some(bytes.len() - rest.len())
    }
}
