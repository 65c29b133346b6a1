//! One cell: a warm-up, a window, and once more if something disturbed it.

use super::caller_run::{CallerOutput, CallerRun};
use super::marks::{AccountedCpu, marks};
use super::server::RunningServer;
use super::window::WindowUsage;
use crate::cell_error::CellError;
use crate::sampler::ResourceUsage;
use crate::subject::IdleStrategy;
use bookend_contract::latency;
use bookend_results::mark::Mark;
use bookend_results::measurement::{EndUsage, Measurement, Outcome, Spinning};
use bookend_results::steady::Steady;
use bookend_results::suite::TestedEnd;

/// One cell of one round.
#[derive(Clone, Copy)]
pub struct CellRun<'a> {
    /// The caller, with warm-up and window.
    pub caller: CallerRun<'a>,
    /// How often a disturbed window is measured again.
    pub retries: u32,
}

impl CellRun<'_> {
    /// Measures the cell. Every call that is made is added to the server's counts.
    ///
    /// # Errors
    /// What the row says instead.
    pub fn measure(&self, server: &mut RunningServer) -> Result<Measurement, CellError> {
        let mut measured = self.measure_once(server)?;
        for _ in 0..self.retries {
            if measured.marks.is_empty() {
                break;
            }
            // A disturbed window is better than none.
            let Ok(again) = self.measure_once(server) else {
                break;
            };
            if again.marks.len() <= measured.marks.len() {
                measured = again;
            }
        }
        Ok(measured)
    }

    /// An instrument that knows nothing of the contract has no warm-up: it is run twice.
    fn measure_once(&self, server: &mut RunningServer) -> Result<Measurement, CellError> {
        let both = self.caller;
        if both.prints_lines() {
            let output = run(&both, server)?;
            return self.measurement(server, output, 0);
        }
        let mut warmed_up = 0;
        if both.workload.warmup_ms > 0 {
            let warmup =
                CallerRun { workload: both.workload.warmup_alone(), profiler: None, ..both };
            warmed_up = run(&warmup, server)?.report.ok;
        }
        let window = CallerRun { workload: both.workload.window_alone(), ..both };
        let output = run(&window, server)?;
        self.measurement(server, output, warmed_up)
    }

    /// `warmed_up` calls were made before this run.
    fn measurement(
        &self,
        server: &RunningServer,
        output: CallerOutput,
        warmed_up: u64,
    ) -> Result<Measurement, CellError> {
        let CallerOutput { report, usage } = output;
        let CallerRun { limits, under_test, .. } = self.caller;
        let (tested, opposite) = match under_test {
            TestedEnd::Server => (&usage.server, &usage.generator),
            TestedEnd::Client => (&usage.generator, &usage.server),
        };
        let own = report.own.as_deref();
        // Without a control group, only the generator itself knows of the CPU time of threads that
        // ended within the window.
        let generator_cpu = own
            .map_or(0.0, |own| own.cpu_user_seconds + own.cpu_system_seconds)
            .max(usage.generator.cpu_seconds);
        let window = Measurement {
            side: under_test,
            window_seconds: report.window_seconds.unwrap_or(usage.server.seconds),
            ok: report.ok,
            warmup: report.warmup + warmed_up,
            drained: report.drained,
            unfinished: report.unfinished,
            latency_histogram: latency::encode(&report.latencies),
            server_cpu_seconds: usage.server.cpu_seconds,
            server_cpu_mean: usage.server.cpu_mean,
            server_cpu_max: usage.server.cpu_max,
            server_cpu_limit: server.limits().cpus.unwrap_or_default(),
            generator_cpu_seconds: generator_cpu,
            generator_busy_seconds: own.map(|own| own.busy_seconds),
            generator_threads: own.map(|own| own.threads),
            generator_cpus: limits.threads,
            machine: usage.machine.total(),
            memory_mean_bytes: tested.memory_mean_bytes,
            memory_peak_bytes: tested.memory_peak_bytes,
            memory_source: tested.memory_source.to_owned(),
            threads: tested.threads,
            context_switches: usage.context_switches,
            requests_per_read: own.map(|own| own.requests_per_read),
            requests_per_write: own.map(|own| own.requests_per_write),
            client_cpu_mean: Some(usage.generator.cpu_mean),
            client_cpu_max: Some(usage.generator.cpu_max),
            client_cpu_limit: limits.cpus,
            opposite: Some(end_usage(opposite)),
            backend: usage.backend.as_ref().map(end_usage),
            steady: own.and_then(|own| own.intervals.as_ref()).map(Steady::of).unwrap_or_default(),
            marks: self.marks(&usage, generator_cpu),
            spinning: Spinning {
                server: server.spins(),
                generator: self.caller_spins(own.is_some_and(|own| own.wait == "spin")),
            },
            errors: report.errors,
            notes: report.notes.into_map(),
        };
        if window.ok == 0 {
            return Err(no_answer(window));
        }
        Ok(window)
    }

    fn marks(&self, usage: &WindowUsage, generator_cpu: f64) -> Vec<Mark> {
        let backend_cpu = self.backend_beside_generator(usage.backend.as_ref());
        let accounted = AccountedCpu {
            window: usage.server.seconds,
            server: usage.server.cpu_seconds,
            generator: generator_cpu + backend_cpu,
            lab: usage.lab_seconds,
        };
        marks(&usage.machine, &self.caller.context.placement, &accounted)
    }

    /// Our own generator says whether it spins; of others, the declaration does.
    fn caller_spins(&self, says_so: bool) -> bool {
        says_so || self.caller.caller.variant.idle == IdleStrategy::Spin
    }

    /// CPU time of the backend on the generator's CPUs, where it is no foreign process.
    fn backend_beside_generator(&self, backend: Option<&ResourceUsage>) -> f64 {
        if self.caller.context.backend_has_own_cpus() {
            return 0.0;
        }
        backend.map_or(0.0, |backend| backend.cpu_seconds)
    }
}

/// Runs the caller once and adds its calls to the server's counts.
fn run(caller: &CallerRun<'_>, server: &mut RunningServer) -> Result<CallerOutput, CellError> {
    let output = caller.run(server);
    match &output {
        Ok(output) => server.counts += output.report.call_counts(),
        Err(_) => server.counts.is_open = true,
    }
    output
}

fn end_usage(usage: &ResourceUsage) -> EndUsage {
    EndUsage {
        cpu_seconds: usage.cpu_seconds,
        memory_mean_bytes: usage.memory_mean_bytes,
        memory_peak_bytes: usage.memory_peak_bytes,
        threads: usage.threads,
    }
}

/// A rate of nothing has no logarithm and no latency: the row says which errors there were, and
/// keeps what they cost.
fn no_answer(window: Measurement) -> CellError {
    let errors: Vec<String> =
        window.errors.iter().map(|(code, count)| format!("{code} {count}")).collect();
    let which = if errors.is_empty() {
        "nor with an error".to_owned()
    } else {
        format!("but with {}", errors.join(", "))
    };
    CellError::Outcome(Outcome::Failed {
        error: format!("no call of the window ended OK, {which}"),
        window: Some(Box::new(window)),
    })
}
