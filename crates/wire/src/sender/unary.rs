//! The shortest paths through a connection: a whole request and a whole response, as they are sent,
//! and a whole request as it comes.

use super::{MAX_STREAM_ID, Sender};
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

    /// Sends as many such requests as streams may be opened, up to `most`, and hands over the
    /// stream of each. Returns how many there were, and why not more.
    #[inline]
    pub fn prepared_requests(
        &mut self,
        request: &mut PreparedRequest,
        most: u32,
        mut begin: impl FnMut(StreamKey),
    ) -> (u32, Result<(), CannotOpen>) {
        let mut sent = 0;
        while sent < most {
            let at_once = self.prepared_at_once(request, most - sent);
            if at_once > 0 {
                self.send_prepared(request, at_once, &mut begin);
                sent += at_once;
                continue;
            }
            match self.prepared_request(request) {
                Ok(stream) => begin(stream),
                Err(why) => return (sent, Err(why)),
            }
            sent += 1;
        }
        (sent, Ok(()))
    }

    /// How many requests, up to `most`, are nothing but copies of the last one.
    #[inline]
    fn prepared_at_once(&self, request: &PreparedRequest, most: u32) -> u32 {
        let body_bytes = PREFIX_BYTES + request.message.len();
        let fits = body_bytes <= self.peer.max_frame_bytes as usize
            && body_bytes <= self.peer.initial_window_bytes as usize;
        if !fits || request.template(self.encoder.generation()).is_none() {
            return 0;
        }
        let of_window = self.send_window.available_bytes() / body_bytes;
        let of_ids = (MAX_STREAM_ID.saturating_sub(self.next_id) / 2 + 1) as usize;
        (most as usize).min(of_window).min(of_ids).min(self.may_open()) as u32
    }

    #[inline]
    fn send_prepared(
        &mut self,
        request: &PreparedRequest,
        requests: u32,
        mut begin: impl FnMut(StreamKey),
    ) {
        let Some(template) = request.template(self.encoder.generation()) else {
            return;
        };
        self.send_window.take(requests as usize * (PREFIX_BYTES + request.message.len()));
        for _ in 0..requests {
            let id = self.next_id;
            self.next_id += 2;
            let stream = self.insert(id, true);
            template.write(id, &mut self.output);
            begin(stream);
        }
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
    ///
    /// The stream of a [`WholeRequest`](crate::WholeRequest) need not be in the table. It gets
    /// there if the peer's windows hold the response back.
    #[inline]
    pub fn reply(
        &mut self,
        stream: StreamKey,
        head: &mut HeaderBlock,
        trailers: &mut HeaderBlock,
        encode: impl FnOnce(&mut Vec<u8>),
    ) {
        let can_go = |state: &mut StreamState| !state.local_closed && state.blocked().is_none();
        if stream.is_listed() && !self.streams.state(stream).is_some_and(can_go) {
            return;
        }
        if !self.write_cached(stream.id, head, false) {
            self.write_headers(stream.id, head, &[], false);
        }
        let start = self.output.len();
        self.output.extend_from_slice(&[0; HEADER_BYTES + PREFIX_BYTES]);
        encode(&mut self.output);
        if !self.finish_whole(stream, start, false) {
            let stream = self.enlist(stream);
            self.send_later(stream, start, false);
            return self.headers(stream, trailers, true);
        }
        if !self.write_cached(stream.id, trailers, true) {
            self.write_headers(stream.id, trailers, &[], true);
        }
        if stream.is_listed() {
            self.close_local(stream);
        }
    }

    /// Whether the peer may open a stream that is not entered into the table.
    #[inline]
    pub(crate) fn admits_unlisted(&self) -> bool {
        !self.goaway_sent && self.admits_stream()
    }

    /// Whether the peer may send `body_bytes` bytes on a stream of which nothing has come yet.
    #[inline]
    pub(crate) fn admits_body(&self, body_bytes: usize) -> bool {
        body_bytes <= self.own_stream_window_bytes as usize && self.credit.allows(body_bytes)
    }

    /// Counts a stream that the peer has opened and ended, its body, and by how much the peer has
    /// opened its window.
    #[inline]
    pub(crate) fn begin_whole(&mut self, id: u32, body_bytes: usize, increment_bytes: u32) {
        // A head that waited has raised it already, and so have those that came behind it.
        self.last_peer_id = self.last_peer_id.max(id);
        self.credit.receive(body_bytes);
        self.unlisted_bytes = body_bytes as u32;
        self.unlisted_increment_bytes = increment_bytes;
    }

    /// Gives back the bytes of the body, unless the stream is in the table by now and gives them
    /// back at its own end.
    #[inline]
    pub(crate) fn end_whole(&mut self) {
        let bytes = core::mem::take(&mut self.unlisted_bytes);
        self.release_connection(bytes);
    }
}
