//! Sockets, threads and timers: the drivers that move bytes for a shard.
//!
//! A [`Shard`] is what one thread owns: its connections, its timers, its counters. A driver owns
//! the sockets and calls the shard; the shard owns the protocol and never sees a socket. Servers
//! and clients are shards alike. `docs/internals/shard.md` says what each call means and what can
//! be relied on.
//!
//! - [`Epoll`] runs a shard with any number of connections on one thread.
//! - [`Uring`] does the same with io_uring: one system call a turn, for however many connections.
//!   It needs the feature `uring`, which is on by default.
//! - [`blocking`] runs a shard with one connection at a time, in two system calls a turn.
//! - [`serve`] puts a server together: a [`Listener`], threads, a shard on each, a
//!   [`ShutdownHandle`].
//! - [`tls`] stands between a driver and a shard, and neither knows.
//! - [`simulated`] runs a shard in memory and in virtual time, for tests.
//! - [`ByteStream`] is a blocking connection for callers that need no driver.
//! - [`Waker`] and [`Mailbox`] bring calls and values from other threads into a shard.
//!
//! A server that gives back what it is given:
//!
//! ```
//! use bookend_io::*;
//! use std::io::{Read, Write};
//!
//! struct Echo;
//!
//! impl Shard for Echo {
//!     fn received(&mut self, id: ConnectionId, bytes: &[u8], io: &mut IoContext) -> Received {
//!         io.output(id).extend_from_slice(bytes);
//!         Received { consumed: bytes.len(), after: AfterRead::Continue }
//!     }
//!     fn opened(&mut self, _: ConnectionId, _: Opened, _: &mut IoContext) {}
//!     fn writable(&mut self, _: ConnectionId, _: &mut IoContext) {}
//!     fn closed(&mut self, _: ConnectionId, _: Closed, _: &mut IoContext) {}
//!     fn woken(&mut self, _: &mut IoContext) {}
//!     fn next_deadline(&self) -> Option<u64> {
//!         None
//!     }
//! }
//!
//! let listener = listen(std::net::SocketAddr::from(([127, 0, 0, 1], 0)))?;
//! let address = listener.local_address().clone();
//! let shutdown = ShutdownHandle::new();
//! let options = ServeOptions::new(shutdown.clone());
//! let server = std::thread::spawn(move || serve(listener, &options, |_| Echo));
//!
//! let mut client = std::net::TcpStream::connect(address)?;
//! let mut answer = [0; 5];
//! client.write_all(b"hello")?;
//! client.read_exact(&mut answer)?;
//! assert_eq!(&answer, b"hello");
//!
//! shutdown.stop();
//! let statistics = server.join().expect("no shard panics")?;
//! assert_eq!((statistics.accepted, statistics.sent_bytes), (1, 5));
//! # Ok::<(), std::io::Error>(())
//! ```

mod address;
pub mod blocking;
mod byte_stream;
mod clock;
mod connection_state;
mod context;
mod deadlines;
mod driver_timeouts;
mod epoll;
#[cfg(feature = "faults")]
pub mod faults;
mod free_memory;
mod kernel;
mod listener;
mod machine;
mod mailbox;
mod names;
mod options;
mod polled_connection;
#[cfg(feature = "uring")]
mod ring;
mod serve;
mod shard;
mod shutdown;
pub mod simulated;
mod socket;
mod socket_file;
mod statistics;
pub mod tls;
#[cfg(feature = "uring")]
mod uring;
#[cfg(not(feature = "uring"))]
#[path = "uring_left_out.rs"]
mod uring;
mod uring_refusal;
mod usage;
mod waker;
mod worker;
mod worker_slots;

pub use address::{Address, Target, UNIX_PATH_BYTES_MAX};
pub use byte_stream::ByteStream;
pub use clock::clock_ns;
pub use connection_state::RECEIVE_BUFFER_BYTES;
pub use context::{IoContext, Peer};
pub use deadlines::{DeadlineHeap, TimeoutQueue};
pub use epoll::Epoll;
pub use free_memory::return_free_memory;
pub use listener::{ACCEPT_BACK_OFF_NS, LISTEN_BACKLOG, Listener, listen};
pub use machine::{
    allowed_cpus, is_out_of_descriptors, pin_current_thread, raise_descriptor_limit, reason,
};
pub use mailbox::Mailbox;
pub use names::UnknownName;
pub use options::{
    BACKLOG_LIMIT_BYTES, CONNECT_TIMEOUT_NS, DRAIN_NS, FINAL_FLUSH_NS, IoOptions, Wait,
};
pub use serve::{BLOCKING_CONNECTIONS_MAX, Driver, Io, ServeOptions, ShardPlace, serve};
pub use shard::{AfterRead, Closed, ConnectionId, Opened, Received, Shard};
pub use shutdown::ShutdownHandle;
pub use statistics::IoStatistics;
pub use uring::Uring;
pub use uring_refusal::UringRefusal;
pub use usage::{Usage, usage};
pub use waker::{WakeBatch, Waker};
