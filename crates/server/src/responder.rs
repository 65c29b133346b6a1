//! Answers that come later, from whatever thread.

use bookend_io::{Mailbox, Session};
use bookend_wire::Stream;
use bookend_wire::grpc::{Code, Status};

use crate::reply::internal;

/// The right and the duty to answer one call, on whatever thread and whenever.
///
/// Small (it is what a waiting call costs beside its stream), and not bound to the call's
/// connection: an answer for a client that has gone is dropped. A responder that is itself dropped
/// ends the call with `INTERNAL`.
pub struct Responder<T> {
    answerer: Answerer,
    encode: fn(&T, &mut Vec<u8>),
}

impl<T> Responder<T> {
    /// Joins the way an answer takes with the way it is encoded. Generated code calls this.
    pub fn new(answerer: Answerer, encode: fn(&T, &mut Vec<u8>)) -> Self {
        Responder { answerer, encode }
    }

    /// Answers the call.
    pub fn send(self, result: Result<T, Status>) {
        match result {
            Ok(message) => {
                let mut bytes = Vec::new();
                (self.encode)(&message, &mut bytes);
                self.answerer.message(bytes);
            }
            Err(status) => self.answerer.fail(status),
        }
    }
}

/// A [`Responder`] that does not know how messages are encoded.
pub struct Answerer {
    /// `None` once the call is answered.
    mailbox: Option<Mailbox<Answer>>,
    session: Session,
    stream: Stream,
}

impl Answerer {
    /// Answers with one encoded message.
    pub fn message(self, bytes: Vec<u8>) {
        self.answer(Ok(bytes));
    }

    /// Ends the call without a message. A status `OK` is a mistake and sent as `INTERNAL`.
    pub fn fail(self, status: Status) {
        let status = match status.code {
            Code::Ok => internal("the handler failed with the status OK"),
            _ => status,
        };
        self.answer(Err(status));
    }

    fn answer(mut self, result: Result<Vec<u8>, Status>) {
        self.post(result);
    }

    fn post(&mut self, result: Result<Vec<u8>, Status>) {
        if let Some(mailbox) = self.mailbox.take() {
            mailbox.push(Answer {
                session: self.session,
                stream: self.stream,
                result,
            });
        }
    }
}

impl Drop for Answerer {
    fn drop(&mut self) {
        if self.mailbox.is_some() {
            self.post(Err(internal("the handler dropped the call")));
        }
    }
}

/// An answer on its way to the shard that has the call.
#[derive(Debug)]
pub(crate) struct Answer {
    pub session: Session,
    pub stream: Stream,
    pub result: Result<Vec<u8>, Status>,
}

/// Where answers to the calls of one connection go.
pub(crate) struct ReturnAddress {
    pub mailbox: Mailbox<Answer>,
    pub session: Session,
}

impl ReturnAddress {
    pub fn answerer(&self, stream: Stream) -> Answerer {
        Answerer {
            mailbox: Some(self.mailbox.clone()),
            session: self.session,
            stream,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_waiting_call_costs_a_small_struct() {
        assert!(size_of::<Responder<String>>() <= 64);
    }
}
