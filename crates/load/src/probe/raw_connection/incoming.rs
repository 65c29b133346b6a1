//! Frames from the server.

use super::{RawConnection, WindowRefill};
use crate::probe::check::CheckError;
use crate::probe::check_reply::ReplyEnd;
use bookend_wire::ErrorCode;
use bookend_wire::flow::Window;
use bookend_wire::frame::{FrameHeader, flag, kind, write_frame};

/// What a stream's window is opened by once the server is known to respect it: more than any reply
/// of a check has.
const WIDE_WINDOW_BYTES: u32 = 1 << 24;

impl RawConnection {
    pub(super) fn receive_frame(
        &mut self,
        header: FrameHeader,
        payload: &[u8],
    ) -> Result<(), CheckError> {
        if !self.settings_received && (header.kind != kind::SETTINGS || header.has(flag::ACK)) {
            return Err(CheckError::Violation("the first frame is not SETTINGS"));
        }
        match header.kind {
            kind::DATA => self.data(header, payload),
            kind::HEADERS => self.headers(header, payload),
            kind::CONTINUATION => self.continuation(header, payload),
            kind::SETTINGS => self.settings(header, payload),
            kind::PING => self.ping(header, payload),
            kind::WINDOW_UPDATE => self.window_update(header, payload),
            kind::RST_STREAM => {
                let end = ReplyEnd::Reset(ErrorCode(number_at(payload, 0)?));
                self.replies.entry(header.stream_id).or_default().end_with(end);
                Ok(())
            }
            kind::GOAWAY => self.goaway(payload),
            _ => Ok(()),
        }
    }

    fn settings(&mut self, header: FrameHeader, payload: &[u8]) -> Result<(), CheckError> {
        if header.has(flag::ACK) {
            self.acknowledged = true;
            if let Some(table_bytes) = self.own_table_bytes {
                self.decoder.set_limit(table_bytes as usize);
            }
            return Ok(());
        }
        let before_bytes = i64::from(self.peer.initial_window_bytes);
        self.peer.apply(payload).map_err(|error| CheckError::Violation(error.reason))?;
        let difference_bytes = i64::from(self.peer.initial_window_bytes) - before_bytes;
        for window in self.stream_send_windows.values_mut() {
            window
                .shift(difference_bytes)
                .map_err(|_| CheckError::Violation("SETTINGS moved a window past 2^31-1"))?;
        }
        let table_bytes = self.peer.header_table_bytes as usize;
        self.encoder.set_peer_limit(table_bytes);
        self.settings_received = true;
        self.send(kind::SETTINGS, flag::ACK, 0, &[])
    }

    fn ping(&mut self, header: FrameHeader, payload: &[u8]) -> Result<(), CheckError> {
        if header.has(flag::ACK) {
            self.pong = payload.try_into().ok();
            return Ok(());
        }
        self.send(kind::PING, flag::ACK, 0, payload)
    }

    fn goaway(&mut self, payload: &[u8]) -> Result<(), CheckError> {
        let code = ErrorCode(number_at(payload, 4)?);
        if code == ErrorCode::NO_ERROR {
            return Ok(());
        }
        let text = String::from_utf8_lossy(payload.get(8..).unwrap_or_default());
        Err(CheckError::GoingAway(code, text.into_owned()))
    }

    fn window_update(&mut self, header: FrameHeader, payload: &[u8]) -> Result<(), CheckError> {
        let increment_bytes = number_at(payload, 0)? & 0x7fff_ffff;
        let window = match header.stream_id {
            0 => Some(&mut self.send_window),
            id => self.stream_send_windows.get_mut(&id),
        };
        match window.map(|window| window.add(increment_bytes)) {
            Some(Err(_)) => Err(CheckError::Violation("WINDOW_UPDATE moved a window past 2^31-1")),
            _ => Ok(()),
        }
    }

    fn headers(&mut self, header: FrameHeader, payload: &[u8]) -> Result<(), CheckError> {
        let mut block = without_padding(header, payload)?;
        if header.has(flag::PRIORITY) {
            let short = CheckError::Violation("HEADERS too short for its priority");
            block = block.get(5..).ok_or(short)?;
        }
        let end_stream = header.has(flag::END_STREAM);
        self.block(header, end_stream, block.to_vec())
    }

    fn continuation(&mut self, header: FrameHeader, payload: &[u8]) -> Result<(), CheckError> {
        match self.open_block.take() {
            Some((stream_id, end_stream, mut block)) if stream_id == header.stream_id => {
                block.extend_from_slice(payload);
                self.block(header, end_stream, block)
            }
            _ => Err(CheckError::Violation("CONTINUATION without HEADERS")),
        }
    }

    fn block(
        &mut self,
        header: FrameHeader,
        end_stream: bool,
        block: Vec<u8>,
    ) -> Result<(), CheckError> {
        if !header.has(flag::END_HEADERS) {
            self.open_block = Some((header.stream_id, end_stream, block));
            return Ok(());
        }
        self.decoder
            .decode(&block, &mut self.fields)
            .map_err(|error| CheckError::Violation(error.rule()))?;
        let reply = self.replies.entry(header.stream_id).or_default();
        reply.header_block(&self.fields, end_stream);
        Ok(())
    }

    fn data(&mut self, header: FrameHeader, payload: &[u8]) -> Result<(), CheckError> {
        let stream_id = header.stream_id;
        let data = without_padding(header, payload)?;
        let own_window_bytes = self.own_window_bytes;
        let reply = self.replies.entry(stream_id).or_default();
        let window = reply.window.get_or_insert_with(|| Window::new(own_window_bytes));
        if !window.take(payload.len()) {
            self.violation_bytes += payload.len() - window.available_bytes();
        }
        reply.data(data, header.has(flag::END_STREAM));
        if payload.is_empty() {
            return Ok(());
        }
        self.refill_windows(stream_id, payload.len() as u32)
    }

    fn refill_windows(&mut self, stream_id: u32, bytes: u32) -> Result<(), CheckError> {
        let stream_bytes = match &mut self.refill {
            WindowRefill::Never => return Ok(()),
            WindowRefill::AtOnce => bytes,
            WindowRefill::ByteByByte { frames: 0 } => {
                self.refill = WindowRefill::AtOnce;
                WIDE_WINDOW_BYTES
            }
            WindowRefill::ByteByByte { frames } => {
                *frames -= 1;
                1
            }
        };
        let mut output = Vec::new();
        let mut increment = |stream_id, bytes: u32| {
            write_frame(&mut output, kind::WINDOW_UPDATE, 0, stream_id, &bytes.to_be_bytes());
        };
        increment(0, bytes);
        if let Some(reply) = self.replies.get_mut(&stream_id)
            && reply.end.is_none()
            && let Some(window) = &mut reply.window
            && window.add(stream_bytes).is_ok()
        {
            increment(stream_id, stream_bytes);
        }
        self.write(&output)
    }
}

fn number_at(payload: &[u8], start: usize) -> Result<u32, CheckError> {
    let bytes = payload.get(start..).and_then(<[u8]>::first_chunk::<4>);
    bytes
        .map(|bytes| u32::from_be_bytes(*bytes))
        .ok_or(CheckError::Violation("a frame shorter than its fields"))
}

fn without_padding(header: FrameHeader, payload: &[u8]) -> Result<&[u8], CheckError> {
    if !header.has(flag::PADDED) {
        return Ok(payload);
    }
    payload
        .split_first()
        .and_then(|(&pad_bytes, rest)| {
            let length = rest.len().checked_sub(usize::from(pad_bytes))?;
            rest.get(..length)
        })
        .ok_or(CheckError::Violation("padding longer than its frame"))
}
