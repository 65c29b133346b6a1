//! A server of one round: started, found, verified, and at the end asked how much it served.

use super::RunContext;
use super::address::ServerAddress;
use super::shutdown::ShutdownReport;
use crate::build::PreparedSubject;
use crate::cell_error::CellError;
use crate::control_group::ResourceLimits;
use crate::process::listening::listening_port;
use crate::process::output::OutputLine;
use crate::process::{Process, ProcessEvent, ProcessSpec};
use crate::subject::{IdleStrategy, Placeholders, Protocol};
use bookend_contract::environment::{Environment, Role};
use bookend_contract::lines::{Line, LineError};
use bookend_contract::transport::{Carrier, Transport};
use bookend_results::audit::{CallCounts, CountMismatch, Counter};
use bookend_results::mark::Mark;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::time::{Duration, Instant};

/// Between two looks into the kernel's table for the port of a server that has not told it.
const PORT_INTERVAL: Duration = Duration::from_millis(100);

/// A server that has listened for so long without saying `ready` will not say it: its library
/// cannot tell the port.
const PORT_TIMEOUT: Duration = Duration::from_secs(1);

/// When a process has no business to end.
const MIDST: &str = "while it was measured";

/// The note that the lab itself adds where it could make no call: its callers must check replies.
const VERIFIED_CALLS: &str = "verified_calls";

/// A server that is ready, with what stands behind it.
#[derive(Debug)]
pub struct RunningServer {
    own: Listening,
    backend: Option<Listening>,
    /// What its callers need for the transport.
    carrier: Carrier,
    /// Whether the lab has called it.
    is_verified: bool,
    spins: bool,
    /// What the calling ends know of its calls.
    pub counts: CallCounts,
}

/// A process that listens.
#[derive(Debug)]
struct Listening {
    process: Process,
    address: ServerAddress,
}

/// What is to be started as one server.
#[derive(Clone, Copy, Debug)]
pub struct ServerSpec<'a> {
    /// The server itself.
    pub server: &'a PreparedSubject,
    /// What stands behind it.
    pub backend: Option<&'a PreparedSubject>,
    /// Only a server under test is limited.
    pub is_tested: bool,
    /// What carries its connections. Those to what stands behind it are in plain text over TCP.
    pub transport: Transport,
}

/// What a server said at its end.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ServerEnd {
    /// Calls that it says it answered.
    pub served: Option<u64>,
    /// What it noted beside that.
    pub notes: BTreeMap<String, f64>,
    /// What its backend said.
    pub backend: Option<BackendEnd>,
    /// What is odd about its end, for all its rows.
    pub marks: Vec<Mark>,
    /// Counts that are not what the calling ends know.
    pub mismatches: Vec<CountMismatch>,
}

/// What a backend said at its end.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BackendEnd {
    /// Calls that it says it answered.
    pub served: Option<u64>,
    /// What it noted beside that.
    pub notes: BTreeMap<String, f64>,
}

impl RunningServer {
    /// Starts what stands behind the server, then the server, and waits until both are ready and a
    /// call was verified.
    ///
    /// # Errors
    /// What the server's rows are to say instead.
    pub fn start(
        context: &RunContext,
        station: &ServerSpec<'_>,
    ) -> Result<RunningServer, CellError> {
        let backend = station.backend.map(|backend| {
            let started = Listening::start(context, backend, &Post::of_backend(context));
            started.map_err(|stop| stop.with_prefix("its backend: "))
        });
        let backend = backend.transpose()?;
        let carrier = context.carriers.of_server(station.transport)?;
        let post = Post {
            backend: backend.as_ref().map(|backend| backend.address.target()),
            carrier: carrier.clone(),
            ..Post::of_server(context, station.is_tested)
        };
        let mut server = RunningServer {
            own: Listening::start(context, station.server, &post)?,
            backend,
            carrier: context.carriers.of_caller(&carrier)?,
            is_verified: station.server.variant.protocol == Protocol::Grpc,
            spins: station.server.variant.wait == IdleStrategy::Spin,
            counts: CallCounts::default(),
        };
        server.verify(context)?;
        Ok(server)
    }

    /// The words of `context`, and those that say how to call this server.
    pub fn words(&self, context: &RunContext) -> Placeholders {
        Placeholders {
            target: Some(self.target()),
            authority: Some(self.own.address.authority()),
            carrier: self.carrier.clone(),
            ..context.words()
        }
    }

    /// `host:port` or `unix:PATH`.
    pub fn target(&self) -> String {
        self.own.address.target()
    }

    /// What its callers need for the transport.
    pub fn carrier(&self) -> &Carrier {
        &self.carrier
    }

    /// Whether it looks again and again while there is nothing to do.
    pub fn spins(&self) -> bool {
        self.spins
    }

    /// Its process.
    pub fn process(&self) -> &Process {
        &self.own.process
    }

    /// The process of what stands behind it.
    pub fn backend(&self) -> Option<&Process> {
        self.backend.as_ref().map(|backend| &backend.process)
    }

    /// Tells it to end, without waiting for it. What stands behind it goes on.
    pub fn close_stdin(&mut self) {
        self.own.process.close_stdin();
    }

    /// If it, or what stands behind it, has ended by itself, how.
    ///
    /// # Errors
    /// It is alive, and is given back.
    pub fn exit_reason(self) -> Result<String, Box<RunningServer>> {
        let how = |process: Process| process.end(Duration::ZERO, |_| {}).describe();
        if self.own.process.has_ended() {
            return Ok(format!(
                "the server ended {MIDST}: {}",
                how(self.own.process)
            ));
        }
        match self.backend {
            Some(backend) if backend.process.has_ended() => {
                let how = how(backend.process);
                Ok(format!("the backend of the server ended {MIDST}: {how}"))
            }
            backend => Err(Box::new(RunningServer { backend, ..self })),
        }
    }

    /// Ends it and compares what it served with what the other end knows.
    pub fn end(self, drain: Duration) -> ServerEnd {
        let said = self.own.last_words(Counter::Server, drain);
        let behind = self.backend;
        let behind = behind.map(|backend| backend.last_words(Counter::Backend, drain));
        let of_server = said.served.and_then(|served| self.counts.check(served));
        let of_backend = behind.as_ref().and_then(|behind| behind.served);
        let of_backend = of_backend.and_then(|served| self.counts.check_backend(served));
        let mut marks = said.marks;
        marks.extend(behind.iter().flat_map(|behind| behind.marks.clone()));
        let mut notes = said.notes.into_map();
        if !self.is_verified {
            notes.insert(VERIFIED_CALLS.to_owned(), 0.0);
        }
        ServerEnd {
            mismatches: of_server.into_iter().chain(of_backend).collect(),
            served: said.served,
            notes,
            marks,
            backend: behind.map(|behind| BackendEnd {
                served: behind.served,
                notes: behind.notes.into_map(),
            }),
        }
    }

    /// What stands behind it is verified by the same call.
    fn verify(&mut self, context: &RunContext) -> Result<(), CellError> {
        let Some(probe) = context.probe.as_ref().filter(|_| self.is_verified) else {
            return Ok(());
        };
        let probed = probe.run(&self.words(context), &context.interrupt)?;
        self.counts.answered += probed.calls;
        Ok(())
    }
}

impl Listening {
    fn start(
        context: &RunContext,
        prepared: &PreparedSubject,
        post: &Post,
    ) -> Result<Listening, CellError> {
        let group = context
            .groups
            .create(&post.limits)
            .map_err(CellError::failed)?;
        let plan = process_plan(context, prepared, post)?;
        let mut process =
            Process::start(&context.launcher, &plan, group).map_err(CellError::failed)?;
        let timeout = context
            .timeouts
            .ready
            .unwrap_or(prepared.subject.ready_timeout());
        match wait_ready(&mut process, context, timeout, &post.carrier)? {
            Some(address) => Ok(Listening { process, address }),
            None => Err(CellError::from_exit(&process.end(Duration::ZERO, |_| {}))),
        }
    }

    fn last_words(self, who: Counter, drain: Duration) -> ShutdownReport {
        let mut said = ShutdownReport::of(who, self.address.port());
        said.hear(self.process, drain);
        said
    }
}

/// As what a process is started.
struct Post {
    role: Role,
    is_tested: bool,
    cpus: Option<u32>,
    method: Option<String>,
    backend: Option<String>,
    carrier: Carrier,
    limits: ResourceLimits,
}

impl Post {
    fn of_server(context: &RunContext, is_tested: bool) -> Post {
        Post {
            role: Role::Server,
            is_tested,
            cpus: Some(context.server_threads()),
            method: Some(context.request.method.clone()),
            backend: None,
            carrier: Carrier::H2c,
            limits: context.server_limits(is_tested),
        }
    }

    /// It does not serve what the suite calls.
    fn of_backend(context: &RunContext) -> Post {
        let limits = context.backend_limits();
        Post {
            role: Role::Backend,
            is_tested: false,
            cpus: u32::try_from(limits.cpus.len())
                .ok()
                .filter(|&cpus| cpus > 0),
            method: None,
            backend: None,
            carrier: Carrier::H2c,
            limits,
        }
    }
}

/// What was printed, as a line of the contract.
///
/// # Errors
/// It is none.
pub fn parse(output: &OutputLine) -> Result<Line, LineError> {
    // The beginning of a line that is too long is no line of the contract either: it is too long
    // for every number, and a report's JSON is cut.
    let (OutputLine::Complete(text) | OutputLine::Truncated(text)) = output;
    text.parse()
}

fn process_plan(
    context: &RunContext,
    prepared: &PreparedSubject,
    post: &Post,
) -> Result<ProcessSpec, CellError> {
    let environment = Environment {
        variant: Some(prepared.variant.name.clone()),
        cpus: post.cpus,
        method: post.method.clone(),
        request_file: context.request.bytes.clone(),
        backend: post.backend.clone(),
        profile: context.profile && post.is_tested,
        carrier: post.carrier.clone(),
        ..Environment::of(post.role)
    };
    let words = Placeholders {
        carrier: post.carrier.clone(),
        ..context.words()
    };
    let command = words
        .fill(&prepared.variant.run)
        .map_err(CellError::failed)?;
    let variables = environment.to_variables().into_iter();
    Ok(ProcessSpec {
        command: command.into_iter().map(OsString::from).collect(),
        folder: prepared.subject.folder.clone(),
        variables: variables
            .map(|(name, value)| (name.into(), value))
            .collect(),
        cpus: post.limits.cpus.clone(),
        line_limit_bytes: None,
    })
}

/// Where it listens, or nothing when the process has ended.
fn wait_ready(
    process: &mut Process,
    context: &RunContext,
    timeout: Duration,
    carrier: &Carrier,
) -> Result<Option<ServerAddress>, CellError> {
    let deadline = Instant::now() + timeout;
    let mut listening_since = None;
    loop {
        let look = deadline.min(Instant::now() + PORT_INTERVAL);
        match process.next_event(look, &context.interrupt) {
            ProcessEvent::Output(output) => match parse(&output).map_err(CellError::failed)? {
                Line::Ready(port) => return ServerAddress::said(port, carrier).map(Some),
                line => {
                    return Err(CellError::failed(format!(
                        "the server said `{line}` before ready"
                    )));
                }
            },
            ProcessEvent::Exited => return Ok(None),
            ProcessEvent::Interrupted => return Err(CellError::Interrupted),
            ProcessEvent::TimedOut if Instant::now() >= deadline => {
                return Err(not_ready(process, timeout));
            }
            ProcessEvent::TimedOut => {
                if let Some(port) = silent_port(process, &mut listening_since) {
                    return ServerAddress::said(port, carrier).map(Some);
                }
            }
        }
    }
}

fn silent_port(process: &Process, listening_since: &mut Option<Instant>) -> Option<u16> {
    let port = listening_port(process.tree())?;
    let since = *listening_since.get_or_insert_with(Instant::now);
    (since.elapsed() >= PORT_TIMEOUT).then_some(port)
}

fn not_ready(process: &Process, timeout: Duration) -> CellError {
    let said = process.last_error().map(|line| format!(": {line}"));
    let said = said.unwrap_or_default();
    CellError::failed(format!(
        "the server did not say ready within {timeout:?}{said}"
    ))
}
