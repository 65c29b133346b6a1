//! A gRPC server library on bookend-wire.
#![forbid(unsafe_code)]

// Generated code names this crate; the reflection service is generated and lies within it.
extern crate self as bookend_server;

mod call;
mod calls;
pub mod codec;
mod context;
mod head;
mod heads;
mod limits;
mod metadata;
pub mod reflection;
mod reply;
mod responder;
mod router;
mod service;
mod services;
mod shard;
mod stream_call;
mod stream_reply;
mod unary;

pub use bookend_io as io;
pub use bookend_wire::grpc::{Code, Status};
pub use codec::{Replies, StreamHandler};
pub use context::Context;
pub use limits::Limits;
pub use metadata::Metadata;
pub use prost;
pub use prost_types;
pub use reply::Reply;
pub use responder::{Answerer, Responder};
pub use router::DuplicateService;
pub use service::{InlineStream, Kind, Method, Service};
pub use services::Services;
pub use shard::{Counts, ServerShard};
pub use stream_reply::StreamReply;

/// Includes the code that `bookend-codegen` wrote for the protobuf package of this name.
///
/// ```ignore
/// mod helloworld {
///     bookend_server::include_proto!("helloworld");
/// }
/// ```
#[macro_export]
macro_rules! include_proto {
    ($package:literal) => {
        include!(concat!(env!("OUT_DIR"), "/", $package, ".rs"));
    };
}

/// Includes the file that `bookend_codegen::Config::include_file` asked for: all packages, as nested
/// modules.
#[macro_export]
macro_rules! include_protos {
    ($file:literal) => {
        include!(concat!(env!("OUT_DIR"), "/", $file));
    };
}
