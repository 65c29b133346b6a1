//! One run of an instrument or a client against a server that is ready.

use super::Bench;
use super::cell::Cell;
use super::said::{Said, Saying};
use super::server::{RunningServer, parse};
use super::watch::{Watch, Watched};
use crate::process::output::Output;
use crate::process::{Event, Process, ProcessPlan};
use crate::stop::Stop;
use crate::subject::{InstrumentOutput, Placeholders};
use crate::suite::Side;
use bookend_contract::environment::{Environment, Extent, Role};
use bookend_contract::lines::Line;
use std::ffi::OsString;
use std::time::{Duration, Instant};

/// The document of an instrument may be this long: ghz tells every call, 150 bytes each.
const DOCUMENT_LIMIT_BYTES: usize = 512 << 20;

/// What one run yields.
#[derive(Debug)]
pub struct Run {
    /// What the instrument said.
    pub said: Said,
    /// What both ends and the machine did in the window.
    pub watched: Watched,
}

/// One run as it goes.
struct Running<'a> {
    bench: &'a Bench,
    server: &'a Process,
    under_test: Side,
    process: Process,
    watch: Option<Watch>,
    watched: Option<Watched>,
    reading: Reading,
}

/// What is made of standard output.
enum Reading {
    Lines(Saying),
    Document(String),
}

/// Runs the caller of `cell` once against `server`.
///
/// # Errors
/// What the row says instead.
pub fn run(cell: &Cell<'_>, server: &RunningServer) -> Result<Run, Stop> {
    let Cell {
        bench,
        caller,
        load,
        under_test,
        ..
    } = *cell;
    let reading = match caller.variant.output {
        InstrumentOutput::Lines => Reading::Lines(Saying::default()),
        InstrumentOutput::GhzJson | InstrumentOutput::H2loadText => {
            Reading::Document(String::new())
        }
    };
    let plan = process_plan(cell, server)?;
    let group = bench
        .groups
        .create(&bench.caller_limits())
        .map_err(Stop::failed)?;
    let mut running = Running {
        bench,
        server: server.process(),
        under_test,
        process: Process::start(&bench.launcher, &plan, group).map_err(Stop::failed)?,
        watch: None,
        watched: None,
        reading,
    };
    let expected = Duration::from_millis(load.warmup_ms.saturating_add(load.window_ms));
    running.listen(expected.saturating_add(bench.patience.grace))?;
    running.finish(caller.variant.output)
}

impl Running<'_> {
    fn listen(&mut self, timeout: Duration) -> Result<(), Stop> {
        let deadline = Instant::now() + timeout;
        if matches!(self.reading, Reading::Document(_)) {
            self.begin_window();
        }
        loop {
            let sample = self.watch.as_ref().map(Watch::next_sample);
            let next = deadline.min(sample.unwrap_or(deadline));
            match self.process.next_event(next, &self.bench.interrupt) {
                Event::Output(output) => self.take(&output)?,
                Event::Ended => return Ok(()),
                Event::Interrupted => return Err(Stop::Interrupted),
                Event::TimedOut if Instant::now() >= deadline => {
                    return Err(self.too_long(timeout));
                }
                Event::TimedOut => {}
            }
            if let Some(watch) = &mut self.watch {
                watch.sample_if_due();
            }
        }
    }

    fn take(&mut self, output: &Output) -> Result<(), Stop> {
        match &mut self.reading {
            Reading::Document(text) => {
                let (Output::Line(line) | Output::TooLong(line)) = output;
                if text.len().saturating_add(line.len()) > DOCUMENT_LIMIT_BYTES {
                    return Err(Stop::failed("the instrument's output is too long"));
                }
                text.push_str(line);
                text.push('\n');
                Ok(())
            }
            Reading::Lines(saying) => match parse(output).map_err(Stop::failed)? {
                Line::WindowStart => self.begin_window_once(),
                Line::WindowEnd => self.end_window_once(),
                line => saying.take(line).map_err(Stop::failed),
            },
        }
    }

    fn begin_window_once(&mut self) -> Result<(), Stop> {
        if self.watch.is_some() || self.watched.is_some() {
            return Err(Stop::failed("`window start` was said twice"));
        }
        self.begin_window();
        Ok(())
    }

    fn begin_window(&mut self) {
        let under_test = match self.under_test {
            Side::Server => self.server,
            Side::Client => &self.process,
        };
        self.watch = Some(Watch::begin(self.server, &self.process, under_test));
    }

    fn end_window_once(&mut self) -> Result<(), Stop> {
        match self.watch.take() {
            Some(watch) => self.watched = Some(watch.end()),
            None => return Err(Stop::failed("`window end` was said without a start")),
        }
        Ok(())
    }

    /// The readings are taken before the process is ended: its control group goes with it.
    fn finish(mut self, output: InstrumentOutput) -> Result<Run, Stop> {
        if matches!(self.reading, Reading::Document(_)) {
            self.end_window_once()?;
        }
        let Running {
            process,
            watched,
            reading,
            bench,
            ..
        } = self;
        let ended = process.end(bench.patience.drain, |_| {});
        if ended.code() != Some(0) {
            return Err(Stop::of_end(&ended));
        }
        let watched = watched.ok_or_else(|| Stop::failed("it ended without `window end`"))?;
        let said = match (reading, output) {
            (Reading::Lines(saying), _) => saying.finish(),
            (Reading::Document(text), InstrumentOutput::H2loadText) => Said::of_h2load(&text),
            (Reading::Document(text), _) => Said::of_ghz(&text),
        };
        Ok(Run {
            said: said.map_err(Stop::failed)?,
            watched,
        })
    }

    fn too_long(&self, timeout: Duration) -> Stop {
        let said = self.process.last_error().map(|line| format!(": {line}"));
        let said = said.unwrap_or_default();
        Stop::failed(format!("it was not done after {timeout:?}{said}"))
    }
}

fn process_plan(cell: &Cell<'_>, server: &RunningServer) -> Result<ProcessPlan, Stop> {
    let Cell {
        bench,
        caller,
        load,
        ..
    } = *cell;
    let words = Placeholders {
        target: Some(server.target()),
        connections: Some(load.case.connections),
        concurrency: Some(load.case.concurrency),
        streams_per_connection: Some(load.case.concurrency.div_ceil(load.case.connections)),
        cpus: bench.generator_threads(),
        warmup_ms: Some(load.warmup_ms),
        measure_ms: Some(load.window_ms),
        total_ms: Some(load.warmup_ms.saturating_add(load.window_ms)),
        ..bench.words()
    };
    let command = words.fill(&caller.variant.run).map_err(Stop::failed)?;
    let variables = environment(cell, server).to_variables().into_iter();
    let is_document = caller.variant.output != InstrumentOutput::Lines;
    Ok(ProcessPlan {
        command: command.into_iter().map(OsString::from).collect(),
        folder: caller.subject.folder.clone(),
        variables: variables
            .map(|(name, value)| (name.into(), value))
            .collect(),
        cpus: bench.placement.generator.clone(),
        line_limit_bytes: is_document.then_some(DOCUMENT_LIMIT_BYTES),
    })
}

fn environment(cell: &Cell<'_>, server: &RunningServer) -> Environment {
    let Cell { bench, load, .. } = *cell;
    let role = match cell.under_test {
        Side::Server => Role::Instrument,
        Side::Client => Role::Client,
    };
    Environment {
        variant: Some(cell.caller.variant.name.clone()),
        cpus: bench.generator_threads(),
        method: Some(bench.request.method.clone()),
        request_file: bench.request.bytes.clone(),
        target: Some(server.target()),
        connections: Some(load.case.connections),
        concurrency: Some(load.case.concurrency),
        warmup_ms: Some(load.warmup_ms),
        extent: Some(Extent::Milliseconds(load.window_ms)),
        ..Environment::of(role)
    }
}
