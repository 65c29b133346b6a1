//! One run of a client or an instrument against a server that is ready.

use super::caller_report::{CallerReport, CallerReportParser};
use super::measured_laps::MeasuredLaps;
use super::pairing::Pairing;
use super::raw_output;
use super::server::RunningServer;
use super::window::{WindowProcesses, WindowSampler, WindowUsage};
use super::workload::Workload;
use crate::cell_error::CellError;
use crate::context::{ProcessLimits, RunContext};
use crate::invocation::Invocation;
use crate::process::output::OutputLine;
use crate::process::{Process, ProcessEvent};
use crate::subject::InstrumentOutput;
use bookend_contract::environment::{Environment, Role, WindowLength};
use bookend_contract::lines::Line;
use bookend_results::suite::TestedEnd;
use std::time::{Duration, Instant};

/// The document of an instrument may be this long: ghz lists every call, 150 bytes each.
const DOCUMENT_LIMIT_BYTES: usize = 512 << 20;

/// What is started for one run, and how it is watched.
#[derive(Clone, Copy)]
pub struct CallerRun<'a> {
    /// What all cells share.
    pub context: &'a RunContext,
    /// Both ends.
    pub pairing: &'a Pairing<'a>,
    /// The calls that the caller makes.
    pub workload: Workload,
    /// Records the window, if anything does.
    pub profiler: Option<&'a dyn Profiler>,
}

/// Records one window. That costs the window time, so measured ones have none.
pub trait Profiler {
    /// The window has begun; `under_test` is the process that is measured.
    ///
    /// # Errors
    /// What the row says instead.
    fn start(&self, under_test: &Process) -> Result<(), CellError>;

    /// The window is over; the process still runs.
    ///
    /// # Errors
    /// What the row says instead.
    fn stop(&self) -> Result<(), CellError>;
}

/// What one run yields.
#[derive(Debug)]
pub struct CallerOutput {
    /// What the caller says that it measured.
    pub report: CallerReport,
    /// What both ends and the machine did in the window.
    pub usage: WindowUsage,
    /// What a foreign instrument printed.
    pub raw: Option<String>,
    /// The laps, where the window consists of such.
    pub laps: Option<MeasuredLaps>,
}

impl CallerRun<'_> {
    /// Starts the caller and waits for its end.
    ///
    /// # Errors
    /// What the row says instead.
    pub fn run(&self, server: &RunningServer) -> Result<CallerOutput, CellError> {
        let invocation = self.invocation(server, self.workload.window_length())?;
        let grace = self.context.timeouts.grace;
        let mut running = Running {
            run: self,
            server,
            process: self.context.spawn(invocation, &self.limits().resources)?,
            sampler: None,
            usage: None,
            output: if self.prints_lines() {
                Output::Lines(Box::default())
            } else {
                Output::Document(String::new())
            },
        };
        running.follow(self.workload.longest().saturating_add(grace))?;
        running.finish()
    }

    /// Whether it prints the lines of the contract, `window start` among them. Other instruments
    /// print one document at their end, and their window is their whole life.
    pub fn prints_lines(&self) -> bool {
        self.pairing.caller.variant.output == InstrumentOutput::Lines
    }

    /// What the caller may use.
    pub fn limits(&self) -> ProcessLimits {
        self.context.caller_limits(self.pairing.side)
    }

    /// How it is started. In laps, commands say how long it warms up.
    pub(super) fn invocation(
        &self,
        server: &RunningServer,
        window_length: WindowLength,
    ) -> Result<Invocation<'_>, CellError> {
        let Workload { case, .. } = self.workload;
        let caller = self.pairing.caller;
        let (subject, variant) = (&caller.subject, &caller.variant);
        let command = variant
            .run_command(case.calls)
            .ok_or_else(|| CellError::unsupported("it has no `run_calls`"))?;
        let environment = Environment {
            variant: Some(variant.name.clone()),
            cpus: self.limits().threads,
            method: Some(self.context.plan.request.method.clone()),
            target: Some(server.address().target()),
            connections: Some(case.connections),
            concurrency: Some(case.concurrency),
            connection_per_call: case.connection_per_call,
            warmup_ms: Some(self.workload.warmup_ms)
                .filter(|_| window_length != WindowLength::Laps),
            window_length: Some(window_length),
            deadline_ms: self.workload.deadline_ms,
            profile: self.context.profile && self.pairing.side == TestedEnd::Client,
            transport: server.transport.clone(),
            ..Environment::of(self.role())
        };
        let mut invocation = Invocation::of_subject(command, &subject.folder, environment);
        invocation.authority = Some(server.address().authority());
        if !self.prints_lines() {
            invocation.line_limit_bytes = DOCUMENT_LIMIT_BYTES;
        }
        Ok(invocation)
    }

    fn role(&self) -> Role {
        let is_instrument = self.pairing.caller.variant.has_role(Role::Instrument);
        let loads_server = is_instrument && self.pairing.side == TestedEnd::Server;
        if loads_server { Role::Instrument } else { Role::Client }
    }
}

/// A run as it goes.
struct Running<'a> {
    run: &'a CallerRun<'a>,
    server: &'a RunningServer,
    process: Process,
    /// While the window is open.
    sampler: Option<WindowSampler>,
    /// Once it is over.
    usage: Option<WindowUsage>,
    output: Output,
}

/// What is made of standard output.
enum Output {
    Lines(Box<CallerReportParser>),
    Document(String),
}

impl Running<'_> {
    /// Reads what the caller prints and takes samples of the window, until it ends.
    fn follow(&mut self, timeout: Duration) -> Result<(), CellError> {
        let deadline = Instant::now() + timeout;
        if !self.run.prints_lines() {
            self.begin_window()?;
        }
        loop {
            let next =
                self.sampler.as_ref().map_or(deadline, |sampler| deadline.min(sampler.next_sample));
            let interrupt = &self.run.context.spawner.interrupt;
            match self.process.next_event(next, interrupt) {
                ProcessEvent::Output(output) => self.take(&output)?,
                ProcessEvent::Exited => return Ok(()),
                ProcessEvent::Interrupted => return Err(CellError::Interrupted),
                ProcessEvent::TimedOut if Instant::now() >= deadline => {
                    let error = format!("it was not done after {timeout:?}");
                    return Err(CellError::failed(self.process.with_last_error(error)));
                }
                ProcessEvent::TimedOut => {}
            }
            if let Some(sampler) = &mut self.sampler {
                sampler.sample_if_due();
            }
        }
    }

    fn take(&mut self, output: &OutputLine) -> Result<(), CellError> {
        match &mut self.output {
            Output::Document(text) => {
                let line = output.text();
                if text.len().saturating_add(line.len()) > DOCUMENT_LIMIT_BYTES {
                    return Err(CellError::failed("the instrument's output is too long"));
                }
                text.push_str(line);
                text.push('\n');
                Ok(())
            }
            Output::Lines(parser) => match output.parse().map_err(CellError::failed)? {
                Line::WindowStart => self.begin_window(),
                Line::WindowEnd => self.end_window(),
                line => parser.take(line).map_err(CellError::failed),
            },
        }
    }

    fn begin_window(&mut self) -> Result<(), CellError> {
        if self.sampler.is_some() || self.usage.is_some() {
            return Err(CellError::failed("`window start` was said twice"));
        }
        let processes = WindowProcesses {
            server: self.server.process(),
            generator: &self.process,
            backend: self.server.backend(),
            under_test: self.run.pairing.side,
        };
        self.sampler = Some(WindowSampler::begin(processes));
        let under_test = processes.under_test();
        let profiler = self.run.profiler;
        profiler.map_or(Ok(()), |profiler| profiler.start(under_test))
    }

    fn end_window(&mut self) -> Result<(), CellError> {
        let Some(sampler) = self.sampler.take() else {
            return Err(CellError::failed("`window end` was said without a start"));
        };
        self.usage = Some(sampler.end());
        self.run.profiler.map_or(Ok(()), Profiler::stop)
    }

    /// Of an instrument that prints a document, the window ends here: before the process is ended,
    /// for its control group goes with it.
    fn finish(mut self) -> Result<CallerOutput, CellError> {
        if !self.run.prints_lines() {
            self.end_window()?;
        }
        let drain = self.run.context.timeouts.drain;
        let exit = self.process.end(drain, |_| {});
        if exit.code() != Some(0) {
            return Err(CellError::from_exit(&exit));
        }
        let usage = self.usage.ok_or_else(|| CellError::failed("it ended without `window end`"))?;
        let is_h2load = self.run.pairing.caller.variant.output == InstrumentOutput::H2loadText;
        let raw = match &self.output {
            Output::Lines(_) => None,
            Output::Document(text) => Some(raw_output::kept(text)),
        };
        let report = match self.output {
            Output::Lines(parser) => parser.finish(),
            Output::Document(text) if is_h2load => CallerReport::of_h2load(&text),
            Output::Document(text) => {
                CallerReport::of_ghz(&text).map(|report| add_cut_off(report, &self.run.workload))
            }
        };
        Ok(CallerOutput { report: report.map_err(CellError::failed)?, usage, raw, laps: None })
    }
}

/// ghz leaves out of its report the calls that were in flight when its time was over: as many as
/// there are streams. The server may have answered them.
fn add_cut_off(mut report: CallerReport, workload: &Workload) -> CallerReport {
    if report.own.is_none() && workload.case.calls.is_none() {
        report.counts.unfinished = u64::from(workload.case.concurrency);
    }
    report
}
