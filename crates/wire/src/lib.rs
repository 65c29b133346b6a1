//! HTTP/2, HPACK and gRPC as bytes and events: no socket, no clock, no allocation per request.
//!
//! A [`Connection`] is the same for clients and servers. It has two halves: the [`receiver`] turns
//! bytes into calls of a [`Visitor`], the [`Sender`] turns calls into bytes. The visitor receives
//! the sender, so that an answer can be written while the bytes of the next request are still being
//! read: there is no queue of events.
//!
//! ```text
//!   bytes in --> Receiver --(headers, data, reset, ...)--> Visitor
//!                                                             |
//!   bytes out <-- output <----------- Sender <----------------+
//! ```
//!
//! Each module knows one thing: [`frame`] the header of nine bytes in front of each payload,
//! [`hpack`] header compression, [`settings`] what each end announced, [`flow`] the windows,
//! [`grpc`] what gRPC adds. The crate is `no_std`, which proves that there is no input, output or
//! clock in it.
#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;

pub mod config;
pub mod connection;
pub mod error;
mod first_flight;
pub mod flow;
pub mod frame;
mod glitches;
pub mod grpc;
pub mod header_block;
mod header_block_cache;
pub mod hpack;
mod id_runs;
pub mod keepalive;
pub mod prepared_request;
pub mod receiver;
pub mod reset_pace;
pub mod reset_queue;
pub mod sender;
pub mod settings;
mod side;
mod stream_state;
mod streams;
mod validate;
pub mod visitor;

pub use config::ConnectionConfig;
pub use connection::Connection;
pub use error::{CannotOpen, ConnectionError, ErrorCode, Initiator};
pub use first_flight::FirstFlight;
pub use header_block::{ExtraField, HeaderBlock};
pub use hpack::{Field, HeaderList, Indexing};
pub use keepalive::Keepalive;
pub use prepared_request::PreparedRequest;
pub use reset_pace::ResetPace;
pub use reset_queue::ResetQueue;
pub use sender::Sender;
pub use side::Side;
pub use streams::StreamKey;
pub use visitor::{Visitor, WholeRequest, WholeResponse};
