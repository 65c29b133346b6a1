//! The half of a connection that writes: streams are opened, headers and bodies sent, credit given.
//!
//! Everything is appended to [`Sender::output`]. Data that the peer's windows do not allow yet is
//! held back per stream, and goes out when they open.

mod blocked;
mod body;
mod control;
mod unary;

use crate::config::{CONCURRENT_STREAMS_BEFORE_SETTINGS, ConnectionConfig};
use crate::error::{CannotOpen, ErrorCode};
use crate::flow::{Credit, MAX_WINDOW_BYTES, Window};
use crate::frame::{FrameHeader, HEADER_BYTES, flag, kind};
use crate::glitches::Glitches;
use crate::header_block::{ExtraField, HeaderBlock};
use crate::hpack::Encoder;
use crate::id_runs::IdRuns;
use crate::settings::{DEFAULT_WINDOW_BYTES, Settings};
use crate::stream_state::{BlockedData, RemoteState};
use crate::streams::{StreamKey, Streams};
use alloc::vec::Vec;
use blocked::BlockedStreams;

/// Our own cap on the encoder's table, whatever the peer offers: HTTP/2's default, as in h2.
const ENCODER_TABLE_BYTES: usize = 4_096;
/// The largest stream id, RFC 9113 section 5.1.1.
const MAX_STREAM_ID: u32 = (1 << 31) - 1;

/// The writing half of a connection.
#[derive(Debug)]
pub struct Sender {
    /// Bytes to be written, in order. The owner takes them away (or swaps the `Vec`).
    pub output: Vec<u8>,
    pub(crate) encoder: Encoder,
    pub(crate) streams: Streams,
    pub(crate) peer: Settings,
    pub(crate) peer_settings_came: bool,
    pub(crate) send_window: Window,
    /// The most that the connection's window has had.
    largest_window_bytes: usize,
    pub(crate) credit: Credit,
    /// The body of the whole request that is being handled, while its stream is not in the table.
    pub(crate) unlisted_bytes: u32,
    /// By how much its peer has opened the window of that stream.
    pub(crate) unlisted_increment_bytes: u32,
    /// Streams of the peer that are open while they are not in the table: see
    /// `Receiver::unlisted`.
    pub(crate) unlisted_streams: usize,
    pub(crate) connection_window_bytes: u32,
    /// The stream window that is enforced now: see [`Sender::own_settings_acknowledged`].
    pub(crate) own_stream_window_bytes: u32,
    own: Settings,
    pub(crate) next_id: u32,
    /// The highest id that the peer has opened.
    pub(crate) last_peer_id: u32,
    pub(crate) goaway_came: bool,
    pub(crate) goaway_sent: bool,
    /// The last id that our GOAWAY promised to process.
    goaway_last_id: u32,
    blocked: BlockedStreams,
    /// Streams that we reset.
    resets: IdRuns,
    /// Streams that the peer never opened although it opened later ones.
    pub(crate) implicitly_closed: IdRuns,
    pub(crate) glitches: Glitches,
    /// Streams that the peer may have open now: the limit of our settings, or 0 while its windows
    /// hold back too much.
    admitted_streams: usize,
    /// The owner wants no further streams of the peer.
    refuses_streams: bool,
}

impl Sender {
    pub(crate) fn new(config: &ConnectionConfig, own: Settings) -> Self {
        let encoder = Encoder::new(ENCODER_TABLE_BYTES);
        Self::with(config, own, Vec::new(), encoder, Streams::new())
    }

    /// Resets the half for a new connection and keeps its allocations.
    pub(crate) fn renew(&mut self, config: &ConnectionConfig, own: Settings) {
        let mut output = core::mem::take(&mut self.output);
        output.clear();
        let unused = Encoder::new(ENCODER_TABLE_BYTES);
        let mut encoder = core::mem::replace(&mut self.encoder, unused);
        encoder.renew();
        let mut streams = core::mem::take(&mut self.streams);
        streams.renew();
        *self = Self::with(config, own, output, encoder, streams);
    }

    /// The half of a new connection, from parts that are new or were reset.
    fn with(
        config: &ConnectionConfig,
        own: Settings,
        output: Vec<u8>,
        encoder: Encoder,
        streams: Streams,
    ) -> Self {
        // RFC 9113, sections 6.9.1 and 6.9.2: this window starts at the default, cannot be made
        // smaller, and has a largest size.
        let connection_window_bytes =
            config.connection_window_bytes.clamp(DEFAULT_WINDOW_BYTES, MAX_WINDOW_BYTES);
        Self {
            output,
            encoder,
            streams,
            peer: Settings::default(),
            peer_settings_came: false,
            send_window: Window::new(DEFAULT_WINDOW_BYTES),
            largest_window_bytes: DEFAULT_WINDOW_BYTES as usize,
            credit: Credit::new(connection_window_bytes),
            unlisted_bytes: 0,
            unlisted_increment_bytes: 0,
            unlisted_streams: 0,
            connection_window_bytes,
            own_stream_window_bytes: own.initial_window_bytes.max(DEFAULT_WINDOW_BYTES),
            own,
            next_id: config.first_stream_id | 1,
            last_peer_id: 0,
            goaway_came: false,
            goaway_sent: false,
            goaway_last_id: 0,
            blocked: BlockedStreams::new(config.max_blocked_bytes),
            resets: IdRuns::default(),
            implicitly_closed: IdRuns::default(),
            glitches: Glitches::default(),
            admitted_streams: concurrency_limit(&own),
            refuses_streams: false,
        }
    }

    /// Number of live streams.
    #[inline]
    pub fn live_streams(&self) -> usize {
        self.streams.len() + self.unlisted_streams
    }

    /// Memory held for the tables of this half, bytes: of streams, HPACK and ids. Their number is
    /// bounded, and the tables do not shrink.
    pub fn table_bytes(&self) -> usize {
        self.streams.held_bytes()
            + self.blocked.queue_bytes()
            + self.encoder.held_bytes()
            + self.resets.held_bytes()
            + self.implicitly_closed.held_bytes()
    }

    /// Gives back what the tables of streams have grown by, if no stream is left.
    pub fn give_back(&mut self) {
        if self.streams.len() == 0 {
            self.streams = Streams::new();
            self.blocked.give_back();
        }
    }

    /// The highest id of a stream that the peer has opened; 0 if it has opened none.
    pub fn last_peer_id(&self) -> u32 {
        self.last_peer_id
    }

    /// Whether the stream is alive in at least one direction.
    #[inline]
    pub fn is_open(&self, stream: StreamKey) -> bool {
        self.streams.contains(stream)
    }

    /// Number of streams that may be opened now, as a client.
    /// RFC 9113, sections 5.1.2 and 6.8.
    #[inline]
    pub fn may_open(&self) -> usize {
        if self.goaway_came || self.goaway_sent || self.next_id > MAX_STREAM_ID {
            return 0;
        }
        (self.concurrency_limit() as usize).saturating_sub(self.streams.len())
    }

    #[inline]
    fn concurrency_limit(&self) -> u32 {
        if self.peer_settings_came {
            self.peer.max_concurrent_streams.unwrap_or(u32::MAX)
        } else {
            CONCURRENT_STREAMS_BEFORE_SETTINGS
        }
    }

    /// Opens a stream, as a client. [`Sender::headers`] must follow before another one is opened.
    ///
    /// When the peer's limit or a GOAWAY forbids it, or the ids are used up.
    /// RFC 9113, section 5.1.1.
    #[inline]
    pub fn open(&mut self) -> Result<StreamKey, CannotOpen> {
        if self.may_open() == 0 {
            return Err(self.why_not());
        }
        let id = self.next_id;
        self.next_id += 2;
        Ok(self.insert(id, false))
    }

    #[cold]
    fn why_not(&self) -> CannotOpen {
        if self.goaway_came || self.goaway_sent {
            CannotOpen::GoingAway
        } else if self.next_id > MAX_STREAM_ID {
            CannotOpen::IdsUsedUp
        } else {
            CannotOpen::Concurrency
        }
    }

    /// `local_closed`: our direction of it is over already.
    #[inline]
    pub(crate) fn insert(&mut self, id: u32, local_closed: bool) -> StreamKey {
        let send_window = Window::new(self.peer.initial_window_bytes);
        let credit = Credit::new(self.own_stream_window_bytes);
        self.streams.insert(id, send_window, credit, local_closed)
    }

    /// Enters the stream of a [`WholeRequest`](crate::WholeRequest) that has no answer yet into the
    /// table. Returns the key that stands for it from then on; that of a stream which is in the
    /// table already stays the same.
    pub fn enlist(&mut self, stream: StreamKey) -> StreamKey {
        if stream.is_listed() {
            return stream;
        }
        self.listed(stream).unwrap_or_else(|| self.insert_half_closed(stream.id))
    }

    /// The key of a stream in the table, if it is there: that of a
    /// [`WholeRequest`](crate::WholeRequest) gets there when its answer is held back.
    pub fn listed(&self, stream: StreamKey) -> Option<StreamKey> {
        self.streams.find(stream.id)
    }

    /// A stream whose client has ended its direction.
    #[cold]
    fn insert_half_closed(&mut self, id: u32) -> StreamKey {
        let listed = self.insert(id, false);
        let body_bytes = core::mem::take(&mut self.unlisted_bytes);
        if let Some(state) = self.streams.state(listed) {
            state.remote = RemoteState::Closed;
            state.unreleased_bytes = body_bytes;
            // `UnlistedHead::widen` has seen that it fits.
            let _ = state.send_window.add(self.unlisted_increment_bytes);
        }
        listed
    }

    /// Whether `id` names a stream that this side could have opened by now.
    pub(crate) fn was_opened_here(&self, id: u32) -> bool {
        id % 2 == self.next_id % 2 && id < self.next_id
    }

    /// Sends a header block: a request's or a response's head, or trailers (with `end_stream`).
    /// Nothing is sent on a stream that has ended.
    #[inline]
    pub fn headers(&mut self, stream: StreamKey, block: &mut HeaderBlock, end_stream: bool) {
        self.headers_with(stream, block, &[], end_stream);
    }

    /// As [`Sender::headers`], followed by fields that differ from call to call.
    pub fn headers_with(
        &mut self,
        stream: StreamKey,
        block: &mut HeaderBlock,
        extra: &[ExtraField<'_>],
        end_stream: bool,
    ) {
        let Some(state) = self.streams.state(stream) else {
            return;
        };
        if state.local_closed {
            return;
        }
        if let Some(blocked) = state.blocked() {
            let mut trailers = block.clone();
            extra.iter().for_each(|field| trailers.push(field.name, field.value));
            let before_bytes = blocked.held_bytes();
            blocked.trailers = Some(trailers.encode_stateless());
            blocked.end_stream = end_stream;
            self.blocked.note_held(before_bytes, blocked.held_bytes());
            return;
        }
        self.write_headers(stream.id, block, extra, end_stream);
        if end_stream {
            self.close_local(stream);
        }
    }

    #[inline]
    pub(crate) fn write_headers(
        &mut self,
        id: u32,
        block: &mut HeaderBlock,
        extra: &[ExtraField<'_>],
        end_stream: bool,
    ) {
        if extra.is_empty() && self.write_cached(id, block, end_stream) {
            return;
        }
        let start = self.output.len();
        self.output.extend_from_slice(&[0; HEADER_BYTES]);
        block.encode(&mut self.encoder, &mut self.output);
        for field in extra {
            self.encoder.field(field.name, field.value, field.indexing, &mut self.output);
        }
        self.finish_header_block(start, id, end_stream);
    }

    /// Sends a header block whose frame is cached; false, and sends nothing, where it is not. Each
    /// unary answer sends two: with a call for each, that would cost more than the bytes.
    #[inline(always)]
    pub(crate) fn write_cached(&mut self, id: u32, block: &HeaderBlock, end_stream: bool) -> bool {
        let Some(frame) = block.frame(&self.encoder) else {
            return false;
        };
        let start = self.output.len();
        let end = if end_stream { flag::END_STREAM } else { 0 };
        let [a, b, c, d] = id.to_be_bytes();
        self.output.extend_from_slice(&frame.bytes);
        self.output[start + 4..start + HEADER_BYTES].copy_from_slice(&[
            flag::END_HEADERS | end,
            a,
            b,
            c,
            d,
        ]);
        self.output.truncate(start + frame.length);
        true
    }

    /// Turns the bytes from `start` + 9 on into a HEADERS frame, followed by CONTINUATION frames
    /// where needed.
    /// RFC 9113, section 4.1.
    #[inline]
    fn finish_header_block(&mut self, start: usize, id: u32, end_stream: bool) {
        let length = self.output.len() - start - HEADER_BYTES;
        let end = if end_stream { flag::END_STREAM } else { 0 };
        if length > self.peer.max_frame_bytes as usize {
            return self.split_header_block(start, id, end);
        }
        let flags = flag::END_HEADERS | end;
        let header = FrameHeader { length, kind: kind::HEADERS, flags, stream_id: id };
        self.output[start..start + HEADER_BYTES].copy_from_slice(&header.to_bytes());
    }

    /// RFC 9113, sections 4.3, 6.2, 6.10 and 8.1.
    #[cold]
    fn split_header_block(&mut self, start: usize, stream_id: u32, mut flags: u8) {
        let block = self.output.split_off(start + HEADER_BYTES);
        self.output.truncate(start);
        let mut pieces = block.chunks(self.peer.max_frame_bytes as usize).peekable();
        let mut kind = kind::HEADERS;
        while let Some(piece) = pieces.next() {
            if pieces.peek().is_none() {
                flags |= flag::END_HEADERS;
            }
            FrameHeader { length: piece.len(), kind, flags, stream_id }.write(&mut self.output);
            self.output.extend_from_slice(piece);
            kind = kind::CONTINUATION;
            flags = 0;
        }
    }

    /// Ends our direction of the stream.
    #[inline]
    pub(crate) fn close_local(&mut self, stream: StreamKey) {
        let Some(state) = self.streams.state(stream) else {
            return;
        };
        if state.remote != RemoteState::Closed {
            state.local_closed = true;
            return;
        }
        let unreleased_bytes = state.unreleased_bytes;
        self.streams.remove(stream);
        self.release_connection(unreleased_bytes);
    }

    /// Frees the stream if both directions are over.
    #[inline]
    pub(crate) fn settle(&mut self, stream: StreamKey) {
        let Some(state) = self.streams.state(stream) else {
            return;
        };
        if state.local_closed && state.remote == RemoteState::Closed {
            let unreleased_bytes = state.unreleased_bytes;
            self.streams.remove(stream);
            self.release_connection(unreleased_bytes);
        }
    }

    /// Frees the stream. Bytes that its owner had not released are given back to the connection.
    #[inline]
    pub(crate) fn free(&mut self, stream: StreamKey) {
        let Some(state) = self.streams.state(stream) else {
            return;
        };
        let unreleased_bytes = state.unreleased_bytes;
        let blocked_bytes = state.blocked().is_some().then(|| state.blocked_bytes());
        let held_bytes = state.blocked_held_bytes();
        self.streams.remove(stream);
        if let Some(bytes) = blocked_bytes {
            self.blocked.note_held(held_bytes, 0);
            self.blocked.abandon(bytes, &self.streams);
            self.admit();
        }
        self.release_connection(unreleased_bytes);
    }

    /// Ends the stream abruptly in both directions.
    pub fn reset(&mut self, stream: StreamKey, code: ErrorCode) {
        if self.streams.contains(stream) {
            self.free(stream);
            self.write_reset(stream.id, code);
        }
    }

    pub(crate) fn write_reset(&mut self, id: u32, code: ErrorCode) {
        self.resets.insert(id);
        self.glitches.note();
        FrameHeader { length: 4, kind: kind::RST_STREAM, flags: 0, stream_id: id }
            .write(&mut self.output);
        self.output.extend_from_slice(&code.0.to_be_bytes());
    }

    /// Whether frames of that stream, which is not alive, are no error: we reset it and they were
    /// still on their way, or our GOAWAY excluded it.
    /// RFC 9113, sections 5.4.2 and 6.4.
    pub(crate) fn is_ignored(&self, id: u32) -> bool {
        (self.goaway_sent && id > self.goaway_last_id) || self.resets.contains(id)
    }

    fn hold(&mut self, stream: StreamKey, bytes: Vec<u8>, end_stream: bool) {
        let Some(state) = self.streams.state(stream) else {
            return;
        };
        self.blocked.add(bytes.len());
        let before_bytes = state.blocked_held_bytes();
        match state.blocked() {
            Some(blocked) => {
                blocked.bytes.extend_from_slice(&bytes);
                blocked.end_stream |= end_stream;
            }
            None => {
                let blocked = BlockedData { bytes, sent_bytes: 0, trailers: None, end_stream };
                state.cold.get_or_insert_default().blocked = Some(blocked);
                self.blocked.push(stream);
            }
        }
        self.blocked.note_held(before_bytes, state.blocked_held_bytes());
        self.admit();
    }

    /// Admits no further streams of the peer while its windows hold back too much.
    fn admit(&mut self) {
        self.admitted_streams = if self.refuses_streams || self.blocked.is_too_much() {
            0
        } else {
            concurrency_limit(&self.own)
        };
    }

    /// Whether the connection's window has more than it ever had: its peer has not consumed these
    /// bytes, since they were not sent.
    pub(crate) fn has_grown(&mut self) -> bool {
        let before_bytes = self.largest_window_bytes;
        self.largest_window_bytes = before_bytes.max(self.send_window.available_bytes());
        self.largest_window_bytes > before_bytes
    }

    /// Whether further streams of the peer are refused (REFUSED_STREAM: it is safe to try again).
    pub fn refuse_streams(&mut self, refuses: bool) {
        self.refuses_streams = refuses;
        self.admit();
    }
}

/// Number of streams that may be open by these settings.
fn concurrency_limit(settings: &Settings) -> usize {
    settings.max_concurrent_streams.map_or(usize::MAX, |streams| streams as usize)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streams_that_are_reset_while_they_wait_are_not_kept() {
        let config = ConnectionConfig::internet();
        let mut sender = Sender::new(&config, config.settings);
        let first = sender.open().unwrap();
        sender.data(first, &[0; 1 << 17], true);
        assert!(sender.is_blocked(), "the connection's window is used up");
        for _ in 0..100_000 {
            let stream = sender.open().unwrap();
            sender.data(stream, b"x", true);
            sender.reset(stream, ErrorCode::CANCEL);
            sender.output.clear();
        }
        assert!(sender.blocked.len() <= 2);
        assert!(sender.blocked.take(first));
    }

    #[test]
    fn a_stream_that_always_holds_something_back_does_not_grow_with_what_it_has_sent() {
        const HELD_BYTES: usize = 100_000;
        let config = ConnectionConfig::internet();
        let mut sender = Sender::new(&config, config.settings);
        let stream = sender.open().unwrap();
        sender.data(stream, &[0; 65_535 + HELD_BYTES], false);
        for _ in 0..10_000 {
            sender.data(stream, &[0; 100], false);
            sender.send_window.add(100).unwrap();
            let state = sender.streams.state(stream).unwrap();
            state.send_window.add(100).unwrap();
            sender.send_blocked_on(stream, &mut Vec::new());
            assert_eq!(sender.blocked_bytes(stream), HELD_BYTES);
            sender.output.clear();
        }
        let held_bytes = sender.held_back_bytes();
        let state = sender.streams.state(stream).unwrap();
        assert!(state.blocked().unwrap().bytes.len() <= 2 * (HELD_BYTES + 100));
        assert_eq!(held_bytes, state.blocked_held_bytes());
        sender.reset(stream, ErrorCode::CANCEL);
        assert_eq!(sender.held_back_bytes(), 0);
    }

    #[test]
    fn a_small_rest_does_not_keep_the_memory_of_what_has_gone_out() {
        let config = ConnectionConfig::internet();
        let mut sender = Sender::new(&config, config.settings);
        let stream = sender.open().unwrap();
        sender.data(stream, &[0; 65_535 + 100_000], true);
        assert!((100_000..200_000).contains(&sender.held_back_bytes()));
        sender.send_window.add(99_000).unwrap();
        sender.streams.state(stream).unwrap().send_window.add(99_000).unwrap();
        sender.send_blocked_on(stream, &mut Vec::new());
        let rest_bytes = sender.blocked_bytes(stream);
        assert!((1_000..2_000).contains(&rest_bytes), "{rest_bytes}");
        assert!(sender.held_back_bytes() <= 4 * rest_bytes);
        sender.send_window.add(10_000).unwrap();
        sender.streams.state(stream).unwrap().send_window.add(10_000).unwrap();
        sender.send_blocked_on(stream, &mut Vec::new());
        assert_eq!((sender.blocked_bytes(stream), sender.held_back_bytes()), (0, 0));
    }
}
