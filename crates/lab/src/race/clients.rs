//! The clients of a race: commands of the user's that speak the contract. One runs once for each
//! lap, against a server that stays, and its window is what is measured.

use super::contestants::Contestants;
use super::doubts;
use super::error::RaceRunError;
use super::host::RaceHost;
use super::server::RaceServer;
use crate::context::INSTRUMENT_GRACE;
use crate::cpu::CpuMeter;
use crate::held_folder::HeldFolder;
use crate::invocation::Invocation;
use crate::process::interrupt::Interrupt;
use crate::process::output::OutputLine;
use crate::process::{Process, ProcessEvent};
use crate::round::{CallerReport, CallerReportParser};
use bookend_contract::environment::{Environment, WindowLength};
use bookend_contract::exit;
use bookend_contract::lines::Line;
use bookend_results::race::{Race, RaceLap};
use std::fmt::Display;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// A client that is to be raced.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RaceClient {
    /// Its name.
    pub name: String,
    /// A command line of the shell.
    pub command: String,
}

/// The request message of all calls, in a file that clients read. It is removed with this.
#[derive(Debug)]
pub struct RequestFile(HeldFolder);

/// Clients that are raced.
#[derive(Debug)]
pub struct RaceClients<'a> {
    /// Where they run.
    host: &'a RaceHost,
    /// All of them.
    clients: &'a [RaceClient],
    /// What they call.
    server: RaceServer,
    /// What they are asked by the contract, in each cell.
    environments: Vec<Environment>,
    /// Of each client's CPU time, what is known in ticks of 10 ms alone, nanoseconds.
    in_ticks_ns: Vec<u64>,
    /// CPU time of the server in all laps, nanoseconds.
    server_cpu_ns: u64,
}

impl<'a> RaceClients<'a> {
    /// None of them has run yet. They call `server`, as the variables of each cell say.
    pub fn new(
        host: &'a RaceHost,
        clients: &'a [RaceClient],
        server: RaceServer,
        environments: Vec<Environment>,
    ) -> Self {
        let in_ticks_ns = vec![0; clients.len()];
        RaceClients { host, clients, server, environments, in_ticks_ns, server_cpu_ns: 0 }
    }
}

impl RequestFile {
    /// Writes it, into a folder of its own.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn write(message: &[u8]) -> io::Result<RequestFile> {
        let name = format!("bookend-run.{}.request", std::process::id());
        let file = RequestFile(HeldFolder::create(&std::env::temp_dir().join(name))?);
        std::fs::write(file.path(), message)?;
        Ok(file)
    }

    /// Where it is.
    pub fn path(&self) -> PathBuf {
        self.0.path().join("request.bin")
    }
}

impl Drop for RequestFile {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(self.0.path());
    }
}

impl Contestants for RaceClients<'_> {
    fn count(&self) -> usize {
        self.clients.len()
    }

    /// Each lap starts its client.
    fn start(&mut self, _is_reversed: bool) -> Result<(), RaceRunError> {
        Ok(())
    }

    fn lap(&mut self, cell: usize, contestant: usize) -> Result<RaceLap, RaceRunError> {
        let (host, environment) = (self.host, &self.environments[cell]);
        let client = &self.clients[contestant];
        let mut invocation = Invocation::of_subject(&[], Path::new("."), environment.clone());
        invocation.cpus.clone_from(&host.placement.generator);
        let process = host.start(&client.name, &client.command, &invocation)?;
        let meter = CpuMeter::of(&process);
        let parser = CallerReportParser::default();
        let mut running = RunningClient { client, process, meter, parser, window: Window::Ahead };
        let interrupt = &host.spawner.interrupt;
        let followed = running.follow(longest(environment), interrupt, &mut self.server);
        // A server that has ended is why its client failed, and says why.
        self.server.check()?;
        followed?;
        let (lap, used) = running.finish(contestant)?;
        self.in_ticks_ns[contestant] += used.in_ticks_ns;
        self.server_cpu_ns += used.server_ns;
        Ok(lap)
    }

    fn end_round(&mut self) {}

    fn failed(&self, contestant: usize, reason: String) -> RaceRunError {
        RaceRunError::Client(self.clients[contestant].name.clone(), reason)
    }

    fn doubts(&self, race: &Race) -> Vec<String> {
        doubts::of_clients(self.host, race, &self.in_ticks_ns, self.server_cpu_ns)
    }
}

/// How long a run may take: calls that are in flight at the end may be awaited.
fn longest(environment: &Environment) -> Duration {
    let window_ms = match environment.window_length {
        Some(WindowLength::Milliseconds(length)) => length,
        Some(WindowLength::Calls(_) | WindowLength::Laps) | None => 0,
    };
    let times = [environment.warmup_ms, Some(window_ms), environment.deadline_ms];
    let sum_ms = times.into_iter().flatten().fold(0, u64::saturating_add);
    Duration::from_millis(sum_ms).saturating_add(INSTRUMENT_GRACE)
}

/// A client as it runs.
struct RunningClient<'a> {
    client: &'a RaceClient,
    process: Process,
    meter: CpuMeter,
    parser: CallerReportParser,
    window: Window,
}

/// The measured part of its life.
#[derive(Clone, Copy)]
enum Window {
    Ahead,
    Open { begin: Instant, before: BothEnds },
    Over { length: Duration, used: BothEnds },
}

/// CPU time of client and server, nanoseconds.
#[derive(Clone, Copy)]
struct BothEnds {
    client_ns: u64,
    in_ticks_ns: u64,
    server_ns: u64,
}

impl RunningClient<'_> {
    /// Reads what it prints, until it ends.
    fn follow(
        &mut self,
        timeout: Duration,
        interrupt: &Interrupt,
        server: &mut RaceServer,
    ) -> Result<(), RaceRunError> {
        let deadline = Instant::now() + timeout;
        loop {
            match self.process.next_event(deadline, interrupt) {
                ProcessEvent::Output(output) => self.take(&output, server)?,
                ProcessEvent::Exited => return Ok(()),
                ProcessEvent::Interrupted => return Err(RaceRunError::Interrupted),
                ProcessEvent::TimedOut => {
                    return Err(self.failed(format!("it was not done after {timeout:?}")));
                }
            }
        }
    }

    fn take(&mut self, output: &OutputLine, server: &mut RaceServer) -> Result<(), RaceRunError> {
        let line = output.parse().map_err(|error| {
            self.failed(format!("it does not speak the contract of clients: {error}"))
        })?;
        match (line, self.window) {
            (Line::WindowStart, Window::Ahead) => {
                let before = self.read(server);
                self.window = Window::Open { begin: Instant::now(), before };
                Ok(())
            }
            (Line::WindowEnd, Window::Open { begin, before }) => {
                let (length, now) = (begin.elapsed(), self.read(server));
                if self.meter.gaps().ignores_children {
                    return Err(RaceRunError::LosesChildren(self.client.name.clone()));
                }
                self.window = Window::Over { length, used: now.since(before) };
                Ok(())
            }
            (line, _) => self.parser.take(line).map_err(|error| self.failed(error)),
        }
    }

    fn read(&mut self, server: &mut RaceServer) -> BothEnds {
        BothEnds {
            client_ns: self.meter.read_ns(),
            in_ticks_ns: self.meter.gaps().in_ticks_ns,
            server_ns: server.cpu_ns(),
        }
    }

    /// What the lap comes to, and what both ends used, once it has ended.
    fn finish(self, number: usize) -> Result<(RaceLap, BothEnds), RaceRunError> {
        let name = self.client.name.clone();
        let exit = self.process.end(Duration::ZERO, |_| {});
        if exit.code() == Some(i32::from(exit::UNSUPPORTED)) {
            let reason = exit.last_error.unwrap_or_else(|| "it gave no reason".to_owned());
            return Err(RaceRunError::Unsupported(name, reason));
        }
        if exit.code() != Some(0) {
            return Err(RaceRunError::Client(name, exit.describe()));
        }
        let failed = |error: String| RaceRunError::Client(name.clone(), error);
        let Window::Over { length, used } = self.window else {
            return Err(failed("it ended without `window start` and `window end`".to_owned()));
        };
        let report = self.parser.finish().map_err(|error| failed(error.to_string()))?;
        if report.counts.ok == 0 {
            return Err(failed(no_answer(&report)));
        }
        let length_ns = report.window_seconds.map_or(length.as_nanos() as u64, |seconds| {
            Duration::try_from_secs_f64(seconds).unwrap_or(length).as_nanos() as u64
        });
        let lap = RaceLap {
            server: number,
            ok: report.counts.ok,
            failed: report.counts.failed(),
            length_ns,
            cpu_ns: used.client_ns,
            rated: None,
        };
        Ok((lap, used))
    }

    fn failed(&self, error: impl Display) -> RaceRunError {
        let error = self.process.with_last_error(error.to_string());
        RaceRunError::Client(self.client.name.clone(), error)
    }
}

impl BothEnds {
    fn since(self, before: BothEnds) -> BothEnds {
        BothEnds {
            client_ns: self.client_ns.saturating_sub(before.client_ns),
            in_ticks_ns: self.in_ticks_ns - before.in_ticks_ns,
            server_ns: self.server_ns.saturating_sub(before.server_ns),
        }
    }
}

fn no_answer(report: &CallerReport) -> String {
    let errors: Vec<String> =
        report.counts.errors.iter().map(|(code, count)| format!("{code} {count}")).collect();
    match errors.as_slice() {
        [] => "no call of its window ended".to_owned(),
        errors => format!("no call of its window ended OK, but with {}", errors.join(", ")),
    }
}
