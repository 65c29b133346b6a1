//! From `.proto` files to Rust: prost messages, a trait for each service and the code that connects
//! it to `bookend-server`, and clients for `bookend-client`. Used from a build script; neither
//! `protoc` nor any other program is needed.
//!
//! ```no_run
//! // build.rs
//! fn main() -> Result<(), bookend_codegen::Error> {
//!     bookend_codegen::Config::new()
//!         .deferred("shop.v1.Orders/Place")
//!         .compile(&["proto/orders.proto"], &["proto"])
//! }
//! ```
//!
//! and in the crate `mod orders { bookend_server::include_proto!("shop.v1"); }`.
//!
//! For `service Greeter` the generated file contains `trait Greeter`, with one function for each
//! method, and `GreeterServer<T: Greeter>`, which is added to a server. The kind of method
//! determines its function:
//!
//! | method | function |
//! |---|---|
//! | unary | returns the reply: `-> Result<Reply, Status>` |
//! | unary, named with [`Config::deferred`] | gets a `Responder<Reply>` for later |
//! | unary, named with [`Config::borrowed`] | a view of the request and a writer of the reply |
//! | streaming in either direction or both | returns a `Box<dyn StreamHandler<Request, Reply>>` |
//! | any, named with [`Config::pool`] | may block, on a thread of its own: see below |
//!
//! Views and writers are in the module `borrowed` next to the trait. A `HelloRequestView<'_>` has
//! the fields of `HelloRequest`, with `&str` for `String`, `&[u8]` for `Vec<u8>` and iterators for
//! `Vec`; a `HelloReplyWriter<'_>` has a function for each field of `HelloReply`, and that of a
//! message gets a closure that writes it. Both are for proto3, and for messages that do not contain
//! themselves.
//!
//! On the pool, a side with one message is an argument or the result. A side with any number of
//! messages is an iterator, `RequestReceiver<Request>`, or a `ReplySender<Reply>`. The last
//! argument is a `&PoolContext`:
//!
//! | method | arguments before the context | result |
//! |---|---|---|
//! | unary | `Request` | `Result<Reply, Status>` |
//! | server streaming | `Request`, `ReplySender<Reply>` | `Result<(), Status>` |
//! | client streaming | `RequestReceiver<Request>` | `Result<Reply, Status>` |
//! | both | `RequestReceiver<Request>`, `ReplySender<Reply>` | `Result<(), Status>` |
//!
//! [`Config::client`] generates `GreeterClient` instead, for a crate that uses `bookend-client` and
//! not the server, and [`Config::with_client`] both. A client has one function for each method,
//! which prepares a call: `greeter.say_hello(&request).timeout(second).wait()`.
//!
//! The generated code refers to `bookend_server`, `bookend_client` or both, and to nothing else, so
//! a crate that uses it needs no dependency on prost of its own.
#![forbid(unsafe_code)]

mod borrowed;
mod choices;
mod client;
mod config;
mod ends;
mod error;
mod service;

pub use config::Config;
pub use error::Error;
