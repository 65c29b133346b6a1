//! Frames that concern the whole connection: settings, credit, PING and GOAWAY.

use super::{MAX_STREAM_ID, Sender};
use crate::config::SMALL_INCREMENT_BYTES;
use crate::error::{ConnectionError, ErrorCode};
use crate::frame::{FrameHeader, flag, kind, write_frame};
use crate::settings::{DEFAULT_WINDOW_BYTES, Settings};
use crate::stream_state::RemoteState;
use crate::streams::StreamKey;
use alloc::vec::Vec;

impl Sender {
    /// Writes our SETTINGS, and the connection's window where it is not the default.
    /// RFC 9113, section 6.5.
    pub(crate) fn write_preface(&mut self) {
        let mut payload = Vec::new();
        self.own.write(&mut payload);
        write_frame(&mut self.output, kind::SETTINGS, 0, 0, &payload);
        let more_bytes = self.connection_window_bytes - DEFAULT_WINDOW_BYTES;
        if more_bytes > 0 {
            self.write_window_update(0, more_bytes);
        }
    }

    /// Applies the peer's settings and acknowledges them.
    /// RFC 9113, sections 3.4, 6.5, 6.5.3 and 6.9.2.
    pub(crate) fn take_over(&mut self, settings: Settings) -> Result<(), ConnectionError> {
        let before = core::mem::replace(&mut self.peer, settings);
        self.peer_settings_came = true;
        self.encoder.set_peer_limit(settings.header_table_bytes as usize);
        let difference_bytes =
            i64::from(settings.initial_window_bytes) - i64::from(before.initial_window_bytes);
        if difference_bytes != 0 {
            for (_, state) in self.streams.iter() {
                state.send_window.shift(difference_bytes).map_err(|_| {
                    ConnectionError::flow_control("SETTINGS moved a stream's window past 2^31-1")
                })?;
            }
        }
        write_frame(&mut self.output, kind::SETTINGS, flag::ACK, 0, &[]);
        Ok(())
    }

    /// The peer has seen our settings. A window below the default is enforced only from now on,
    /// because until now the peer was right to use the default. A larger one counts from the start,
    /// for peers that never acknowledge anything.
    /// RFC 9113, section 6.9.3.
    pub(crate) fn own_settings_acknowledged(&mut self) {
        let window_bytes = self.own.initial_window_bytes;
        if self.own_stream_window_bytes == window_bytes {
            return;
        }
        let before_bytes = core::mem::replace(&mut self.own_stream_window_bytes, window_bytes);
        let mut due = Vec::new();
        for (stream, state) in self.streams.iter() {
            state.credit.resize(before_bytes, window_bytes);
            // The credit owed so far may be little of a larger window, but all of a smaller one.
            if state.remote != RemoteState::Closed
                && let Some(increment) = state.credit.release(0, window_bytes)
            {
                due.push((stream.id, increment));
            }
        }
        // Where they stand in the table depends on how the reads were cut.
        due.sort_unstable();
        for (id, increment) in due {
            self.write_window_update(id, increment);
        }
    }

    /// Whether the peer may open a stream now.
    #[inline]
    pub(crate) fn admits_stream(&self) -> bool {
        self.live_streams() < self.admitted_streams
    }

    /// Whether [`Sender::take_glitches`] would return something.
    #[inline]
    pub fn has_glitches(&self) -> bool {
        self.glitches.any()
    }

    /// How often, since the last call, the peer did something wrong or useless that the connection
    /// survived: broken rules of single streams, every RST_STREAM that we sent whatever the cause,
    /// frames on streams that had ended, empty DATA, SETTINGS after the first, PINGs between which
    /// nothing happened, PRIORITY, frames of unknown types, windows opened by a few bytes.
    pub fn take_glitches(&mut self) -> u32 {
        self.glitches.take()
    }

    /// Counts what the owner has found in a body as `count` glitches.
    pub fn note_glitches(&mut self, count: u32) {
        self.glitches.note_many(count);
    }

    /// Whether most of the glitches that [`Sender::take_glitches`] would return are PINGs.
    pub fn glitches_are_pings(&self) -> bool {
        self.glitches.are_pings()
    }

    /// How many streams the side that opens them can have opened so far, by their ids.
    pub(crate) fn opened_streams(&self) -> u32 {
        self.last_peer_id.div_ceil(2).max(self.next_id / 2)
    }

    /// The peer opened the window of a stream on which nothing was sent.
    pub(crate) fn note_widening(&mut self, increment_bytes: u32) {
        if increment_bytes >= SMALL_INCREMENT_BYTES {
            return;
        }
        if self.all_blocked_bytes() > 0 {
            self.glitches.note();
        } else {
            self.update_for_nothing();
        }
    }

    /// The peer opened a window by a little for more than was sent.
    pub(crate) fn update_for_nothing(&mut self) {
        self.glitches.update_for_nothing(self.opened_streams());
    }

    /// The owner has consumed `bytes` of this stream's body: the peer may send as many more.
    #[inline]
    pub fn release(&mut self, stream: StreamKey, bytes: usize) {
        let Some(state) = self.streams.state(stream) else {
            return;
        };
        let bytes = (bytes as u32).min(state.unreleased_bytes);
        state.unreleased_bytes -= bytes;
        if state.remote != RemoteState::Closed
            && let Some(increment) = state.credit.release(bytes, self.own_stream_window_bytes)
        {
            self.write_window_update(stream.id, increment);
        }
        self.release_connection(bytes);
    }

    /// As [`Sender::release`], but only for the connection's window. The window of a stream whose
    /// reader is slow then stays shut, while no other stream waits for it;
    /// [`Sender::release_stream`] follows when the bytes have been read.
    pub fn release_connection_of(&mut self, stream: StreamKey, bytes: usize) {
        let Some(state) = self.streams.state(stream) else {
            return;
        };
        let bytes = (bytes as u32).min(state.unreleased_bytes);
        state.unreleased_bytes -= bytes;
        self.release_connection(bytes);
    }

    /// The other half of [`Sender::release_connection_of`]: opens the stream's own window by bytes
    /// that were taken from it and have now been read.
    pub fn release_stream(&mut self, stream: StreamKey, bytes: usize) {
        let Some(state) = self.streams.state(stream) else {
            return;
        };
        if state.remote != RemoteState::Closed
            && let Some(increment) =
                state.credit.release(bytes as u32, self.own_stream_window_bytes)
        {
            self.write_window_update(stream.id, increment);
        }
    }

    #[inline]
    pub(crate) fn release_connection(&mut self, bytes: u32) {
        if let Some(increment) = self.credit.release(bytes, self.connection_window_bytes) {
            self.write_window_update(0, increment);
        }
    }

    fn write_window_update(&mut self, stream_id: u32, increment_bytes: u32) {
        FrameHeader { length: 4, kind: kind::WINDOW_UPDATE, flags: 0, stream_id }
            .write(&mut self.output);
        self.output.extend_from_slice(&increment_bytes.to_be_bytes());
    }

    /// Sends a PING; the answer comes as `pong`.
    /// RFC 9113, section 6.7.
    pub fn ping(&mut self, payload: [u8; 8]) {
        self.glitches.ping_sent();
        write_frame(&mut self.output, kind::PING, 0, 0, &payload);
    }

    /// Answers a PING.
    /// RFC 9113, section 6.7.
    pub(crate) fn pong(&mut self, payload: [u8; 8]) {
        self.glitches.ping((self.last_peer_id, self.credit, self.send_window));
        write_frame(&mut self.output, kind::PING, flag::ACK, 0, &payload);
    }

    /// Asks a client to open no more streams, and still accepts those that it opens before it has
    /// read this: the first of the two GOAWAYs of RFC 9113 section 6.8. [`Sender::goaway`] is the
    /// second; the answer to a [`Sender::ping`] between them shows that the client has read the
    /// first.
    pub fn goaway_notice(&mut self, debug: &[u8]) {
        if !self.goaway_sent {
            self.write_goaway(MAX_STREAM_ID, ErrorCode::NO_ERROR, debug);
        }
    }

    /// Announces that no further stream will be processed. Open streams go on.
    /// RFC 9113, sections 6.8 and 8.7.
    pub fn goaway(&mut self, code: ErrorCode, debug: &[u8]) {
        self.goaway_last_id = self.last_peer_id;
        self.write_goaway(self.last_peer_id, code, debug);
        self.goaway_sent = true;
    }

    fn write_goaway(&mut self, last_stream_id: u32, code: ErrorCode, debug: &[u8]) {
        let mut payload = Vec::with_capacity(8 + debug.len());
        payload.extend_from_slice(&last_stream_id.to_be_bytes());
        payload.extend_from_slice(&code.0.to_be_bytes());
        payload.extend_from_slice(debug);
        write_frame(&mut self.output, kind::GOAWAY, 0, 0, &payload);
    }

    /// Whether a GOAWAY was received or sent: no stream can be opened any more.
    pub fn is_going_away(&self) -> bool {
        self.goaway_came || self.goaway_sent
    }

    /// Streams that the peer's GOAWAY excluded: the peer never processed them.
    pub(crate) fn streams_above(&mut self, last_stream_id: u32) -> Vec<StreamKey> {
        let above = |stream: &StreamKey| stream.id > last_stream_id;
        self.streams.iter().map(|(stream, _)| stream).filter(above).collect()
    }
}
