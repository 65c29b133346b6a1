//! A gRPC client, in two sizes. Neither needs an asynchronous runtime.
//!
//! [`Client`] is one connection with one call at a time; the calling thread waits:
//!
//! ```no_run
//! use bookend_client::{Call, Client, Options};
//!
//! let mut client = Client::connect("127.0.0.1:50051", &Options::default())?;
//! let answer = client.call(&Call::new("/helloworld.Greeter/SayHello", &[b"\x0a\x05world"]))?;
//! assert_eq!(answer.status.code, bookend_client::Code::Ok);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! [`Channel`] is for everything else: any number of calls at once, from any thread. What comes
//! together goes out in one write. [`Channel::unary`] waits for its answer, [`Channel::open`]
//! begins a call whose messages go one by one, and with [`Channel::call`] nobody waits:
//!
//! ```
//! use bookend_client::{Channel, ChannelOptions, UnaryCall};
//! use std::sync::mpsc;
//!
//! # use bookend_server::{Context, Kind, Method, Reply, Server, Service};
//! # struct Greeter;
//! # impl Service for Greeter {
//! #     fn name(&self) -> &'static str {
//! #         "helloworld.Greeter"
//! #     }
//! #     fn methods(&self) -> &'static [Method] {
//! #         &[Method { name: "SayHello", kind: Kind::Inline }]
//! #     }
//! #     fn call(&self, _: usize, request: &[u8], _: &Context<'_>, reply: Reply<'_>) {
//! #         reply.message(|output| output.extend_from_slice(request));
//! #     }
//! # }
//! # let server = Server::builder().add_service(Greeter).bind("127.0.0.1:0")?.spawn()?;
//! # let address = server.local_address().to_string();
//! # let address = address.as_str();
//! let channel = Channel::connect(address, ChannelOptions::default())?;
//! let (tell, hear) = mpsc::channel();
//! for name in ["Ada", "Grace"] {
//!     let request = [b"\x0a", &[name.len() as u8], name.as_bytes()].concat();
//!     let call = UnaryCall::new("/helloworld.Greeter/SayHello", request);
//!     let tell = tell.clone();
//!     channel.call(call, move |answer| tell.send(answer.into_single_message()).unwrap());
//! }
//! for message in hear.iter().take(2) {
//!     println!("{} bytes", message?.len());
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! What a server says about a call is an [`Answer`] with a status, whatever the status is; so is a
//! deadline that passes. A [`ConnectError`] or a [`CallError`] means that the connection is of no
//! use, and says whose fault that is; a [`Channel`] makes a new one and tells its calls by their
//! status.
//!
//! `docs/use/client.md` tells all of it, with examples.
#![forbid(unsafe_code)]

mod answer;
mod call;
mod channel;
mod client;
mod encoding;
mod error;
mod exchange;
mod greeting;
mod metadata;
mod options;
mod response;
pub mod targets;
mod transport;
mod verdict;

pub use answer::Answer;
pub use bookend_io::tls;
pub use bookend_wire::grpc::{Code, Status};
pub use call::Call;
pub use channel::{
    CallEnd, Canceller, Channel, ChannelError, ChannelOptions, Keepalive, ReceivedMessage,
    Requests, Responses, SendError, StreamCall, UnaryCall,
};
pub use client::Client;
pub use encoding::Encoding;
pub use error::{CallError, ConnectError};
pub use metadata::{Metadata, MetadataError};
pub use options::Options;
pub use targets::{TargetError, TargetName, Targets};

/// The examples of the guide, which are to compile.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/use/client.md")]
struct Guide;

/// The same for TLS, of both ends.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/use/tls.md")]
struct TlsGuide;
