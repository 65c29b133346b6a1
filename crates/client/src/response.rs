//! The answer to one call while it comes in.

use crate::answer::Answer;
use crate::metadata::Metadata;
use bookend_wire::HeaderList;
use bookend_wire::grpc::{Assembler, Code, MessageError, Status, percent};

/// What has come of an answer so far.
#[derive(Debug, Default)]
pub(crate) struct Response {
    head: Option<Metadata>,
    assembler: Assembler,
    messages: Vec<Vec<u8>>,
    trailers: Metadata,
    /// What was wrong with the head: an answer that is no gRPC is told by that.
    fault: Option<Status>,
    status: Option<Status>,
}

/// A header block of which nothing but its kind matters: it needs no second look.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Plain {
    /// A good head without metadata.
    Head,
    /// `grpc-status: 0` and nothing else.
    Ok,
}

impl Response {
    /// Whether the call is over.
    pub fn has_ended(&self) -> bool {
        self.status.is_some()
    }

    /// The whole answer, once the call is over.
    pub fn into_answer(self) -> Option<Answer> {
        Some(Answer {
            status: self.status?,
            head: self.head.unwrap_or_default(),
            messages: self.messages,
            trailers: self.trailers,
        })
    }

    /// A head, or trailers. Says whether they were of the plain kind.
    pub fn headers(&mut self, fields: &HeaderList, end_stream: bool) -> Option<Plain> {
        if self.head.is_some() {
            return self.read_trailers(fields, end_stream);
        }
        self.fault = fault_of_head(fields);
        // An answer without messages may consist of its trailers only.
        if end_stream {
            self.head = Some(Metadata::new());
            self.read_trailers(fields, end_stream);
            return None;
        }
        let metadata = Metadata::read(fields);
        let plain = metadata.is_empty() && self.fault.is_none();
        self.head = Some(metadata);
        plain.then_some(Plain::Head)
    }

    fn read_trailers(&mut self, fields: &HeaderList, end_stream: bool) -> Option<Plain> {
        if !end_stream {
            return None;
        }
        self.trailers = Metadata::read(fields);
        let stated = stated_status(fields);
        let is_ok = |status: &Status| status.code == Code::Ok && status.message.is_empty();
        let plain = stated.as_ref().is_some_and(is_ok) && self.trailers.is_empty();
        self.end(stated);
        plain.then_some(Plain::Ok)
    }

    /// A header block like one for which [`Response::headers`] has returned `plain`.
    #[inline]
    pub fn plain(&mut self, plain: Plain, end_stream: bool) {
        match plain {
            Plain::Head => {
                self.head = Some(Metadata::new());
                if end_stream {
                    self.end(None);
                }
            }
            Plain::Ok => self.end(Some(Status::new(Code::Ok, ""))),
        }
    }

    /// Part of the body.
    pub fn data(&mut self, data: &[u8], limit_bytes: usize) {
        let mut compressed = false;
        let messages = &mut self.messages;
        let pushed = self.assembler.push(data, limit_bytes, |message| {
            compressed |= message.compressed;
            messages.push(message.octets.to_vec());
        });
        if let Err(error) = pushed {
            let code = match error {
                MessageError::TooLarge { .. } => Code::ResourceExhausted,
                MessageError::BadFlag(_) => Code::Internal,
            };
            self.fail(code, format!("the server sent {error}"));
        } else if compressed {
            let text = "the server compressed a message, and no encoding was offered";
            self.fail(Code::Internal, text);
        }
    }

    /// Ends a unary call whose server sends a second message: it might never stop.
    #[inline]
    pub fn refuse_second_message(&mut self) {
        if self.messages.len() > 1 {
            let text = "the server sent more than one message to a unary call";
            self.fail(Code::Internal, text);
        }
    }

    /// Nothing more will come; `stated` is what the trailers said.
    pub fn end(&mut self, stated: Option<Status>) {
        if self.status.is_some() {
            return;
        }
        let fault = self.fault.take();
        let cut = !self.assembler.is_empty();
        self.status = Some(match (stated, fault) {
            (Some(status), _) if status.code != Code::Ok => status,
            (_, Some(fault)) => fault,
            (Some(_), None) if cut => {
                Status::new(Code::Internal, "the server's last message is cut off")
            }
            (Some(status), None) => status,
            (None, None) => Status::new(Code::Unknown, "the server sent no grpc-status"),
        });
    }

    /// The call is over for another reason than what the server said in its trailers.
    pub fn fail(&mut self, code: Code, text: impl Into<String>) {
        self.status = Some(Status::new(code, text));
    }
}

/// What is wrong with a response's head.
fn fault_of_head(fields: &HeaderList) -> Option<Status> {
    let text =
        |value: Option<&[u8]>| String::from_utf8_lossy(value.unwrap_or_default()).into_owned();
    let http_status = text(fields.find(b":status"));
    if http_status != "200" {
        let code = Code::of_http_status(http_status.as_bytes());
        return Some(Status::new(
            code,
            format!("the server answered with HTTP status {http_status}"),
        ));
    }
    let content_type = text(fields.find(b"content-type"));
    if !content_type.starts_with("application/grpc") {
        return Some(Status::new(
            Code::Unknown,
            format!("the server answered with content-type {content_type:?}, not gRPC"),
        ));
    }
    None
}

fn stated_status(fields: &HeaderList) -> Option<Status> {
    let code = Code::parse(fields.find(b"grpc-status")?);
    let message = percent::decode(fields.find(b"grpc-message").unwrap_or_default());
    Some(Status::new(code, message))
}
