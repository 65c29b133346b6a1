//! One cell: a warm-up, a window, and once more if something disturbed it.

use super::caller_run::{CallerOutput, CallerRun};
use super::marks::{AccountedCpu, marks};
use super::measured_laps::MeasuredLaps;
use super::server::RunningServer;
use super::window::WindowUsage;
use crate::cell_error::CellError;
use crate::subject::IdleStrategy;
use bookend_contract::latency;
use bookend_contract::report::Extension;
use bookend_results::mark::Mark;
use bookend_results::measurement::{
    GeneratorAccount, Measurement, Outcome, Spinning, WindowCounts,
};
use bookend_results::steady::Steady;

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
                warmed_up = run(&warmup, server)?.report.counts.ok;
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
        let CallerOutput { report, mut usage, raw, laps } = output;
        let limits = self.limits();
        usage.ends.server.cpu_limit = server.limits.cpus;
        usage.ends.caller.cpu_limit = limits.cpus;
        usage.ends.caller.cpus = limits.threads;
        let own = report.own.as_deref();
        let counted = laps.as_ref().map(MeasuredLaps::intervals);
        let intervals = counted.as_ref().or_else(|| own?.intervals.as_ref());
        let lap_count = laps.as_ref().map(MeasuredLaps::count);
        let window = Measurement {
            asked: Some(self.workload.times()),
            started: usage.started,
            laps: lap_count,
            window_seconds: report.window_seconds.unwrap_or(usage.seconds),
            latency_histogram: latency::encode(&report.latencies),
            generator: own.map(GeneratorAccount::from).unwrap_or_default(),
            machine: usage.machine.total(),
            steady: intervals.and_then(Steady::of),
            intervals: intervals.cloned(),
            marks: self.marks(&usage, lap_count.unwrap_or(1)),
            spinning: Spinning { server: server.spins, generator: self.caller_spins(own) },
            ends: usage.ends,
            counts: WindowCounts { warmup: report.counts.warmup + warmed_up, ..report.counts },
            raw_output: raw,
            notes: report.notes.0,
        };
        if window.counts.ok == 0 { Err(no_answer(window)) } else { Ok(window) }
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
        let beside = usage.ends.backend.as_ref().filter(|_| is_beside);
        let accounted = AccountedCpu {
            window: usage.seconds,
            server: usage.ends.server.cpu_seconds,
            generator: usage.ends.caller.cpu_seconds
                + beside.map_or(0.0, |backend| backend.cpu_seconds),
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
        Ok(output) => server.counts += output.report.counts.call_counts(),
        Err(_) => server.counts.is_open = true,
    }
    output
}

/// A rate of nothing has no logarithm and no latency: the row says which errors there were, and
/// keeps what they cost.
fn no_answer(window: Measurement) -> CellError {
    let errors: Vec<String> =
        window.counts.errors.iter().map(|(code, count)| format!("{code} {count}")).collect();
    let which = match errors.as_slice() {
        [] => "nor with an error".to_owned(),
        errors => format!("but with {}", errors.join(", ")),
    };
    CellError::Outcome(Outcome::Failed {
        error: format!("no call of the window ended OK, {which}"),
        window: Some(Box::new(window)),
    })
}
