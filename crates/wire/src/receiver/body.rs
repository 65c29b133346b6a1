//! DATA, RFC 9113 section 6.1.

use super::{Receiver, behind_empty_end, without_padding};
use crate::error::{ConnectionError, ErrorCode};
use crate::frame::{FrameHeader, flag, kind};
use crate::sender::Sender;
use crate::side::Side;
use crate::stream_state::RemoteState;
use crate::streams::StreamKey;
use crate::visitor::Visitor;

impl Receiver {
    /// Takes a DATA frame, perhaps together with the one before or behind it. Returns the bytes
    /// behind.
    #[inline]
    pub(super) fn data_before<'a, V: Visitor>(
        &mut self,
        sender: &mut Sender,
        mut header: FrameHeader,
        payload: &'a [u8],
        mut behind: &'a [u8],
        input: &'a [u8],
        visitor: &mut V,
    ) -> Result<&'a [u8], ConnectionError> {
        if !self.bodies.is_empty() {
            if let Some(body) = self.body_before(header, input) {
                sender.credit.forget(body.len());
                self.end(sender, header.stream_id, body, visitor)?;
                return Ok(behind);
            }
            if !self.bodies.takes(header.stream_id) {
                self.tell_bodies(sender, input, visitor)?;
            }
        }
        if header.flags == 0 && V::TAKES_WHOLE_REQUESTS && self.side == Side::Server {
            let stream = self.stream_of_request(sender, header.stream_id);
            if stream.is_some_and(|stream| visitor.end_may_join(stream)) {
                if let Some(rest) = behind_empty_end(header, behind) {
                    header.flags = flag::END_STREAM;
                    behind = rest;
                } else if self.body_may_wait(sender, header, behind) {
                    // It counts against the window until it is reported: what others send meanwhile
                    // must fit in as well.
                    sender.credit.receive(header.length);
                    self.keep_body(header, input, behind);
                    return Ok(behind);
                }
            }
        }
        if !self.bodies.is_empty() {
            self.tell_bodies(sender, input, visitor)?;
        }
        self.frame(sender, header, payload, visitor)?;
        Ok(behind)
    }

    /// The body that has waited longest, if this frame is the end that it waits for.
    #[inline]
    fn body_before<'a>(&mut self, header: FrameHeader, input: &'a [u8]) -> Option<&'a [u8]> {
        let is_end = header.flags == flag::END_STREAM && header.length == 0;
        if !is_end {
            return None;
        }
        Some(&input[self.bodies.take_of(header.stream_id)?])
    }

    /// Tells a body that has waited, and the end of its stream.
    #[inline]
    fn end<V: Visitor>(
        &mut self,
        sender: &mut Sender,
        stream_id: u32,
        body: &[u8],
        visitor: &mut V,
    ) -> Result<(), ConnectionError> {
        let head = self.unlisted.get(stream_id).copied();
        let answered =
            head.and_then(|head| self.answer_unlisted(sender, stream_id, head, body, visitor));
        if answered.is_some() {
            return Ok(());
        }
        let flags = flag::END_STREAM;
        let header = FrameHeader { length: body.len(), kind: kind::DATA, flags, stream_id };
        self.frame(sender, header, body, visitor)
    }

    /// The stream, if it is alive, whether it is in the table or waits outside.
    #[inline]
    fn stream_of_request(&mut self, sender: &Sender, id: u32) -> Option<StreamKey> {
        if !self.unlisted.is_empty() && self.unlisted.get(id).is_some() {
            return Some(StreamKey::unlisted(id));
        }
        sender.streams.find(id)
    }

    /// Whether a part of a body may wait for the end of its stream, `behind` which other frames
    /// stand. At the end of a read nothing would come for it.
    #[inline]
    fn body_may_wait(&self, sender: &Sender, header: FrameHeader, behind: &[u8]) -> bool {
        header.length > 0
            && !behind.is_empty()
            && self.open_block.is_none()
            && self.settings_came
            && sender.admits_body(header.length)
    }

    /// Has a part of a body wait, which is the last part of the input before `behind`.
    #[inline]
    fn keep_body(&mut self, header: FrameHeader, input: &[u8], behind: &[u8]) {
        if let Some(head) = self.unlisted.get(header.stream_id) {
            head.has_part = true;
        }
        let end = input.len() - behind.len();
        self.bodies.push(header.stream_id, end - header.length..end);
    }

    /// Tells the bodies that wait, each as the frame that it came in.
    #[inline(never)]
    pub(super) fn tell_bodies<V: Visitor>(
        &mut self,
        sender: &mut Sender,
        input: &[u8],
        visitor: &mut V,
    ) -> Result<(), ConnectionError> {
        while let Some((stream_id, at)) = self.bodies.take() {
            sender.credit.forget(at.len());
            let header = FrameHeader { length: at.len(), kind: kind::DATA, flags: 0, stream_id };
            self.frame(sender, header, &input[at], visitor)?;
        }
        self.bodies.forget();
        Ok(())
    }

    /// RFC 9113, sections 5.1 and 6.9.
    #[inline]
    pub(super) fn data<V: Visitor>(
        &mut self,
        sender: &mut Sender,
        header: FrameHeader,
        payload: &[u8],
        visitor: &mut V,
    ) -> Result<(), ConnectionError> {
        if !sender.credit.receive(payload.len()) {
            return Err(ConnectionError::flow_control("more than the connection's window"));
        }
        let data = without_padding(header, payload)?;
        let Some(stream) = sender.streams.find(header.stream_id) else {
            return self.data_nowhere(sender, header.stream_id, payload.len());
        };
        let Some(state) = sender.streams.state(stream) else {
            return Ok(());
        };
        let end_stream = header.has(flag::END_STREAM);
        let fault = if state.remote != RemoteState::Open {
            Some(match state.remote {
                RemoteState::Closed => ErrorCode::STREAM_CLOSED,
                _ => ErrorCode::PROTOCOL_ERROR,
            })
        } else if !state.credit.receive(payload.len()) {
            Some(ErrorCode::FLOW_CONTROL_ERROR)
        } else if !state.matches_content_length(data.len(), end_stream) {
            Some(ErrorCode::PROTOCOL_ERROR)
        } else {
            None
        };
        if let Some(code) = fault {
            sender.release_connection(payload.len() as u32);
            self.stream_error(sender, stream, code, visitor);
            return Ok(());
        }
        state.unreleased_bytes += payload.len() as u32;
        if end_stream {
            state.remote = RemoteState::Closed;
        }
        let padding_bytes = payload.len() - data.len();
        if padding_bytes > 0 {
            sender.release(stream, padding_bytes);
        }
        if !data.is_empty() || end_stream {
            visitor.data(sender, stream, data, end_stream);
        } else {
            sender.glitches.note();
        }
        if end_stream {
            sender.settle(stream);
        }
        Ok(())
    }

    /// DATA for a stream that is not alive: its bytes count against the connection's window, so
    /// they are given back.
    /// RFC 9113, section 6.8.
    #[cold]
    fn data_nowhere(
        &mut self,
        sender: &mut Sender,
        id: u32,
        bytes: usize,
    ) -> Result<(), ConnectionError> {
        if id == 0 {
            return Err(ConnectionError::protocol("DATA on stream 0"));
        }
        self.check_gone(sender, id)?;
        sender.release_connection(bytes as u32);
        Ok(())
    }
}
