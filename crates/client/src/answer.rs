//! What a server made of a call.

use crate::metadata::Metadata;
use bookend_wire::grpc::{Code, Status};

/// How a call ended, and everything that came.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// Metadata of the response's head.
    pub head: Metadata,
    /// The response messages, without their prefixes.
    pub messages: Vec<Vec<u8>>,
    /// Metadata of the trailers.
    pub trailers: Metadata,
    /// How the call ended. Where the server's answer breaks gRPC, or there was none in time, this
    /// is what gRPC prescribes for that case, and the message says what was wrong.
    pub status: Status,
}

impl Answer {
    /// The one message of a unary call that succeeded.
    ///
    /// # Errors
    /// The status where it is not `OK`; `INTERNAL` where there is not exactly one message.
    pub fn single_message(&self) -> Result<&[u8], Status> {
        if self.status.code != Code::Ok {
            return Err(self.status.clone());
        }
        match self.messages.as_slice() {
            [message] => Ok(message),
            messages => Err(not_one(messages.len())),
        }
    }

    /// As [`Answer::single_message`], without a copy.
    ///
    /// # Errors
    /// As there.
    pub fn into_single_message(mut self) -> Result<Vec<u8>, Status> {
        if self.status.code != Code::Ok {
            return Err(self.status);
        }
        match (self.messages.pop(), self.messages.len()) {
            (Some(message), 0) => Ok(message),
            (last, before) => Err(not_one(before + usize::from(last.is_some()))),
        }
    }

    /// The answer to a call to which no server has said anything.
    pub(crate) fn without_response(status: Status) -> Self {
        Self {
            head: Metadata::new(),
            messages: Vec::new(),
            trailers: Metadata::new(),
            status,
        }
    }
}

fn not_one(messages: usize) -> Status {
    let text = format!("the server said OK and sent {messages} messages");
    Status::new(Code::Internal, text)
}
