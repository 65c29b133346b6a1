//! The statuses with which a server ends calls by itself.

use std::fmt::Display;

use bookend_wire::grpc::{Code, MessageError, Status};

pub(crate) fn internal(message: impl Into<String>) -> Status {
    Status::new(Code::Internal, message)
}

/// The status of a handler that failed. `OK` is not an error: the handler made a mistake.
pub(crate) fn of_handler(status: Status) -> Status {
    if status.code == Code::Ok { internal("the handler failed with the status OK") } else { status }
}

/// Statuses whose message is always the same.
macro_rules! statuses {
    ($($(#[doc = $doc:literal])* $name:ident: $code:ident, $message:literal;)*) => {$(
        $(#[doc = $doc])*
        pub(crate) fn $name() -> Status {
            Status::new(Code::$code, $message)
        }
    )*};
}

statuses! {
    handler_panicked: Internal, "the handler panicked";
    handler_dropped_call: Internal, "the handler dropped the call";
    unknown_method: Unimplemented, "unknown method";
    deadline_exceeded: DeadlineExceeded, "the deadline has passed";
    request_stalled: DeadlineExceeded, "nothing of the request has come for too long";
    too_many_handlers: ResourceExhausted, "too many calls wait for an answer";
    pool_full: ResourceExhausted,
        "as many calls as there is room for are being handled or wait for it";
    preparation_failed: Internal, "the request could not be decoded";
    too_long_on_the_pool: ResourceExhausted,
        "the call waited, for its client or its time, while others needed its thread";
    out_of_memory: ResourceExhausted, "there is no memory for the message";
    truncated_message: Internal, "the request ended in the middle of a message";
    /// The wrong number of messages, for which gRPC's tests want `UNIMPLEMENTED`.
    no_message: Unimplemented, "no message was sent to a method that takes one";
    /// As [`no_message`].
    too_many_messages: Unimplemented, "more than one message was sent to a method that takes one";
    /// A flagged message without `grpc-encoding`, for which gRPC's compression document wants
    /// `INTERNAL`.
    unexpected_compression: Internal, "a compressed message came without grpc-encoding";
}

pub(crate) fn message_too_large(length: usize, limit_bytes: usize) -> Status {
    let message = format!("a message of {length} bytes is larger than the limit of {limit_bytes}");
    Status::new(Code::ResourceExhausted, message)
}

/// A body that is not a sequence of messages.
pub(crate) fn malformed_body(error: MessageError) -> Status {
    match error {
        MessageError::TooLarge { declared_bytes, limit_bytes } => {
            message_too_large(declared_bytes as usize, limit_bytes)
        }
        MessageError::BadFlag(_) => internal(error.to_string()),
    }
}

pub(crate) fn too_much_unfinished(limit_bytes: usize) -> Status {
    let message = format!("unfinished requests of the connection exceed {limit_bytes} bytes");
    Status::new(Code::ResourceExhausted, message)
}

pub(crate) fn undecodable(why: &dyn Display) -> Status {
    internal(format!("the request cannot be decoded: {why}"))
}
