//! The reply to one call of a check.

use super::check::CheckError;
use bookend_wire::flow::Window;
use bookend_wire::grpc::response::stated_status;
use bookend_wire::grpc::{Assembler, Code};
use bookend_wire::{ErrorCode, HeaderList};

/// The largest message that is assembled: the default limit of gRPC clients, and more than an echo
/// of our own request.
const MAX_MESSAGE_BYTES: usize = 4 << 20;

/// How the server ended a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum ReplyEnd {
    /// With trailers: the code of `grpc-status` if it was there, and the text behind it.
    Trailers(Option<Code>, String),
    /// With RST_STREAM.
    Reset(ErrorCode),
}

/// What has come of one call so far.
#[derive(Debug, Default)]
pub(super) struct CheckReply {
    /// What the server may still send on this stream.
    pub window: Option<Window>,
    pub end: Option<ReplyEnd>,
    /// Bytes of the body so far.
    pub body_bytes: usize,
    http_status: Option<String>,
    assembler: Assembler,
    messages: usize,
    is_malformed: bool,
}

impl CheckReply {
    pub fn header_block(&mut self, fields: &HeaderList, end_stream: bool) {
        if self.http_status.is_none() {
            let status = fields.find(b":status").unwrap_or_default();
            if !status.starts_with(b"1") {
                self.http_status = Some(String::from_utf8_lossy(status).into_owned());
            }
        }
        if end_stream {
            let stated = stated_status(fields).map(|status| (status.code, status.message));
            let (code, message) = stated.unzip();
            self.end_with(ReplyEnd::Trailers(code, message.unwrap_or_default()));
        }
    }

    pub fn data(&mut self, data: &[u8], end_stream: bool) {
        self.body_bytes += data.len();
        let messages = &mut self.messages;
        let pushed = self.assembler.push(data, MAX_MESSAGE_BYTES, |_| *messages += 1);
        self.is_malformed |= pushed.is_err();
        if end_stream {
            self.end_with(ReplyEnd::Trailers(None, String::new()));
        }
    }

    /// The call has ended. What follows, such as the reset of a request that the server has not
    /// read, changes nothing.
    pub fn end_with(&mut self, end: ReplyEnd) {
        self.end.get_or_insert(end);
    }

    /// The status that the server gave the call, if it gave one.
    pub fn code(&self) -> Option<Code> {
        match &self.end {
            Some(ReplyEnd::Trailers(code, _)) => *code,
            _ => None,
        }
    }

    /// Checks that the call succeeded as gRPC demands: status OK, whole messages, at least one.
    /// Else says what came instead, in a few words.
    pub fn check(&self) -> Result<(), CheckError> {
        let http_status = self.http_status.as_deref().unwrap_or("missing");
        let text = if self.code() != Some(Code::Ok) {
            return Err(self.unsupported());
        } else if http_status != "200" {
            format!("HTTP status {http_status}")
        } else if self.is_malformed || !self.assembler.is_empty() {
            "a message was cut off or malformed".to_owned()
        } else if self.messages == 0 {
            "OK without a message".to_owned()
        } else {
            return Ok(());
        };
        Err(CheckError::Unsupported(text))
    }

    /// How the call ended, in a few words, where it should have ended otherwise.
    pub fn unsupported(&self) -> CheckError {
        CheckError::Unsupported(match &self.end {
            None => "no end".to_owned(),
            Some(ReplyEnd::Reset(code)) => format!("reset with {code}"),
            Some(ReplyEnd::Trailers(None, _)) => match self.http_status.as_deref() {
                Some("200") | None => "ended without grpc-status".to_owned(),
                Some(status) => format!("HTTP status {status} without grpc-status"),
            },
            Some(ReplyEnd::Trailers(Some(code), message)) if message.is_empty() => {
                format!("answered {code}")
            }
            Some(ReplyEnd::Trailers(Some(code), message)) => format!("answered {code}: {message}"),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_status_that_is_none_is_shown() {
        let mut trailers = HeaderList::new(4096, 32);
        trailers.push(b"grpc-status", b"OK", false);
        let mut reply = CheckReply::default();
        reply.header_block(&trailers, true);
        let CheckError::Unsupported(text) = reply.check().unwrap_err() else {
            panic!("an answer is no fault of the connection");
        };
        assert_eq!(text, "answered UNKNOWN: malformed grpc-status \"OK\"");
    }
}
