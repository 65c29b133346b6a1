//! Control frames: SETTINGS, PING, GOAWAY, WINDOW_UPDATE, RST_STREAM, PRIORITY.

use super::Receiver;
use crate::config::SMALL_INCREMENT_BYTES;
use crate::error::{ConnectionError, ErrorCode, Initiator};
use crate::frame::{FrameHeader, flag};
use crate::sender::Sender;
use crate::settings::Settings;
use crate::side::Side;
use crate::visitor::Visitor;

impl Receiver {
    /// RFC 9113, sections 6.5 and 6.5.2.
    pub(super) fn settings<V: Visitor>(
        &mut self,
        sender: &mut Sender,
        header: FrameHeader,
        payload: &[u8],
        visitor: &mut V,
    ) -> Result<(), ConnectionError> {
        on_connection(header, "SETTINGS on a stream")?;
        if header.has(flag::ACK) {
            if !payload.is_empty() {
                return Err(ConnectionError::frame_size("an acknowledgement with settings in it"));
            }
            self.decoder.set_limit(self.own.header_table_bytes as usize);
            sender.glitches.acknowledgement();
            sender.own_settings_acknowledged();
            visitor.settings_acknowledged();
            return Ok(());
        }
        let mut settings = sender.peer;
        settings.apply(payload)?;
        if self.side == Side::Client && settings.enable_push {
            let reason = "a server's SETTINGS_ENABLE_PUSH is 1";
            return Err(ConnectionError::protocol(reason));
        }
        sender.glitches.settings();
        self.settings_came = true;
        if let Some(table_bytes) = Settings::smallest_table_bytes(payload) {
            // RFC 7541 section 4.2: the smallest size in between is announced, too.
            sender.encoder.set_peer_limit(table_bytes as usize);
        }
        sender.take_over(settings)?;
        self.send_blocked(sender, visitor);
        visitor.settings(sender);
        Ok(())
    }

    /// RFC 9113, section 6.7.
    pub(super) fn ping<V: Visitor>(
        &mut self,
        sender: &mut Sender,
        header: FrameHeader,
        payload: &[u8],
        visitor: &mut V,
    ) -> Result<(), ConnectionError> {
        on_connection(header, "PING on a stream")?;
        let Ok(bytes) = <[u8; 8]>::try_from(payload) else {
            return Err(ConnectionError::frame_size("PING is not eight bytes"));
        };
        if header.has(flag::ACK) {
            sender.glitches.pong();
            visitor.pong(bytes);
        } else {
            sender.pong(bytes);
        }
        Ok(())
    }

    /// RFC 9113, section 6.8.
    pub(super) fn goaway<V: Visitor>(
        &mut self,
        sender: &mut Sender,
        header: FrameHeader,
        payload: &[u8],
        visitor: &mut V,
    ) -> Result<(), ConnectionError> {
        on_connection(header, "GOAWAY on a stream")?;
        let Some((fixed, debug)) = payload.split_first_chunk::<8>() else {
            return Err(ConnectionError::frame_size("GOAWAY is shorter than eight bytes"));
        };
        let [a, b, c, d, e, f, g, h] = *fixed;
        let last_stream_id = u32::from_be_bytes([a & 0x7f, b, c, d]);
        sender.glitches.goaway();
        sender.goaway_came = true;
        for stream in sender.streams_above(last_stream_id) {
            if sender.was_opened_here(stream.id) {
                sender.free(stream);
                let code = ErrorCode::REFUSED_STREAM;
                visitor.reset(sender, stream, code, Initiator::PeerGoAway);
            }
        }
        let code = ErrorCode(u32::from_be_bytes([e, f, g, h]));
        visitor.goaway(sender, last_stream_id, code, debug);
        Ok(())
    }

    /// RFC 9113, section 6.9.
    pub(super) fn window_update<V: Visitor>(
        &mut self,
        sender: &mut Sender,
        header: FrameHeader,
        payload: &[u8],
        visitor: &mut V,
    ) -> Result<(), ConnectionError> {
        let Ok(bytes) = <[u8; 4]>::try_from(payload) else {
            return Err(ConnectionError::frame_size("WINDOW_UPDATE is not four bytes"));
        };
        let increment_bytes = u32::from_be_bytes(bytes) & 0x7fff_ffff;
        let is_small = increment_bytes < SMALL_INCREMENT_BYTES;
        if header.stream_id == 0 {
            if is_small && sender.all_blocked_bytes() > 0 {
                sender.glitches.note();
            }
            if increment_bytes == 0 {
                return Err(ConnectionError::protocol("WINDOW_UPDATE by nothing"));
            }
            let overflow = "WINDOW_UPDATE moved the connection's window past 2^31-1";
            let was_narrow = sender.is_narrow();
            sender
                .send_window
                .add(increment_bytes)
                .map_err(|_| ConnectionError::flow_control(overflow))?;
            if sender.has_grown() && is_small {
                sender.update_for_nothing();
            }
            if was_narrow {
                self.send_blocked(sender, visitor);
            }
            return Ok(());
        }
        self.stream_window_update(sender, header.stream_id, increment_bytes, visitor)
    }

    /// RFC 9113, sections 6.9 and 6.9.1.
    fn stream_window_update<V: Visitor>(
        &mut self,
        sender: &mut Sender,
        id: u32,
        increment_bytes: u32,
        visitor: &mut V,
    ) -> Result<(), ConnectionError> {
        let is_small = increment_bytes < SMALL_INCREMENT_BYTES;
        if self.widen_unlisted(sender, id, increment_bytes, visitor) {
            sender.note_widening(increment_bytes);
            return Ok(());
        }
        let was_noted = sender.all_blocked_bytes() > 0;
        if is_small && was_noted {
            sender.glitches.note();
        }
        let Some(stream) = sender.streams.find(id) else {
            // The stream may have ended while this was on its way; an idle stream cannot have.
            return if self.is_idle(sender, id) {
                Err(ConnectionError::protocol("WINDOW_UPDATE on an idle stream"))
            } else {
                let opened = sender.opened_streams();
                sender.glitches.update_of_ended_stream(opened);
                Ok(())
            };
        };
        let is_request = sender.was_opened_here(id);
        let initial_bytes = sender.peer.initial_window_bytes as usize;
        let Some(state) = sender.streams.state(stream) else {
            return Ok(());
        };
        let code = match increment_bytes {
            0 => ErrorCode::PROTOCOL_ERROR,
            // Nothing more will be sent, so nothing can overflow. A whole request that went out at
            // once was never counted against this window; responses are.
            _ if is_request && state.local_closed => return Ok(()),
            _ if state.send_window.add(increment_bytes).is_err() => ErrorCode::FLOW_CONTROL_ERROR,
            _ => {
                // No more was sent than that: these bytes were not consumed by anybody.
                let is_beyond = state.send_window.available_bytes() > initial_bytes;
                if is_beyond && is_small && !was_noted {
                    sender.update_for_nothing();
                }
                sender.send_blocked_on(stream, &mut self.drained);
                self.tell_drained(sender, visitor);
                return Ok(());
            }
        };
        self.stream_error(sender, stream, code, visitor);
        Ok(())
    }

    fn send_blocked<V: Visitor>(&mut self, sender: &mut Sender, visitor: &mut V) {
        sender.send_blocked(&mut self.drained);
        self.tell_drained(sender, visitor);
    }

    fn tell_drained<V: Visitor>(&mut self, sender: &mut Sender, visitor: &mut V) {
        for stream in self.drained.drain(..) {
            if sender.is_open(stream) {
                visitor.drained(sender, stream);
            }
        }
    }

    /// RFC 9113, sections 5.4.2 and 6.4.
    pub(super) fn rst_stream<V: Visitor>(
        &mut self,
        sender: &mut Sender,
        header: FrameHeader,
        payload: &[u8],
        visitor: &mut V,
    ) -> Result<(), ConnectionError> {
        let Ok(bytes) = <[u8; 4]>::try_from(payload) else {
            return Err(ConnectionError::frame_size("RST_STREAM is not four bytes"));
        };
        let id = header.stream_id;
        match sender.streams.find(id) {
            Some(stream) => {
                sender.free(stream);
                let code = ErrorCode(u32::from_be_bytes(bytes));
                visitor.reset(sender, stream, code, Initiator::Peer);
                Ok(())
            }
            None if id == 0 => Err(ConnectionError::protocol("RST_STREAM on stream 0")),
            None if self.is_idle(sender, id) => {
                Err(ConnectionError::protocol("RST_STREAM on an idle stream"))
            }
            None => {
                sender.glitches.note();
                Ok(())
            }
        }
    }

    /// Priorities are deprecated (RFC 9113 section 5.3): the frame is checked for form and dropped.
    /// RFC 9113, sections 6.3 and 6.4.
    pub(super) fn priority<V: Visitor>(
        &mut self,
        sender: &mut Sender,
        header: FrameHeader,
        payload: &[u8],
        visitor: &mut V,
    ) -> Result<(), ConnectionError> {
        if header.stream_id == 0 {
            return Err(ConnectionError::protocol("PRIORITY on stream 0"));
        }
        sender.glitches.note();
        let fault = match payload {
            [a, b, c, d, _] => {
                let depends_on = u32::from_be_bytes([a & 0x7f, *b, *c, *d]);
                (depends_on == header.stream_id).then_some(ErrorCode::PROTOCOL_ERROR)
            }
            _ => Some(ErrorCode::FRAME_SIZE_ERROR),
        };
        match (fault, sender.streams.find(header.stream_id)) {
            (None, _) => {}
            (Some(code), Some(stream)) => self.stream_error(sender, stream, code, visitor),
            (Some(code), None) if self.is_idle(sender, header.stream_id) => {
                // RFC 9113 section 5.1: an idle stream cannot be reset.
                let reason = "a malformed PRIORITY on an idle stream";
                return Err(ConnectionError::new(code, reason));
            }
            // It may have been on its way when we reset the stream: do not reset it again.
            (Some(_), None) if sender.is_ignored(header.stream_id) => sender.glitches.note(),
            // PRIORITY may come on a stream that has ended, so an error in it resets that stream.
            (Some(code), None) => sender.write_reset(header.stream_id, code),
        }
        Ok(())
    }
}

fn on_connection(header: FrameHeader, reason: &'static str) -> Result<(), ConnectionError> {
    match header.stream_id {
        0 => Ok(()),
        _ => Err(ConnectionError::protocol(reason)),
    }
}
