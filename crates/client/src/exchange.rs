//! What a connection tells while one call is in flight.

use crate::answer::Answer;
use crate::metadata::Metadata;
use bookend_wire::grpc::{Assembler, Code, MessageError, Status, percent};
use bookend_wire::{Blame, ErrorCode, HeaderList, Sender, Stream, Visitor};

/// The call in flight, and what the peer says about the connection.
#[derive(Debug)]
pub(crate) struct Exchange {
    /// Whether the peer's SETTINGS have come.
    pub greeted: bool,
    /// What the peer's GOAWAY said.
    pub goaway: Option<String>,
    max_message_bytes: usize,
    call: Option<Pending>,
}

/// A call whose end has not come.
#[derive(Debug)]
struct Pending {
    stream: Stream,
    head: Option<Metadata>,
    assembler: Assembler,
    messages: Vec<Vec<u8>>,
    trailers: Metadata,
    /// What was wrong with the head: an answer that is no gRPC is told by that.
    fault: Option<Status>,
    status: Option<Status>,
}

impl Exchange {
    pub fn new(max_message_bytes: usize) -> Self {
        Self {
            greeted: false,
            goaway: None,
            max_message_bytes,
            call: None,
        }
    }

    pub fn begin(&mut self, stream: Stream) {
        self.call = Some(Pending::new(stream));
    }

    /// The deadline has passed, and the call with it.
    pub fn expire(&mut self) {
        if let Some(call) = &mut self.call {
            let text = "the deadline passed before the server had answered";
            call.fail(Code::DeadlineExceeded, text);
        }
    }

    /// The answer, once the call has ended.
    pub fn take_answer(&mut self) -> Option<Answer> {
        let call = self.call.take_if(|call| call.status.is_some())?;
        Some(Answer {
            head: call.head.unwrap_or_default(),
            messages: call.messages,
            trailers: call.trailers,
            status: call.status?,
        })
    }

    fn call_on(&mut self, stream: Stream) -> Option<&mut Pending> {
        self.call
            .as_mut()
            .filter(|call| call.stream == stream && call.status.is_none())
    }
}

impl Visitor for Exchange {
    fn headers(
        &mut self,
        _: &mut Sender,
        stream: Stream,
        fields: &HeaderList,
        end_stream: bool,
    ) -> Option<u32> {
        if let Some(call) = self.call_on(stream) {
            call.headers(fields, end_stream);
        }
        None
    }

    /// Never called: no memo is ever given out.
    fn headers_again(&mut self, _: &mut Sender, _: Stream, _: u32, _: bool) {}

    fn data(&mut self, sender: &mut Sender, stream: Stream, data: &[u8], end_stream: bool) {
        sender.release(stream, data.len());
        let limit_bytes = self.max_message_bytes;
        if let Some(call) = self.call_on(stream) {
            call.data(data, limit_bytes);
            if end_stream {
                call.end(None);
            }
        }
    }

    fn reset(&mut self, _: &mut Sender, stream: Stream, code: ErrorCode, by: Blame) {
        if let Some(call) = self.call_on(stream) {
            let text = match by {
                Blame::Peer => format!("the server reset the call: {code}"),
                Blame::PeerMisbehaved => {
                    format!("the server broke HTTP/2 on this call: {code}")
                }
            };
            call.status = Some(Status::new(Code::of_reset(code), text));
        }
    }

    fn goaway(&mut self, _: &mut Sender, _: u32, code: ErrorCode, debug: &[u8]) {
        let debug = String::from_utf8_lossy(debug);
        self.goaway = Some(match debug.is_empty() {
            true => code.to_string(),
            false => format!("{code} ({debug})"),
        });
    }

    fn settings(&mut self, _: &mut Sender) {
        self.greeted = true;
    }
}

impl Pending {
    fn new(stream: Stream) -> Self {
        Self {
            stream,
            head: None,
            assembler: Assembler::default(),
            messages: Vec::new(),
            trailers: Metadata::new(),
            fault: None,
            status: None,
        }
    }

    fn headers(&mut self, fields: &HeaderList, end_stream: bool) {
        if self.head.is_none() {
            if fields
                .find(b":status")
                .is_some_and(|status| status.starts_with(b"1"))
            {
                return;
            }
            self.fault = fault_of_head(fields);
            // An answer without messages may consist of its trailers only.
            self.head = Some(match end_stream {
                true => Metadata::new(),
                false => Metadata::read(fields),
            });
        }
        if end_stream {
            self.trailers = Metadata::read(fields);
            self.end(stated_status(fields));
        }
    }

    fn data(&mut self, data: &[u8], limit_bytes: usize) {
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
            self.fail(code, &format!("the server sent {error}"));
        } else if compressed {
            self.fail(
                Code::Internal,
                "the server compressed a message, and no encoding was offered",
            );
        }
    }

    /// Nothing more will come; `stated` is what the trailers said.
    fn end(&mut self, stated: Option<Status>) {
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

    fn fail(&mut self, code: Code, text: &str) {
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
