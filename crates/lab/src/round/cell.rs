//! One cell: a warm-up, a window, and once more if something disturbed it.

use super::caller_run::{CallerOutput, CallerRun};
use super::marks::{AccountedCpu, marks};
use super::measured_laps::MeasuredLaps;
use super::pairing::Pairing;
use super::server::RunningServer;
use super::window::WindowUsage;
use crate::cell_error::CellError;
use crate::subject::IdleStrategy;
use bookend_contract::latency;
use bookend_contract::report::Extension;
use bookend_results::mark::Mark;
use bookend_results::measurement::{Measurement, Outcome, Spinning};
use bookend_results::steady::Steady;
use bookend_results::suite::TestedEnd;

impl CallerRun<'_> {
    /// Measures one cell of one round, and a disturbed window again up to `retries` times. Every
    /// call that is made is added to the server's counts.
    ///
    /// # Errors
    /// What the row says instead.
    pub fn measure(
        &self,
        server: &mut RunningServer,
        retries: u32,
    ) -> Result<Measurement, CellError> {
        let mut measured = self.measure_once(server)?;
        for _ in 0..retries {
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
        let mut window = *self;
        let mut warmed_up = 0;
        if !self.prints_lines() {
            if self.workload.warmup_ms > 0 {
                let workload = self.workload.warmup_alone();
                let warmup = CallerRun { workload, profiler: None, ..*self };
                warmed_up = run(&warmup, server)?.report.ok;
            }
            window.workload = self.workload.window_alone();
        }
        let output = run(&window, server)?;
        self.measurement(server, output, warmed_up)
    }

    /// `warmed_up` calls were made before this run.
    pub(super) fn measurement(
        &self,
        server: &RunningServer,
        output: CallerOutput,
        warmed_up: u64,
    ) -> Result<Measurement, CellError> {
        let CallerOutput { report, usage, raw, laps } = output;
        let limits = self.limits();
        let Pairing { side, .. } = self.pairing;
        let (tested, opposite) = match side {
            TestedEnd::Server => (&usage.server, &usage.generator),
            TestedEnd::Client => (&usage.generator, &usage.server),
        };
        let own = report.own.as_deref();
        let counted = laps.as_ref().map(MeasuredLaps::intervals);
        let intervals = counted.as_ref().or_else(|| own?.intervals.as_ref());
        let lap_count = laps.as_ref().map(MeasuredLaps::count);
        let window = Measurement {
            side: *side,
            asked: Some(self.workload.times()),
            started: usage.started,
            laps: lap_count,
            window_seconds: report.window_seconds.unwrap_or(usage.server.seconds),
            ok: report.ok,
            warmup: report.warmup + warmed_up,
            drained: report.drained,
            unfinished: report.unfinished,
            in_flight_at_end: report.in_flight_at_end,
            latency_histogram: latency::encode(&report.latencies),
            server_cpu_seconds: usage.server.end.cpu_seconds,
            server_cpu_mean: usage.server.cpu_mean,
            server_cpu_max: usage.server.cpu_max,
            server_cpu_limit: server.limits.cpus.unwrap_or_default(),
            generator_cpu_seconds: usage.generator.end.cpu_seconds,
            generator_busy_seconds: own.map(|own| own.worked_seconds()),
            generator_threads: own.map(|own| own.threads),
            generator_cpus: limits.threads,
            generator_cpu_quota: own.and_then(|own| own.cpu_quota),
            machine: usage.machine.total(),
            memory_mean_bytes: tested.end.memory_mean_bytes,
            memory_peak_bytes: tested.end.memory_peak_bytes,
            memory_source: tested.memory_source.to_owned(),
            threads: tested.end.threads,
            context_switches: usage.context_switches,
            requests_per_read: own.map(|own| own.requests_per_read),
            requests_per_write: own.map(|own| own.requests_per_write),
            client_cpu_mean: Some(usage.generator.cpu_mean),
            client_cpu_max: Some(usage.generator.cpu_max),
            client_cpu_limit: limits.cpus,
            opposite: Some(opposite.end.clone()),
            backend: usage.backend.as_ref().map(|backend| backend.end.clone()),
            steady: intervals.map(Steady::of).unwrap_or_default(),
            intervals: intervals.cloned(),
            marks: self.marks(&usage, lap_count.unwrap_or(1)),
            spinning: Spinning { server: server.spins, generator: self.caller_spins(own) },
            errors: report.errors,
            raw_output: raw,
            notes: report.notes.0,
        };
        if window.ok == 0 { Err(no_answer(window)) } else { Ok(window) }
    }

    /// Our own generator says whether it spins; of others, the declaration does.
    fn caller_spins(&self, own: Option<&Extension>) -> bool {
        let declared_to_spin = self.pairing.caller.variant.idle == IdleStrategy::Spin;
        own.is_some_and(|own| own.wait == "spin") || declared_to_spin
    }

    fn marks(&self, usage: &WindowUsage, spans: u32) -> Vec<Mark> {
        let context = self.context;
        // A backend on the generator's CPUs is no foreign process there.
        let is_beside = !context.backend_has_own_cpus();
        let beside = usage.backend.as_ref().filter(|_| is_beside);
        let accounted = AccountedCpu {
            window: usage.server.seconds,
            server: usage.server.end.cpu_seconds,
            generator: usage.generator.end.cpu_seconds
                + beside.map_or(0.0, |backend| backend.end.cpu_seconds),
            lab: usage.lab_seconds,
            spans,
        };
        marks(&usage.machine, &context.placement, &accounted)
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

/// A rate of nothing has no logarithm and no latency: the row says which errors there were, and
/// keeps what they cost.
fn no_answer(window: Measurement) -> CellError {
    let errors: Vec<String> =
        window.errors.iter().map(|(code, count)| format!("{code} {count}")).collect();
    let which = match errors.as_slice() {
        [] => "nor with an error".to_owned(),
        errors => format!("but with {}", errors.join(", ")),
    };
    CellError::Outcome(Outcome::Failed {
        error: format!("no call of the window ended OK, {which}"),
        window: Some(Box::new(window)),
    })
}
