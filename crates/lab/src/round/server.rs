//! A server: started, found, verified, and at the end asked how much it served.

use super::shutdown::{ServerEnd, ShutdownReport};
use crate::build::PreparedSubject;
use crate::cell_error::CellError;
use crate::context::{ProcessLimits, RunContext};
use crate::invocation::Invocation;
use crate::probe::{self, ProbeOutput};
use crate::process::listening::listening_port;
use crate::process::{Process, ProcessEvent};
use crate::subject::{IdleStrategy, Protocol};
use crate::transport_files::ServerAddress;
use bookend_contract::environment::{Environment, Role};
use bookend_contract::lines::Line;
use bookend_contract::transport::{Transport, TransportConfig};
use bookend_results::audit::{CallCounts, Counter};
use std::path::Path;
use std::time::{Duration, Instant};

/// Between two looks into the kernel's table for the port of a server that has not printed it.
const PORT_INTERVAL: Duration = Duration::from_millis(100);

/// A server that has listened for this time without printing `ready` will not print it: its library
/// cannot tell the port.
const PORT_TIMEOUT: Duration = Duration::from_secs(1);

/// What is started as one server.
#[derive(Clone, Copy, Debug)]
pub struct ServerSpec<'a> {
    /// The server itself.
    pub server: &'a PreparedSubject,
    /// Its backend, if it needs one.
    pub backend: Option<&'a PreparedSubject>,
    /// Only a server under test is limited.
    pub is_tested: bool,
    /// Processes and threads that it may have, as a server under test.
    pub processes: Option<u32>,
    /// What carries its connections. Those to its backend are in plain text over TCP.
    pub transport: Transport,
}

/// A server that is ready, with its backend.
#[derive(Debug)]
pub struct RunningServer {
    server: ListeningProcess,
    backend: Option<ListeningProcess>,
    /// What it may use.
    pub limits: ProcessLimits,
    /// What its callers need for the transport.
    pub transport: TransportConfig,
    /// Whether the lab can make a call to it.
    is_verified: bool,
    /// Whether it spins while there is nothing to do.
    pub spins: bool,
    /// What the calling ends know of its calls.
    pub counts: CallCounts,
}

/// A process that listens.
#[derive(Debug)]
struct ListeningProcess {
    process: Process,
    address: ServerAddress,
    /// Whether it speaks the contract: its port was not read from the kernel.
    said_ready: bool,
}

impl RunningServer {
    /// Starts the backend, then the server, and waits until both are ready and a call was verified.
    ///
    /// # Errors
    /// What the server's rows are to say instead.
    pub fn start(context: &RunContext, spec: &ServerSpec<'_>) -> Result<RunningServer, CellError> {
        let backend = spec
            .backend
            .map(|backend| {
                let limits = context.backend_limits();
                // It does not serve what the suite calls, so no method is named.
                let mut environment = Environment::of(Role::Backend);
                environment.cpus = limits.threads;
                ListeningProcess::start(context, backend, environment, &limits)
                    .map_err(|error| error.with_prefix("its backend: "))
            })
            .transpose()?;
        let limits = context.server_limits(spec.is_tested, spec.processes);
        let transport = context.transports.of_server(spec.transport)?;
        let environment = Environment {
            cpus: limits.threads,
            method: Some(context.plan.request.method.clone()),
            backend: backend.as_ref().map(|backend| backend.address.target()),
            profile: context.profile && spec.is_tested,
            transport: transport.clone(),
            ..Environment::of(Role::Server)
        };
        let mut server = RunningServer {
            server: ListeningProcess::start(context, spec.server, environment, &limits)?,
            backend,
            limits,
            transport: context.transports.of_caller(&transport)?,
            is_verified: spec.server.variant.protocol == Protocol::Grpc,
            spins: spec.server.variant.idle == IdleStrategy::Spin,
            counts: CallCounts::default(),
        };
        // The server asks its backend for the call, so that is verified as well.
        if let Some(command) = context.probe.as_ref().filter(|_| server.is_verified) {
            let probed = server.probe(context, command)?;
            server.counts.answered += probed.calls;
            if spec.is_tested {
                context.replies.keep(&spec.server.row_name(), &probed.findings);
            }
        }
        Ok(server)
    }

    /// Runs `command` against it, on the CPUs of the generator.
    ///
    /// # Errors
    /// It says that the server answers wrongly, or did not end.
    pub fn probe(
        &self,
        context: &RunContext,
        command: &[String],
    ) -> Result<ProbeOutput, CellError> {
        let mut invocation = Invocation {
            cpus: context.placement.generator.clone(),
            authority: Some(self.address().authority()),
            request: context.request.clone(),
            ..Invocation::of_tool(command, Path::new("."))
        };
        invocation.environment.target = Some(self.address().target());
        invocation.environment.method = Some(context.plan.request.method.clone());
        invocation.environment.transport = self.transport.clone();
        probe::run(&context.spawner, &invocation)
    }

    /// Where it listens.
    pub fn address(&self) -> &ServerAddress {
        &self.server.address
    }

    /// Its process.
    pub fn process(&self) -> &Process {
        &self.server.process
    }

    /// The process of its backend.
    pub fn backend(&self) -> Option<&Process> {
        self.backend.as_ref().map(|backend| &backend.process)
    }

    /// Whether it, or its backend, has ended by itself.
    pub fn has_exited(&self) -> bool {
        self.process().has_ended() || self.backend().is_some_and(Process::has_ended)
    }

    /// How it, or its backend, ended by itself, and `when`. Whatever still runs is killed.
    pub fn exit_reason(self, when: &str) -> String {
        let (name, process) = match self.backend {
            Some(backend) if !self.server.process.has_ended() => {
                ("the backend of the server", backend.process)
            }
            _ => ("the server", self.server.process),
        };
        let how = process.end(Duration::ZERO, |_| {}).describe();
        format!("{name} ended {when}: {how}")
    }

    /// Asks it to end, without waiting for it. Its backend goes on.
    pub fn close_stdin(&mut self) {
        self.server.process.close_stdin();
    }

    /// Ends it, and compares what it served with what the other end knows.
    pub fn end(self, drain: Duration) -> ServerEnd {
        let report = self.server.shut_down(Counter::Server, drain);
        let backend = self.backend.map(|backend| backend.shut_down(Counter::Backend, drain));
        ServerEnd::new(report, backend, self.counts, self.is_verified)
    }
}

impl ListeningProcess {
    fn start(
        context: &RunContext,
        prepared: &PreparedSubject,
        mut environment: Environment,
        limits: &ProcessLimits,
    ) -> Result<ListeningProcess, CellError> {
        let (subject, variant) = (&prepared.subject, &prepared.variant);
        let transport = environment.transport.clone();
        environment.variant = Some(variant.name.clone());
        let invocation = Invocation::of_subject(&variant.run, &subject.folder, environment);
        let mut process = context.spawn(invocation, &limits.resources)?;
        process.count_error_lines(&variant.log_notes);
        let timeout = context.timeouts.ready.unwrap_or(subject.ready_timeout());
        match wait_ready(&mut process, context, timeout, &transport)? {
            Some((address, said_ready)) => Ok(ListeningProcess { process, address, said_ready }),
            None => Err(CellError::from_exit(&process.end(Duration::ZERO, |_| {}))),
        }
    }

    fn shut_down(self, counter: Counter, drain: Duration) -> ShutdownReport {
        let Self { process, address, said_ready } = self;
        ShutdownReport::read(process, counter, (address.port(), said_ready), drain)
    }
}

/// Where it listens, and whether it has said so itself; or nothing when the process has ended.
fn wait_ready(
    process: &mut Process,
    context: &RunContext,
    timeout: Duration,
    transport: &TransportConfig,
) -> Result<Option<(ServerAddress, bool)>, CellError> {
    let deadline = Instant::now() + timeout;
    let (mut listening_since, mut first_words) = (None, None);
    let found = |port, said_ready| {
        ServerAddress::of_ready(port, transport).map(|address| Some((address, said_ready)))
    };
    loop {
        let look = deadline.min(Instant::now() + PORT_INTERVAL);
        match process.next_event(look, &context.spawner.interrupt) {
            ProcessEvent::Output(output) => match output.parse() {
                Ok(Line::Ready(port)) => return found(port, true),
                Ok(line) => {
                    let error = format!("the server said `{line}` before ready");
                    return Err(CellError::failed(error));
                }
                // It has ended, and a child of it prints on.
                Err(_) if Instant::now() >= deadline => return Ok(None),
                // A server that knows nothing of the contract says what it likes.
                Err(error) => first_words = first_words.or(Some(error)),
            },
            ProcessEvent::Exited => return Ok(None),
            ProcessEvent::Interrupted => return Err(CellError::Interrupted),
            ProcessEvent::TimedOut if Instant::now() >= deadline => {
                let junk = first_words.map_or(String::new(), |error| format!(", but {error}"));
                let error = format!("the server did not say ready within {timeout:?}{junk}");
                return Err(CellError::failed(process.with_last_error(error)));
            }
            ProcessEvent::TimedOut => {}
        }
        // One that prints without a pause is looked at, too.
        if let Some(port) = silent_port(process, &mut listening_since) {
            return found(port, false);
        }
    }
}

/// The port of a server that has listened for a while without printing it.
fn silent_port(process: &Process, listening_since: &mut Option<Instant>) -> Option<u16> {
    let port = listening_port(process.tree())?;
    let since = *listening_since.get_or_insert_with(Instant::now);
    (since.elapsed() >= PORT_TIMEOUT).then_some(port)
}
