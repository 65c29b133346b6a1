//! Bodies under flow control, RFC 9113 section 5.2.

use super::Sender;
use crate::frame::{FrameHeader, HEADER_BYTES, flag, kind};
use crate::grpc::message::PREFIX_BYTES;
use crate::settings::DEFAULT_WINDOW_BYTES;
use crate::streams::StreamKey;
use alloc::vec::Vec;

/// A quarter of the smallest window that a connection can start with (RFC 9113 section 6.9.2):
/// every known peer grants more before its window falls this low.
const SPARED_WINDOW_BYTES: usize = DEFAULT_WINDOW_BYTES as usize / 4;

impl Sender {
    /// Sends part of a body; with `end_stream`, the last part. Bytes that the peer's windows do not
    /// allow yet are held back. Nothing is sent on a stream that has ended.
    pub fn data(&mut self, stream: StreamKey, bytes: &[u8], end_stream: bool) {
        let Some(state) = self.streams.state(stream) else {
            return;
        };
        if state.local_closed || state.blocked().is_some_and(|blocked| blocked.end_stream) {
            return;
        }
        if state.blocked().is_some() {
            return self.hold(stream, bytes.to_vec(), end_stream);
        }
        let sent_bytes = self.send_what_goes(stream, bytes, end_stream);
        if sent_bytes < bytes.len() {
            self.hold(stream, bytes[sent_bytes..].to_vec(), end_stream);
        } else if end_stream {
            self.close_local(stream);
        }
    }

    /// Writes frames as long as the windows allow it. Returns the number of bytes taken. If those
    /// are all, the last frame has END_STREAM where `end_stream` asks for it.
    fn send_what_goes(&mut self, stream: StreamKey, bytes: &[u8], end_stream: bool) -> usize {
        let mut sent_bytes = 0;
        loop {
            let rest = &bytes[sent_bytes..];
            let length = self.sendable_bytes(stream, rest.len()).min(rest.len());
            let is_last = length == rest.len();
            if length == 0 && !(is_last && end_stream) {
                return sent_bytes;
            }
            self.take_windows(stream, length);
            let flags = if is_last && end_stream { flag::END_STREAM } else { 0 };
            FrameHeader { length, kind: kind::DATA, flags, stream_id: stream.id }
                .write(&mut self.output);
            self.output.extend_from_slice(&rest[..length]);
            sent_bytes += length;
            if is_last {
                return sent_bytes;
            }
        }
    }

    /// Number of bytes that one frame on this stream may carry now, of `rest_bytes` that are left.
    ///
    /// Data that fits in one frame is not split to use up the last quarter of the connection's
    /// window: the peer is about to refill it, and some peers count tiny DATA frames as an attack
    /// while others cannot reassemble a message.
    /// RFC 9113, sections 4.1, 5.2.1 and 6.9.1.
    #[inline]
    fn sendable_bytes(&mut self, stream: StreamKey, rest_bytes: usize) -> usize {
        let connection_bytes = self.send_window.available_bytes();
        if connection_bytes < rest_bytes && rest_bytes <= SPARED_WINDOW_BYTES {
            return 0;
        }
        let frame_bytes = self.peer.max_frame_bytes as usize;
        let stream_bytes =
            self.streams.state(stream).map_or(0, |state| state.send_window.available_bytes());
        stream_bytes.min(connection_bytes).min(frame_bytes)
    }

    /// Whether the connection's window may be what holds a stream back. If not, opening it further
    /// is no reason to look at all streams.
    pub(crate) fn is_narrow(&self) -> bool {
        self.send_window.available_bytes() < SPARED_WINDOW_BYTES
    }

    #[inline]
    fn take_windows(&mut self, stream: StreamKey, bytes: usize) {
        let from_connection = self.send_window.take(bytes);
        let from_stream =
            self.streams.state(stream).is_some_and(|state| state.send_window.take(bytes));
        debug_assert!(from_connection && from_stream);
    }

    /// Sends one gRPC message: the prefix of five bytes, then what `encode` appends. It is written
    /// in place; only bytes that the peer's windows do not allow yet are copied and held back.
    #[inline]
    pub fn message(
        &mut self,
        stream: StreamKey,
        end_stream: bool,
        encode: impl FnOnce(&mut Vec<u8>),
    ) {
        self.flagged_message(stream, false, end_stream, encode);
    }

    /// As [`Sender::message`]; `is_compressed` says that what `encode` appends is compressed.
    #[inline]
    pub fn flagged_message(
        &mut self,
        stream: StreamKey,
        is_compressed: bool,
        end_stream: bool,
        encode: impl FnOnce(&mut Vec<u8>),
    ) {
        let start = self.output.len();
        self.output.extend_from_slice(&[0; HEADER_BYTES + PREFIX_BYTES]);
        self.output[start + HEADER_BYTES] = u8::from(is_compressed);
        encode(&mut self.output);
        self.finish_message(stream, start, end_stream);
    }

    /// Turns the bytes from `start` + 14 on into a DATA frame with one message, or holds them back.
    #[inline]
    pub(super) fn finish_message(&mut self, stream: StreamKey, start: usize, end_stream: bool) {
        if !self.finish_whole(stream, start, end_stream) {
            self.send_later(stream, start, end_stream);
        } else if end_stream {
            self.close_local(stream);
        }
    }

    /// As [`Sender::finish_message`], if the windows allow the whole message. Otherwise returns
    /// false, and the bytes are unchanged except for the prefix.
    #[inline]
    pub(super) fn finish_whole(
        &mut self,
        stream: StreamKey,
        start: usize,
        end_stream: bool,
    ) -> bool {
        let length = self.output.len() - start - HEADER_BYTES;
        let prefix = start + HEADER_BYTES;
        // The length field has four bytes (gRPC over HTTP/2, "Length-Prefixed-Message").
        let message_bytes = (length - PREFIX_BYTES) as u32;
        self.output[prefix + 1..prefix + PREFIX_BYTES]
            .copy_from_slice(&message_bytes.to_be_bytes());
        let goes_out_whole = self.send_window.available_bytes() >= length
            && length <= self.peer.max_frame_bytes as usize
            && self.take_stream_window(stream, length);
        if !goes_out_whole {
            return false;
        }
        self.send_window.take(length);
        let flags = if end_stream { flag::END_STREAM } else { 0 };
        let header = FrameHeader { length, kind: kind::DATA, flags, stream_id: stream.id };
        self.output[start..prefix].copy_from_slice(&header.to_bytes());
        true
    }

    /// Whether the stream may send `bytes` bytes at once, which its window then lacks. That of a
    /// stream outside the table is as wide as at its beginning.
    #[inline]
    fn take_stream_window(&mut self, stream: StreamKey, bytes: usize) -> bool {
        if !stream.is_listed() {
            return bytes <= self.peer.initial_window_bytes as usize;
        }
        self.streams.state(stream).is_some_and(|state| {
            state.blocked().is_none() && !state.local_closed && state.send_window.take(bytes)
        })
    }

    #[cold]
    pub(super) fn send_later(&mut self, stream: StreamKey, start: usize, end_stream: bool) {
        let body = self.output.split_off(start + HEADER_BYTES);
        self.output.truncate(start);
        self.data(stream, &body, end_stream);
    }

    /// Whether any stream waits for the peer's window.
    #[inline]
    pub fn is_blocked(&self) -> bool {
        !self.blocked.is_empty()
    }

    /// Bytes of this stream that wait for the peer's window.
    pub fn blocked_bytes(&mut self, stream: StreamKey) -> usize {
        self.streams.state(stream).map_or(0, |state| state.blocked_bytes())
    }

    /// Bytes of all streams that wait for the peer's windows.
    pub fn all_blocked_bytes(&self) -> usize {
        self.blocked.bytes()
    }

    /// Memory held for bytes that wait for the peer's windows, bytes.
    #[inline]
    pub fn held_back_bytes(&self) -> usize {
        self.blocked.held_bytes()
    }

    /// Bytes that had to wait for the peer's windows and have gone out, since the connection began.
    /// While this number stands still and something waits, the peer is letting nothing through.
    pub fn unblocked_bytes(&self) -> u64 {
        self.blocked.unblocked_bytes()
    }

    /// The connection's window has opened: each waiting stream gets a turn, the one that has waited
    /// longest first. Streams whose data has all gone out are added to `drained`.
    pub(crate) fn send_blocked(&mut self, drained: &mut Vec<StreamKey>) {
        for _ in 0..self.blocked.len() {
            if self.send_window.available_bytes() == 0 {
                return;
            }
            let Some(stream) = self.blocked.pop() else {
                return;
            };
            self.send_blocked_of(stream, drained);
        }
    }

    /// The window of one stream has opened.
    pub(crate) fn send_blocked_on(&mut self, stream: StreamKey, drained: &mut Vec<StreamKey>) {
        if self.blocked.take(stream) {
            self.send_blocked_of(stream, drained);
        }
    }

    fn send_blocked_of(&mut self, stream: StreamKey, drained: &mut Vec<StreamKey>) {
        let Some(state) = self.streams.state(stream) else {
            self.blocked.gone();
            return;
        };
        let Some(mut blocked) = state.cold.as_mut().and_then(|cold| cold.blocked.take()) else {
            return;
        };
        let held_bytes = blocked.held_bytes();
        let ends_with_data = blocked.end_stream && blocked.trailers.is_none();
        let sent_bytes =
            self.send_what_goes(stream, &blocked.bytes[blocked.sent_bytes..], ends_with_data);
        blocked.sent_bytes += sent_bytes;
        self.blocked.moved(sent_bytes);
        self.admit();
        if blocked.sent_bytes < blocked.bytes.len() {
            blocked.compact();
            let Some(state) = self.streams.state(stream) else {
                return;
            };
            self.blocked.note_held(held_bytes, blocked.held_bytes());
            state.cold.get_or_insert_default().blocked = Some(blocked);
            self.blocked.push(stream);
            return;
        }
        self.blocked.note_held(held_bytes, 0);
        drained.push(stream);
        if let Some(trailers) = blocked.trailers {
            self.write_trailers(stream.id, &trailers, blocked.end_stream);
        }
        if blocked.end_stream {
            self.close_local(stream);
        }
    }

    fn write_trailers(&mut self, id: u32, encoded: &[u8], end_stream: bool) {
        let start = self.output.len();
        self.output.extend_from_slice(&[0; HEADER_BYTES]);
        self.encoder.begin_block(&mut self.output);
        self.output.extend_from_slice(encoded);
        self.finish_header_block(start, id, end_stream);
    }
}
