//! Bodies that do not come as one message in one frame.

use bookend_wire::grpc::message::Message;
use bookend_wire::{ErrorCode, Sender, StreamKey};

use super::call::CallPhase;
use super::visitor::{RequestVisitor, UnaryRequest};
use crate::compression::{DecompressionError, decompressed_at_once};
use crate::head_cache::HeadIndex;
use crate::large_request::{LargeRequest, is_large};
use crate::status;
use crate::streaming_call::StreamingCall;
use crate::unary_request::PartialRequest;

impl RequestVisitor<'_> {
    pub(super) fn data_in_pieces(
        &mut self,
        sender: &mut Sender,
        stream: StreamKey,
        data: &[u8],
        end_stream: bool,
    ) {
        if let CallPhase::Streaming(_) = self.calls.call(stream).phase {
            self.step_stream(sender, stream, |call, writer, limit_bytes| {
                call.received(writer, data, limit_bytes);
            });
        } else {
            sender.release(stream, data.len());
            match self.calls.call(stream).phase {
                CallPhase::Over { .. } => self.discard(sender, stream, data.len(), end_stream),
                CallPhase::Streaming(_) | CallPhase::Deferred(_) | CallPhase::Preparing(_) => {}
                CallPhase::Awaiting | CallPhase::Receiving(_) => {
                    self.append(sender, stream, data);
                }
            }
        }
        if end_stream {
            self.request_ended(sender, stream);
        }
    }

    /// Appends to a request that does not come in one piece.
    fn append(&mut self, sender: &mut Sender, stream: StreamKey, data: &[u8]) {
        let limits = self.environment.limits;
        let would_have_bytes = self.calls.kept.unfinished_bytes + data.len();
        let has_room = would_have_bytes <= limits.max_unfinished_bytes
            || self.calls.recount_unfinished() + data.len() <= limits.max_unfinished_bytes;
        if let CallPhase::Awaiting = self.calls.call(stream).phase {
            self.calls.call(stream).phase = CallPhase::Receiving(Box::default());
            self.watch_deadline(stream);
        }
        let Some(index) = self.calls.call(stream).head else {
            return;
        };
        let encoding = self.calls.heads.head(index).encoding;
        let CallPhase::Receiving(request) = &mut self.calls.call(stream).phase else {
            return;
        };
        let before = request.kept();
        let pushed = request.push(data, encoding, limits.max_message_bytes);
        // Nothing, if there was no memory for it.
        let now = request.kept();
        self.calls.kept.replace(before, now);
        let result = match pushed {
            Ok(()) if !has_room => Err(status::too_much_unfinished(limits.max_unfinished_bytes)),
            result => result,
        };
        if let Err(status) = result {
            self.calls.fail(sender, stream, &status);
        }
    }

    /// The client sends no more on this stream.
    pub(super) fn request_ended(&mut self, sender: &mut Sender, stream: StreamKey) {
        let call = self.calls.call(stream);
        match call.phase {
            CallPhase::Over { .. } | CallPhase::Deferred(_) | CallPhase::Preparing(_) => {}
            CallPhase::Awaiting => self.calls.fail(sender, stream, &status::no_message()),
            CallPhase::Streaming(_) => {
                self.step_stream(sender, stream, StreamingCall::request_ended);
            }
            CallPhase::Receiving(_) => {
                let (head, deadline_ns) = (call.head.take(), call.deadline_ns);
                let Some(head) = head else { return };
                let CallPhase::Receiving(request) = self.calls.leave(stream) else {
                    return;
                };
                self.handle_received(sender, stream, head, deadline_ns, &request);
            }
        }
    }

    fn handle_received(
        &mut self,
        sender: &mut Sender,
        stream: StreamKey,
        head: HeadIndex,
        deadline_ns: Option<u64>,
        request: &PartialRequest,
    ) {
        let encoding = self.calls.heads.head(head).encoding;
        let limit_bytes = self.environment.limits.max_message_bytes;
        let decoder = self.decoder(head);
        let message = match request.message() {
            Ok(message) if is_large(message, decoder) => {
                let large = LargeRequest::new(message, encoding, limit_bytes, decoder);
                return self.prepare(sender, stream, head, large);
            }
            result => result,
        };
        let work_bytes = &mut self.calls.responses.counts.work_bytes;
        let at_once = message.map_err(DecompressionError::from).and_then(|message| {
            let content = decompressed_at_once(message, encoding, limit_bytes, work_bytes)?;
            Ok((message, content))
        });
        match at_once {
            Ok((message, Some(content))) => {
                let was_compressed = message.compressed;
                let plain = Message { compressed: false, bytes: &content };
                if is_large(plain, decoder) {
                    let mut large = LargeRequest::new(plain, encoding, limit_bytes, decoder);
                    large.was_compressed = was_compressed;
                    return self.prepare(sender, stream, head, large);
                }
                let message = &content;
                let request = UnaryRequest { stream, head, deadline_ns, was_compressed, message };
                self.handle(sender, request);
            }
            Ok((message, None)) => {
                let large = LargeRequest::new(message, encoding, limit_bytes, decoder);
                self.prepare(sender, stream, head, large);
            }
            Err(error) => {
                self.calls.heads.release(head);
                let status = error.charged(sender);
                self.calls.responses.fail(sender, stream, &status);
            }
        }
    }

    /// Discards what comes after the answer, up to a bound. Then the client is asked to stop, as
    /// RFC 9113 section 8.1 provides once the answer is out; not while part of it waits for the
    /// client's windows, which would be lost.
    fn discard(&mut self, sender: &mut Sender, stream: StreamKey, bytes: usize, end_stream: bool) {
        /// One default window: what may be on its way already when the answer goes out.
        const MAX_DISCARDED_BYTES: usize = 65_535;
        let CallPhase::Over { discarded_bytes } = &mut self.calls.call(stream).phase else {
            return;
        };
        *discarded_bytes = discarded_bytes.saturating_add(bytes);
        let is_too_much = *discarded_bytes > MAX_DISCARDED_BYTES && !end_stream;
        if is_too_much && sender.blocked_bytes(stream) == 0 {
            sender.reset(stream, ErrorCode::NO_ERROR);
        }
    }
}
