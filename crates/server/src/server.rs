//! A server from its parts: services, limits, an address, threads.

use std::io;
use std::net::ToSocketAddrs;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::Duration;

use bookend_io::{Address, Io, Listener, ServeOptions, ShutdownHandle, Wait, listen, serve, tls};
use thiserror::Error;

use crate::counts::Counts;
use crate::interceptor::Interceptor;
use crate::limits::{DRAIN_NS, Limits};
use crate::metrics::Metrics;
use crate::page::HttpPage;
use crate::pool::threads::PoolLimits;
use crate::reflection;
use crate::router::{DuplicateService, Pages, Router};
use crate::service::Service;
use crate::services::Services;

/// A gRPC server: [`Server::builder`], then [`ServerBuilder::bind`], then [`BoundServer::serve`] or
/// [`BoundServer::spawn`].
#[derive(Clone, Copy, Debug)]
pub struct Server;

impl Server {
    /// A server without services, with [`Limits::internet`].
    pub fn builder() -> ServerBuilder {
        ServerBuilder {
            services: Vec::new(),
            limits: Limits::internet(),
            pool: PoolLimits::default(),
            reflection: false,
            interceptors: Vec::new(),
            pages: Pages::default(),
            metrics: None,
        }
    }
}

/// Services and limits of a server that has no address yet.
pub struct ServerBuilder {
    services: Vec<Arc<dyn Service>>,
    limits: Limits,
    pool: PoolLimits,
    reflection: bool,
    interceptors: Vec<Box<dyn Interceptor>>,
    pages: Pages,
    metrics: Option<Metrics>,
}

impl ServerBuilder {
    /// Adds a service, usually a generated `...Server`.
    pub fn add_service(mut self, service: impl Service) -> Self {
        self.services.push(Arc::new(service));
        self
    }

    /// What clients may do.
    pub fn limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// How many handlers may block, and how many calls may wait for a thread.
    pub fn pool(mut self, pool: PoolLimits) -> Self {
        self.pool = pool;
        self
    }

    /// Adds server reflection (v1 and v1alpha), which describes the other services to clients.
    pub fn reflection(mut self) -> Self {
        self.reflection = true;
        self
    }

    /// Has `interceptor` look at every call, after those that were added before.
    pub fn intercept(mut self, interceptor: impl Interceptor) -> Self {
        self.interceptors.push(Box::new(interceptor));
        self
    }

    /// Has `metrics` show what the server counts while it runs.
    pub fn metrics(mut self, metrics: &Metrics) -> Self {
        self.metrics = Some(metrics.clone());
        self
    }

    /// Answers GET and HEAD for this path, with any query, with a page, which is made anew each
    /// time: for people, and for monitoring that does not speak gRPC. It is made on the thread that
    /// reads the connection, so that must not block, and pages should be small.
    pub fn page(
        mut self,
        path: impl Into<String>,
        make: impl Fn() -> HttpPage + Send + Sync + 'static,
    ) -> Self {
        let path = path.into().into_bytes().into_boxed_slice();
        self.pages.by_path.insert(path, Box::new(make));
        self
    }

    /// The plain text that answers all other requests which are not gRPC. Without it, they fail
    /// with the HTTP status 405 or 415.
    pub fn fallback_page(mut self, text: impl Into<String>) -> Self {
        self.pages.fallback = Some(text.into());
        self
    }

    /// Builds the services without an address, for programs that drive shards with their own loops.
    ///
    /// # Errors
    /// When two services have the same name.
    pub fn build(mut self) -> Result<Services, DuplicateService> {
        if self.reflection {
            self.services.extend(reflection::services(&self.services));
        }
        let router = Router::new(&self.services, self.pages)?;
        Ok(Services::new(router, self.interceptors, self.limits, self.pool, self.metrics))
    }

    /// Listens on the first of these addresses that is available; port 0 takes a free port. Clients
    /// may connect from now on, and are answered once the server serves.
    ///
    /// # Errors
    /// When no address is available, or two services have the same name.
    pub fn bind(self, address: impl ToSocketAddrs) -> Result<BoundServer, BindError> {
        let services = self.build()?;
        Ok(BoundServer::new(listen_first(address)?, services))
    }

    /// Listens on a unix socket at this path, replacing a stale one. Its file is removed when the
    /// server ends.
    ///
    /// # Errors
    /// When the path is not available, or two services have the same name.
    pub fn bind_unix(self, path: impl Into<PathBuf>) -> Result<BoundServer, BindError> {
        let services = self.build()?;
        Ok(BoundServer::new(listen(Address::Unix(path.into()))?, services))
    }
}

/// Why a server could not listen.
#[derive(Debug, Error)]
pub enum BindError {
    /// Two services were added under one name.
    #[error(transparent)]
    DuplicateService(#[from] DuplicateService),
    /// The address is invalid, in use, or not allowed.
    #[error("cannot listen: {0}")]
    Address(#[from] io::Error),
}

fn listen_first(address: impl ToSocketAddrs) -> io::Result<Listener> {
    let mut result = Err(io::Error::new(io::ErrorKind::InvalidInput, "the name has no address"));
    for address in address.to_socket_addrs()? {
        result = listen(address);
        if result.is_ok() {
            break;
        }
    }
    result
}

/// A server that listens.
pub struct BoundServer {
    listener: Listener,
    services: Services,
    options: ServeOptions,
    tls: Option<tls::ServerConfig>,
}

impl BoundServer {
    fn new(listener: Listener, services: Services) -> Self {
        let mut options = ServeOptions::new(ShutdownHandle::new());
        options.driver.drain_ns = DRAIN_NS;
        Self { listener, services, options, tls: None }
    }

    /// Accepts connections with TLS only. Clients must offer `h2` by ALPN.
    pub fn tls(mut self, config: tls::ServerConfig) -> Self {
        self.tls = Some(config);
        self
    }

    /// Which driver serves the connections; [`Io::Auto`] by default.
    pub fn io(mut self, io: Io) -> Self {
        self.options.io = io;
        self
    }

    /// How many threads; 0, the default, is as many as the process has processors.
    pub fn threads(mut self, threads: usize) -> Self {
        if let Some(threads) = NonZeroUsize::new(threads) {
            self.options.threads = threads;
        }
        self
    }

    /// How the threads wait for something to do. If they spin, their busy time is counted, since
    /// their processor time means nothing.
    pub fn wait(mut self, wait: Wait) -> Self {
        self.options.driver.wait = wait;
        self.options.driver.counts_busy_time |= wait == Wait::Spin;
        self
    }

    /// Whether each thread accepts for itself, from its own listener on the same port
    /// (`SO_REUSEPORT`). For epoll on TCP; with anything else [`BoundServer::serve`] fails.
    pub fn reuse_port(mut self, reuse_port: bool) -> Self {
        self.options.reuse_port = reuse_port;
        self
    }

    /// Pins the threads to these processors, one each.
    pub fn cpus(mut self, cpus: Vec<usize>) -> Self {
        self.options.cpus = cpus;
        self
    }

    /// How long calls may go on once the server stops: 8 s by default. Those that are left end with
    /// `UNAVAILABLE`.
    pub fn drain(mut self, time: Duration) -> Self {
        self.options.driver.drain_ns = u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
        self
    }

    /// The address that it listens on, with the actual port.
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

    /// How it will serve, in words: the driver and the threads.
    pub fn chosen(&self) -> String {
        self.options.chosen()
    }

    /// Serves on this thread, and on others if there are more, until the
    /// [`BoundServer::shutdown_handle`] is used and all open calls are answered or the time of
    /// [`BoundServer::drain`] is up.
    ///
    /// No call is lost that a client sent before it could know of the shutdown: pending connections
    /// are accepted, clients are asked to send no more, and what they sent before they read that is
    /// handled.
    ///
    /// # Errors
    /// Those of the operating system; nothing that a client can cause.
    pub fn serve(self) -> io::Result<ServerStatistics> {
        let BoundServer { listener, services, options, tls } = self;
        let io = match &tls {
            None => serve(listener, &options, |place| services.shard(place.waker))?,
            Some(config) => {
                let config = config.clone().limits(Arc::new(services.handshake_limits()));
                serve(listener, &options, |place| {
                    tls::Secured::accepting(services.shard(place.waker), config.clone())
                })?
            }
        };
        Ok(ServerStatistics {
            calls: services.counts(),
            io,
            handshakes: tls.map(|config| config.handshakes()).unwrap_or_default(),
        })
    }

    /// Serves on a new thread.
    ///
    /// # Errors
    /// When no thread can be started.
    pub fn spawn(self) -> io::Result<ServerHandle> {
        let local_address = self.local_address().clone();
        let shutdown = self.shutdown_handle();
        let thread = thread::Builder::new().name("bookend-server".into()).spawn(|| self.serve())?;
        Ok(ServerHandle { local_address, shutdown, thread })
    }
}

/// A server that serves on its own threads. Dropping the handle does not stop it.
#[derive(Debug)]
pub struct ServerHandle {
    local_address: Address,
    shutdown: ShutdownHandle,
    thread: JoinHandle<io::Result<ServerStatistics>>,
}

impl ServerHandle {
    /// The address that it listens on.
    pub fn local_address(&self) -> &Address {
        &self.local_address
    }

    /// The port that it listens on; `None` for a unix socket.
    pub fn port(&self) -> Option<u16> {
        self.local_address.port()
    }

    /// Begins a graceful shutdown, within the time of [`BoundServer::drain`]. Does not wait for it.
    pub fn stop(&self) {
        self.shutdown.stop();
    }

    /// As [`ServerHandle::stop`], but ends open calls at once. May follow it.
    pub fn stop_now(&self) {
        self.shutdown.stop_now();
    }

    /// Waits until the server has ended, and returns what it did.
    ///
    /// # Errors
    /// As [`BoundServer::serve`].
    ///
    /// # Panics
    /// If the server panicked: a bug of this library, since panics of handlers are caught.
    pub fn join(self) -> io::Result<ServerStatistics> {
        self.thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    }
}

/// What a server has done.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ServerStatistics {
    /// Calls, and how they ended.
    pub calls: Counts,
    /// Reads, writes, bytes, connections, busy time.
    pub io: bookend_io::IoStatistics,
    /// How TLS handshakes have ended; all zero without TLS.
    pub handshakes: tls::Handshakes,
}
