//! The two shortest paths through a connection: a whole request, a whole response.

use super::Sender;
use crate::error::CannotOpen;
use crate::frame::HEADER_BYTES;
use crate::grpc::message::PREFIX_BYTES;
use crate::header_block::{ExtraField, HeaderBlock};
use crate::prepared_request::PreparedRequest;
use crate::stream_state::StreamState;
use crate::streams::StreamKey;
use alloc::vec::Vec;

impl Sender {
    /// Sends a whole unary request: head (followed by `extra`), one message, END_STREAM.
    ///
    /// # Errors
    /// As [`Sender::open`].
    #[inline]
    pub fn request(
        &mut self,
        head: &mut HeaderBlock,
        extra: &[ExtraField<'_>],
        message: &[u8],
    ) -> Result<StreamKey, CannotOpen> {
        let stream = self.open()?;
        self.write_headers(stream.id, head, extra, false);
        let start = self.output.len();
        self.output.extend_from_slice(&[0; HEADER_BYTES + PREFIX_BYTES]);
        self.output.extend_from_slice(message);
        self.finish_message(stream, start, true);
        Ok(stream)
    }

    /// Sends a whole unary request that is made again and again.
    ///
    /// # Errors
    /// As [`Sender::open`].
    #[inline]
    pub fn prepared_request(
        &mut self,
        request: &mut PreparedRequest,
    ) -> Result<StreamKey, CannotOpen> {
        let body_bytes = PREFIX_BYTES + request.message.len();
        let Some(template) = request.template(self.encoder.generation()) else {
            return self.request_anew(request);
        };
        let fits = body_bytes <= self.send_window.available_bytes()
            && body_bytes <= self.peer.max_frame_bytes as usize
            && body_bytes <= self.peer.initial_window_bytes as usize;
        if !fits {
            return self.request_anew(request);
        }
        let stream = self.open()?;
        if let Some(state) = self.streams.state(stream) {
            state.local_closed = true;
        }
        self.send_window.take(body_bytes);
        template.write(stream.id, &mut self.output);
        Ok(stream)
    }

    /// Sends the first flight of a client, whose request has a body of `body_bytes`.
    ///
    /// # Errors
    /// As [`Sender::open`].
    #[inline]
    pub(crate) fn open_with(
        &mut self,
        first_flight: &[u8],
        body_bytes: usize,
    ) -> Result<StreamKey, CannotOpen> {
        let stream = self.open()?;
        if let Some(state) = self.streams.state(stream) {
            state.local_closed = true;
        }
        self.send_window.take(body_bytes);
        self.output.extend_from_slice(first_flight);
        Ok(stream)
    }

    #[cold]
    fn request_anew(&mut self, request: &mut PreparedRequest) -> Result<StreamKey, CannotOpen> {
        let start = self.output.len();
        let PreparedRequest { head, message, .. } = request;
        let before = self.encoder.generation();
        let stream = self.request(head, &[], message)?;
        let generation = self.encoder.generation();
        if generation == before {
            request.remember(&self.output[start..], generation);
        }
        Ok(stream)
    }

    /// Sends a whole unary response: head, the one message that `encode` appends, trailers. Nothing
    /// is sent on a stream that has ended or that already holds data back.
    #[inline]
    pub fn reply(
        &mut self,
        stream: StreamKey,
        head: &mut HeaderBlock,
        trailers: &mut HeaderBlock,
        encode: impl FnOnce(&mut Vec<u8>),
    ) {
        let can_go = |state: &mut StreamState| !state.local_closed && state.blocked().is_none();
        if !self.streams.state(stream).is_some_and(can_go) {
            return;
        }
        self.write_headers(stream.id, head, &[], false);
        let start = self.output.len();
        self.output.extend_from_slice(&[0; HEADER_BYTES + PREFIX_BYTES]);
        encode(&mut self.output);
        if !self.finish_whole(stream, start, false) {
            self.send_later(stream, start, false);
            return self.headers(stream, trailers, true);
        }
        self.write_headers(stream.id, trailers, &[], true);
        self.close_local(stream);
    }
}
