//! Sockets, threads and timers: the drivers that move bytes for a shard.

mod clock;
mod shard;
mod statistics;
mod turn;

pub use clock::clock_ns;
pub use shard::{Closed, Opened, Received, Session, Shard, Then};
pub use statistics::Statistics;
pub use turn::Turn;
