//! A gRPC server that runs handlers where the bytes arrive.
//!
//! A read brings many requests; each is handled as soon as it is seen, its answer written behind
//! the one before, and one write takes all of them away. No queue, no lock and no allocation lies
//! between a request and its handler. What follows for handlers:
//!
//! - an **inline** one answers before it returns, and must not block;
//! - a **deferred** one is given a [`Responder`], which any thread may use later;
//! - a **stream** is a state machine that is told of each message, and stops when it is full:
//!   [`StreamHandler`];
//! - one on the **pool** may block, and has requests to wait for: [`Requests`], [`ReplySender`].
//!
//! Services are generated from `.proto` files by `bookend-codegen`, in a build script:
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
//! or written by hand, whatever the encoding of the messages:
//!
//! ```
//! use bookend_server::{Context, Kind, Limits, Method, Reply, Server, Service};
//!
//! struct Echo;
//!
//! impl Service for Echo {
//!     fn name(&self) -> &'static str {
//!         "example.Echo"
//!     }
//!
//!     fn methods(&self) -> &'static [Method] {
//!         &[Method { name: "Echo", kind: Kind::Inline }]
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

mod budgets;
mod call;
mod calls;
mod cancellation;
pub mod codec;
mod compression;
mod context;
mod head;
mod heads;
mod inbox;
pub mod limits;
mod patience;
mod pool;
mod quick_hash;
pub mod reflection;
mod reply;
mod responder;
mod response_metadata;
mod router;
mod server;
mod service;
mod services;
mod shard;
mod stream_call;
mod stream_reply;
mod unary;

pub use bookend_io as io;
pub use bookend_io::Io;
pub use bookend_io::tls;
pub use bookend_wire::Keepalive;
pub use bookend_wire::grpc::{Code, Status};
pub use bookend_wire::grpc::{MalformedBinary, Metadata};
pub use budgets::{
    CONNECTION_OUTPUT_BYTES, CONNECTION_SEND_BUFFER_BYTES, INFLATED_TURN_BYTES,
    STREAM_SEND_BUFFER_BYTES, STREAM_TURN_BYTES,
};
pub use cancellation::Cancellation;
pub use codec::{Replies, ReplySender, Requests, StreamHandler};
pub use context::Context;
pub use limits::{ConnectionAge, Limits, Rate};
pub use pool::{CallContext, CallOver, POOL_QUEUED_CALLS, POOL_THREADS, PoolCall, PoolLimits};
pub use prost;
pub use prost_types;
pub use reply::Reply;
pub use responder::{Answerer, Responder};
pub use router::DuplicateService;
pub use server::{BindError, Bound, Builder, Handle, Server, Statistics};
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

/// Includes the file that `bookend_codegen::Config::include_file` asked for: all packages, as
/// nested modules.
#[macro_export]
macro_rules! include_protos {
    ($file:literal) => {
        include!(concat!(env!("OUT_DIR"), "/", $file));
    };
}
