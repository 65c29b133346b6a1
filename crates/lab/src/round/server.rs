//! A server: started, found, verified, and at the end asked how much it served.

use super::shutdown::{ServerEnd, ShutdownReport};
use crate::build::PreparedSubject;
use crate::cell_error::CellError;
use crate::context::{ProcessLimits, RunContext};
use crate::invocation::Invocation;
use crate::listening_process::ListeningProcess;
use crate::probe::{self, ProbeOutput};
use crate::process::Process;
use crate::subject::{IdleStrategy, Protocol};
use crate::transport_files::ServerAddress;
use bookend_contract::environment::{Environment, Role};
use bookend_contract::transport::{Transport, TransportConfig};
use bookend_results::audit::{CallCounts, Counter};
use std::path::Path;
use std::time::Duration;

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
                start(context, backend, environment, &limits)
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
            server: start(context, spec.server, environment, &limits)?,
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
        let report = shut_down(self.server, Counter::Server, drain);
        let backend = self.backend.map(|backend| shut_down(backend, Counter::Backend, drain));
        ServerEnd::new(report, backend, self.counts, self.is_verified)
    }
}

/// Starts `prepared` and waits until it listens.
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
    let process = context.spawn(invocation, &limits.resources)?;
    process.count_error_lines(&variant.log_notes);
    let timeout = context.timeouts.ready.unwrap_or(subject.ready_timeout());
    ListeningProcess::wait(process, &transport, timeout, &context.spawner.interrupt)
}

fn shut_down(listening: ListeningProcess, counter: Counter, drain: Duration) -> ShutdownReport {
    let ListeningProcess { process, address, said_ready } = listening;
    ShutdownReport::read(process, counter, (address.port(), said_ready), drain)
}
