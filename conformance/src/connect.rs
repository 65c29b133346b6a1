//! What the two shims of connectconformance have in common: its messages, how they go through
//! pipes, and errors with details.

mod details;
mod pipe;

pub use details::{Details, STATUS_DETAILS};
pub use pipe::{read, write};

/// The messages and the service of the suite.
#[allow(missing_docs, clippy::all, reason = "generated from the suite's files")]
pub mod messages {
    bookend_server::include_proto!("connectrpc.conformance.v1");
}

#[allow(missing_docs, reason = "generated")]
mod rpc {
    bookend_server::include_proto!("google.rpc");
}
