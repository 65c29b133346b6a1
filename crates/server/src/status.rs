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

pub(crate) fn handler_panicked() -> Status {
    internal("the handler panicked")
}

pub(crate) fn handler_dropped_call() -> Status {
    internal("the handler dropped the call")
}

pub(crate) fn unknown_method() -> Status {
    Status::new(Code::Unimplemented, "unknown method")
}

pub(crate) fn deadline_exceeded() -> Status {
    Status::new(Code::DeadlineExceeded, "the deadline has passed")
}

pub(crate) fn request_stalled() -> Status {
    let message = "nothing of the request has come for too long";
    Status::new(Code::DeadlineExceeded, message)
}

pub(crate) fn too_many_handlers() -> Status {
    Status::new(Code::ResourceExhausted, "too many calls wait for an answer")
}

pub(crate) fn pool_full() -> Status {
    let message = "as many calls as there is room for are being handled or wait for it";
    Status::new(Code::ResourceExhausted, message)
}

pub(crate) fn no_message() -> Status {
    cardinality("no message was sent to a method that takes one")
}

pub(crate) fn too_many_messages() -> Status {
    cardinality("more than one message was sent to a method that takes one")
}

/// The wrong number of messages, for which gRPC's tests want `UNIMPLEMENTED`.
fn cardinality(message: &str) -> Status {
    Status::new(Code::Unimplemented, message)
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

pub(crate) fn truncated_message() -> Status {
    internal("the request ended in the middle of a message")
}

pub(crate) fn too_much_unfinished(limit_bytes: usize) -> Status {
    let message = format!("unfinished requests of the connection exceed {limit_bytes} bytes");
    Status::new(Code::ResourceExhausted, message)
}

pub(crate) fn out_of_memory() -> Status {
    let message = "there is no memory for the message";
    Status::new(Code::ResourceExhausted, message)
}

/// A flagged message without `grpc-encoding`, for which gRPC's compression document wants
/// `INTERNAL`.
pub(crate) fn unexpected_compression() -> Status {
    internal("a compressed message came without grpc-encoding")
}

pub(crate) fn undecodable(why: &dyn Display) -> Status {
    internal(format!("the request cannot be decoded: {why}"))
}
