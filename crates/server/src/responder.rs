//! Answers that come later, from any thread.

use bookend_wire::grpc::Status;

use crate::call_event::{CallEventKind, Notifier};
use crate::status;

/// The right and the duty to answer one deferred call, on any thread and at any time.
///
/// It is small, since this is what a waiting call costs in addition to its stream. If the client is
/// gone by the time of the answer, the answer is dropped and counted as late. Dropping a responder
/// ends the call with `INTERNAL`.
pub struct Responder<T> {
    raw: RawResponder,
    encode: fn(&T, &mut Vec<u8>),
}

impl<T> Responder<T> {
    /// A responder that encodes its message with `encode`. Generated code calls this.
    pub fn new(raw: RawResponder, encode: fn(&T, &mut Vec<u8>)) -> Self {
        Responder { raw, encode }
    }

    /// Answers the call.
    pub fn send(self, result: Result<T, Status>) {
        match result {
            Ok(message) => {
                let mut bytes = Vec::new();
                (self.encode)(&message, &mut bytes);
                self.raw.message(bytes);
            }
            Err(status) => self.raw.fail(status),
        }
    }
}

/// A [`Responder`] for messages that are encoded already.
pub struct RawResponder {
    /// `None` once the call is answered.
    notifier: Option<Notifier>,
}

impl RawResponder {
    pub(crate) fn new(notifier: Notifier) -> Self {
        RawResponder { notifier: Some(notifier) }
    }

    /// Answers with one encoded message.
    pub fn message(mut self, bytes: Vec<u8>) {
        self.post(Ok(bytes));
    }

    /// Ends the call without a message. The status `OK` is a mistake and is sent as `INTERNAL`.
    pub fn fail(mut self, status: Status) {
        self.post(Err(status::of_handler(status)));
    }

    fn post(&mut self, result: Result<Vec<u8>, Status>) {
        if let Some(notifier) = self.notifier.take() {
            notifier.post(CallEventKind::Reply(result));
        }
    }
}

impl Drop for RawResponder {
    fn drop(&mut self) {
        if self.notifier.is_some() {
            self.post(Err(status::handler_dropped_call()));
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
