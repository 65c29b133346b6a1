//! A gRPC client that needs no asynchronous runtime.
//!
//! A [`Channel`] makes any number of calls at once, from any thread. Calls that are made together
//! go out in one write. [`Channel::unary`] waits for the response, [`Channel::open`] begins a call
//! whose messages are sent one by one, and [`Channel::call`] returns at once: the response comes
//! by callback:
//!
//! ```
//! use bookend_client::{Channel, ChannelOptions, UnaryCall};
//! use std::sync::mpsc;
//!
//! # use bookend_server::{Context, HandlerKind, MethodDescriptor, Reply, Server, Service};
//! # struct Greeter;
//! # impl Service for Greeter {
//! #     fn name(&self) -> &'static str {
//! #         "helloworld.Greeter"
//! #     }
//! #     fn methods(&self) -> &'static [MethodDescriptor] {
//! #         &[MethodDescriptor { name: "SayHello", kind: HandlerKind::Inline }]
//! #     }
//! #     fn call(&self, _: usize, request: &[u8], _: &Context<'_>, reply: Reply<'_>) {
//! #         reply.message(|output| output.extend_from_slice(request));
//! #     }
//! # }
//! # let server = Server::builder().add_service(Greeter).bind("127.0.0.1:0")?.spawn()?;
//! # let address = server.local_address().to_string();
//! # let address = address.as_str();
//! let channel = Channel::connect(address, ChannelOptions::default())?;
//! let (sender, receiver) = mpsc::channel();
//! for name in ["Ada", "Grace"] {
//!     let request = [b"\x0a", &[name.len() as u8], name.as_bytes()].concat();
//!     let call = UnaryCall::new("/helloworld.Greeter/SayHello", request);
//!     let sender = sender.clone();
//!     channel.call(call, move |response| {
//!         sender.send(response.into_single_message()).unwrap();
//!     });
//! }
//! for message in receiver.iter().take(2) {
//!     println!("{} bytes", message?.len());
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! However a call ends, it ends with a status: the server's, or one of the channel's, such as
//! `DEADLINE_EXCEEDED` or, where the server cannot be reached, `UNAVAILABLE`. A [`ConnectError`]
//! means that there is no channel or no connection, and says whose fault that is.
//!
//! `docs/use/client.md` has the whole guide, with examples.
#![forbid(unsafe_code)]

mod call;
mod channel;
mod compression;
mod error;
mod partial_message;
mod response;
mod response_headers;
pub mod targets;
#[cfg(feature = "prost")]
pub mod typed;

pub use bookend_io::tls;
pub use bookend_wire::grpc::{Code, Encoding, MalformedBinary, Metadata, MetadataError, Status};
pub use call::{StreamCall, UnaryCall};
pub use channel::{
    CallEnd, Canceller, Channel, ChannelOptions, ReceivedMessage, Requests, Responses, SendError,
};
pub use error::{ConnectError, likely_cause_of_close};
#[cfg(feature = "prost")]
pub use prost;
#[cfg(feature = "prost")]
pub use prost_types;
pub use response::Response;
pub use targets::{TargetError, TargetName, Targets};

/// Includes the code that `bookend-codegen` wrote for the protobuf package of this name.
///
/// ```ignore
/// mod helloworld {
///     bookend_client::include_proto!("helloworld");
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

/// The examples of the guide, which must compile.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/use/client.md")]
struct Guide;

/// The same for TLS, of both ends.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/use/tls.md")]
struct TlsGuide;
