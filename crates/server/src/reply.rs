//! The answers of a server as header blocks and messages.

use bookend_wire::frame::HEADER_BYTES;
use bookend_wire::grpc::message::PREFIX_BYTES;
use bookend_wire::grpc::{Code, Status, percent};
use bookend_wire::{ExtraField, HeaderBlock, Indexing, Sender, StreamKey};

use crate::compression::{ACCEPTED, GZIP, deflated};
use crate::head::{HttpStatus, Refusal};
use crate::responder::{Answerer, ReturnAddress};
use crate::response_metadata::{ResponseFields, ResponseMetadata};
use crate::unary;
use bookend_wire::grpc::Metadata;

/// Where the answer to a call goes. Used up by the one answer that a call has.
pub struct Reply<'a> {
    pub(crate) sender: &'a mut Sender,
    pub(crate) answers: &'a mut Answers,
    pub(crate) metadata: &'a ResponseMetadata,
    pub(crate) address: &'a ReturnAddress,
    pub(crate) stream: StreamKey,
}

impl Reply<'_> {
    /// Answers with one message, which `encode` appends to what it is given.
    #[inline]
    pub fn message(self, encode: impl FnOnce(&mut Vec<u8>)) {
        if self.metadata.used() {
            let fields = self.metadata.take();
            self.answers
                .message_with(self.sender, self.stream, &fields, encode);
        } else {
            self.answers.message(self.sender, self.stream, encode);
        }
    }

    /// Ends the call without a message. A status `OK` is a mistake of the handler's and sent as
    /// `INTERNAL`: a unary call that went well has a message.
    #[cold]
    pub fn fail(self, status: Status) {
        let status = match status.code {
            Code::Ok => internal("the handler failed with the status OK"),
            _ => status,
        };
        let fields = self.metadata.take();
        self.answers
            .trailers_only(self.sender, self.stream, HttpStatus::Ok, &fields, &status);
    }

    /// Ends the call because its request is not what the method takes.
    #[cold]
    pub fn undecodable(self, why: &dyn std::fmt::Display) {
        self.fail(unary::undecodable(why));
    }

    /// Ends the call because the service has no method of that number.
    #[cold]
    pub fn no_such_method(self) {
        self.fail(Status::new(Code::Unimplemented, "unknown method"));
    }

    /// Puts the answer off: whatever thread has the returned value gives it. Metadata that was
    /// added so far goes with that answer.
    pub fn defer(self) -> Answerer {
        self.answers.outcome = Outcome::Deferred;
        self.answers.is_put_off();
        self.address.answerer(self.stream)
    }
}

/// What has become of the call that is being handled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    Nothing,
    /// The head is in the output, which had this length then; the message is being encoded.
    HeadSent {
        output_bytes: usize,
    },
    Answered,
    Deferred,
}

/// What a connection sends again and again, and how often it did.
pub(crate) struct Answers {
    head: HeaderBlock,
    ok: HeaderBlock,
    failure: HeaderBlock,
    failure_only: HeaderBlock,
    pub outcome: Outcome,
    /// Calls whose answer was put off and has not come yet, those that the client gave up included.
    pub waiting: u32,
    pub tally: Tally,
}

/// What was answered since the tally was last taken.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Tally {
    pub ok: u64,
    pub error: u64,
    pub deferred: u64,
    /// What messages came to by being inflated, those given up on the way included.
    pub inflated_bytes: usize,
}

impl Answers {
    pub fn new() -> Self {
        let head: [(&[u8], &[u8]); 2] = [(b":status", b"200"), (b"content-type", CONTENT_TYPE)];
        Answers {
            head: HeaderBlock::new(&head),
            ok: HeaderBlock::new(&[(b"grpc-status", b"0")]),
            failure: HeaderBlock::new(&[]),
            failure_only: HeaderBlock::new(&head),
            outcome: Outcome::Nothing,
            waiting: 0,
            tally: Tally::default(),
        }
    }

    /// The answer to a call comes later, from another thread.
    pub fn is_put_off(&mut self) {
        self.tally.deferred += 1;
        self.waiting += 1;
    }

    /// A unary answer. If `encode` panics, [`Outcome::HeadSent`] says what is in the output.
    #[inline]
    pub fn message(
        &mut self,
        sender: &mut Sender,
        stream: StreamKey,
        encode: impl FnOnce(&mut Vec<u8>),
    ) {
        let Answers {
            head, ok, outcome, ..
        } = self;
        sender.reply(stream, head, ok, |output| {
            *outcome = head_sent(output);
            encode(output);
        });
        self.outcome = Outcome::Answered;
        self.tally.ok += 1;
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
        if let Some(mistake) = &fields.mistake {
            return self.fail(sender, stream, &internal(mistake.clone()));
        }
        self.head(sender, stream, fields);
        let outcome = &mut self.outcome;
        if fields.compress {
            *outcome = Outcome::HeadSent {
                output_bytes: sender.output.len(),
            };
            let mut message = Vec::new();
            encode(&mut message);
            sender.data(stream, &deflated(&message), false);
        } else {
            sender.message(stream, false, |output| {
                *outcome = head_sent(output);
                encode(output);
            });
        }
        self.success(sender, stream, &fields.trailers);
    }

    /// Ends a call whose encoder panicked: what it has left in the output is no frame.
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

    /// What goes before the first message.
    pub fn head(&mut self, sender: &mut Sender, stream: StreamKey, fields: &ResponseFields) {
        let encoding = fields.compress.then_some((&b"grpc-encoding"[..], GZIP));
        let extra: Vec<_> = encoding
            .into_iter()
            .chain(fields.headers.iter())
            .map(varying)
            .collect();
        sender.headers_with(stream, &mut self.head, &extra, false);
    }

    /// The trailers of a call that went well.
    pub fn success(&mut self, sender: &mut Sender, stream: StreamKey, trailers: &Metadata) {
        let extra: Vec<_> = trailers.iter().map(varying).collect();
        sender.headers_with(stream, &mut self.ok, &extra, true);
        self.outcome = Outcome::Answered;
        self.tally.ok += 1;
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
        self.outcome = Outcome::Answered;
        self.tally.error += 1;
    }

    /// Head and trailers in one, for a call that fails before anything was sent.
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
        let metadata = fields
            .headers
            .iter()
            .chain(fields.trailers.iter())
            .map(varying);
        let extra: Vec<_> = text.fields().chain(metadata).collect();
        match http_status {
            HttpStatus::Ok => sender.headers_with(stream, &mut self.failure_only, &extra, true),
            other => sender.headers_with(stream, &mut http_head(other), &extra, true),
        }
        self.outcome = Outcome::Answered;
        self.tally.error += 1;
    }

    /// Ends a call that failed before anything was sent.
    #[cold]
    pub fn fail(&mut self, sender: &mut Sender, stream: StreamKey, status: &Status) {
        let none = ResponseFields::default();
        self.trailers_only(sender, stream, HttpStatus::Ok, &none, status);
    }

    /// Sends an answer that was put off, with the metadata that was added before.
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
                self.trailers_only(sender, stream, HttpStatus::Ok, fields, status);
            }
        }
    }

    /// Answers a request that is not looked at further. One that is not gRPC's gets `page`, if
    /// there is one: whoever looks with a browser's tools sees where he is.
    #[cold]
    pub fn refuse(
        &mut self,
        sender: &mut Sender,
        stream: StreamKey,
        refusal: &Refusal,
        page: Option<&str>,
    ) {
        match page {
            Some(page) if refusal.http_status != HttpStatus::Ok => {
                let mut head =
                    HeaderBlock::new(&[(b":status", b"200"), (b"content-type", b"text/plain")]);
                sender.headers(stream, &mut head, false);
                sender.data(stream, page.as_bytes(), true);
            }
            _ => {
                let mut fields = ResponseFields::default();
                if refusal.lists_encodings {
                    fields
                        .headers
                        .push_received(b"grpc-accept-encoding", ACCEPTED);
                }
                let (http_status, status) = (refusal.http_status, &refusal.status);
                self.trailers_only(sender, stream, http_status, &fields, status);
            }
        }
    }
}

/// An encoder is about to append to `output`, where its frame's header and its message's prefix
/// stand already.
#[inline]
fn head_sent(output: &[u8]) -> Outcome {
    Outcome::HeadSent {
        output_bytes: output.len() - (HEADER_BYTES + PREFIX_BYTES),
    }
}

const CONTENT_TYPE: &[u8] = b"application/grpc";

fn http_head(status: HttpStatus) -> HeaderBlock {
    HeaderBlock::new(&[
        (b":status", status.as_bytes()),
        (b"content-type", CONTENT_TYPE),
    ])
}

/// A status as it stands in trailers.
struct StatusText {
    code: Code,
    message: Vec<u8>,
}

impl StatusText {
    fn new(status: &Status) -> Self {
        let mut message = Vec::new();
        percent::encode(&status.message, &mut message);
        StatusText {
            code: status.code,
            message,
        }
    }

    fn fields(&self) -> impl Iterator<Item = ExtraField<'_>> {
        let message =
            (!self.message.is_empty()).then(|| varying((b"grpc-message", self.message.as_slice())));
        std::iter::once(varying((b"grpc-status", self.code.digits()))).chain(message)
    }
}

fn varying<'a>((name, value): (&'a [u8], &'a [u8])) -> ExtraField<'a> {
    ExtraField {
        name,
        value,
        indexing: Indexing::Without,
    }
}

pub(crate) fn internal(message: impl Into<String>) -> Status {
    Status::new(Code::Internal, message)
}
