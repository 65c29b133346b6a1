//! A server of a race: a command of the user's, or a process that runs already.

use super::error::RaceRunError;
use super::host::RaceHost;
use crate::cpu::CpuMeter;
use crate::invocation::Invocation;
use crate::memory::MemoryMeter;
use crate::process::Process;
use crate::process::interrupt::Interrupt;
use crate::process::listening::{listener, listening_port, listens_on};
use crate::process::tree::ProcessTree;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

/// The word of a command that stands for the port.
pub const PORT_WORD: &str = "{port}";

/// Nobody listens on it.
const UNKNOWN_PORT: u16 = 0;

/// How long a server may take to accept a connection: virtual machines may take that long.
const READY_TIMEOUT: Duration = Duration::from_secs(30);

/// How long a server that closes its connections may take to end.
const ENDING_TIMEOUT: Duration = Duration::from_secs(1);

/// Between two tries to connect.
const READY_INTERVAL: Duration = Duration::from_millis(10);

/// How long one try may take: over loopback it is decided at once.
const CONNECT_TIMEOUT: Duration = Duration::from_millis(500);

/// For how long a port that another process listens on may turn out to be the server's: one that
/// has just accepted a connection may be handing its socket over to a child.
const FOREIGN_TIMEOUT: Duration = Duration::from_secs(1);

/// What is said where a command has ended and what it has started goes on.
const DAEMON: &str = "; a process that it has started goes on: keep the command in the foreground, without & and \
     without becoming a daemon";

/// A server that is to be raced.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RaceServerSpec {
    /// Its name.
    pub name: String,
    /// How it comes to run.
    pub start: RaceStart,
}

impl RaceServerSpec {
    /// Whether it runs already, so that no race can start it.
    pub fn runs_already(&self) -> bool {
        matches!(self.start, RaceStart::Running(_))
    }
}

/// How a server of a race comes to run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RaceStart {
    /// By a command line of the shell, with `{port}` for the port.
    Command {
        /// The command line.
        command: String,
        /// Where it listens.
        port: RacePort,
        /// Where it is started.
        folder: PathBuf,
    },
    /// It runs already and listens there.
    Running(SocketAddr),
}

/// On which port the server of a command listens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RacePort {
    /// On one that is free, as its command line tells it.
    Told,
    /// On this one, by itself.
    Own(u16),
    /// On one of its own choice. The kernel knows which.
    Unknown,
}

/// CPU time of a server.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct UsedCpu {
    /// All of it, nanoseconds.
    pub(super) cpu_ns: u64,
    /// How much of it is known in ticks alone, nanoseconds.
    pub(super) in_ticks_ns: u64,
}

/// A server of a race that listens. A command's processes are killed when this is dropped.
#[derive(Debug)]
pub struct RaceServer {
    name: String,
    address: SocketAddr,
    process: Option<Process>,
    tree: ProcessTree,
    meter: CpuMeter,
    memory: MemoryMeter,
}

impl RaceServer {
    /// Starts a command, and waits until one of its processes accepts connections; or finds the
    /// process that does.
    ///
    /// # Errors
    /// See [`RaceRunError`].
    pub fn start(host: &RaceHost, spec: &RaceServerSpec) -> Result<RaceServer, RaceRunError> {
        match &spec.start {
            RaceStart::Running(address) => RaceServer::find(&spec.name, *address),
            RaceStart::Command { command, port, folder } => {
                let port = match port {
                    RacePort::Told => Some(
                        free_port()
                            .map_err(|error| RaceRunError::Machine(spec.name.clone(), error))?,
                    ),
                    RacePort::Own(port) => Some(*port),
                    RacePort::Unknown => None,
                };
                let mut server = RaceServer::spawn(host, &spec.name, (command, folder), port)?;
                server.wait(&host.spawner.interrupt)?;
                Ok(server)
            }
        }
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// CPU time of its processes so far, nanoseconds.
    pub fn cpu_ns(&mut self) -> u64 {
        self.meter.read_ns()
    }

    /// Memory of its processes now, bytes.
    pub fn memory_bytes(&self) -> u64 {
        self.memory.read().memory_bytes
    }

    /// Whether a control group knows its CPU time.
    pub fn is_in_control_group(&self) -> bool {
        self.meter.is_in_control_group()
    }

    /// What it has used so far.
    pub(super) fn used_cpu(&mut self) -> UsedCpu {
        UsedCpu { cpu_ns: self.cpu_ns(), in_ticks_ns: self.meter.gaps().in_ticks_ns }
    }

    /// Its processes.
    pub fn pids(&self) -> Vec<i32> {
        self.tree.members().iter().map(|member| member.pid).collect()
    }

    /// Whether it still runs.
    ///
    /// # Errors
    /// It has ended: how, in its own words.
    pub fn check(&self) -> Result<(), RaceRunError> {
        match &self.process {
            Some(process) if process.has_ended() => {
                let mut how = process.with_last_error("it ended by itself".to_owned());
                if listens_on(&self.tree, self.address.port()) {
                    how += DAEMON;
                }
                Err(RaceRunError::Ended(self.name.clone(), how))
            }
            _ => Ok(()),
        }
    }

    /// Whether its CPU time can be known, as far as was read.
    ///
    /// # Errors
    /// It lets children end unheard, and no control group knows what they used.
    pub fn check_account(&self) -> Result<(), RaceRunError> {
        match self.meter.gaps().ignores_children {
            true => Err(RaceRunError::LosesChildren(self.name.clone())),
            false => Ok(()),
        }
    }

    /// It cannot be called, for this reason, or because it is about to end: connections are closed
    /// before their process is gone.
    pub fn not_called(&self, reason: String) -> RaceRunError {
        let begin = Instant::now();
        while begin.elapsed() < ENDING_TIMEOUT {
            if let Err(ended) = self.check() {
                return ended;
            }
            thread::sleep(READY_INTERVAL);
        }
        RaceRunError::NotCalled(self.name.clone(), self.with_last_error(reason))
    }

    fn find(name: &str, address: SocketAddr) -> Result<RaceServer, RaceRunError> {
        let process = listener(address.port())
            .ok_or_else(|| RaceRunError::NoListener(name.to_owned(), address))?;
        let tree = ProcessTree::of_running(process);
        Ok(RaceServer {
            name: name.to_owned(),
            address,
            process: None,
            meter: CpuMeter::of_tree(tree.clone()),
            memory: MemoryMeter::of_tree(tree.clone()),
            tree,
        })
    }

    fn spawn(
        host: &RaceHost,
        name: &str,
        (command, folder): (&str, &Path),
        port: Option<u16>,
    ) -> Result<RaceServer, RaceRunError> {
        let port = port.unwrap_or(UNKNOWN_PORT);
        let with_port = command.replace(PORT_WORD, &port.to_string());
        let invocation =
            Invocation { cpus: host.placement.server.clone(), ..Invocation::of_tool(&[], folder) };
        let process = host.start(name, &with_port, &invocation)?;
        Ok(RaceServer {
            name: name.to_owned(),
            address: SocketAddr::from((Ipv4Addr::LOCALHOST, port)),
            meter: CpuMeter::of(&process),
            memory: MemoryMeter::of(&process),
            tree: process.tree().clone(),
            process: Some(process),
        })
    }

    /// Waits until a process of its command accepts a connection.
    fn wait(&mut self, interrupt: &Interrupt) -> Result<(), RaceRunError> {
        let begin = Instant::now();
        let mut foreign_since = None;
        loop {
            if interrupt.is_raised() {
                return Err(RaceRunError::Interrupted);
            }
            self.check_start()?;
            let Some(process) = &mut self.process else {
                return Ok(());
            };
            if self.address.port() == UNKNOWN_PORT
                && let Some(port) = listening_port(process.tree())
            {
                self.address.set_port(port);
            }
            if let Some(address) = accepting(self.address.port()) {
                self.address = address;
                if listens_on(process.tree(), self.address.port()) {
                    process.discard_output();
                    return Ok(());
                }
                let since = *foreign_since.get_or_insert_with(Instant::now);
                if since.elapsed() >= FOREIGN_TIMEOUT {
                    let (name, port) = (self.name.clone(), self.address.port());
                    return Err(RaceRunError::ForeignListener(name, port));
                }
            }
            if begin.elapsed() >= READY_TIMEOUT {
                let port = match self.address.port() {
                    UNKNOWN_PORT => "any port".to_owned(),
                    port => format!("port {port}"),
                };
                return Err(RaceRunError::NotReady(self.with_last_error(format!(
                    "{} does not accept connections on {port} after {} s",
                    self.name,
                    READY_TIMEOUT.as_secs()
                ))));
            }
            thread::sleep(READY_INTERVAL);
        }
    }

    /// Whether it has ended before it was ready: then its exit status and its last words.
    fn check_start(&mut self) -> Result<(), RaceRunError> {
        match self.process.take_if(|process| process.has_ended()) {
            Some(process) => {
                let root = self.tree.root();
                let goes_on = self.tree.members().iter().any(|member| member.pid != root);
                let exit = process.end(Duration::ZERO, |_| {});
                let mut how = exit.describe();
                if goes_on && exit.status.is_some_and(|status| status.success()) {
                    how += DAEMON;
                }
                Err(RaceRunError::Ended(self.name.clone(), how))
            }
            None => Ok(()),
        }
    }

    fn with_last_error(&self, message: String) -> String {
        match &self.process {
            Some(process) => process.with_last_error(message),
            None => message,
        }
    }
}

/// The loopback address that accepts connections on `port`: some servers listen on that of IPv6
/// alone.
fn accepting(port: u16) -> Option<SocketAddr> {
    let hosts: [IpAddr; 2] = [Ipv4Addr::LOCALHOST.into(), Ipv6Addr::LOCALHOST.into()];
    hosts
        .into_iter()
        .map(|host| SocketAddr::new(host, port))
        .find(|address| TcpStream::connect_timeout(address, CONNECT_TIMEOUT).is_ok())
}

/// A port that nobody listens on. Somebody else may take it before the command does: then that is
/// said.
fn free_port() -> io::Result<u16> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
    Ok(listener.local_addr()?.port())
}
