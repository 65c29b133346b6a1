//! Putting a server together: services, limits, an address, threads.

use std::fmt;
use std::io;
use std::net::ToSocketAddrs;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::Duration;

use bookend_io::{Address, Io, Listener, ServeOptions, ShutdownHandle, Wait, listen, serve, tls};

use crate::limits::{DRAIN_NS, Limits};
use crate::pool::PoolLimits;
use crate::reflection;
use crate::router::DuplicateService;
use crate::service::Service;
use crate::services::Services;
use crate::shard::Counts;

/// A gRPC server: [`Server::builder`], then [`Builder::bind`], then [`Bound::serve`] or
/// [`Bound::spawn`].
#[derive(Clone, Copy, Debug)]
pub struct Server;

impl Server {
    /// A server without services, with [`Limits::internet`].
    pub fn builder() -> Builder {
        Builder {
            services: Vec::new(),
            limits: Limits::internet(),
            pool: PoolLimits::default(),
            reflection: false,
            page: None,
        }
    }
}

/// Services and limits of a server that has no address yet.
pub struct Builder {
    services: Vec<Arc<dyn Service>>,
    limits: Limits,
    pool: PoolLimits,
    reflection: bool,
    page: Option<String>,
}

impl Builder {
    /// Adds a service, usually a generated `...Server`.
    pub fn add_service(mut self, service: impl Service) -> Self {
        self.services.push(Arc::new(service));
        self
    }

    /// What is taken from clients.
    pub fn limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// How many handlers may block, and how many calls may wait for that.
    pub fn pool(mut self, pool: PoolLimits) -> Self {
        self.pool = pool;
        self
    }

    /// Adds server reflection (v1 and v1alpha), which tells clients what the other services are.
    pub fn reflection(mut self) -> Self {
        self.reflection = true;
        self
    }

    /// What a request gets that is not gRPC's: plain text, for people. Without it, such a request
    /// is refused with HTTP status 405 or 415.
    pub fn page(mut self, text: impl Into<String>) -> Self {
        self.page = Some(text.into());
        self
    }

    /// Joins the services, for who drives shards with loops of their own.
    ///
    /// # Errors
    /// Where two services have one name.
    pub fn build(mut self) -> Result<Services, DuplicateService> {
        if self.reflection {
            self.services.extend(reflection::services(&self.services));
        }
        Services::new(&self.services, self.limits, self.pool, self.page)
    }

    /// Listens on the first of these addresses that can be had; port 0 takes a free one. Clients
    /// may connect from here on, and are answered once the server serves.
    ///
    /// # Errors
    /// Where none can be had, or two services have one name.
    pub fn bind(self, address: impl ToSocketAddrs) -> Result<Bound, BindError> {
        let services = self.build()?;
        Ok(Bound::new(listen_first(address)?, services))
    }

    /// Listens on a unix socket of this path, in the place of one that nobody listens on any more.
    /// Its file goes with the server.
    ///
    /// # Errors
    /// Where it cannot be had, or two services have one name.
    pub fn bind_unix(self, path: impl Into<PathBuf>) -> Result<Bound, BindError> {
        let services = self.build()?;
        Ok(Bound::new(listen(Address::Unix(path.into()))?, services))
    }
}

/// Why a server got no address.
#[derive(Debug)]
pub enum BindError {
    /// Two services were added with one name.
    DuplicateService(DuplicateService),
    /// The address is no address, is in use, or is not allowed.
    Address(io::Error),
}

impl fmt::Display for BindError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            BindError::DuplicateService(error) => error.fmt(f),
            BindError::Address(error) => write!(f, "cannot listen: {error}"),
        }
    }
}

impl std::error::Error for BindError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            BindError::DuplicateService(error) => Some(error),
            BindError::Address(error) => Some(error),
        }
    }
}

impl From<DuplicateService> for BindError {
    fn from(error: DuplicateService) -> Self {
        BindError::DuplicateService(error)
    }
}

impl From<io::Error> for BindError {
    fn from(error: io::Error) -> Self {
        BindError::Address(error)
    }
}

fn listen_first(address: impl ToSocketAddrs) -> io::Result<Listener> {
    let none = || io::Error::new(io::ErrorKind::InvalidInput, "the name has no address");
    let mut result = Err(none());
    for address in address.to_socket_addrs()? {
        result = listen(address);
        if result.is_ok() {
            break;
        }
    }
    result
}

/// A server that listens.
pub struct Bound {
    listener: Listener,
    services: Services,
    options: ServeOptions,
    tls: Option<tls::ServerConfig>,
}

impl Bound {
    fn new(listener: Listener, services: Services) -> Self {
        let mut options = ServeOptions::new(ShutdownHandle::new());
        options.driver.drain_ns = DRAIN_NS;
        Self {
            listener,
            services,
            options,
            tls: None,
        }
    }

    /// Takes connections with TLS and no others. Clients are to offer `h2` by ALPN.
    pub fn tls(mut self, config: tls::ServerConfig) -> Self {
        self.tls = Some(config);
        self
    }

    /// Which driver serves the connections; [`Io::Auto`] if nothing is said.
    pub fn io(mut self, io: Io) -> Self {
        self.options.io = io;
        self
    }

    /// How many threads; 0, as if nothing is said: as many as the process has processors.
    pub fn threads(mut self, threads: usize) -> Self {
        if let Some(threads) = NonZeroUsize::new(threads) {
            self.options.threads = threads;
        }
        self
    }

    /// How the threads wait for something to do. The busy time of those that spin is counted: their
    /// processor time says nothing.
    pub fn wait(mut self, wait: Wait) -> Self {
        self.options.driver.wait = wait;
        self.options.driver.counts_busy_time |= wait == Wait::Spin;
        self
    }

    /// Whether each thread accepts for itself, from a listener of its own on the same port
    /// (`SO_REUSEPORT`). For epoll on TCP; [`Bound::serve`] says so of anything else.
    pub fn reuse_port(mut self, reuse_port: bool) -> Self {
        self.options.reuse_port = reuse_port;
        self
    }

    /// Keeps the threads to these processors, one each.
    pub fn cpus(mut self, cpus: Vec<usize>) -> Self {
        self.options.cpus = cpus;
        self
    }

    /// How long calls may go on when the server is told to stop: 8 s if nothing is said. Those that
    /// are left end with `UNAVAILABLE`.
    pub fn drain(mut self, time: Duration) -> Self {
        self.options.driver.drain_ns = u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
        self
    }

    /// Where it listens, with the port that was chosen.
    pub fn local_address(&self) -> &Address {
        self.listener.local_address()
    }

    /// The port that it listens on; `None` for a unix socket.
    pub fn port(&self) -> Option<u16> {
        self.listener.port()
    }

    /// Ends the server from another thread.
    pub fn shutdown_handle(&self) -> ShutdownHandle {
        self.options.shutdown.clone()
    }

    /// What was chosen to serve with, in words.
    pub fn chosen(&self) -> String {
        self.options.chosen()
    }

    /// Serves on this thread, and on others where that was chosen, until the
    /// [`Bound::shutdown_handle`] is called and the calls that were going on are answered (or
    /// [`Bound::drain`] is up).
    ///
    /// What was sent before a client could know of the end is answered: connections that wait to
    /// be accepted are, clients are asked to send no more, and what they sent before they read that
    /// is handled.
    ///
    /// # Errors
    /// The machine's; not for anything a client can do.
    pub fn serve(self) -> io::Result<Statistics> {
        let Bound {
            listener,
            services,
            options,
            tls,
        } = self;
        let io = match &tls {
            None => serve(listener, &options, |place| services.shard(place.waker))?,
            Some(config) => serve(listener, &options, |place| {
                tls::Secured::accepting(services.shard(place.waker), config.clone())
            })?,
        };
        Ok(Statistics {
            calls: services.counts(),
            io,
            handshakes: tls.map(|config| config.handshakes()).unwrap_or_default(),
        })
    }

    /// Serves on a thread of its own.
    ///
    /// # Errors
    /// Where no thread can be had.
    pub fn spawn(self) -> io::Result<Handle> {
        let local_address = self.local_address().clone();
        let shutdown = self.shutdown_handle();
        let thread = thread::Builder::new()
            .name("bookend-server".into())
            .spawn(|| self.serve())?;
        Ok(Handle {
            local_address,
            shutdown,
            thread,
        })
    }
}

/// A server that serves on threads of its own. It goes on when this is dropped.
#[derive(Debug)]
pub struct Handle {
    local_address: Address,
    shutdown: ShutdownHandle,
    thread: JoinHandle<io::Result<Statistics>>,
}

impl Handle {
    /// Where it listens.
    pub fn local_address(&self) -> &Address {
        &self.local_address
    }

    /// The port that it listens on; `None` for a unix socket.
    pub fn port(&self) -> Option<u16> {
        self.local_address.port()
    }

    /// Has it take no more calls and end, within the time of [`Bound::drain`]. Does not wait for
    /// it.
    pub fn stop(&self) {
        self.shutdown.stop();
    }

    /// As [`Handle::stop`], and ends at once the calls that go on. Also after it.
    pub fn stop_now(&self) {
        self.shutdown.stop_now();
    }

    /// Waits until it has ended, and says what it did.
    ///
    /// # Errors
    /// As [`Bound::serve`].
    ///
    /// # Panics
    /// If the server has: a mistake of this library, since handlers' panics do not get here.
    pub fn join(self) -> io::Result<Statistics> {
        self.thread
            .join()
            .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    }
}

/// What a server has done.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Statistics {
    /// Calls and what became of them.
    pub calls: Counts,
    /// Reads, writes, bytes, connections, busy time.
    pub io: bookend_io::IoStatistics,
    /// How handshakes of TLS have ended; none without it.
    pub handshakes: tls::Handshakes,
}
