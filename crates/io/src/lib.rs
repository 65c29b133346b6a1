//! Sockets, threads and timers: the drivers that move bytes for a shard.

pub mod blocking;
mod clock;
mod connection;
mod epoll;
mod listener;
mod machine;
mod mailbox;
mod options;
mod serve;
mod shard;
mod socket;
mod statistics;
mod stopper;
mod timeouts;
mod turn;
mod usage;
mod waker;
mod worker;

pub use clock::clock_ns;
pub use connection::RECEIVE_BUFFER_BYTES;
pub use epoll::Epoll;
pub use listener::{ACCEPT_BACK_OFF_NS, LISTEN_BACKLOG, Listener, listen};
pub use machine::{allowed_cpus, pin_current_thread, raise_descriptor_limit};
pub use mailbox::Mailbox;
pub use options::{BACKLOG_LIMIT_BYTES, CONNECT_TIMEOUT_NS, DRAIN_NS, Options, Wait};
pub use serve::{BLOCKING_CONNECTIONS_MAX, Driver, Io, ServeOptions, ShardPlace, serve};
pub use shard::{Closed, Opened, Received, Session, Shard, Then};
pub use statistics::Statistics;
pub use stopper::Stopper;
pub use turn::Turn;
pub use usage::{Usage, usage};
pub use waker::Waker;
