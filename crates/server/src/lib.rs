//! A gRPC server that runs handlers where the bytes arrive.
//!
//! One read brings many requests. Each is handled as soon as it is parsed, its response is appended
//! to the output, and one write sends all of them. There is no queue, lock or allocation between a
//! request and its handler. A handler is one of four kinds:
//!
//! - **inline**: it answers before it returns, and must not block;
//! - **deferred**: it gets a [`Responder`], which any thread may use later;
//! - **stream**: a state machine that gets each message, and stops when its replies are full
//!   ([`StreamHandler`]);
//! - **pool**: it has a thread and may block, on requests ([`RequestReceiver`]) and on room for
//!   replies ([`ReplySender`]).
//!
//! `bookend-codegen` generates services from `.proto` files, in a build script:
//!
//! ```ignore
//! mod helloworld {
//!     bookend_server::include_proto!("helloworld");
//! }
//! use helloworld::{Greeter, GreeterServer, HelloReply, HelloRequest};
//!
//! struct Polite;
//!
//! impl Greeter for Polite {
//!     fn say_hello(&self, request: HelloRequest, _: &Context<'_>) -> Result<HelloReply, Status> {
//!         Ok(HelloReply { message: format!("Hello {}!", request.name) })
//!     }
//! }
//! ```
//!
//! They may also be written by hand, for any encoding of messages:
//!
//! ```
//! use bookend_server::{Context, HandlerKind, Limits, MethodDescriptor, Reply, Server, Service};
//!
//! struct Echo;
//!
//! impl Service for Echo {
//!     fn name(&self) -> &'static str {
//!         "example.Echo"
//!     }
//!
//!     fn methods(&self) -> &'static [MethodDescriptor] {
//!         &[MethodDescriptor { name: "Echo", kind: HandlerKind::Inline }]
//!     }
//!
//!     fn call(&self, _method: usize, request: &[u8], _: &Context<'_>, reply: Reply<'_>) {
//!         reply.message(|output| output.extend_from_slice(request));
//!     }
//! }
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let server = Server::builder()
//!     .add_service(Echo)
//!     .limits(Limits::internet())
//!     .reflection()
//!     .bind("127.0.0.1:0")?
//!     .spawn()?;
//! println!("listening on {}", server.local_address());
//! server.stop();
//! println!("{} calls", server.join()?.calls.served());
//! # Ok(())
//! # }
//! ```
#![forbid(unsafe_code)]

// Generated code names this crate; the reflection service is generated and lies within it.
extern crate self as bookend_server;

pub mod borrowed;
mod call_event;
mod call_origin;
mod calls;
mod cancellation;
pub mod codec;
mod compression;
mod context;
mod counts;
mod encoding;
mod handshake_limits;
mod head;
mod head_cache;
mod health;
mod held_bytes;
mod interceptor;
mod kept;
mod large_request;
pub mod limits;
mod memory;
mod method;
mod metrics;
mod page;
mod peer_addresses;
mod pool;
mod preparation;
mod quick_hash;
pub mod reflection;
mod rejection;
mod reply;
mod responder;
mod response_metadata;
mod response_writer;
mod router;
pub mod rpc;
mod server;
mod service;
mod services;
mod shard;
mod status;
mod stream_reply;
mod stream_waker;
mod streaming_call;
mod timeouts;
#[cfg(feature = "tokio")]
pub mod tokio;
#[cfg(feature = "tracing")]
pub mod trace;
mod unary_request;
#[cfg(feature = "zstd")]
mod zstd;

pub use bookend_io as io;
pub use bookend_io::tls;
pub use bookend_io::{Io, Peer};
pub use bookend_wire::Keepalive;
pub use bookend_wire::grpc::{Code, MalformedBinary, Metadata, Status};
pub use cancellation::{Cancellation, Cancelled};
pub use codec::{Replies, ReplySender, RequestReceiver, StreamHandler};
pub use context::Context;
pub use counts::Counts;
pub use health::{HealthReporter, ServingStatus};
pub use interceptor::Interceptor;
pub use large_request::{DecodedRequest, RequestDecoder};
pub use limits::{
    CONNECTION_OUTPUT_BYTES, CONNECTION_SEND_BUFFER_BYTES, ConnectionAge, Limits, Rate,
    STREAM_SEND_BUFFER_BYTES, STREAM_TURN_BYTES, TURN_WORK_BYTES,
};
pub use method::{HandlerKind, MethodDescriptor};
pub use metrics::Metrics;
pub use page::HttpPage;
pub use pool::threads::{POOL_CLIENT_WAIT, POOL_QUEUED_CALLS, POOL_THREADS, PoolLimits};
pub use pool::{CallOver, PoolCall, PoolContext};
pub use prost;
pub use prost_types;
pub use reply::Reply;
pub use responder::{RawResponder, Responder};
pub use router::DuplicateService;
pub use server::{BindError, BoundServer, Server, ServerBuilder, ServerHandle, ServerStatistics};
pub use service::{InlineStream, Service};
pub use services::Services;
pub use shard::ServerShard;
pub use stream_reply::StreamReply;
pub use stream_waker::StreamWaker;

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

/// Includes the file that `bookend_codegen::Config::include_file` asked for: all packages, as
/// nested modules.
#[macro_export]
macro_rules! include_protos {
    ($file:literal) => {
        include!(concat!(env!("OUT_DIR"), "/", $file));
    };
}
