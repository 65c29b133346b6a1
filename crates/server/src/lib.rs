//! A gRPC server library on bookend-wire.
#![forbid(unsafe_code)]

mod call;
mod calls;
pub mod codec;
mod context;
mod head;
mod heads;
mod limits;
mod metadata;
mod reply;
mod responder;
mod router;
mod service;
mod shard;
mod stream_call;
mod stream_reply;
mod unary;

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
pub use shard::Counts;
pub use stream_reply::StreamReply;
