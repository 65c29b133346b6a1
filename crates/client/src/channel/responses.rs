//! The half of a streaming call that receives.

use super::caller::{Caller, Canceller};
use super::inbox::{Inbox, ReceivedMessage};
use super::stream_state::{Arrived, CallEnd};
use super::waiting::InsideCallback;
use crate::answer::{Answer, no_message, several_messages};
use crate::encoding::AnswerEncoding;
use crate::response::cut_off;
use bookend_wire::grpc::Metadata;
use bookend_wire::grpc::{Code, Status};
use std::fmt;

/// Receives the answer of one call: metadata of the head, messages one by one, then the end. The
/// other half is [`crate::Requests`]; each may be used by its own thread.
///
/// It is an iterator that waits. It gives every message, then, where the call has not ended with
/// `OK`, the status as an error, then nothing.
///
/// Messages that nobody takes keep the server from sending more: at most the window of a stream
/// ([`bookend_wire::ConnectionConfig`]) and one message of the largest size are kept here.
///
/// Dropped before the end, it cancels the call.
pub struct Responses {
    caller: Caller,
    inbox: Inbox,
    head: Option<(Metadata, AnswerEncoding)>,
    end: Option<CallEnd>,
}

impl Responses {
    pub(crate) fn new(caller: Caller, inbox: Inbox) -> Self {
        Self {
            caller,
            inbox,
            head: None,
            end: None,
        }
    }

    /// Waits for the metadata of the answer's head. It is empty where there is none: an answer
    /// without messages may consist of trailers only.
    pub fn head(&mut self) -> &Metadata {
        let head = match self.head.take() {
            Some(head) => head,
            None => self.wait_for_head(),
        };
        &self.head.insert(head).0
    }

    fn wait_for_head(&mut self) -> (Metadata, AnswerEncoding) {
        self.caller.stream.head().unwrap_or_else(|refused| {
            self.give_up(must_not_wait(refused));
            Default::default()
        })
    }

    /// Waits for the end of the call, and drops the messages before it.
    pub fn end(&mut self) -> &CallEnd {
        self.by_ref().for_each(drop);
        self.end.get_or_insert_with(|| {
            let text = "an answer ended without a status";
            CallEnd::without_trailers(Status::new(Code::Internal, text))
        })
    }

    /// Waits for the whole answer of a method that gives one message: a unary or a client-streaming
    /// one. Where it gives none, or more, the status is `UNIMPLEMENTED`.
    pub fn into_answer(mut self) -> Answer {
        let mut messages = Vec::new();
        let mut was_compressed = false;
        while let Some(Ok(message)) = self.next() {
            if !messages.is_empty() {
                self.give_up(several_messages());
                break;
            }
            was_compressed = message.was_compressed;
            messages.push(message.octets);
        }
        let CallEnd {
            mut status,
            trailers,
        } = self.end().clone();
        if status.code == Code::Ok && messages.is_empty() {
            status = no_message();
        }
        Answer {
            head: self.head().clone(),
            messages,
            was_compressed,
            trailers,
            status,
        }
    }

    /// Ends the call with `CANCELLED`, unless it is over; as [`Canceller::cancel`].
    pub fn cancel(&self) {
        self.caller.cancel();
    }

    /// What cancels the call from elsewhere, also while this waits.
    pub fn canceller(&self) -> Canceller {
        Canceller::new(self.caller.clone())
    }

    /// The next message; `None` at an end that is good.
    fn read(&mut self) -> Result<Option<ReceivedMessage>, Status> {
        loop {
            if self.caller.stream.is_given_up() {
                self.inbox.clear();
            }
            let encoding = self.head.as_ref().map(|(_, encoding)| encoding);
            let message = self
                .inbox
                .next(encoding.unwrap_or(&AnswerEncoding::Identity))?;
            self.tell_what_was_read(message.is_none());
            if message.is_some() {
                return Ok(message);
            }
            if let Some(end) = self.fetch()? {
                return self.conclude(end);
            }
        }
    }

    fn tell_what_was_read(&mut self, waits: bool) {
        if let Some(bytes) = self.inbox.take_notice(waits) {
            self.caller.notify(self.caller.stream.has_read(bytes));
        }
    }

    /// Waits for more of the body, or for the end.
    fn fetch(&mut self) -> Result<Option<CallEnd>, Status> {
        let stream = &self.caller.stream;
        let wanted_bytes = self.inbox.wanted_bytes();
        let arrived = self
            .inbox
            .fetch(|octets| stream.receive(wanted_bytes, octets))
            .map_err(must_not_wait)?;
        match arrived {
            Arrived::Body => {
                self.head();
                Ok(None)
            }
            Arrived::End(end) => Ok(Some(end)),
        }
    }

    fn conclude(&mut self, end: CallEnd) -> Result<Option<ReceivedMessage>, Status> {
        let is_good = end.status.code == Code::Ok;
        if is_good && self.inbox.is_cut_off() {
            return Err(cut_off());
        }
        let status = end.status.clone();
        self.end = Some(end);
        match is_good {
            true => Ok(None),
            false => Err(status),
        }
    }

    /// The call cannot be read on.
    fn give_up(&mut self, status: Status) {
        self.caller.give_up(status.clone());
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
            self.caller.cancel();
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
