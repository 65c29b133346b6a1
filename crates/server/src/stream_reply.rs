use std::panic::{AssertUnwindSafe, catch_unwind};

use bookend_wire::grpc::Status;
use bookend_wire::{Sender, Stream};

use crate::head::HttpStatus;
use crate::metadata::ResponseFields;
use crate::reply::{Answers, internal};

/// Where the messages of a streaming call go.
pub struct StreamReply<'a> {
    pub(crate) sender: &'a mut Sender,
    pub(crate) answers: &'a mut Answers,
    pub(crate) progress: &'a mut Progress,
    pub(crate) stream: Stream,
}

/// How far the answer to a streaming call has come.
#[derive(Debug)]
pub(crate) struct Progress {
    fields: ResponseFields,
    head_sent: bool,
    pub ended: bool,
}

impl Progress {
    /// Nothing is sent yet; these fields go with what will be.
    pub fn new(fields: ResponseFields) -> Self {
        Progress {
            fields,
            head_sent: false,
            ended: false,
        }
    }
}

impl StreamReply<'_> {
    /// Sends a message, which `encode` appends to what it is given. Nothing is sent on a call that
    /// has ended.
    pub fn message(&mut self, encode: impl FnOnce(&mut Vec<u8>)) {
        if self.progress.ended {
            return;
        }
        if !self.progress.head_sent {
            self.progress.head_sent = true;
            self.answers
                .head(self.sender, self.stream, &self.progress.fields.headers);
        }
        let mut whole = true;
        self.sender.message(self.stream, false, |output| {
            whole = encoded_whole(output, encode)
        });
        if !whole {
            self.end(Err(internal("the encoder of a reply panicked")));
        }
    }

    /// Ends the call. A second end is ignored.
    pub fn end(&mut self, result: Result<(), Status>) {
        if std::mem::replace(&mut self.progress.ended, true) {
            return;
        }
        let fields = &self.progress.fields;
        let (answers, sender, stream) = (&mut *self.answers, &mut *self.sender, self.stream);
        match result {
            Ok(()) => {
                if !self.progress.head_sent {
                    answers.head(sender, stream, &fields.headers);
                }
                answers.success(sender, stream, &fields.trailers);
            }
            Err(status) if self.progress.head_sent => {
                answers.failure(sender, stream, &fields.trailers, &status);
            }
            Err(status) => {
                answers.trailers_only(sender, stream, HttpStatus::Ok, fields, &status);
            }
        }
    }

    /// Bytes of this call that wait for the client's flow control. A stream that sends much stops
    /// when this grows and goes on in [`crate::InlineStream::on_drained`].
    pub fn held_back_bytes(&mut self) -> usize {
        self.sender.held_back_bytes(self.stream)
    }

    /// Whether the call has ended.
    pub fn ended(&self) -> bool {
        self.progress.ended
    }
}

/// Runs an encoder. One that panics leaves nothing behind, so that the frame around it stays whole.
fn encoded_whole(output: &mut Vec<u8>, encode: impl FnOnce(&mut Vec<u8>)) -> bool {
    let start = output.len();
    let result = catch_unwind(AssertUnwindSafe(|| encode(output)));
    if result.is_err() {
        output.truncate(start);
    }
    result.is_ok()
}
