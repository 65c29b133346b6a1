//! Responses as header blocks and messages.

use bookend_wire::frame::HEADER_BYTES;
use bookend_wire::grpc::message::PREFIX_BYTES;
use bookend_wire::grpc::reserved::STATUS_DETAILS;
use bookend_wire::grpc::{Code, Encoding, Metadata, Status, base64, percent};
use bookend_wire::{ExtraField, HeaderBlock, Indexing, Sender, StreamKey};

use crate::compression::{DEFLATE_WORK, MAX_DEFLATED_BYTES, deflated};
use crate::encoding::ACCEPTED_ENCODINGS;
use crate::large_request::DecodedRequest;
use crate::page::HttpPage;
use crate::rejection::{HttpStatus, RequestRejection};
use crate::response_metadata::ResponseFields;
use crate::status::internal;

/// Writes the responses of one connection, and counts them. The header blocks that most calls share
/// are encoded once.
pub(crate) struct ResponseWriter {
    head: HeaderBlock,
    ok: HeaderBlock,
    failure: HeaderBlock,
    failure_only: HeaderBlock,
    pub outcome: HandlerOutcome,
    /// Handlers that have deferred their answer and not given it yet, those of cancelled calls
    /// included.
    pub outstanding: u32,
    pub counts: ResponseCounts,
    /// The request of the call that is being handled, if it was decoded elsewhere: then the message
    /// that its handler gets is empty.
    pub decoded: Option<DecodedRequest>,
}

/// What has become of the call that is being handled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum HandlerOutcome {
    /// The handler has not answered.
    Nothing,
    /// The head is in the output, which had this length then; the message is being encoded.
    HeadSent {
        output_bytes: usize,
    },
    Answered,
    Deferred,
}

/// What was answered since the counts were last taken.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct ResponseCounts {
    pub ok: u64,
    pub error: u64,
    pub deferred: u64,
    /// The work of inflating requests and of making replies, in bytes that are inflated.
    pub work_bytes: usize,
}

impl ResponseWriter {
    pub fn new() -> Self {
        let head: [(&[u8], &[u8]); 2] = [(b":status", b"200"), (b"content-type", CONTENT_TYPE)];
        ResponseWriter {
            head: HeaderBlock::new(&head),
            ok: HeaderBlock::new(&[(b"grpc-status", b"0")]),
            failure: HeaderBlock::new(&[]),
            failure_only: HeaderBlock::new(&head),
            outcome: HandlerOutcome::Nothing,
            outstanding: 0,
            counts: ResponseCounts::default(),
            decoded: None,
        }
    }

    /// Counts a call whose answer comes later, from another thread.
    pub fn count_deferred(&mut self) {
        self.counts.deferred += 1;
        self.outstanding += 1;
    }

    /// A unary answer. If `encode` panics, the outcome stays [`HandlerOutcome::HeadSent`], which
    /// notes where in the output the answer began.
    #[inline]
    pub fn message(
        &mut self,
        sender: &mut Sender,
        stream: StreamKey,
        encode: impl FnOnce(&mut Vec<u8>),
    ) {
        let ResponseWriter { head, ok, outcome, counts, .. } = self;
        sender.reply(stream, head, ok, |output| {
            *outcome = head_sent(output);
            let before = output.len();
            encode(output);
            counts.work_bytes += output.len() - before;
        });
        self.outcome = HandlerOutcome::Answered;
        self.counts.ok += 1;
    }

    /// A unary answer with metadata.
    #[cold]
    pub fn message_with(
        &mut self,
        sender: &mut Sender,
        stream: StreamKey,
        fields: &ResponseFields,
        encode: impl FnOnce(&mut Vec<u8>),
    ) {
        if let Some(status) = &fields.mistake {
            return self.fail(sender, stream, status);
        }
        self.head(sender, stream, fields);
        let outcome = &mut self.outcome;
        if fields.compress {
            *outcome = HandlerOutcome::HeadSent { output_bytes: sender.output.len() };
            let mut message = Vec::new();
            encode(&mut message);
            if message.len() <= MAX_DEFLATED_BYTES {
                self.counts.work_bytes += message.len() * DEFLATE_WORK;
                sender.data(stream, &deflated(&message), false);
            } else {
                self.counts.work_bytes += message.len();
                sender.message(stream, false, |output| output.extend_from_slice(&message));
            }
        } else {
            let work_bytes = &mut self.counts.work_bytes;
            sender.message(stream, false, |output| {
                *outcome = head_sent(output);
                let before = output.len();
                encode(output);
                *work_bytes += output.len() - before;
            });
        }
        self.success(sender, stream, &fields.trailers);
    }

    /// Ends a call whose encoder panicked, leaving an incomplete frame in the output.
    #[cold]
    pub fn encoder_panicked(
        &mut self,
        sender: &mut Sender,
        stream: StreamKey,
        output_bytes: usize,
    ) {
        sender.output.truncate(output_bytes);
        let status = internal("the encoder of the reply panicked");
        self.failure(sender, stream, &Metadata::default(), &status);
    }

    /// The response's HEADERS.
    pub fn head(&mut self, sender: &mut Sender, stream: StreamKey, fields: &ResponseFields) {
        let encoding = fields.compress.then_some((&b"grpc-encoding"[..], Encoding::Gzip.name()));
        let extra: Vec<_> =
            encoding.into_iter().chain(fields.headers.iter()).map(varying).collect();
        sender.headers_with(stream, &mut self.head, &extra, false);
    }

    /// The trailers of a successful call.
    pub fn success(&mut self, sender: &mut Sender, stream: StreamKey, trailers: &Metadata) {
        let extra: Vec<_> = trailers.iter().map(varying).collect();
        sender.headers_with(stream, &mut self.ok, &extra, true);
        self.outcome = HandlerOutcome::Answered;
        self.counts.ok += 1;
    }

    /// The trailers of a call that failed after its head was sent.
    #[cold]
    pub fn failure(
        &mut self,
        sender: &mut Sender,
        stream: StreamKey,
        trailers: &Metadata,
        status: &Status,
    ) {
        let text = StatusText::new(status);
        let extra: Vec<_> = text.fields().chain(trailers.iter().map(varying)).collect();
        sender.headers_with(stream, &mut self.failure, &extra, true);
        self.outcome = HandlerOutcome::Answered;
        self.counts.error += 1;
    }

    /// One HEADERS frame for a call that fails before anything was sent (gRPC's Trailers-Only).
    #[cold]
    pub fn trailers_only(
        &mut self,
        sender: &mut Sender,
        stream: StreamKey,
        http_status: HttpStatus,
        fields: &ResponseFields,
        status: &Status,
    ) {
        let text = StatusText::new(status);
        let metadata = fields.headers.iter().chain(fields.trailers.iter()).map(varying);
        let extra: Vec<_> = text.fields().chain(metadata).collect();
        match http_status {
            HttpStatus::OK => sender.headers_with(stream, &mut self.failure_only, &extra, true),
            other => sender.headers_with(stream, &mut http_head(other), &extra, true),
        }
        self.outcome = HandlerOutcome::Answered;
        self.counts.error += 1;
    }

    /// Ends a call that failed before anything was sent.
    #[cold]
    pub fn fail(&mut self, sender: &mut Sender, stream: StreamKey, status: &Status) {
        let none = ResponseFields::default();
        self.trailers_only(sender, stream, HttpStatus::OK, &none, status);
    }

    /// Sends a deferred answer, with the metadata that was added before.
    pub fn deferred(
        &mut self,
        sender: &mut Sender,
        stream: StreamKey,
        fields: Option<&ResponseFields>,
        result: &Result<Vec<u8>, Status>,
    ) {
        match (result, fields) {
            (Ok(message), None) => {
                self.message(sender, stream, |output| output.extend_from_slice(message));
            }
            (Ok(message), Some(fields)) => {
                self.message_with(sender, stream, fields, |output| {
                    output.extend_from_slice(message);
                });
            }
            (Err(status), None) => self.fail(sender, stream, status),
            (Err(status), Some(fields)) => {
                self.trailers_only(sender, stream, HttpStatus::OK, fields, status);
            }
        }
    }

    /// Answers a request that is not gRPC with a page.
    #[cold]
    pub fn page(&mut self, sender: &mut Sender, stream: StreamKey, page: &HttpPage, is_head: bool) {
        let status = page.status.clamp(200, 599).to_string();
        let mut head = HeaderBlock::new(&[
            (b":status", status.as_bytes()),
            (b"content-type", page.content_type.as_bytes()),
        ]);
        let ends_with_head = is_head || page.body.is_empty();
        sender.headers(stream, &mut head, ends_with_head);
        if !ends_with_head {
            sender.data(stream, &page.body, true);
        }
    }

    /// Answers a request that is rejected.
    #[cold]
    pub fn reject(&mut self, sender: &mut Sender, stream: StreamKey, rejection: &RequestRejection) {
        let mut fields = ResponseFields::default();
        if rejection.lists_encodings {
            fields.headers.push_received(b"grpc-accept-encoding", ACCEPTED_ENCODINGS);
        }
        let (http_status, status) = (rejection.http_status, &rejection.status);
        self.trailers_only(sender, stream, http_status, &fields, status);
    }
}

/// An encoder is about to append to `output`, which holds the frame's header and the message's
/// prefix already.
#[inline]
fn head_sent(output: &[u8]) -> HandlerOutcome {
    HandlerOutcome::HeadSent { output_bytes: output.len() - (HEADER_BYTES + PREFIX_BYTES) }
}

const CONTENT_TYPE: &[u8] = b"application/grpc";

fn http_head(status: HttpStatus) -> HeaderBlock {
    HeaderBlock::new(&[(b":status", status.0), (b"content-type", CONTENT_TYPE)])
}

/// A status as trailers.
struct StatusText {
    code: Code,
    message: Vec<u8>,
    details: Vec<u8>,
}

impl StatusText {
    fn new(status: &Status) -> Self {
        let mut message = Vec::new();
        percent::encode(&status.message, &mut message);
        let mut details = Vec::new();
        base64::encode(status.details(), &mut details);
        StatusText { code: status.code, message, details }
    }

    fn fields(&self) -> impl Iterator<Item = ExtraField<'_>> {
        let texts: [(&[u8], &[u8]); 2] =
            [(b"grpc-message", &self.message), (STATUS_DETAILS, &self.details)];
        std::iter::once((&b"grpc-status"[..], self.code.digits()))
            .chain(texts.into_iter().filter(|(_, value)| !value.is_empty()))
            .map(varying)
    }
}

fn varying<'a>((name, value): (&'a [u8], &'a [u8])) -> ExtraField<'a> {
    ExtraField { name, value, indexing: Indexing::Without }
}
