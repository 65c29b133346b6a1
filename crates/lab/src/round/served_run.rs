//! One window of a cell: what its caller says, what was read around it, and what disturbed it.

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

/// A run of a caller, and the server that it calls.
pub struct ServedRun<'a, 's> {
    /// The run.
    pub run: CallerRun<'a>,
    /// The server, which is ready.
    pub server: &'s mut RunningServer,
}

impl ServedRun<'_, '_> {
    /// Measures one window.
    ///
    /// An instrument that knows nothing of the contract has no warm-up: it is run twice.
    ///
    /// # Errors
    /// What the row says instead.
    pub fn measure(&mut self) -> Result<Measurement, CellError> {
        let mut window = self.run;
        let mut warmed_up = 0;
        if !window.prints_lines() {
            if window.workload.warmup_ms > 0 {
                let workload = window.workload.warmup_alone();
                let warmup = CallerRun { workload, profiler: None, ..window };
                warmed_up = self.count(warmup.run(self.server))?.report.counts.ok;
            }
            window.workload = window.workload.window_alone();
        }
        let output = self.count(window.run(self.server))?;
        self.measurement(output, warmed_up)
    }

    /// Adds the calls of a run to those that are known of the server.
    pub fn count(
        &mut self,
        output: Result<CallerOutput, CellError>,
    ) -> Result<CallerOutput, CellError> {
        match &output {
            Ok(output) => self.server.counts += output.report.counts.call_counts(),
            Err(_) => self.server.counts.is_open = true,
        }
        output
    }

    /// What a run came to. `warmed_up` calls were made before it.
    ///
    /// # Errors
    /// What the row says instead: no call ended OK.
    pub fn measurement(
        &self,
        output: CallerOutput,
        warmed_up: u64,
    ) -> Result<Measurement, CellError> {
        let CallerOutput { report, mut usage, raw, laps } = output;
        let ServedRun { run, server } = self;
        let limits = run.limits();
        usage.ends.server.cpu_limit = server.limits.cpus;
        usage.ends.caller.cpu_limit = limits.cpus;
        usage.ends.caller.cpus = limits.threads;
        let own = report.own.as_deref();
        let counted = laps.as_ref().map(MeasuredLaps::intervals);
        let intervals = counted.as_ref().or_else(|| own?.intervals.as_ref());
        let lap_count = laps.as_ref().map(MeasuredLaps::count);
        let window = Measurement {
            asked: Some(run.workload.times()),
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
        let declared_to_spin = self.run.pairing.caller.variant.idle == IdleStrategy::Spin;
        own.is_some_and(|own| own.wait == "spin") || declared_to_spin
    }

    fn marks(&self, usage: &WindowUsage, spans: u32) -> Vec<Mark> {
        let context = self.run.context;
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
