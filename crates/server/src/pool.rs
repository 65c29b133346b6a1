//! Handlers that block: each call has a thread of a bounded pool, and a channel to its shard.

mod call;
mod channel;
pub(crate) mod clients;
mod job;
mod shard_end;
pub(crate) mod threads;

pub use call::{PoolCall, PoolContext};
pub use channel::CallOver;
pub(crate) use channel::{PoolChannel, PoolMessage};
pub(crate) use job::PoolJob;
pub(crate) use shard_end::ShardEnd;
