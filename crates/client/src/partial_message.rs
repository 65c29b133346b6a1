//! The message of a unary response while it comes in.

use crate::compression::ResponseEncoding;
use crate::response::{Response, no_message, several_messages};
use bookend_wire::grpc::{Assembler, Code, MessageError, Status};

/// What has come so far of the one message of a response.
#[derive(Debug, Default)]
pub(crate) struct PartialMessage {
    assembler: Assembler,
    message: Option<Vec<u8>>,
    was_compressed: bool,
}

impl PartialMessage {
    /// Reads part of the body.
    ///
    /// # Errors
    /// What the call ends with: the body cannot be read on.
    #[inline]
    pub fn push(
        &mut self,
        data: &[u8],
        encoding: &ResponseEncoding,
        limit_bytes: usize,
    ) -> Result<(), Status> {
        let mut read = Ok(());
        let pushed = self.assembler.push(data, limit_bytes, |message| {
            if read.is_err() {
                return;
            }
            if self.message.is_some() {
                read = Err(several_messages());
                return;
            }
            self.was_compressed |= message.compressed;
            match encoding.open(message, limit_bytes) {
                Ok(message) => self.message = Some(message),
                Err(status) => read = Err(status),
            }
        });
        read.and(pushed.map_err(|error| unreadable(&error)))
    }

    /// Checks that the message is whole, at an end that is good.
    ///
    /// # Errors
    /// What the call ends with instead.
    #[inline]
    pub fn check_end(&self) -> Result<(), Status> {
        if !self.assembler.is_empty() {
            Err(cut_off())
        } else if self.message.is_none() {
            Err(no_message())
        } else {
            Ok(())
        }
    }

    /// Puts the message into the response that it belongs to.
    pub fn complete(self, response: Response) -> Response {
        Response { message: self.message, was_compressed: self.was_compressed, ..response }
    }
}

/// Why a body cannot be read on.
pub(crate) fn unreadable(error: &MessageError) -> Status {
    let code = match error {
        MessageError::TooLarge { .. } => Code::ResourceExhausted,
        MessageError::BadFlag(_) => Code::Internal,
    };
    Status::new(code, format!("the server sent {error}"))
}

/// The body ended within a message.
pub(crate) fn cut_off() -> Status {
    Status::new(Code::Internal, "the server's last message is cut off")
}
