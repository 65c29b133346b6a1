//! Sockets, threads and timers: the drivers that move bytes for a shard.
