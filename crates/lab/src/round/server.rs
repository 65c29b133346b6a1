//! A server of one round: started, found, verified, and at the end asked how much it served.

use super::Bench;
use super::tally::{CountMismatch, Tally};
use crate::build::Prepared;
use crate::control_group::Limits;
use crate::process::listening::listening_port;
use crate::process::output::Output;
use crate::process::{Event, Process, ProcessPlan};
use crate::stop::Stop;
use crate::subject::Placeholders;
use bookend_contract::environment::{Environment, Role};
use bookend_contract::lines::{Line, LineError};
use std::ffi::OsString;
use std::time::{Duration, Instant};

/// Between two looks into the kernel's table for the port of a server that has not told it.
const PORT_INTERVAL: Duration = Duration::from_millis(100);

/// A server that has listened for so long without saying `ready` will not say it: its library
/// cannot tell the port.
const PORT_PATIENCE: Duration = Duration::from_secs(1);

/// A server that is ready.
#[derive(Debug)]
pub struct RunningServer {
    process: Process,
    port: u16,
    /// What the other end knows of the calls that it served.
    pub tally: Tally,
}

/// What a server said at its end.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ServerEnd {
    /// `served N`.
    pub served: Option<u64>,
    /// What was wrong with its end, one line each.
    pub marks: Vec<String>,
    /// Both ends' counts disagree.
    pub mismatch: Option<CountMismatch>,
}

impl RunningServer {
    /// Starts a server, waits until it is ready, and verifies one call.
    ///
    /// # Errors
    /// What its rows of this round say instead.
    pub fn start(
        bench: &Bench,
        prepared: &Prepared,
        limits: &Limits,
    ) -> Result<RunningServer, Stop> {
        let group = bench.groups.create(limits).map_err(Stop::failed)?;
        let plan = process_plan(bench, prepared, limits)?;
        let mut process = Process::start(&bench.launcher, &plan, group).map_err(Stop::failed)?;
        let timeout = bench
            .patience
            .ready
            .unwrap_or(prepared.subject.ready_timeout());
        let port = match wait_ready(&mut process, bench, timeout)? {
            Some(port) => port,
            None => return Err(Stop::of_end(&process.end(Duration::ZERO, |_| {}))),
        };
        let mut server = RunningServer {
            process,
            port,
            tally: Tally::default(),
        };
        server.verify(bench)?;
        Ok(server)
    }

    /// `host:port`.
    pub fn target(&self) -> String {
        target_of(self.port)
    }

    /// Its process.
    pub fn process(&self) -> &Process {
        &self.process
    }

    /// Tells it to end, without waiting for it.
    pub fn close_input(&mut self) {
        self.process.close_input();
    }

    /// Its process, for one that has ended already.
    pub fn into_process(self) -> Process {
        self.process
    }

    /// Ends it and compares what it served with what the other end knows.
    pub fn end(self, drain: Duration) -> ServerEnd {
        let mut said = ServerEnd::default();
        let ended = self.process.end(drain, |output| said.take(output));
        match ended.status {
            None => said.mark(format!(
                "the server did not end within {drain:?} of its standard input's end and was killed"
            )),
            Some(status) if !status.success() => {
                said.mark(format!("the server's end: {}", ended.complaint()));
            }
            Some(_) if said.served.is_none() => {
                said.mark("the server did not say how many calls it served".to_owned());
            }
            Some(_) => {}
        }
        if let Some(survivors) = ended.survivors {
            said.mark(survivors.to_string());
        }
        said.mismatch = said.served.and_then(|served| self.tally.check(served));
        said
    }

    fn verify(&mut self, bench: &Bench) -> Result<(), Stop> {
        let Some(probe) = &bench.probe else {
            return Ok(());
        };
        let words = Placeholders {
            target: Some(self.target()),
            ..bench.words()
        };
        let probed = probe.run(&words, &bench.interrupt)?;
        self.tally.add_probe(probed.calls);
        Ok(())
    }
}

impl ServerEnd {
    fn take(&mut self, output: Output) {
        match parse(&output) {
            Ok(Line::Served(count)) => self.served = Some(count),
            Ok(line) => self.mark(format!("the server said `{line}` at its end")),
            Err(error) => self.mark(error.to_string()),
        }
    }

    /// A server that floods its output says nothing new after the first line.
    fn mark(&mut self, mark: String) {
        const MARKS: usize = 4;
        if self.marks.len() < MARKS {
            self.marks.push(mark);
        }
    }
}

/// What was printed, as a line of the contract.
///
/// # Errors
/// It is none.
pub fn parse(output: &Output) -> Result<Line, LineError> {
    // The beginning of a line that is too long is no line of the contract either: it is too long
    // for every number, and a report's JSON is cut.
    let (Output::Line(text) | Output::TooLong(text)) = output;
    text.parse()
}

fn process_plan(bench: &Bench, prepared: &Prepared, limits: &Limits) -> Result<ProcessPlan, Stop> {
    let environment = Environment {
        variant: Some(prepared.variant.name.clone()),
        cpus: Some(bench.server_threads()),
        method: Some(bench.request.method.clone()),
        request_file: bench.request.bytes.clone(),
        profile: bench.profile,
        ..Environment::of(Role::Server)
    };
    let command = bench
        .words()
        .fill(&prepared.variant.run)
        .map_err(Stop::failed)?;
    let variables = environment.to_variables().into_iter();
    Ok(ProcessPlan {
        command: command.into_iter().map(OsString::from).collect(),
        folder: prepared.subject.folder.clone(),
        variables: variables
            .map(|(name, value)| (name.into(), value))
            .collect(),
        cpus: limits.cpus.clone(),
        line_limit_bytes: None,
    })
}

/// The port, or nothing when the process has ended.
fn wait_ready(
    process: &mut Process,
    bench: &Bench,
    timeout: Duration,
) -> Result<Option<u16>, Stop> {
    let deadline = Instant::now() + timeout;
    let mut listening_since = None;
    loop {
        let look = deadline.min(Instant::now() + PORT_INTERVAL);
        match process.next_event(look, &bench.interrupt) {
            Event::Output(output) => match parse(&output).map_err(Stop::failed)? {
                Line::Ready(port) => return Ok(Some(port)),
                line => {
                    return Err(Stop::failed(format!(
                        "the server said `{line}` before ready"
                    )));
                }
            },
            Event::Ended => return Ok(None),
            Event::Interrupted => return Err(Stop::Interrupted),
            Event::TimedOut if Instant::now() >= deadline => {
                return Err(not_ready(process, timeout));
            }
            Event::TimedOut => {
                if let Some(port) = silent_port(process, &mut listening_since) {
                    return Ok(Some(port));
                }
            }
        }
    }
}

fn silent_port(process: &Process, listening_since: &mut Option<Instant>) -> Option<u16> {
    let port = listening_port(process.tree())?;
    let since = *listening_since.get_or_insert_with(Instant::now);
    (since.elapsed() >= PORT_PATIENCE).then_some(port)
}

fn not_ready(process: &Process, timeout: Duration) -> Stop {
    let said = process.last_error().map(|line| format!(": {line}"));
    let said = said.unwrap_or_default();
    Stop::failed(format!(
        "the server did not say ready within {timeout:?}{said}"
    ))
}

fn target_of(port: u16) -> String {
    format!("127.0.0.1:{port}")
}
