//! HEADERS and CONTINUATION, RFC 9113 sections 6.2 and 6.10.

use super::open_block::OpenBlock;
use super::{Receiver, without_padding};
use crate::config::MAX_HEADER_BLOCK_FRAMES;
use crate::error::{ConnectionError, ErrorCode};
use crate::frame::{FrameHeader, flag};
use crate::header_block_cache::{BlockPosition, Meaning};
use crate::sender::Sender;
use crate::side::Side;
use crate::stream_state::RemoteState;
use crate::streams::{STREAM_ID_STEP, StreamKey};
use crate::validate::{self, Head, Malformed};
use crate::visitor::Visitor;

/// Bytes of the priority that may precede a header block.
const PRIORITY_BYTES: usize = 5;

impl Receiver {
    #[inline]
    pub(super) fn headers<V: Visitor>(
        &mut self,
        sender: &mut Sender,
        header: FrameHeader,
        payload: &[u8],
        visitor: &mut V,
    ) -> Result<(), ConnectionError> {
        let mut block = payload;
        if header.flags & (flag::PADDED | flag::PRIORITY) != 0 {
            block = self.bare_block(header, payload)?;
        }
        let end_stream = header.has(flag::END_STREAM);
        if !header.has(flag::END_HEADERS) {
            let bytes = block.to_vec();
            let stream_id = header.stream_id;
            self.open_block = Some(OpenBlock { stream_id, end_stream, bytes, frames: 1 });
            self.count_held();
            return Ok(());
        }
        self.block(sender, header.stream_id, block, end_stream, visitor)
    }

    #[cold]
    fn bare_block<'a>(
        &self,
        header: FrameHeader,
        payload: &'a [u8],
    ) -> Result<&'a [u8], ConnectionError> {
        let rest = without_padding(header, payload)?;
        if !header.has(flag::PRIORITY) {
            return Ok(rest);
        }
        let Some((priority, block)) = rest.split_first_chunk::<PRIORITY_BYTES>() else {
            return Err(ConnectionError::frame_size("HEADERS too short for its priority"));
        };
        let depends_on =
            u32::from_be_bytes([priority[0] & 0x7f, priority[1], priority[2], priority[3]]);
        if depends_on == header.stream_id {
            return Err(ConnectionError::protocol("a stream that depends on itself"));
        }
        Ok(block)
    }

    pub(super) fn continuation<V: Visitor>(
        &mut self,
        sender: &mut Sender,
        header: FrameHeader,
        payload: &[u8],
        visitor: &mut V,
    ) -> Result<(), ConnectionError> {
        let Some(open) = &mut self.open_block else {
            return Err(ConnectionError::protocol("CONTINUATION without HEADERS"));
        };
        open.frames += 1;
        let block_bytes = open.bytes.len() + payload.len();
        if open.frames > MAX_HEADER_BLOCK_FRAMES || block_bytes > self.max_block_bytes {
            let reason = "too many CONTINUATION frames";
            return Err(ConnectionError::new(ErrorCode::ENHANCE_YOUR_CALM, reason));
        }
        open.bytes.extend_from_slice(payload);
        if !header.has(flag::END_HEADERS) {
            self.count_held();
            return Ok(());
        }
        let Some(open) = self.open_block.take() else {
            return Ok(());
        };
        self.count_held();
        self.block(sender, open.stream_id, &open.bytes, open.end_stream, visitor)
    }

    /// Handles a whole header block: from the cache, or by decoding it.
    #[inline]
    fn block<V: Visitor>(
        &mut self,
        sender: &mut Sender,
        id: u32,
        block: &[u8],
        end_stream: bool,
        visitor: &mut V,
    ) -> Result<(), ConnectionError> {
        let stream = sender.streams.find(id);
        let remote = stream.and_then(|stream| sender.streams.state(stream)).map(|s| s.remote);
        let position = match remote {
            Some(RemoteState::Open) if end_stream => BlockPosition::Trailers,
            Some(RemoteState::AwaitingHead) => BlockPosition::Head,
            None if self.side == Side::Server => BlockPosition::Head,
            _ => return self.misplaced(sender, id, block, stream, visitor),
        };
        let Some(known) = self.cache.recall(block, position, self.decoder.generation()) else {
            return self.decoded_block(sender, id, stream, block, position, end_stream, visitor);
        };
        let is_known = stream.is_some();
        let stream = match stream {
            Some(stream) => stream,
            None => match self.open_by_peer(sender, id)? {
                Some(stream) => stream,
                None => return Ok(()),
            },
        };
        let Some(state) = sender.streams.state(stream) else {
            return Ok(());
        };
        if known.content_length.is_some() {
            state.set_content_length(known.content_length);
        }
        if end_stream && state.awaits_content() {
            self.refuse_block(sender, stream, is_known, ErrorCode::PROTOCOL_ERROR, visitor);
            return Ok(());
        }
        state.remote = if end_stream { RemoteState::Closed } else { RemoteState::Open };
        visitor.cached_headers(sender, stream, known.token, end_stream);
        if end_stream {
            sender.settle(stream);
        }
        Ok(())
    }

    /// Handles a block that was not seen before.
    /// RFC 9113, section 6.8.
    #[expect(clippy::too_many_arguments, reason = "the hot path above has them in registers")]
    #[inline(never)]
    fn decoded_block<V: Visitor>(
        &mut self,
        sender: &mut Sender,
        id: u32,
        stream: Option<StreamKey>,
        block: &[u8],
        position: BlockPosition,
        end_stream: bool,
        visitor: &mut V,
    ) -> Result<(), ConnectionError> {
        let before = self.decoder.generation();
        self.decode(block, visitor)?;
        let is_known = stream.is_some();
        let stream = match stream {
            Some(stream) => stream,
            None => match self.open_by_peer(sender, id)? {
                Some(stream) => stream,
                None => return Ok(()),
            },
        };
        let head = match self.accept(sender, stream, position, end_stream) {
            Ok(head) => head,
            Err(code) => {
                self.refuse_block(sender, stream, is_known, code, visitor);
                return Ok(());
            }
        };
        if head.informational {
            return Ok(());
        }
        let token = visitor.headers(sender, stream, &self.fields, end_stream);
        let Head { content_length, .. } = head;
        // In trailers it means nothing.
        if let Some(token) = token
            && (content_length.is_none() || position == BlockPosition::Head)
            && self.decoder.generation() == before
        {
            self.cache.remember(block, position, before, Meaning { token, content_length });
            self.count_held();
        }
        if end_stream {
            sender.settle(stream);
        }
        Ok(())
    }

    /// Resets a stream whose head or trailers break a rule.
    #[cold]
    fn refuse_block<V: Visitor>(
        &mut self,
        sender: &mut Sender,
        stream: StreamKey,
        is_known: bool,
        code: ErrorCode,
        visitor: &mut V,
    ) {
        if is_known {
            self.stream_error(sender, stream, code, visitor);
        } else {
            // The visitor has not seen this stream yet, so it is not notified.
            sender.reset(stream, code);
        }
    }

    /// Accepts the fields as the head or trailers of that stream, or returns the code to reset it
    /// with.
    /// RFC 9113, section 8.1.1.
    fn accept(
        &self,
        sender: &mut Sender,
        stream: StreamKey,
        position: BlockPosition,
        end_stream: bool,
    ) -> Result<Head, ErrorCode> {
        let head = self.check_fields(position).map_err(|_| ErrorCode::PROTOCOL_ERROR)?;
        if self.fields.overflowed() {
            return Err(ErrorCode::ENHANCE_YOUR_CALM);
        }
        if self.note_head(sender, stream, position, head, end_stream) {
            Ok(head)
        } else {
            Err(ErrorCode::PROTOCOL_ERROR)
        }
    }

    /// RFC 9113, section 4.3.
    fn decode<V: Visitor>(&mut self, block: &[u8], visitor: &mut V) -> Result<(), ConnectionError> {
        self.fields.clear();
        let decoded = self.decoder.decode(block, &mut self.fields);
        self.count_held();
        visitor.decoded(self.fields.size_bytes());
        decoded.map_err(|error| {
            let code = match error {
                crate::hpack::HpackError::TooLarge => ErrorCode::ENHANCE_YOUR_CALM,
                _ => ErrorCode::COMPRESSION_ERROR,
            };
            ConnectionError::new(code, error.rule())
        })
    }

    fn check_fields(&self, position: BlockPosition) -> Result<Head, Malformed> {
        match (position, self.side) {
            // Fields that seem to be missing may be among those that were not stored.
            _ if self.fields.overflowed() => Ok(Head::default()),
            (BlockPosition::Trailers, _) => validate::trailers(&self.fields),
            (BlockPosition::Head, Side::Server) => validate::request(&self.fields),
            (BlockPosition::Head, Side::Client) => validate::response(&self.fields),
        }
    }

    /// Advances the stream's state; false if the head contradicts itself.
    fn note_head(
        &self,
        sender: &mut Sender,
        stream: StreamKey,
        position: BlockPosition,
        head: Head,
        end_stream: bool,
    ) -> bool {
        let Some(state) = sender.streams.state(stream) else {
            return true;
        };
        if head.informational {
            return !end_stream;
        }
        if position == BlockPosition::Head {
            state.set_content_length(head.content_length);
        }
        state.remote = if end_stream { RemoteState::Closed } else { RemoteState::Open };
        // A response to HEAD would be an exception; this library sends no HEAD.
        !(end_stream && state.awaits_content())
    }

    /// A client opens a stream. Returns `None` if it is refused.
    /// RFC 9113, sections 5.1.1, 5.1.2 and 8.7.
    #[inline]
    fn open_by_peer(
        &mut self,
        sender: &mut Sender,
        id: u32,
    ) -> Result<Option<StreamKey>, ConnectionError> {
        if id.is_multiple_of(2) {
            return Err(ConnectionError::protocol("a client's stream has an even id"));
        }
        if id != sender.last_peer_id + STREAM_ID_STEP && !self.is_later(sender, id)? {
            return Ok(None);
        }
        if sender.goaway_sent {
            // Our GOAWAY announced that it would not be processed.
            return Ok(None);
        }
        sender.last_peer_id = id;
        if !sender.admits_stream() {
            sender.write_reset(id, ErrorCode::REFUSED_STREAM);
            return Ok(None);
        }
        Ok(Some(sender.insert(id, false)))
    }

    /// Whether a stream other than the next in line can still be opened: not if a later one was.
    #[cold]
    fn is_later(&self, sender: &mut Sender, id: u32) -> Result<bool, ConnectionError> {
        let last_id = sender.last_peer_id;
        // Joined runs contain ids that were opened; frames may still come for those that we reset.
        if sender.implicitly_closed.contains(id) && !sender.is_ignored(id) {
            let reason = "a stream that is opened after a later one";
            return Err(ConnectionError::protocol(reason));
        }
        if id <= last_id {
            return self.check_gone(sender, id).map(|()| false);
        }
        let next_id = if last_id == 0 { 1 } else { last_id + STREAM_ID_STEP };
        if id > next_id && !sender.goaway_sent {
            sender.implicitly_closed.insert_run(next_id, id - STREAM_ID_STEP);
        }
        Ok(true)
    }

    /// A block on a stream that expects none. It is decoded nevertheless, or the table would be out
    /// of step for all other streams.
    /// RFC 9113, sections 5.1 and 8.1.
    #[cold]
    fn misplaced<V: Visitor>(
        &mut self,
        sender: &mut Sender,
        id: u32,
        block: &[u8],
        stream: Option<StreamKey>,
        visitor: &mut V,
    ) -> Result<(), ConnectionError> {
        if id == 0 {
            return Err(ConnectionError::protocol("HEADERS on stream 0"));
        }
        self.decode(block, visitor)?;
        let Some(stream) = stream else {
            return self.check_gone(sender, id);
        };
        let is_closed =
            sender.streams.state(stream).is_some_and(|s| s.remote == RemoteState::Closed);
        let code = if is_closed { ErrorCode::STREAM_CLOSED } else { ErrorCode::PROTOCOL_ERROR };
        self.stream_error(sender, stream, code, visitor);
        Ok(())
    }
}
