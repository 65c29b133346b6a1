//! Calls by Thrift: a method of an IDL file, its arguments from JSON, and what its reply has to be.
//!
//! - [`ThriftCall`] is what a run makes: requests that are encoded once, and the reply that each of
//!   them has to get.
//! - `idl` reads the files, `schema` is what they say, `json` reads arguments by it.
//! - `writer` and `reader` are the protocols, binary and compact; `check` walks a reply without
//!   building anything, `value` builds it, and `shown` is how people read it.
//! - `reply` takes a reply apart, and says what is wrong with it; `reply_end` waits for its end.

mod call;
mod check;
mod envelope;
mod error;
mod idl;
mod json;
mod reader;
mod reply;
mod reply_end;
mod request;
mod schema;
mod shown;
mod spoken;
#[cfg(test)]
mod tests;
mod value;
mod wire_kind;
mod writer;

pub use call::{ThriftCall, ThriftData};
pub use error::{ThriftCallError, ThriftError};
pub use idl::check_idl;
pub use reply::{ReplyFault, ThriftReply};
pub use reply_end::ReplyEnd;
pub use request::SequenceIds;
pub use spoken::{ThriftProtocol, ThriftTransport};
