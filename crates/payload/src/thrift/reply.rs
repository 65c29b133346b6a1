//! Replies: whether one has come whole, and whether it is what was asked for.

use super::call::ThriftCall;
use super::check::check_field;
use super::envelope::{BINARY_VERSION, COMPACT_ID, message_kind};
use super::reader::{Fault, FieldHead, MessageHead, Reader};
use super::spoken::{ThriftProtocol, ThriftTransport};
use super::value::ThriftValue;
use super::wire_kind::WireKind;
use bookend_wire::grpc::{Code, Status};

/// Bytes of the length before a frame.
const FRAME_HEAD_BYTES: usize = 4;
/// A text of a server is kept up to this length.
const TEXT_MAX_BYTES: usize = 1_024;

/// An exception is put into words up to this length: in memory its values may take fifty times as
/// much, and of their text [`TEXT_MAX_BYTES`] are kept.
const EXCEPTION_SHOWN_BYTES: usize = 16 << 10;

/// The start of a TLS alert, which is what a server with TLS answers to plain text.
const TLS_ALERT: &[u8] = &[0x15, 0x03];

/// What the bytes that came begin with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ThriftReply {
    /// A part of a reply, which has at least this number of bytes.
    Part(usize),
    /// A whole reply, and how the call has ended.
    Whole {
        /// Its length with everything before it.
        bytes: usize,
        /// The call to which it belongs.
        sequence_id: u32,
        /// How that ended.
        outcome: Result<(), Box<Status>>,
    },
}

/// Bytes that are no reply, or too many: the connection is of no use any more. Why, in words.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct ReplyFault(String);

impl ReplyFault {
    /// A message came, and no call was in flight.
    #[cold]
    pub fn unasked() -> Self {
        Self("the server sent a message that no call had asked for".to_owned())
    }

    /// What has come of replies on all connections is more than may be kept.
    #[cold]
    pub fn too_much_at_once(max_bytes: u64) -> Self {
        // How much more would make a text of its own for each.
        Self(format!(
            "replies that have come in part take more than {max_bytes} bytes together: lower \
             --concurrency"
        ))
    }

    /// The reply of another call came than of the one that was next.
    #[cold]
    pub fn out_of_order(sequence_id: u32, expected: u32) -> Self {
        Self(format!("the server answered call {sequence_id} where call {expected} was next"))
    }
}

impl ThriftReply {
    /// Looks at the bytes that came.
    ///
    /// # Errors
    /// [`ReplyFault`]: no reply can begin so.
    #[inline]
    pub fn read(call: &ThriftCall, bytes: &[u8], max_bytes: u32) -> Result<Self, ReplyFault> {
        match call.transport {
            ThriftTransport::Framed => Self::framed(call, bytes, max_bytes),
            ThriftTransport::Buffered => Self::buffered(call, bytes, max_bytes),
        }
    }

    #[inline]
    fn framed(call: &ThriftCall, bytes: &[u8], max_bytes: u32) -> Result<Self, ReplyFault> {
        let Some((head, rest)) = bytes.split_first_chunk::<FRAME_HEAD_BYTES>() else {
            return Ok(Self::Part(FRAME_HEAD_BYTES));
        };
        let length = u32::from_be_bytes(*head);
        if length > max_bytes {
            return Err(ReplyFault(no_frame(bytes, length, max_bytes)));
        }
        let whole_bytes = length as usize + FRAME_HEAD_BYTES;
        let Some(frame) = rest.get(..length as usize) else {
            return Ok(Self::Part(whole_bytes));
        };
        let mut reader = Reader::new(frame, call.protocol);
        let head = match reader.message_head() {
            Ok(head) => head,
            Err(fault) => return Err(ReplyFault(no_message(call, frame, fault))),
        };
        let outcome = match end(call, &head, &mut reader) {
            Ok(outcome) if reader.position() == frame.len() => outcome,
            Ok(_) => Err(broken("the server sent a frame that is longer than the reply in it")),
            Err(fault) => Err(broken(&explain(call, fault))),
        };
        Ok(Self::Whole { bytes: whole_bytes, sequence_id: head.sequence_id, outcome })
    }

    /// Without frames a reply ends where its last field does.
    fn buffered(call: &ThriftCall, bytes: &[u8], max_bytes: u32) -> Result<Self, ReplyFault> {
        let mut reader = Reader::new(bytes, call.protocol);
        let head = reader.message_head();
        let behind_head = reader.clone();
        let ended = head.and_then(|head| match end(call, &head, &mut reader) {
            Ok(outcome) => Ok((head, outcome)),
            Err(fault @ (Fault::Truncated(_) | Fault::Malformed(_))) => Err(fault),
            // It is not what the IDL says, and yet it has an end.
            Err(fault) => {
                reader = behind_head;
                reader.skip(WireKind::Struct, None, 0)?;
                Ok((head, Err(broken(&explain(call, fault)))))
            }
        });
        match ended {
            Ok((head, outcome)) => {
                let bytes = reader.position();
                Ok(Self::Whole { bytes, sequence_id: head.sequence_id, outcome })
            }
            Err(Fault::Truncated(end)) if end <= max_bytes as usize => Ok(Self::Part(end)),
            Err(Fault::Truncated(end)) => Err(ReplyFault(too_large(end as u64, max_bytes))),
            Err(_) if head.is_err() && bytes.starts_with(TLS_ALERT) => {
                Err(ReplyFault(WANTS_TLS.to_owned()))
            }
            Err(fault) if head.is_err() => Err(ReplyFault(no_message(call, bytes, fault))),
            Err(fault) => Err(ReplyFault(explain(call, fault))),
        }
    }
}

const WANTS_TLS: &str = "the server wants TLS: leave --insecure out";

/// What a message says of its call.
#[inline]
fn end(
    call: &ThriftCall,
    head: &MessageHead<'_>,
    reader: &mut Reader<'_>,
) -> Result<Result<(), Box<Status>>, Fault> {
    match head.kind {
        message_kind::REPLY if head.name == call.method.name.as_bytes() => result(call, reader),
        message_kind::REPLY => {
            reader.skip(WireKind::Struct, None, 0)?;
            let text = format!(
                "the server sent the reply of {} to a call of {}",
                shown(head.name),
                call.method.name
            );
            Ok(Err(broken(&text)))
        }
        message_kind::EXCEPTION => application_exception(reader).map(Err),
        kind => {
            reader.skip(WireKind::Struct, None, 0)?;
            Ok(Err(broken(&format!("the server sent a message of kind {kind}, which is no reply"))))
        }
    }
}

/// The struct of a reply: what the method returns, or an exception that it declares.
#[inline]
fn result(call: &ThriftCall, reader: &mut Reader<'_>) -> Result<Result<(), Box<Status>>, Fault> {
    let of = call.method.result;
    let known = &call.schema.structs[of];
    let (mut before, mut has_result) = (0, known.field(0).is_none());
    let mut exception = None;
    while let Some(head) = reader.field_head(before)? {
        before = head.id;
        match known.place(head.id, 0) {
            Some(place) if head.id == 0 => {
                check_field(reader, &call.schema, (of, place), head, 0)?;
                has_result = true;
            }
            Some(place) => exception = Some(declared_exception(call, place, head, reader)?),
            None => reader.skip(head.kind, head.truth, 0)?,
        }
    }
    Ok(match exception {
        Some(status) => Err(status),
        None if has_result => Ok(()),
        None => Err(broken("the server sent a reply without a result")),
    })
}

/// An exception that the method declares, in words.
#[cold]
fn declared_exception(
    call: &ThriftCall,
    place: usize,
    head: FieldHead,
    reader: &mut Reader<'_>,
) -> Result<Box<Status>, Fault> {
    let mut again = reader.clone();
    check_field(reader, &call.schema, (call.method.result, place), head, 0)?;
    let field = &call.schema.structs[call.method.result].fields[place];
    let name = call.schema.name_of(&field.field_type);
    let bytes = reader.position() - again.position();
    if bytes > EXCEPTION_SHOWN_BYTES {
        return Ok(status(Code::Unknown, &format!("{name} of {bytes} bytes")));
    }
    let value = ThriftValue::read(&mut again, head.kind, head.truth, 0)?;
    let said = value.to_json(Some(&field.field_type), &call.schema).to_string();
    Ok(status(Code::Unknown, &format!("{name} {said}")))
}

/// What a server answers where it has no result: `TApplicationException`.
#[cold]
fn application_exception(reader: &mut Reader<'_>) -> Result<Box<Status>, Fault> {
    let (mut before, mut text, mut number) = (0, String::new(), 0);
    while let Some(head) = reader.field_head(before)? {
        before = head.id;
        match (head.id, head.kind) {
            (1, WireKind::Binary) => text = shown(reader.binary()?),
            (2, WireKind::I32) => number = reader.i32()?,
            _ => reader.skip(head.kind, head.truth, 0)?,
        }
    }
    let (name, code) = application_exception_name(number);
    let separator = if text.is_empty() { "" } else { ": " };
    Ok(status(code, &format!("TApplicationException {name}{separator}{text}")))
}

/// The types of `TApplicationException`, in all of Thrift's libraries, and what gRPC would call
/// such an error.
fn application_exception_name(number: i32) -> (&'static str, Code) {
    match number {
        1 => ("UNKNOWN_METHOD", Code::Unimplemented),
        2 => ("INVALID_MESSAGE_TYPE", Code::Internal),
        3 => ("WRONG_METHOD_NAME", Code::Internal),
        4 => ("BAD_SEQUENCE_ID", Code::Internal),
        5 => ("MISSING_RESULT", Code::Internal),
        6 => ("INTERNAL_ERROR", Code::Internal),
        7 => ("PROTOCOL_ERROR", Code::Internal),
        8 => ("INVALID_TRANSFORM", Code::Internal),
        9 => ("INVALID_PROTOCOL", Code::Internal),
        10 => ("UNSUPPORTED_CLIENT_TYPE", Code::Internal),
        _ => ("UNKNOWN", Code::Unknown),
    }
}

/// A reply that is not what the IDL promises.
#[cold]
fn broken(text: &str) -> Box<Status> {
    status(Code::Internal, text)
}

fn status(code: Code, text: &str) -> Box<Status> {
    let end = (0..=text.len().min(TEXT_MAX_BYTES))
        .rev()
        .find(|end| text.is_char_boundary(*end))
        .unwrap_or(0);
    Box::new(Status::new(code, &text[..end]))
}

fn shown(text: &[u8]) -> String {
    let text = &text[..text.len().min(TEXT_MAX_BYTES)];
    String::from_utf8_lossy(text).into_owned()
}

/// What is wrong with a reply.
#[cold]
fn explain(call: &ThriftCall, fault: Fault) -> String {
    let name = |of: usize| call.schema.structs[of].name.as_str();
    let field = |of: usize, place: usize| call.schema.structs[of].fields[place].name.as_str();
    match fault {
        Fault::Truncated(_) => "the server sent a reply that ends in the middle".to_owned(),
        Fault::Malformed(what) => format!("the server sent {what}"),
        Fault::WrongKind(of, place, kind) => {
            let (name, field) = (name(of), field(of, place));
            format!("the server sent a {} as {name}.{field}, which has another type", kind.name())
        }
        Fault::WrongElements(kind) => {
            format!("the server sent a container of {}, which the IDL does not say", kind.name())
        }
        Fault::Missing(of, place) => {
            format!("the server sent {} without {}, which is required", name(of), field(of, place))
        }
        Fault::NoUnion(of, count) => {
            format!("the server sent the union {} with {count} fields", name(of))
        }
    }
}

fn too_large(bytes: u64, max_bytes: u32) -> String {
    format!("the server sent a reply of {bytes} bytes, and {max_bytes} are allowed")
}

/// Why bytes are no frame: most likely another transport is spoken.
#[cold]
fn no_frame(bytes: &[u8], length: u32, max_bytes: u32) -> String {
    if bytes.starts_with(TLS_ALERT) {
        return WANTS_TLS.to_owned();
    }
    if bytes.starts_with(b"HTTP/") {
        return "the server speaks HTTP, and not Thrift's framed transport".to_owned();
    }
    if bytes.starts_with(&BINARY_VERSION) || bytes.first() == Some(&COMPACT_ID) {
        return "the server sends no frames: add --thrift-transport buffered".to_owned();
    }
    too_large(u64::from(length), max_bytes)
}

/// Why bytes are no message: most likely another protocol is spoken.
#[cold]
fn no_message(call: &ThriftCall, bytes: &[u8], fault: Fault) -> String {
    let other = match call.protocol {
        ThriftProtocol::Binary if bytes.first() == Some(&COMPACT_ID) => "--thrift-protocol compact",
        ThriftProtocol::Compact if bytes.starts_with(&BINARY_VERSION) => "--thrift-protocol binary",
        _ if call.transport == ThriftTransport::Buffered && is_framed(bytes) => {
            "--thrift-transport framed"
        }
        _ => return explain(call, fault),
    };
    format!("the server speaks otherwise: add {other}")
}

fn is_framed(bytes: &[u8]) -> bool {
    let rest = bytes.get(FRAME_HEAD_BYTES..).unwrap_or_default();
    rest.starts_with(&BINARY_VERSION) || rest.first() == Some(&COMPACT_ID)
}
