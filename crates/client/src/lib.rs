//! A small blocking gRPC client: one connection, one call at a time.
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
//! What a server says about a call is an [`Answer`] with a status, whatever the status is; so is a
//! deadline that passes. A [`ConnectError`] or a [`CallError`] means that the connection is of no
//! use, and says whose fault that is.
#![forbid(unsafe_code)]

mod answer;
mod call;
mod channel;
mod client;
mod error;
mod exchange;
mod greeting;
mod metadata;
mod options;
mod response;
mod transport;

pub use answer::Answer;
pub use bookend_wire::grpc::{Code, Status};
pub use call::Call;
pub use channel::{Channel, ChannelError, ChannelOptions, UnaryCall};
pub use client::Client;
pub use error::{CallError, ConnectError};
pub use metadata::{Metadata, MetadataError};
pub use options::Options;
