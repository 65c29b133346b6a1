//! How connections and servers end: no call is lost that a client sent before it could know, and
//! both ends count the same.
//!
//! Virtual time where time matters, real sockets where drivers take part.

mod age;
#[path = "../support/chat.rs"]
mod chat;
mod client;
mod keepalive;
mod service;
mod sockets;
mod stopping;
