//! The answer to a unary call while it is gathered.

use crate::answer::{Answer, no_message, several_messages};
use crate::verdict::{Plain, Verdict};
use bookend_wire::HeaderList;
use bookend_wire::grpc::{Assembler, Code, MessageError, Status};

/// What has come of an answer so far, its message and all.
#[derive(Debug, Default)]
pub(crate) struct Response {
    verdict: Verdict,
    assembler: Assembler,
    messages: Vec<Vec<u8>>,
    was_compressed: bool,
}

impl Response {
    /// Whether the call is over.
    #[inline]
    pub fn has_ended(&self) -> bool {
        self.verdict.has_ended()
    }

    /// Whether anything of it has come.
    pub fn has_begun(&self) -> bool {
        self.verdict.head().is_some()
    }

    /// The whole answer, once the call is over.
    pub fn into_answer(self) -> Option<Answer> {
        let ended = self.verdict.into_end()?;
        Some(Answer {
            status: ended.status,
            head: ended.head,
            messages: self.messages,
            was_compressed: self.was_compressed,
            trailers: ended.trailers,
        })
    }

    /// A head, or trailers. Says whether they were of the plain kind.
    pub fn headers(&mut self, fields: &HeaderList, end_stream: bool) -> Option<Plain> {
        let plain = self.verdict.headers(fields, end_stream);
        self.check_end();
        plain
    }

    /// A header block like one for which [`Response::headers`] has returned `plain`.
    #[inline]
    pub fn plain(&mut self, plain: Plain, end_stream: bool) {
        self.verdict.plain(plain, end_stream);
        self.check_end();
    }

    /// Part of the body.
    pub fn data(&mut self, data: &[u8], limit_bytes: usize, end_stream: bool) {
        if self.verdict.has_messages() && !self.has_ended() {
            self.gather(data, limit_bytes);
        }
        if end_stream {
            self.verdict.end(None);
        }
    }

    #[inline]
    fn gather(&mut self, data: &[u8], limit_bytes: usize) {
        let mut fault = None;
        let pushed = self.assembler.push(data, limit_bytes, |message| {
            if fault.is_some() {
                return;
            }
            if !self.messages.is_empty() {
                fault = Some(several_messages());
                return;
            }
            self.was_compressed |= message.compressed;
            match self.verdict.encoding().open(message, limit_bytes) {
                Ok(octets) => self.messages.push(octets),
                Err(status) => fault = Some(status),
            }
        });
        let unreadable = pushed.err().map(|error| unreadable(&error));
        if let Some(status) = fault.or(unreadable) {
            self.verdict.fail(status);
        }
    }

    /// Whether an end that the server calls good is one.
    #[inline]
    fn check_end(&mut self) {
        if !self.verdict.is_ok() {
            return;
        }
        if !self.assembler.is_empty() {
            self.verdict.fail(cut_off());
        } else if self.messages.is_empty() {
            self.verdict.fail(no_message());
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
