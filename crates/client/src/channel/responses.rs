//! The half of a streaming call that receives.

use super::call_handle::{CallHandle, Canceller};
use super::message_reader::{MessageReader, ReceivedMessage};
use super::shared_stream::CallEnd;
use super::waiting::InsideCallback;
use crate::compression::ResponseEncoding;
use crate::partial_message::cut_off;
use crate::response::{Response, no_message, several_messages};
use bookend_wire::grpc::{Code, Metadata, Status};
use std::fmt;

/// Receives the response of one call: metadata of the head, messages one by one, then the end. The
/// other half is [`crate::Requests`]; each may be used by its own thread.
///
/// This is an iterator that waits. It gives every message, then, where the call has not ended with
/// `OK`, the status as an error, then nothing.
///
/// Messages that are not taken keep the server from sending more: at most the window of a stream
/// ([`bookend_wire::ConnectionConfig`]) and one message of the largest size are kept here.
///
/// Dropped before the end, it cancels the call.
pub struct Responses {
    call: CallHandle,
    reader: MessageReader,
    head: Option<(Metadata, ResponseEncoding)>,
    end: Option<CallEnd>,
}

impl Responses {
    pub(crate) fn new(call: CallHandle, reader: MessageReader) -> Self {
        Self { call, reader, head: None, end: None }
    }

    /// Waits for the metadata of the head. It is empty where there is no head: a response without
    /// messages may consist of trailers only.
    pub fn head(&mut self) -> &Metadata {
        let head = match self.head.take() {
            Some(head) => head,
            None => self.wait_for_head(),
        };
        &self.head.insert(head).0
    }

    fn wait_for_head(&mut self) -> (Metadata, ResponseEncoding) {
        self.call.stream.head().unwrap_or_else(|refused| {
            self.give_up(must_not_wait(refused));
            Default::default()
        })
    }

    /// Waits for the end of the call, and drops the messages before it.
    pub fn end(&mut self) -> &CallEnd {
        self.by_ref().for_each(drop);
        self.end.get_or_insert_with(|| {
            let text = "a response ended without a status";
            CallEnd::without_trailers(Status::new(Code::Internal, text))
        })
    }

    /// Waits for the whole response of a method that gives one message: a unary or a
    /// client-streaming one. Where it gives none, or more, the status is `UNIMPLEMENTED`.
    pub fn into_response(mut self) -> Response {
        let mut received: Option<ReceivedMessage> = None;
        while let Some(Ok(message)) = self.next() {
            if received.is_some() {
                self.give_up(several_messages());
                break;
            }
            received = Some(message);
        }
        let CallEnd { mut status, trailers } = self.end().clone();
        if status.code == Code::Ok && received.is_none() {
            status = no_message();
        }
        Response {
            head: self.head().clone(),
            was_compressed: received.as_ref().is_some_and(|message| message.was_compressed),
            message: received.map(|message| message.bytes),
            trailers,
            status,
        }
    }

    /// Ends the call with `CANCELLED`, unless it is over; as [`Canceller::cancel`].
    pub fn cancel(&self) {
        self.call.cancel();
    }

    /// A handle that cancels the call from elsewhere, also while this waits.
    pub fn canceller(&self) -> Canceller {
        Canceller(self.call.clone())
    }

    /// The next message; `None` at an end that is good.
    fn read(&mut self) -> Result<Option<ReceivedMessage>, Status> {
        loop {
            if self.call.stream.is_cancelled() {
                self.reader.clear();
            }
            let encoding =
                self.head.as_ref().map_or(&ResponseEncoding::IDENTITY, |(_, encoding)| encoding);
            let message = self.reader.next(encoding)?;
            self.give_credit(message.is_none());
            if message.is_some() {
                return Ok(message);
            }
            if let Some(end) = self.fetch()? {
                return self.conclude(end);
            }
        }
    }

    fn give_credit(&mut self, waits: bool) {
        if let Some(bytes) = self.reader.take_credit(waits) {
            self.call.notify(self.call.stream.has_read(bytes));
        }
    }

    /// Waits for more of the body, or for the end, which is returned.
    fn fetch(&mut self) -> Result<Option<CallEnd>, Status> {
        let stream = &self.call.stream;
        let wanted_bytes = self.reader.wanted_bytes();
        let end = self
            .reader
            .fetch(|buffer| stream.receive(wanted_bytes, buffer))
            .map_err(must_not_wait)?;
        if end.is_none() {
            self.head();
        }
        Ok(end)
    }

    fn conclude(&mut self, end: CallEnd) -> Result<Option<ReceivedMessage>, Status> {
        let is_ok = end.status.code == Code::Ok;
        if is_ok && self.reader.is_cut_off() {
            return Err(cut_off());
        }
        let status = end.status.clone();
        self.end = Some(end);
        if is_ok { Ok(None) } else { Err(status) }
    }

    /// The call cannot be read on.
    fn give_up(&mut self, status: Status) {
        self.call.give_up(status.clone());
        self.end = Some(CallEnd::without_trailers(status));
    }
}

impl Iterator for Responses {
    type Item = Result<ReceivedMessage, Status>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.end.is_some() {
            return None;
        }
        let read = self.read();
        if let Err(status) = &read
            && self.end.is_none()
        {
            self.give_up(status.clone());
        }
        read.transpose()
    }
}

fn must_not_wait(_: InsideCallback) -> Status {
    let text = "a callback of a channel must not wait for an answer: use a thread";
    Status::new(Code::FailedPrecondition, text)
}

impl Drop for Responses {
    fn drop(&mut self) {
        if self.end.is_none() {
            self.call.cancel();
        }
    }
}

impl fmt::Debug for Responses {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Responses")
            .field("head", &self.head)
            .field("end", &self.end)
            .finish_non_exhaustive()
    }
}
