//! Putting a server together: a listener, threads, a shard on each.

mod acceptor;
mod event_loop;
mod options;
mod reuse_port;
mod thread_pool;
mod threads;

pub use options::{BLOCKING_CONNECTIONS_MAX, Driver, Io, ServeOptions, ShardPlace};

use crate::listener::Listener;
use crate::shard::Shard;
use crate::statistics::IoStatistics;
use event_loop::EventLoop;
use std::io;
use std::num::NonZeroUsize;

/// Accepts from `listener` and serves until the options' [`crate::ShutdownHandle`] is called, then
/// joins every thread and says what all of them did together.
///
/// `make_shard` is called on each thread for the shard that runs there. [`Io::Auto`], [`Io::Epoll`]
/// and [`Io::Uring`] with one thread need no other than the calling one, which it pins; otherwise
/// the calling thread accepts and hands the connections out, or waits where the threads accept for
/// themselves ([`ServeOptions::reuse_port`]). A shard that stops by itself ends the whole server.
///
/// # Errors
/// The machine's: no descriptors or threads can be had, or none of the processors may be used.
/// `InvalidInput` where the driver or the address has no use for [`ServeOptions::reuse_port`].
///
/// # Panics
/// Where a shard has, after the other threads have ended.
pub fn serve<S: Shard>(
    listener: Listener,
    options: &ServeOptions,
    make_shard: impl Fn(ShardPlace) -> S + Sync,
) -> io::Result<IoStatistics> {
    options.check_reuse_port(listener.local_address())?;
    let is_alone = options.threads == NonZeroUsize::MIN;
    match options.io {
        Io::Auto | Io::Epoll | Io::Uring if is_alone => serve_alone(listener, options, make_shard),
        Io::Epoll | Io::Uring | Io::Auto if options.reuse_port => {
            reuse_port::serve(listener, options, &make_shard)
        }
        Io::Auto | Io::Blocking | Io::Epoll | Io::Uring => {
            thread_pool::serve(listener, options, &make_shard)
        }
    }
}

fn serve_alone<S: Shard>(
    listener: Listener,
    options: &ServeOptions,
    make_shard: impl Fn(ShardPlace) -> S,
) -> io::Result<IoStatistics> {
    options.pin(0)?;
    let mut place =
        ShardPlace { thread: 0, driver: options.event_loop(), waker: options.shutdown.waker()? };
    let driver = EventLoop::new(&mut place, options.driver)?.accept_from(listener)?;
    driver.run(make_shard(place))
}
