//! One run of an instrument or a client against a server that is ready.

use super::cell::Cell;
use super::client_report::{ClientReport, ClientReportParser};
use super::observer::Observer;
use super::server::{RunningServer, parse};
use super::window::{WindowProcesses, WindowSampler, WindowUsage};
use super::{RunContext, Workload};
use crate::cell_error::CellError;
use crate::process::output::OutputLine;
use crate::process::{Process, ProcessEvent, ProcessSpec};
use crate::subject::{InstrumentOutput, Placeholders};
use bookend_contract::environment::{Environment, Role};
use bookend_contract::lines::Line;
use bookend_results::suite::Side;
use std::ffi::OsString;
use std::time::{Duration, Instant};

/// The document of an instrument may be this long: ghz tells every call, 150 bytes each.
const DOCUMENT_LIMIT_BYTES: usize = 512 << 20;

/// What one run yields.
#[derive(Debug)]
pub struct Run {
    /// What the instrument said.
    pub said: ClientReport,
    /// What both ends and the machine did in the window.
    pub watched: WindowUsage,
}

/// One run as it goes.
struct Running<'a> {
    context: &'a RunContext,
    server: &'a RunningServer,
    under_test: Side,
    observer: Option<&'a dyn Observer>,
    process: Process,
    watch: Option<WindowSampler>,
    watched: Option<WindowUsage>,
    reading: Reading,
}

/// What is made of standard output.
enum Reading {
    Lines(Box<ClientReportParser>),
    Document(String),
}

/// Runs the caller of `cell` once against `server`.
///
/// # Errors
/// What the row says instead.
pub fn run(cell: &Cell<'_>, server: &RunningServer) -> Result<Run, CellError> {
    let Cell {
        context,
        caller,
        load,
        under_test,
        observer,
        ..
    } = *cell;
    let reading = match caller.variant.output {
        InstrumentOutput::Lines => Reading::Lines(Box::default()),
        InstrumentOutput::GhzJson | InstrumentOutput::H2loadText => {
            Reading::Document(String::new())
        }
    };
    let plan = process_plan(cell, server)?;
    let group = context
        .groups
        .create(&context.caller_limits(under_test))
        .map_err(CellError::failed)?;
    let mut running = Running {
        context,
        server,
        under_test,
        observer,
        process: Process::start(&context.launcher, &plan, group).map_err(CellError::failed)?,
        watch: None,
        watched: None,
        reading,
    };
    running.listen(load.longest().saturating_add(context.timeouts.grace))?;
    running.finish(caller.variant.output, &load)
}

impl Running<'_> {
    fn listen(&mut self, timeout: Duration) -> Result<(), CellError> {
        let deadline = Instant::now() + timeout;
        if matches!(self.reading, Reading::Document(_)) {
            self.begin_window()?;
        }
        loop {
            let sample = self.watch.as_ref().map(WindowSampler::next_sample);
            let next = deadline.min(sample.unwrap_or(deadline));
            match self.process.next_event(next, &self.context.interrupt) {
                ProcessEvent::Output(output) => self.take(&output)?,
                ProcessEvent::Exited => return Ok(()),
                ProcessEvent::Interrupted => return Err(CellError::Interrupted),
                ProcessEvent::TimedOut if Instant::now() >= deadline => {
                    return Err(self.too_long(timeout));
                }
                ProcessEvent::TimedOut => {}
            }
            if let Some(watch) = &mut self.watch {
                watch.sample_if_due();
            }
        }
    }

    fn take(&mut self, output: &OutputLine) -> Result<(), CellError> {
        match &mut self.reading {
            Reading::Document(text) => {
                let (OutputLine::Complete(line) | OutputLine::Truncated(line)) = output;
                if text.len().saturating_add(line.len()) > DOCUMENT_LIMIT_BYTES {
                    return Err(CellError::failed("the instrument's output is too long"));
                }
                text.push_str(line);
                text.push('\n');
                Ok(())
            }
            Reading::Lines(saying) => match parse(output).map_err(CellError::failed)? {
                Line::WindowStart => self.begin_window_once(),
                Line::WindowEnd => self.end_window_once(),
                line => saying.take(line).map_err(CellError::failed),
            },
        }
    }

    fn begin_window_once(&mut self) -> Result<(), CellError> {
        if self.watch.is_some() || self.watched.is_some() {
            return Err(CellError::failed("`window start` was said twice"));
        }
        self.begin_window()
    }

    fn begin_window(&mut self) -> Result<(), CellError> {
        self.watch = Some(WindowSampler::begin(WindowProcesses {
            server: self.server.process(),
            generator: &self.process,
            backend: self.server.backend(),
            under_test: self.under_test,
        }));
        let under_test = match self.under_test {
            Side::Server => self.server.process(),
            Side::Client => &self.process,
        };
        self.observer
            .map_or(Ok(()), |observer| observer.begins(under_test))
    }

    fn end_window_once(&mut self) -> Result<(), CellError> {
        match self.watch.take() {
            Some(watch) => self.watched = Some(watch.end()),
            None => return Err(CellError::failed("`window end` was said without a start")),
        }
        self.observer.map_or(Ok(()), Observer::ends)
    }

    /// The readings are taken before the process is ended: its control group goes with it.
    fn finish(mut self, output: InstrumentOutput, load: &Workload) -> Result<Run, CellError> {
        if matches!(self.reading, Reading::Document(_)) {
            self.end_window_once()?;
        }
        let Running {
            process,
            watched,
            reading,
            context,
            ..
        } = self;
        let ended = process.end(context.timeouts.drain, |_| {});
        if ended.code() != Some(0) {
            return Err(CellError::from_exit(&ended));
        }
        let watched = watched.ok_or_else(|| CellError::failed("it ended without `window end`"))?;
        let said = match (reading, output) {
            (Reading::Lines(saying), _) => saying.finish(),
            (Reading::Document(text), InstrumentOutput::H2loadText) => {
                ClientReport::of_h2load(&text)
            }
            (Reading::Document(text), _) => {
                ClientReport::of_ghz(&text).map(|said| cut_off(said, load))
            }
        };
        Ok(Run {
            said: said.map_err(CellError::failed)?,
            watched,
        })
    }

    fn too_long(&self, timeout: Duration) -> CellError {
        let said = self.process.last_error().map(|line| format!(": {line}"));
        let said = said.unwrap_or_default();
        CellError::failed(format!("it was not done after {timeout:?}{said}"))
    }
}

/// ghz leaves out of its report the calls that were in flight when its time was over: as many as
/// there are streams. The server may have answered them.
fn cut_off(said: ClientReport, load: &Workload) -> ClientReport {
    let is_told = said.own.is_some() || load.case.calls.is_some();
    let unfinished = match is_told {
        true => said.unfinished,
        false => u64::from(load.case.concurrency),
    };
    ClientReport { unfinished, ..said }
}

fn process_plan(cell: &Cell<'_>, server: &RunningServer) -> Result<ProcessSpec, CellError> {
    let Cell {
        context,
        caller,
        load,
        ..
    } = *cell;
    let words = Placeholders {
        connections: Some(load.case.connections),
        concurrency: Some(load.case.concurrency),
        streams_per_connection: Some(load.case.concurrency.div_ceil(load.case.connections)),
        cpus: context.caller_threads(cell.under_test),
        warmup_ms: Some(load.warmup_ms),
        measure_ms: load.measure_ms(),
        total_ms: load
            .measure_ms()
            .map(|window| window.saturating_add(load.warmup_ms)),
        calls: load.case.calls,
        deadline_ms: load.deadline_ms,
        connection_per_call: load.case.connection_per_call,
        ..server.words(context)
    };
    let template = caller.variant.run_command(load.case.calls);
    let template = template.ok_or_else(|| CellError::unsupported("it has no `run_calls`"))?;
    let command = words.fill(template).map_err(CellError::failed)?;
    let variables = environment(cell, server).to_variables().into_iter();
    let is_document = caller.variant.output != InstrumentOutput::Lines;
    Ok(ProcessSpec {
        command: command.into_iter().map(OsString::from).collect(),
        folder: caller.subject.folder.clone(),
        variables: variables
            .map(|(name, value)| (name.into(), value))
            .collect(),
        cpus: context.caller_limits(cell.under_test).cpus,
        line_limit_bytes: is_document.then_some(DOCUMENT_LIMIT_BYTES),
    })
}

fn environment(cell: &Cell<'_>, server: &RunningServer) -> Environment {
    let Cell { context, load, .. } = *cell;
    let is_instrument = cell.caller.variant.has_role(Role::Instrument);
    let role = match cell.under_test {
        Side::Server if is_instrument => Role::Instrument,
        _ => Role::Client,
    };
    Environment {
        variant: Some(cell.caller.variant.name.clone()),
        cpus: context.caller_threads(cell.under_test),
        method: Some(context.request.method.clone()),
        request_file: context.request.bytes.clone(),
        target: Some(server.target()),
        connections: Some(load.case.connections),
        concurrency: Some(load.case.concurrency),
        connection_per_call: load.case.connection_per_call,
        warmup_ms: Some(load.warmup_ms),
        extent: Some(load.extent()),
        deadline_ms: load.deadline_ms,
        profile: context.profile && cell.under_test == Side::Client,
        carrier: server.carrier().clone(),
        ..Environment::of(role)
    }
}
