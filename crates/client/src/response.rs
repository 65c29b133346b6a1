//! The response of a method that gives one message.

use bookend_wire::grpc::{Code, Metadata, Status};

/// How a call ended, and everything that came.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Response {
    /// Metadata of the head.
    pub head: Metadata,
    /// The message, without its prefix and as it was before compression. May be there although the
    /// call did not end with `OK`.
    pub message: Option<Vec<u8>>,
    /// Whether the message came compressed.
    pub was_compressed: bool,
    /// Metadata of the trailers.
    pub trailers: Metadata,
    /// How the call ended. Where the response breaks the rules of gRPC, or none came in time, this
    /// is what gRPC prescribes for that case, and its message says what was wrong.
    pub status: Status,
}

impl Response {
    /// The message of a call that succeeded.
    ///
    /// # Errors
    /// The status where it is not `OK`.
    pub fn single_message(&self) -> Result<&[u8], Status> {
        match &self.message {
            _ if self.status.code != Code::Ok => Err(self.status.clone()),
            Some(message) => Ok(message),
            None => Err(no_message()),
        }
    }

    /// As [`Response::single_message`], without a copy.
    ///
    /// # Errors
    /// As there.
    pub fn into_single_message(self) -> Result<Vec<u8>, Status> {
        match self.message {
            _ if self.status.code != Code::Ok => Err(self.status),
            Some(message) => Ok(message),
            None => Err(no_message()),
        }
    }

    /// The response of a call of which nothing came.
    pub(crate) fn without_messages(status: Status) -> Self {
        Self {
            head: Metadata::new(),
            message: None,
            was_compressed: false,
            trailers: Metadata::new(),
            status,
        }
    }
}

/// The status of a call that ended with `OK` and without the one message.
pub(crate) fn no_message() -> Status {
    let text = "the server said OK and sent no message where one is due";
    Status::new(Code::Unimplemented, text)
}

/// The status of a call to which more than the one message came.
pub(crate) fn several_messages() -> Status {
    let text = "the server sent several messages where one is due";
    Status::new(Code::Unimplemented, text)
}
