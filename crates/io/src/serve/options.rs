//! How to serve: which driver, how many threads, where they run.

use crate::address::Address;
use crate::machine;
use crate::names::named;
use crate::options::IoOptions;
use crate::shutdown::ShutdownHandle;
use crate::uring_refusal::UringRefusal;
use crate::waker::Waker;
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
    /// On one thread epoll: a blocking thread would take its processor from it
    /// (docs/measure/performance.md). With more threads the first connections, as many as there are
    /// threads, get a blocking thread each; those that come while these are taken go to epoll.
    #[default]
    Auto,
    /// A thread a connection, at most [`BLOCKING_CONNECTIONS_MAX`].
    Blocking,
    /// All connections spread evenly over the threads, each of which has an epoll.
    Epoll,
    /// All connections spread evenly over the threads, each of which has an io_uring. Where that
    /// cannot be used (see [`UringRefusal`]) it is epoll, and [`ServeOptions::chosen`] says why.
    Uring,
}

/// How to serve.
#[derive(Clone, Debug)]
pub struct ServeOptions {
    /// Which driver.
    pub io: Io,
    /// Epoll or io_uring shards; with [`Io::Auto`] and more than one also blocking ones.
    pub threads: NonZeroUsize,
    /// CPUs to pin threads to: the first threads get one each, later ones may use all. Empty: no
    /// pinning.
    pub cpus: Vec<usize>,
    /// Whether each thread accepts for itself, from a listener of its own on the same port
    /// (`SO_REUSEPORT`), instead of getting its connections from one that accepts for all. For
    /// epoll and io_uring; [`Io::Auto`] then is epoll for all connections.
    pub reuse_port: bool,
    /// Stops it.
    pub shutdown: ShutdownHandle,
    /// The options of each driver.
    pub driver: IoOptions,
}

/// Which driver a shard runs on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Driver {
    /// One connection at a time.
    Blocking,
    /// Any number, by readiness.
    Epoll,
    /// Any number, by completion: the kernel reads and writes.
    Uring,
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
    pub fn new(shutdown: ShutdownHandle) -> Self {
        Self {
            io: Io::default(),
            threads: thread::available_parallelism().unwrap_or(NonZeroUsize::MIN),
            cpus: Vec::new(),
            reuse_port: false,
            shutdown,
            driver: IoOptions { counts_busy_time: false, ..IoOptions::default() },
        }
    }

    /// Describes the choice in words, for a log: including what is used instead of io_uring where
    /// that cannot be used, and why.
    pub fn chosen(&self) -> String {
        if self.io == Io::Uring
            && let Some(refusal) = UringRefusal::ask()
        {
            let instead = Self { io: Io::Epoll, ..self.clone() };
            return format!("{}: {refusal}", instead.in_words());
        }
        self.in_words()
    }

    fn in_words(&self) -> String {
        let threads = self.threads;
        match self.io {
            Io::Auto if threads.get() > 1 && !self.reuse_port => format!(
                "auto: blocking for up to {threads} connection(s), \
                 epoll on {threads} thread(s) for the rest"
            ),
            Io::Blocking => {
                format!("blocking: a thread a connection, up to {BLOCKING_CONNECTIONS_MAX}")
            }
            Io::Auto | Io::Epoll | Io::Uring => {
                let driver = self.event_loop();
                let listeners =
                    if self.reuse_port { ", each with a listener of its own" } else { "" };
                format!("{driver} on {threads} thread(s){listeners}")
            }
        }
    }

    /// The driver of those connections that do not have a thread each.
    pub(super) fn event_loop(&self) -> Driver {
        match self.io {
            Io::Uring => Driver::Uring,
            Io::Auto | Io::Blocking | Io::Epoll => Driver::Epoll,
        }
    }

    /// Whether the threads can have listeners of their own, if they are to.
    pub(super) fn check_reuse_port(&self, address: &Address) -> io::Result<()> {
        let text = match (self.io, address) {
            _ if !self.reuse_port => return Ok(()),
            (Io::Blocking, _) => {
                "blocking threads have one connection each and get it from one listener: \
                 SO_REUSEPORT is for epoll and uring"
            }
            (_, Address::Unix(_)) => "a unix socket has one listener: SO_REUSEPORT is for TCP",
            (_, Address::Tcp(_)) => return Ok(()),
        };
        Err(io::Error::new(io::ErrorKind::InvalidInput, text))
    }

    /// Keeps the calling thread, the `thread`th of its driver, to its processors.
    pub(super) fn pin(&self, thread: usize) -> io::Result<()> {
        match (self.cpus.get(thread), self.cpus.as_slice()) {
            (_, []) => Ok(()),
            (Some(&cpu), _) => machine::pin_current_thread(&[cpu]),
            (None, cpus) => machine::pin_current_thread(cpus),
        }
    }
}

named!(Io { Auto = "auto", Blocking = "blocking", Epoll = "epoll", Uring = "uring" });
named!(Driver { Blocking = "blocking", Epoll = "epoll", Uring = "uring" });

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_choice_is_said_in_words() {
        let mut options = ServeOptions::new(ShutdownHandle::new());
        options.threads = NonZeroUsize::new(3).unwrap();
        let said = |io| ServeOptions { io, ..options.clone() }.chosen();
        assert!(said(Io::Auto).contains("up to 3 connection(s), epoll on 3 thread(s)"));
        assert!(said(Io::Blocking).contains("4096"));
        assert_eq!(said(Io::Epoll), "epoll on 3 thread(s)");
        if UringRefusal::ask().is_none() {
            assert_eq!(said(Io::Uring), "uring on 3 thread(s)");
        }
        options.reuse_port = true;
        let said = options.chosen();
        assert_eq!(said, "epoll on 3 thread(s), each with a listener of its own");
    }
}
