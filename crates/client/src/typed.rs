//! Calls of prost messages: what `bookend-codegen` generates clients of.
//!
//! A function of a generated client prepares a call and sends nothing: [`TypedCall`] takes a
//! deadline and metadata, and then makes it.
//!
//! ```
//! use bookend_client::typed::{TypedCall, Unary};
//! use bookend_client::{Channel, Status};
//! use std::time::Duration;
//!
//! # #[derive(Clone, PartialEq, bookend_client::prost::Message)]
//! # struct HelloRequest { #[prost(string, tag = "1")] name: String }
//! # #[derive(Clone, PartialEq, bookend_client::prost::Message)]
//! # struct HelloReply { #[prost(string, tag = "1")] message: String }
//! # struct GreeterClient(Channel);
//! # impl GreeterClient {
//! #     fn say_hello(&self, request: &HelloRequest) -> TypedCall<Unary<HelloReply>> {
//! #         TypedCall::unary(&self.0, "/helloworld.Greeter/SayHello", request)
//! #     }
//! # }
//! fn greet(greeter: &GreeterClient, name: &str) -> Result<String, Status> {
//!     let request = HelloRequest { name: name.into() };
//!     let reply = greeter.say_hello(&request).timeout(Duration::from_secs(1)).wait()?;
//!     Ok(reply.message)
//! }
//! ```

mod halves;
mod kinds;

pub use halves::{PendingReply, ReplyReceiver, RequestSender};
pub use kinds::{BidirectionalStreaming, ClientStreaming, ServerStreaming, TypedCall, Unary};
