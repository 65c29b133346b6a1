//! A request that lies whole in what was read: a head that came before, and a body in one DATA
//! frame. Most requests of unary clients are such.
//!
//! Its stream would be entered into the table, found again and removed within a microsecond. So it
//! is not entered: the frames are checked, the visitor answers, and only the highest id stays. An
//! answer that cannot go out at once enters the stream after all ([`Sender::enlist`]). Anything
//! else is left to the frames one by one, which say what is wrong with it.
//!
//! Where other frames stand between the head and its body, the head waits outside the table, in
//! [`UnlistedRequests`](super::unlisted::UnlistedRequests), until the body or the end of the read.
//!
//! What clients write in one read, and who takes it, where the heads are known and the visitor
//! agrees. The numbers are ids of streams, `+` is END_STREAM, `(+)` the same in an empty frame:
//!
//! ```text
//! HEADERS 7, DATA 7+                        whole_request
//! HEADERS 7, DATA 7, DATA 7(+)              whole_request
//! HEADERS 7, WINDOW_UPDATE 7, DATA 7+       head_alone takes all three
//! HEADERS 7, HEADERS 9, DATA 7+, DATA 9+    head_alone twice, then awaited_body twice
//! HEADERS 7, HEADERS 9, DATA 7, DATA 9,     head_alone twice, the bodies wait (`data_before`),
//!   DATA 7(+), DATA 9(+)                      and each end has one answered (`end`)
//! HEADERS 7                                 nobody: it opens an entry, as without this file
//! HEADERS 7, HEADERS 9                      head_alone takes 7, enlist_all enters it; 9 as above
//! ```
//!
//! The way of such a stream into the table and past it is drawn in `stream_state.rs`.

use super::unlisted::UnlistedHead;
use super::{Receiver, behind_empty_end, split_frame};
use crate::flow::MAX_WINDOW_BYTES;
use crate::frame::{FrameHeader, HEADER_BYTES, flag, kind};
use crate::header_block_cache::{BlockPosition, Meaning};
use crate::sender::Sender;
use crate::stream_state::RemoteState;
use crate::streams::{STREAM_ID_STEP, StreamKey};
use crate::visitor::{Visitor, WholeRequest};

impl Receiver {
    /// Takes the request, or the part of one, that the bytes begin with. Returns how many bytes it
    /// has; `None` where they begin with anything else, or the visitor wants it frame by frame.
    #[inline]
    pub(super) fn whole_request<V: Visitor>(
        &mut self,
        sender: &mut Sender,
        bytes: &[u8],
        visitor: &mut V,
    ) -> Option<usize> {
        let (head, block, rest) = split_frame(bytes)?;
        if head.kind != kind::HEADERS || head.flags != flag::END_HEADERS {
            if head.kind == kind::DATA && !self.unlisted.is_empty() {
                return self.awaited_body(sender, bytes, visitor);
            }
            return None;
        }
        let generation = self.decoder.generation();
        let meaning = self.cache.recall(block, BlockPosition::Head, generation)?;
        let id = head.stream_id;
        // The next id; the first of all, and one that skips others, come the long way, where
        // ids that were skipped are noted as closed.
        let is_next = sender.last_peer_id != 0 && id == sender.last_peer_id + STREAM_ID_STEP;
        let frame_bytes_max = self.own.max_frame_bytes as usize;
        if !is_next || head.length > frame_bytes_max || !sender.admits_unlisted() {
            return None;
        }
        // While others wait, this one joins them even if its body is here: a gap in the ids would
        // keep those that follow out of the queue. The next turn of the loop takes its body.
        let (body, behind) = match body_at(rest, id, frame_bytes_max, visitor) {
            Some(body) if self.unlisted.is_empty() => body,
            _ => {
                let rest = self.head_alone(sender, id, meaning, rest, visitor)?;
                return Some(bytes.len() - rest.len());
            }
        };
        let request = self.acceptable(sender, id, meaning, body, visitor)?;
        answer(sender, request, 0, visitor);
        Some(bytes.len() - behind.len())
    }

    /// Takes a head behind which other frames stand, and what of its request follows at once.
    /// Returns the bytes behind.
    #[inline(never)]
    fn head_alone<'a, V: Visitor>(
        &mut self,
        sender: &mut Sender,
        id: u32,
        meaning: Meaning,
        rest: &'a [u8],
        visitor: &mut V,
    ) -> Option<&'a [u8]> {
        // Clients that widen the window of each stream do it between its head and its body.
        if self.unlisted.is_empty()
            && let Some((increment_bytes, rest)) =
                update_at(rest, id, sender.peer.initial_window_bytes)
            && let Some((body, rest)) =
                body_at(rest, id, self.own.max_frame_bytes as usize, visitor)
            && let Some(request) = self.acceptable(sender, id, meaning, body, visitor)
        {
            sender.note_widening(increment_bytes);
            answer(sender, request, increment_bytes, visitor);
            return Some(rest);
        }
        // At the end of a read nothing would come for it.
        let waits = !rest.is_empty()
            && visitor.head_may_wait(StreamKey::unlisted(id), meaning.token)
            && self.unlisted.push(id, meaning);
        if !waits {
            return None;
        }
        // To the rules it is open: its id is no longer idle, and it counts as a live stream.
        sender.last_peer_id = id;
        sender.unlisted_streams += 1;
        Some(rest)
    }

    /// Takes the body of a request whose head waits outside the table. Returns how many bytes it
    /// has.
    #[inline(never)]
    fn awaited_body<V: Visitor>(
        &mut self,
        sender: &mut Sender,
        bytes: &[u8],
        visitor: &mut V,
    ) -> Option<usize> {
        let id = FrameHeader::parse(bytes.first_chunk()?).stream_id;
        let (body, behind) = body_at(bytes, id, self.own.max_frame_bytes as usize, visitor)?;
        let head = *self.unlisted.get(id)?;
        // A part that came before waits in `bodies`: this frame alone is not the body.
        if head.has_part {
            return None;
        }
        self.answer_unlisted(sender, id, head, body, visitor)?;
        Some(bytes.len() - behind.len())
    }

    /// Has the visitor answer a request whose head waits outside the table.
    #[inline(always)]
    pub(super) fn answer_unlisted<V: Visitor>(
        &mut self,
        sender: &mut Sender,
        id: u32,
        head: UnlistedHead,
        body: &[u8],
        visitor: &mut V,
    ) -> Option<()> {
        let UnlistedHead { meaning, increment_bytes, .. } = head;
        // One that is not acceptable goes on waiting, so that its frame, which is handled by itself
        // now, finds it in `enlist_before`.
        let request = self.acceptable(sender, id, meaning, body, visitor)?;
        self.unlisted.take(id);
        sender.unlisted_streams -= 1;
        answer(sender, request, increment_bytes, visitor);
        Some(())
    }

    /// The request, unless a limit forbids it or the visitor wants it frame by frame.
    #[inline(always)]
    fn acceptable<'a, V: Visitor>(
        &self,
        sender: &Sender,
        id: u32,
        meaning: Meaning,
        body: &'a [u8],
        visitor: &V,
    ) -> Option<WholeRequest<'a>> {
        let is_as_long = meaning.content_length.is_none_or(|bytes| bytes == body.len() as u64);
        let request = WholeRequest { stream: StreamKey::unlisted(id), head: meaning.token, body };
        let is_acceptable =
            is_as_long && sender.admits_body(body.len()) && visitor.takes_whole_request(request);
        is_acceptable.then_some(request)
    }

    /// Enters into the table what a frame other than a body of its own could meet there.
    #[cold]
    pub(super) fn enlist_before<V: Visitor>(
        &mut self,
        sender: &mut Sender,
        header: FrameHeader,
        visitor: &mut V,
    ) {
        match header.kind {
            // Its window need not be entered: `widen_unlisted`.
            kind::WINDOW_UPDATE => {}
            // Theirs, and the acknowledgement of ours, change the windows of streams in the table.
            kind::SETTINGS => self.enlist_all(sender, visitor),
            // Stream 0, and streams that do not wait, have nothing to enter.
            _ => self.enlist(sender, header.stream_id, visitor),
        }
    }

    /// Enters all requests into the table that wait outside, at the end of a read.
    #[inline(never)]
    pub(super) fn enlist_all<V: Visitor>(&mut self, sender: &mut Sender, visitor: &mut V) {
        if !self.unlisted.is_empty() {
            // Those that were answered are among the ids, and `enlist` finds them gone.
            for id in self.unlisted.ids() {
                self.enlist(sender, id, visitor);
            }
        }
        self.unlisted.forget();
    }

    /// Enters that request into the table, if it waits outside.
    pub(super) fn enlist<V: Visitor>(&mut self, sender: &mut Sender, id: u32, visitor: &mut V) {
        let Some(UnlistedHead { meaning, increment_bytes, .. }) = self.unlisted.take(id) else {
            return;
        };
        sender.unlisted_streams -= 1;
        let stream = sender.insert(id, false);
        if let Some(state) = sender.streams.state(stream) {
            // The state in which HEADERS without END_STREAM leave a new stream.
            state.set_content_length(meaning.content_length);
            state.remote = RemoteState::Open;
            // `UnlistedHead::widen` has seen that it fits.
            let _ = state.send_window.add(increment_bytes);
        }
        visitor.cached_headers(sender, stream, meaning.token, false);
    }

    /// The client opens the window of a stream whose request may wait outside the table. False
    /// where the stream is to be looked for in the table.
    pub(super) fn widen_unlisted<V: Visitor>(
        &mut self,
        sender: &mut Sender,
        id: u32,
        increment_bytes: u32,
        visitor: &mut V,
    ) -> bool {
        let Some(head) = self.unlisted.get(id) else {
            return false;
        };
        let is_wider = head.widen(sender.peer.initial_window_bytes, increment_bytes);
        // It breaks a rule: in the table, it is reset as any other.
        if !is_wider {
            self.enlist(sender, id, visitor);
        }
        is_wider
    }
}

/// Has the visitor answer a request whose stream is not in the table.
#[inline(always)]
fn answer<V: Visitor>(
    sender: &mut Sender,
    request: WholeRequest<'_>,
    increment_bytes: u32,
    visitor: &mut V,
) {
    // Where the answer does not go out at once, `Sender::enlist` moves the body's bytes to the
    // entry, and `end_whole` has none to give back.
    sender.begin_whole(request.stream.id, request.body.len(), increment_bytes);
    visitor.whole_request(sender, request);
    sender.end_whole();
}

/// By how much a WINDOW_UPDATE opens the window of that new stream, if one is what the bytes begin
/// with and breaks no rule, and the bytes behind.
#[inline(always)]
fn update_at(bytes: &[u8], stream_id: u32, initial_bytes: u32) -> Option<(u32, &[u8])> {
    const LENGTH: usize = 4;
    let (header, behind) = bytes.split_first_chunk::<HEADER_BYTES>()?;
    let header = FrameHeader::parse(header);
    if header.kind != kind::WINDOW_UPDATE {
        return None;
    }
    let (payload, behind) = behind.split_first_chunk::<LENGTH>()?;
    let increment_bytes = u32::from_be_bytes(*payload) & MAX_WINDOW_BYTES;
    let is_it = header.length == LENGTH && header.stream_id == stream_id;
    let fits = (1..=MAX_WINDOW_BYTES - initial_bytes).contains(&increment_bytes);
    (is_it && fits).then_some((increment_bytes, behind))
}

/// The body of that stream's request, if it is what the bytes begin with, and the bytes behind: one
/// frame that ends the stream, or one and an empty one that does.
#[inline(always)]
fn body_at<'a, V: Visitor>(
    bytes: &'a [u8],
    stream_id: u32,
    frame_bytes_max: usize,
    visitor: &V,
) -> Option<(&'a [u8], &'a [u8])> {
    let (frame, body, rest) = split_frame(bytes)?;
    if frame.kind != kind::DATA || frame.stream_id != stream_id || frame.length > frame_bytes_max {
        return None;
    }
    if frame.flags == flag::END_STREAM {
        return Some((body, rest));
    }
    let behind = behind_empty_end(frame, rest)?;
    visitor.end_may_join(StreamKey::unlisted(stream_id)).then_some((body, behind))
}
