//! Messages that are read and written in place: generated code calls this.
//!
//! The view of a request borrows its strings and bytes from what has come, and the writer of a
//! reply appends fields to what goes out, so neither allocates. A view is read in one pass, which
//! checks everything: lengths, numbers, UTF-8, and the elements of repeated fields, which are read
//! once more when they are asked for.
//!
//! What a view cannot hold, such as a message that comes in two pieces, is left to prost, as is all
//! that is wrong: so the words of an error are prost's.

use std::cell::Cell;

use bookend_wire::grpc::Status;
use prost::Message;

use crate::large_request::DecodedRequest;
use crate::reply::Reply;
use crate::status;

mod field_reader;
mod repeated;
mod view;
mod wire_kind;
mod writer;

pub use field_reader::{FieldReader, NotInPlace, WireKind};
pub use repeated::{Elements, Repeated};
pub use view::{MessageView, read};
pub use wire_kind::{
    Blob, Bool, Double, Fixed32, Fixed64, Float, Int32, Int64, Scalar, Sfixed32, Sfixed64, Sint32,
    Sint64, Uint32, Uint64, Utf8,
};
pub use writer::{
    MessageWriter, Presence, Text, put_bytes, put_message, put_number, put_numbers, put_text,
};

/// A buffer of replies that has grown larger than this goes back to the allocator.
const REPLY_BYTES_KEPT: usize = 64 << 10;

thread_local! {
    /// Where replies are written, since nothing of one may go out before its handler has returned.
    static REPLY: Cell<Vec<u8>> = const { Cell::new(Vec::new()) };
}

/// Answers a unary call at once. `call` reads the request, which is a `Q`, and writes the reply; it
/// is called again if its view cannot hold the request.
#[inline]
pub fn unary<Q: Message + Default>(
    request: &[u8],
    mut reply: Reply<'_>,
    call: impl Fn(&[u8], &mut Vec<u8>) -> Result<Result<(), Status>, NotInPlace>,
) {
    let prepared = if request.is_empty() { reply.take_decoded::<Vec<u8>>() } else { None };
    let request = prepared.as_deref().unwrap_or(request);
    let mut written = REPLY.take();
    let result = match call(request, &mut written) {
        Ok(result) => result,
        Err(NotInPlace) => match normalised::<Q>(request) {
            Ok(request) => call(&request, &mut written).unwrap_or_else(|_| Err(unreadable())),
            Err(status) => Err(status),
        },
    };
    match result {
        Ok(()) => reply.message(|output| output.extend_from_slice(&written)),
        Err(status) => reply.fail(status),
    }
    if written.capacity() <= REPLY_BYTES_KEPT {
        written.clear();
        REPLY.set(written);
    }
}

/// Prepares a large request for [`unary`], on any thread: [`crate::Service::decoder`].
///
/// # Errors
/// The status that ends the call.
pub fn prepared<Q: Message + Default>(
    request: &[u8],
    can_be_read: bool,
) -> Result<DecodedRequest, Status> {
    let bytes = if can_be_read { request.to_vec() } else { normalised::<Q>(request)? };
    Ok(DecodedRequest::new(bytes))
}

/// The same message as prost writes it: each field that may come once comes once.
#[cold]
fn normalised<Q: Message + Default>(request: &[u8]) -> Result<Vec<u8>, Status> {
    let message = Q::decode(request).map_err(|error| status::undecodable(&error))?;
    Ok(message.encode_to_vec())
}

#[cold]
fn unreadable() -> Status {
    status::internal("a view cannot hold the request that prost has written")
}
