//! The calls of one connection, and the way of their requests to the handlers.

mod bodies;
mod call;
mod intercepting;
mod pooled;
mod preparing;
mod streams;
mod table;
mod timeouts;
mod visitor;

pub(crate) use table::{CallId, CallTable};
pub(crate) use timeouts::Patience;
pub(crate) use visitor::{CallEnvironment, GOAWAY_PING, RequestVisitor};
