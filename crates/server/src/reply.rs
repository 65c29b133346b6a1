use std::fmt::Display;

use bookend_wire::grpc::Status;
use bookend_wire::{Sender, StreamKey};

use crate::call_event::ReplyTo;
use crate::rejection::HttpStatus;
use crate::responder::RawResponder;
use crate::response_metadata::ResponseMetadata;
use crate::response_writer::{HandlerOutcome, ResponseWriter};
use crate::status;

/// Answers a unary call: each of its methods consumes it, since a call has one answer.
pub struct Reply<'a> {
    pub(crate) sender: &'a mut Sender,
    pub(crate) responses: &'a mut ResponseWriter,
    pub(crate) metadata: &'a ResponseMetadata,
    pub(crate) reply_to: &'a ReplyTo,
    pub(crate) stream: StreamKey,
}

impl Reply<'_> {
    /// The request, if it was decoded ahead of its handler: see [`crate::Service::decoder`].
    #[inline]
    pub fn take_decoded<Q: 'static>(&mut self) -> Option<Q> {
        self.responses.decoded.take()?.take()
    }

    /// Answers with one message, which `encode` appends to the buffer that it gets.
    #[inline]
    pub fn message(self, encode: impl FnOnce(&mut Vec<u8>)) {
        if self.metadata.is_used() {
            let fields = self.metadata.take();
            let stream = self.sender.enlist(self.stream);
            self.responses.message_with(self.sender, stream, &fields, encode);
        } else {
            self.responses.message(self.sender, self.stream, encode);
        }
    }

    /// Ends the call without a message. A successful unary call has a message, so the status `OK`
    /// is a mistake of the handler and is sent as `INTERNAL`.
    #[cold]
    pub fn fail(self, status: Status) {
        let status = status::of_handler(status);
        let fields = self.metadata.take();
        let stream = self.sender.enlist(self.stream);
        self.responses.trailers_only(self.sender, stream, HttpStatus::OK, &fields, &status);
    }

    /// Ends the call because its request cannot be decoded.
    #[cold]
    pub fn undecodable(self, why: &dyn Display) {
        self.fail(status::undecodable(why));
    }

    /// Ends the call because the service has no method of that number.
    #[cold]
    pub fn no_such_method(self) {
        self.fail(status::unknown_method());
    }

    /// Defers the answer to the returned responder, which any thread may use. Metadata that was
    /// added so far goes with that answer.
    pub fn defer(self) -> RawResponder {
        self.responses.outcome = HandlerOutcome::Deferred;
        self.responses.count_deferred();
        let stream = self.sender.enlist(self.stream);
        RawResponder::new(self.reply_to.notifier(stream))
    }
}
