//! Answers that come later, from whatever thread.

use bookend_io::{ConnectionId, Mailbox};
use bookend_wire::StreamKey;
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
    notifier: Option<Notifier>,
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
        if let Some(notifier) = self.notifier.take() {
            notifier.post(News::Answer(result));
        }
    }
}

impl Drop for Answerer {
    fn drop(&mut self) {
        if self.notifier.is_some() {
            self.post(Err(internal("the handler dropped the call")));
        }
    }
}

/// Something about a call, on its way to the shard that has it.
#[derive(Debug)]
pub(crate) struct Letter {
    pub id: ConnectionId,
    pub stream: StreamKey,
    pub news: News,
}

/// What a shard hears from other threads about a call.
#[derive(Debug)]
pub(crate) enum News {
    /// The answer to a deferred call.
    Answer(Result<Vec<u8>, Status>),
    /// A handler on the pool has left something, or has made room.
    Look,
    /// A handler on the pool has come to its end; whether nobody had waited for it any more, and
    /// whether it panicked.
    HandlerEnded { late: bool, panicked: bool },
}

impl News {
    /// Whether nothing follows.
    pub fn is_last(&self) -> bool {
        !matches!(self, News::Look)
    }

    pub fn is_panic(&self) -> bool {
        matches!(self, News::HandlerEnded { panicked: true, .. })
    }

    /// Whether this is an answer that nobody waits for, now that the connection is gone.
    pub fn is_late(&self) -> bool {
        match self {
            News::Answer(_) => true,
            News::Look => false,
            News::HandlerEnded { late, .. } => *late,
        }
    }
}

/// Whoever has this can reach the shard that has one call.
#[derive(Debug)]
pub(crate) struct Notifier {
    mailbox: Mailbox<Letter>,
    id: ConnectionId,
    stream: StreamKey,
}

impl Notifier {
    pub fn post(&self, news: News) {
        self.mailbox.push(Letter {
            id: self.id,
            stream: self.stream,
            news,
        });
    }
}

/// Where letters about the calls of one connection go.
pub(crate) struct ReturnAddress {
    pub mailbox: Mailbox<Letter>,
    pub id: ConnectionId,
}

impl ReturnAddress {
    pub fn notifier(&self, stream: StreamKey) -> Notifier {
        Notifier {
            mailbox: self.mailbox.clone(),
            id: self.id,
            stream,
        }
    }

    pub fn answerer(&self, stream: StreamKey) -> Answerer {
        Answerer {
            notifier: Some(self.notifier(stream)),
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
