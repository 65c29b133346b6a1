//! The load generator and the channel against servers that misbehave: how every call ends, and what
//! the server has seen of it. The servers write their own octets; nothing of `bookend-wire` is in
//! them.

mod attempts;
mod behaviour;
mod cases;
mod channel;
mod conversation;
mod courtesy;
mod frames;
mod load;
#[path = "../support/plans.rs"]
mod plans;
mod server;
mod streaming;
