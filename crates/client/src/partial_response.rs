//! The response of a unary call while it comes in.

use crate::response::{Response, no_message, several_messages};
use crate::response_headers::{CachedBlock, ResponseHeaders};
use bookend_wire::HeaderList;
use bookend_wire::grpc::{Assembler, Code, MessageError, Status};

/// What has come of a response so far.
#[derive(Debug, Default)]
pub(crate) struct PartialResponse {
    headers: ResponseHeaders,
    assembler: Assembler,
    message: Option<Vec<u8>>,
    was_compressed: bool,
}

impl PartialResponse {
    /// Whether the call is over.
    #[inline]
    pub fn has_ended(&self) -> bool {
        self.headers.has_ended()
    }

    /// Whether anything of it has come.
    pub fn has_begun(&self) -> bool {
        self.headers.head().is_some()
    }

    /// The whole response, once the call is over.
    pub fn into_response(self) -> Option<Response> {
        let end = self.headers.into_end()?;
        Some(Response {
            head: end.head,
            message: self.message,
            was_compressed: self.was_compressed,
            trailers: end.trailers,
            status: end.status,
        })
    }

    /// Reads a head, or trailers. As [`ResponseHeaders::read`].
    pub fn headers(&mut self, fields: &HeaderList, end_stream: bool) -> Option<CachedBlock> {
        let cached = self.headers.read(fields, end_stream);
        self.check_end();
        cached
    }

    /// As [`ResponseHeaders::read_cached`].
    #[inline]
    pub fn cached_headers(&mut self, block: CachedBlock, end_stream: bool) {
        self.headers.read_cached(block, end_stream);
        self.check_end();
    }

    /// Reads part of the body.
    pub fn data(&mut self, data: &[u8], limit_bytes: usize, end_stream: bool) {
        if self.headers.is_grpc() && !self.has_ended() {
            self.gather(data, limit_bytes);
        }
        if end_stream {
            self.headers.end(None);
        }
    }

    #[inline]
    fn gather(&mut self, data: &[u8], limit_bytes: usize) {
        let mut fault = None;
        let pushed = self.assembler.push(data, limit_bytes, |message| {
            if fault.is_some() {
                return;
            }
            if self.message.is_some() {
                fault = Some(several_messages());
                return;
            }
            self.was_compressed |= message.compressed;
            match self.headers.encoding().open(message, limit_bytes) {
                Ok(message) => self.message = Some(message),
                Err(status) => fault = Some(status),
            }
        });
        let unreadable = pushed.err().map(|error| unreadable(&error));
        if let Some(status) = fault.or(unreadable) {
            self.headers.fail(status);
        }
    }

    /// Whether a response that ended with `OK` is whole.
    #[inline]
    fn check_end(&mut self) {
        if !self.headers.is_ok() {
            return;
        }
        if !self.assembler.is_empty() {
            self.headers.fail(cut_off());
        } else if self.message.is_none() {
            self.headers.fail(no_message());
        }
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
