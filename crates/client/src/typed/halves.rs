//! The two halves of a call of prost messages.

use std::marker::PhantomData;

use crate::{CallEnd, Canceller, Code, Metadata, Requests, Responses, SendError, Status};
use prost::Message;

/// Sends the requests of one call: [`Requests`] of one type.
#[derive(Debug)]
pub struct RequestSender<Q> {
    requests: Requests,
    message: PhantomData<fn(Q)>,
}

/// Receives the replies of one call: [`Responses`] of one type.
///
/// An iterator that waits. It gives every reply, then, where the call has not ended with `OK`, the
/// status as an error, then nothing. Dropped before the end, it cancels the call.
#[derive(Debug)]
pub struct ReplyReceiver<R> {
    responses: Responses,
    undecodable: Option<CallEnd>,
    message: PhantomData<fn() -> R>,
}

/// The reply of a call whose requests are sent one by one.
#[derive(Debug)]
pub struct PendingReply<R> {
    responses: Responses,
    message: PhantomData<fn() -> R>,
}

impl<Q: Message> RequestSender<Q> {
    /// Sends a request; waits while the send buffer is full. See [`Requests::send`].
    ///
    /// # Errors
    /// As there.
    pub fn send(&mut self, request: &Q) -> Result<(), SendError> {
        self.requests.send(&request.encode_to_vec())
    }
}

impl<Q> RequestSender<Q> {
    pub(super) fn new(requests: Requests) -> Self {
        RequestSender { requests, message: PhantomData }
    }

    /// Ends the request. What was sent before still goes out.
    pub fn finish(self) {
        self.requests.finish();
    }

    /// A handle that cancels the call from elsewhere.
    pub fn canceller(&self) -> Canceller {
        self.requests.canceller()
    }
}

impl<R> ReplyReceiver<R> {
    pub(super) fn new(responses: Responses) -> Self {
        ReplyReceiver { responses, undecodable: None, message: PhantomData }
    }

    /// Waits for the metadata of the head: see [`Responses::head`].
    pub fn head(&mut self) -> &Metadata {
        self.responses.head()
    }

    /// Waits for the end of the call, and drops the replies before it.
    pub fn end(&mut self) -> &CallEnd {
        match &self.undecodable {
            Some(end) => end,
            None => self.responses.end(),
        }
    }

    /// A handle that cancels the call from elsewhere, also while this waits.
    pub fn canceller(&self) -> Canceller {
        self.responses.canceller()
    }
}

impl<R: Message + Default> Iterator for ReplyReceiver<R> {
    type Item = Result<R, Status>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.undecodable.is_some() {
            return None;
        }
        let reply = self.responses.next()?.and_then(|message| {
            decoded(&message.bytes).inspect_err(|status| {
                self.responses.cancel();
                self.undecodable =
                    Some(CallEnd { status: status.clone(), trailers: Metadata::new() });
            })
        });
        Some(reply)
    }
}

impl<R: Message + Default> PendingReply<R> {
    pub(super) fn new(responses: Responses) -> Self {
        PendingReply { responses, message: PhantomData }
    }

    /// Waits for the reply. The requests must have been finished, by this thread or another one.
    ///
    /// # Errors
    /// The status, where it is not `OK`.
    pub fn wait(self) -> Result<R, Status> {
        decoded(&self.responses.into_response().into_single_message()?)
    }

    /// A handle that cancels the call from elsewhere, also while this waits.
    pub fn canceller(&self) -> Canceller {
        self.responses.canceller()
    }
}

pub(super) fn decoded<R: Message + Default>(message: &[u8]) -> Result<R, Status> {
    let fault = |why| Status::new(Code::Internal, format!("the reply cannot be decoded: {why}"));
    R::decode(message).map_err(fault)
}
