//! The load generator and the channel against servers that misbehave: how every call ends, and what
//! the server has seen of it. The servers write their own bytes; nothing of `bookend-wire` is in
//! them.

mod behaviour;
mod cases;
mod channel;
mod failed_connections;
mod load;
mod peer_limits;
#[path = "../support/plans.rs"]
mod plans;
mod server;
mod server_connection;
mod streaming;
