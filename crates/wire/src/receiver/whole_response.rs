//! A response that lies whole in what was read: a head and trailers that came before, and one DATA
//! frame between them. Most responses of a unary server are such.
//!
//! The three frames are checked together, so that the stream is looked up once and passes through
//! none of the states in between. Anything else is left to the frames one by one, which say what is
//! wrong with it.

use super::last_response::{LastResponse, WholeFrames};
use super::{Receiver, split_frame};
use crate::frame::{flag, kind};
use crate::header_block_cache::BlockPosition;
use crate::sender::Sender;
use crate::stream_state::RemoteState;
use crate::visitor::{Visitor, WholeResponse};
use alloc::boxed::Box;

impl Receiver {
    /// Takes the response that the bytes begin with. Returns how many bytes it has; `None` where
    /// they begin with anything else.
    #[inline]
    pub(super) fn whole_response<V: Visitor>(
        &mut self,
        sender: &mut Sender,
        bytes: &[u8],
        visitor: &mut V,
    ) -> Option<usize> {
        let generation = self.decoder.generation();
        let equal = self.last_response.as_ref().and_then(|last| last.recall(bytes, generation));
        let is_known = equal.is_some();
        let frames = equal.or_else(|| self.whole_frames(bytes, generation))?;
        let body_bytes = frames.body.len();

        let stream = sender.streams.find(frames.stream_id)?;
        let state = sender.streams.state(stream)?;
        let is_awaited = state.remote == RemoteState::AwaitingHead && state.local_closed;
        let is_plain = !state.has_content_length && state.unreleased_bytes == 0;
        if !is_awaited || !is_plain || !state.credit.allows(body_bytes) {
            return None;
        }
        if !sender.credit.receive(body_bytes) {
            return None;
        }
        if !is_known {
            let last = self.last_response.get_or_insert_with(|| Box::new(LastResponse::new()));
            last.remember(&frames, bytes, generation);
        }
        sender.streams.remove(stream);
        let WholeFrames { head, body, trailers, .. } = frames;
        visitor.whole_response(sender, stream, WholeResponse { head, body, trailers });
        sender.release_connection(body_bytes as u32);
        Some(frames.length)
    }

    /// The three frames at the front of the bytes, if their header blocks are known.
    #[inline]
    fn whole_frames<'b>(&self, bytes: &'b [u8], generation: u64) -> Option<WholeFrames<'b>> {
        let (head, head_block, rest) = split_frame(bytes)?;
        if (head.kind, head.flags) != (kind::HEADERS, flag::END_HEADERS) {
            return None;
        }
        let (data, body, rest) = split_frame(rest)?;
        let is_body =
            (data.kind, data.flags) == (kind::DATA, 0) && data.stream_id == head.stream_id;
        if !is_body || body.is_empty() {
            return None;
        }
        let (trailers, trailer_block, rest) = split_frame(rest)?;
        let are_trailers = (trailers.kind, trailers.flags)
            == (kind::HEADERS, flag::END_HEADERS | flag::END_STREAM)
            && trailers.stream_id == head.stream_id;
        let frame_bytes_max = self.own.max_frame_bytes as usize;
        if !are_trailers || head.length.max(data.length).max(trailers.length) > frame_bytes_max {
            return None;
        }
        let head = self.cache.recall(head_block, BlockPosition::Head, generation)?;
        let trailers = self.cache.recall(trailer_block, BlockPosition::Trailers, generation)?;
        let is_as_long = head.content_length.is_none_or(|bytes| bytes == body.len() as u64);
        is_as_long.then_some(WholeFrames {
            stream_id: data.stream_id,
            head: head.token,
            body,
            trailers: trailers.token,
            length: bytes.len() - rest.len(),
        })
    }
}
