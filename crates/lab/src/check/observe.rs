//! One run of our generator against the witness, and what both say of it.

use super::bench::Bench;
use super::clockwork::{Clockwork, Witnessed};
use super::stop::CheckStop;
use crate::control_group::{ControlGroup, ResourceLimits};
use crate::cpu::{CpuMeter, CpuTimes, own_cpu};
use crate::invocation::Invocation;
use crate::process::command_output::KillReason;
use crate::round::{AccountedCpu, marks};
use bookend_contract::report::LoadReport;
use bookend_contract::timestamp::TimestampNs;
use bookend_results::mark::Mark;
use serde_json::Value;
use std::fmt::Display;
use std::path::Path;
use std::time::{Duration, Instant};

/// What is called where a calibration does not stream.
const ANSWER: &str = "clockwork.Clockwork/Answer";

/// No run of a calibration takes as long.
const RUN_TIMEOUT: Duration = Duration::from_secs(60);

/// A report has histograms in it, and ten thousand calls one by one at most.
const REPORT_LIMIT_BYTES: usize = 16 << 20;

/// How a run of our generator is made.
pub struct Calls<'a> {
    /// What each call is to do, as `Order` in JSON; null is nothing.
    pub order: Value,
    /// Flags of `bookend load`.
    pub flags: &'a str,
    /// Whether the latency of each call is wanted.
    pub listed: bool,
    /// The method where it is not [`ANSWER`].
    pub method: Option<&'a str>,
    /// Where it is not the witness itself that is called.
    pub port: Option<u16>,
    /// How often what is called is named as a target.
    pub targets: usize,
    /// CPU time a second of the generator, in CPUs, where it is limited.
    pub cpu_time: Option<f64>,
}

impl Default for Calls<'_> {
    fn default() -> Self {
        Calls {
            order: Value::Null,
            flags: "",
            listed: false,
            method: None,
            port: None,
            targets: 1,
            cpu_time: None,
        }
    }
}

/// What came of a run.
pub struct CheckedRun {
    /// What our generator says.
    pub report: LoadReport,
    /// The latencies of its calls in the order in which they began, nanoseconds, where they were
    /// wanted.
    pub latencies_ns: Vec<u64>,
    /// CPU time of the witness by our ledger, nanoseconds.
    pub server_cpu_ns: u64,
    /// Time that the CPU of the witness worked, by the machine's account, seconds.
    pub machine_seconds: f64,
    /// What else was on both CPUs.
    pub disturbances: Vec<String>,
}

/// What both ends say of a run.
pub struct Observed {
    /// Our generator.
    pub run: CheckedRun,
    /// The witness.
    pub witness: Witnessed,
}

impl Bench {
    /// Starts the witness, has it called, and asks it what it saw.
    ///
    /// # Errors
    /// See [`CheckStop`].
    pub fn observe(&self, variant: &str, calls: &Calls<'_>) -> Result<Observed, CheckStop> {
        let mut server = Clockwork::start(self, variant)?;
        let run = self.load(&mut server, calls)?;
        Ok(Observed { run, witness: server.end()? })
    }

    /// Has `server` called by our generator.
    ///
    /// # Errors
    /// See [`CheckStop`].
    pub fn load(&self, server: &mut Clockwork, calls: &Calls<'_>) -> Result<CheckedRun, CheckStop> {
        let limits = ResourceLimits {
            cpus: self.placement.generator.clone(),
            cpu_time: calls.cpu_time,
            ..Default::default()
        };
        let group = self.groups.create(&limits).map_err(CheckStop::because)?;
        let command = self.command(calls, calls.port.unwrap_or(server.port()));
        let (machine, begin) = (CpuTimes::read(), Instant::now());
        let (server_ns, own_before) = (server.cpu_ns(), own_cpu());
        let (text, generator_ns) = self.report(command, group)?;
        let server_cpu_ns = server.cpu_ns().saturating_sub(server_ns);
        let machine = CpuTimes::read().since(&machine);
        let accounted = AccountedCpu {
            window: begin.elapsed().as_secs_f64(),
            server: server_cpu_ns as f64 / 1e9,
            generator: generator_ns as f64 / 1e9,
            lab: own_cpu().saturating_sub(own_before).as_secs_f64(),
            spans: 1,
        };
        let marks = marks(&machine, &self.placement, &accounted);
        Ok(CheckedRun {
            report: read(&text)?,
            latencies_ns: if calls.listed { latencies(&text)? } else { Vec::new() },
            server_cpu_ns,
            machine_seconds: machine.busy_seconds(&self.placement.server, accounted.window),
            disturbances: marks.iter().map(Mark::to_string).collect(),
        })
    }

    /// What our generator prints, and its CPU time, nanoseconds.
    fn report(
        &self,
        command: Vec<String>,
        group: ControlGroup,
    ) -> Result<(String, u64), CheckStop> {
        let invocation = Invocation {
            cpus: self.placement.generator.clone(),
            ..Invocation::of_tool(&[], Path::new("."))
        };
        let process = self.spawner.spawn_as_is(command, &invocation, group);
        let process = process.map_err(CheckStop::because)?;
        let (mut meter, mut cpu_ns) = (CpuMeter::of(&process), 0);
        let deadline = Instant::now() + RUN_TIMEOUT;
        let interrupt = &self.spawner.interrupt;
        let read_meter = || cpu_ns = meter.read_ns();
        let output = process.collect_then(deadline, REPORT_LIMIT_BYTES, interrupt, read_meter);
        if output.killed == Some(KillReason::Interrupted) {
            return Err(CheckStop::Interrupted);
        }
        if !output.succeeded() {
            return Err(CheckStop::because(format!("the generator: {}", output.describe())));
        }
        Ok((output.text, cpu_ns))
    }

    fn command(&self, calls: &Calls<'_>, port: u16) -> Vec<String> {
        let order = if calls.order.is_null() { "{}".to_owned() } else { calls.order.to_string() };
        let proto = self.proto.display().to_string();
        let method = calls.method.unwrap_or(ANSWER);
        let bookend = self.spawner.bookend.display().to_string();
        let fixed = ["load", "--insecure", "--proto", &proto, "--call", method, "-d", &order];
        let listed = if calls.listed { u32::MAX } else { 0 }.to_string();
        let quiet = ["-O", "json", "--calls-listed", &listed, "--live", "off"];
        let targets = vec![format!("127.0.0.1:{port}"); calls.targets];
        let words = fixed.into_iter().chain(quiet).chain(calls.flags.split_whitespace());
        [bookend].into_iter().chain(words.map(str::to_owned)).chain(targets).collect()
    }
}

fn read(text: &str) -> Result<LoadReport, CheckStop> {
    serde_json::from_str(text).map_err(unreadable)
}

/// The latencies of the listed calls in the order in which they began, nanoseconds. A report
/// without one that can be read is an error: its tails would be judged without looking at halves.
fn latencies(text: &str) -> Result<Vec<u64>, CheckStop> {
    let report: Value = serde_json::from_str(text).map_err(unreadable)?;
    let calls = report["details"].as_array().ok_or_else(|| unreadable("it lists no calls"))?;
    let mut began = calls
        .iter()
        .map(began)
        .collect::<Option<Vec<_>>>()
        .ok_or_else(|| unreadable("a call has no time or no latency"))?;
    began.sort_unstable();
    Ok(began.into_iter().map(|(_, latency_ns)| latency_ns).collect())
}

/// When a listed call began, nanoseconds since 1970, and its latency.
fn began(call: &Value) -> Option<(u64, u64)> {
    let end: TimestampNs = call["timestamp"].as_str()?.parse().ok()?;
    let latency_ns = call["latency"].as_u64()?;
    Some((end.0.checked_sub(latency_ns)?, latency_ns))
}

fn unreadable(error: impl Display) -> CheckStop {
    CheckStop::because(format!("the generator's report: {error}"))
}

impl CheckedRun {
    /// The latency that this percentage of the calls took at most, nanoseconds.
    pub fn latency_ns(&self, percent: f64) -> f64 {
        self.report
            .latency_distribution
            .iter()
            .find(|at| at.percentage == percent)
            .map_or(f64::NAN, |at| at.latency as f64)
    }

    /// Length of the window, seconds.
    pub fn seconds(&self) -> f64 {
        self.report.bookend.window_seconds
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn latencies_are_in_the_order_of_beginnings_and_none_is_left_out() {
        let slow = r#"{"timestamp":"2026-11-25T12:00:01.5Z","latency":1500000000}"#;
        let quick = r#"{"timestamp":"2026-11-25T12:00:01Z","latency":500}"#;
        let read = |calls: &str| latencies(&format!(r#"{{"details":[{calls}]}}"#)).ok();
        assert_eq!(read(&format!("{quick},{slow}")), Some(vec![1_500_000_000, 500]));
        assert_eq!(read(&format!(r#"{quick},{{"timestamp":"today","latency":1}}"#)), None);
        assert_eq!(read(&format!(r#"{quick},{{"timestamp":"2026-11-25T12:00:01Z"}}"#)), None);
        assert!(latencies("{}").is_err(), "no list is not an empty one");
    }
}
