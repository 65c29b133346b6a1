//! From `.proto` files to Rust: prost messages, a trait for each service, and the code that
//! connects the trait to `bookend-server`. Used from a build script; neither `protoc` nor any other
//! program is needed.
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
//! | streaming in either direction or both | returns a `Box<dyn StreamHandler<Request, Reply>>` |
//! | any, named with [`Config::pool`] | may block, on a thread of its own: see below |
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
//! The generated code refers to `bookend_server` only, so a crate that uses it needs no dependency
//! on prost of its own.
#![forbid(unsafe_code)]

mod choices;
mod config;
mod error;
mod service;

pub use config::Config;
pub use error::Error;
