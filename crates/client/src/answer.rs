//! What a server made of a call.

use bookend_wire::grpc::Metadata;
use bookend_wire::grpc::{Code, Status};

/// How a call ended, and everything that came.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// Metadata of the response's head.
    pub head: Metadata,
    /// The response messages, without their prefixes and as they were before compression.
    pub messages: Vec<Vec<u8>>,
    /// Whether any of the messages came compressed.
    pub was_compressed: bool,
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
    /// The status where it is not `OK`; `UNIMPLEMENTED` where there is not exactly one message: the
    /// server has another method there than the caller thinks.
    pub fn single_message(&self) -> Result<&[u8], Status> {
        if self.status.code != Code::Ok {
            return Err(self.status.clone());
        }
        match self.messages.as_slice() {
            [message] => Ok(message),
            [] => Err(no_message()),
            _ => Err(several_messages()),
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
        match (self.messages.pop(), self.messages.is_empty()) {
            (Some(message), true) => Ok(message),
            (None, _) => Err(no_message()),
            (Some(_), false) => Err(several_messages()),
        }
    }

    /// The answer to a call to which no server has said anything.
    pub(crate) fn without_response(status: Status) -> Self {
        Self {
            head: Metadata::new(),
            messages: Vec::new(),
            was_compressed: false,
            trailers: Metadata::new(),
            status,
        }
    }
}

/// A method of one message gave none.
pub(crate) fn no_message() -> Status {
    let text = "the server said OK and sent no message where one is due";
    Status::new(Code::Unimplemented, text)
}

/// A method of one message gave more.
pub(crate) fn several_messages() -> Status {
    let text = "the server sent several messages where one is due";
    Status::new(Code::Unimplemented, text)
}
