//! Putting a server together: a listener, threads, a shard on each.

mod acceptor;
mod crew;
mod seats;
mod spread;
mod threads;

pub(crate) use seats::Seats;

use crate::address::Address;
use crate::epoll::Epoll;
use crate::listener::Listener;
use crate::machine;
use crate::options::Options;
use crate::shard::Shard;
use crate::statistics::Statistics;
use crate::stopper::Stopper;
use crate::waker::Waker;
use std::fmt;
use std::io;
use std::num::NonZeroUsize;
use std::thread;

/// Connections that the blocking drivers of one server serve at a time; further ones wait in the
/// listener's queue. A thread each: as many as that queue holds, and well under the 32,768 threads
/// that Linux allows a machine of ordinary size.
pub const BLOCKING_CONNECTIONS_MAX: usize = 4096;

/// Which driver serves the connections.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Io {
    /// The first connections (as many as there are threads) get a blocking thread each, where one
    /// connection is served cheapest; those that come while these are taken go to epoll.
    #[default]
    Auto,
    /// A thread a connection, at most [`BLOCKING_CONNECTIONS_MAX`].
    Blocking,
    /// All connections spread evenly over the threads.
    Epoll,
}

/// How to serve.
#[derive(Clone, Debug)]
pub struct ServeOptions {
    /// Which driver.
    pub io: Io,
    /// Epoll shards; with [`Io::Auto`] also blocking ones.
    pub threads: NonZeroUsize,
    /// Where the threads may run: each of the first threads on one of these, later ones on all.
    /// Empty: wherever the kernel puts them.
    pub cpus: Vec<usize>,
    /// Whether each thread accepts for itself, from a listener of its own on the same port
    /// (`SO_REUSEPORT`), instead of getting its connections from one that accepts for all. For
    /// epoll, which [`Io::Auto`] then is for all connections.
    pub reuse_port: bool,
    /// Ends it.
    pub stopper: Stopper,
    /// What each driver is told.
    pub driver: Options,
}

/// Which driver a shard runs on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Driver {
    /// One connection at a time.
    Blocking,
    /// Any number.
    Epoll,
}

/// Where a shard is made: on the thread that will run it.
#[derive(Clone, Debug)]
pub struct ShardPlace {
    /// Number of the thread among those of its driver, from 0.
    pub thread: usize,
    /// What drives it.
    pub driver: Driver,
    /// Calls it from other threads.
    pub waker: Waker,
}

impl ServeOptions {
    /// As many threads as the process has processors, unpinned, [`Io::Auto`], busy time uncounted:
    /// a server's processor time is the kernel's to tell.
    pub fn new(stopper: Stopper) -> Self {
        Self {
            io: Io::default(),
            threads: thread::available_parallelism().unwrap_or(NonZeroUsize::MIN),
            cpus: Vec::new(),
            reuse_port: false,
            stopper,
            driver: Options {
                counts_busy_time: false,
                ..Options::default()
            },
        }
    }

    /// What was chosen, in words, for whoever starts a server.
    pub fn chosen(&self) -> String {
        let threads = self.threads;
        match self.io {
            Io::Auto | Io::Epoll if self.reuse_port => {
                format!("epoll on {threads} thread(s), each with a listener of its own")
            }
            Io::Auto => format!(
                "auto: blocking for up to {threads} connection(s), \
                 epoll on {threads} thread(s) for the rest"
            ),
            Io::Blocking => {
                format!("blocking: a thread a connection, up to {BLOCKING_CONNECTIONS_MAX}")
            }
            Io::Epoll => format!("epoll on {threads} thread(s)"),
        }
    }

    /// Whether the threads can have listeners of their own, if they are to.
    fn check_reuse_port(&self, listener: &Listener) -> io::Result<()> {
        let text = match (self.io, listener.local_address()) {
            _ if !self.reuse_port => return Ok(()),
            (Io::Blocking, _) => {
                "blocking threads have one connection each and get it from one listener: \
                 SO_REUSEPORT is for epoll"
            }
            (_, Address::Unix(_)) => "a unix socket has one listener: SO_REUSEPORT is for TCP",
            (_, Address::Tcp(_)) => return Ok(()),
        };
        Err(io::Error::new(io::ErrorKind::InvalidInput, text))
    }

    /// Keeps the calling thread, the `thread`th of its driver, to its processors.
    fn pin(&self, thread: usize) -> io::Result<()> {
        match (self.cpus.get(thread), self.cpus.as_slice()) {
            (_, []) => Ok(()),
            (Some(&cpu), _) => machine::pin_current_thread(&[cpu]),
            (None, cpus) => machine::pin_current_thread(cpus),
        }
    }
}

impl fmt::Display for Driver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Blocking => "blocking",
            Self::Epoll => "epoll",
        })
    }
}

/// Accepts from `listener` and serves until the options' [`Stopper`] is called, then joins every
/// thread and says what all of them did together.
///
/// `make_shard` is called on each thread for the shard that runs there. [`Io::Epoll`] with one
/// thread needs no other than the calling one, which it pins; otherwise the calling thread accepts
/// and hands the connections out, or waits where the threads accept for themselves
/// ([`ServeOptions::reuse_port`]). A shard that stops of itself ends the whole server.
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
) -> io::Result<Statistics> {
    options.check_reuse_port(&listener)?;
    let is_alone = options.threads == NonZeroUsize::MIN;
    match options.io {
        Io::Epoll if is_alone => serve_alone(listener, options, make_shard),
        Io::Epoll | Io::Auto if options.reuse_port => spread::serve(listener, options, &make_shard),
        Io::Auto | Io::Blocking | Io::Epoll => crew::serve(listener, options, &make_shard),
    }
}

fn serve_alone<S: Shard>(
    listener: Listener,
    options: &ServeOptions,
    make_shard: impl Fn(ShardPlace) -> S,
) -> io::Result<Statistics> {
    options.pin(0)?;
    let waker = options.stopper.waker()?;
    let driver = Epoll::new(waker.clone(), options.driver)?.accept_from(listener)?;
    let shard = make_shard(ShardPlace {
        thread: 0,
        driver: Driver::Epoll,
        waker,
    });
    Ok(driver.run(shard)?.1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_choice_is_said_in_words() {
        let mut options = ServeOptions::new(Stopper::new());
        options.threads = NonZeroUsize::new(3).unwrap();
        let said = |io| {
            ServeOptions {
                io,
                ..options.clone()
            }
            .chosen()
        };
        assert!(said(Io::Auto).contains("up to 3 connection(s), epoll on 3 thread(s)"));
        assert!(said(Io::Blocking).contains("4096"));
        assert_eq!(said(Io::Epoll), "epoll on 3 thread(s)");
        options.reuse_port = true;
        let said = options.chosen();
        assert_eq!(
            said,
            "epoll on 3 thread(s), each with a listener of its own"
        );
    }
}
