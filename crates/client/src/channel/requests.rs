//! The half of a streaming call that sends.

use super::call_handle::{CallHandle, Canceller};
use super::shared_stream::SendError;
use crate::compression::{append_message, fits_in_prefix, framed};
use bookend_wire::grpc::Encoding;
use bookend_wire::grpc::message::PREFIX_BYTES;
use std::fmt;

/// Sends the messages of one call. The other half is [`crate::Responses`]; each may be used by its
/// own thread.
///
/// Ends with [`Requests::finish`]. Dropped without that, it cancels the call: the server would wait
/// for ever.
pub struct Requests {
    call: CallHandle,
    encoding: Encoding,
    finished: bool,
}

impl Requests {
    pub(crate) fn new(call: CallHandle, encoding: Encoding) -> Self {
        Self { call, encoding, finished: false }
    }

    /// Sends a message, without the five-byte prefix of gRPC, compressed as
    /// [`crate::StreamCall::encoding`] says.
    ///
    /// Returns as soon as the message is in the send buffer of the call, which takes 64 KiB, or one
    /// message that is larger. Waits while it is full: the server does not read (HTTP/2's flow
    /// control), the network is slow, or there is no connection yet.
    ///
    /// # Errors
    /// [`SendError::Ended`] above all, also where the call has ended while this was waiting.
    pub fn send(&mut self, message: &[u8]) -> Result<(), SendError> {
        self.put(message, self.encoding)
    }

    /// As [`Requests::send`], without compression: for what is compressed already, and for secrets
    /// next to text that an attacker may choose.
    ///
    /// # Errors
    /// As there.
    pub fn send_uncompressed(&mut self, message: &[u8]) -> Result<(), SendError> {
        self.put(message, Encoding::Identity)
    }

    fn put(&self, message: &[u8], encoding: Encoding) -> Result<(), SendError> {
        if !fits_in_prefix(message) {
            return Err(SendError::TooLong);
        }
        let stream = &self.call.stream;
        let notification = match encoding {
            Encoding::Identity => stream.send(PREFIX_BYTES + message.len(), |buffer| {
                append_message(message, encoding, buffer);
            }),
            Encoding::Gzip => {
                let framed = framed(message, encoding);
                stream.send(framed.len(), |buffer| buffer.extend_from_slice(&framed))
            }
        };
        self.call.notify(notification?);
        Ok(())
    }

    /// Ends the request. What was sent before still goes out.
    pub fn finish(mut self) {
        self.finished = true;
        self.call.notify(self.call.stream.finish());
    }

    /// Ends the call with `CANCELLED`, unless it is over; as [`Canceller::cancel`].
    pub fn cancel(&self) {
        self.call.cancel();
    }

    /// A handle that cancels the call from elsewhere.
    pub fn canceller(&self) -> Canceller {
        Canceller(self.call.clone())
    }
}

impl Drop for Requests {
    fn drop(&mut self) {
        if !self.finished {
            self.call.cancel();
        }
    }
}

impl fmt::Debug for Requests {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Requests").field("encoding", &self.encoding).finish_non_exhaustive()
    }
}
