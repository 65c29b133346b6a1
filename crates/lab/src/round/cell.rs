//! One cell: a warm-up, a window, and once more if somebody disturbed it.

use super::client_run::{self, Run};
use super::marks::{AccountedCpu, marks};
use super::observer::Observer;
use super::server::RunningServer;
use super::{RunContext, Workload};
use crate::build::PreparedSubject;
use crate::cell_error::CellError;
use crate::sampler::ResourceUsage;
use crate::subject::{IdleStrategy, InstrumentOutput};
use bookend_contract::latency;
use bookend_results::measurement::{EndUsage, Measurement, Outcome, Spinning};
use bookend_results::suite::Side;

/// One cell of one round, with whom it is measured.
#[derive(Clone, Copy)]
pub struct Cell<'a> {
    /// What all cells share.
    pub context: &'a RunContext,
    /// Who calls.
    pub caller: &'a PreparedSubject,
    /// How it calls.
    pub load: Workload,
    /// Which end is measured.
    pub under_test: Side,
    /// How often a disturbed window is measured again.
    pub retries: u32,
    /// Who is told of the window.
    pub observer: Option<&'a dyn Observer>,
}

impl Cell<'_> {
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

    fn measure_once(&self, server: &mut RunningServer) -> Result<Measurement, CellError> {
        if self.caller.variant.output == InstrumentOutput::Lines {
            let run = self.run(server, self.load)?;
            return self.measurement(server, run, 0);
        }
        let warmed_up = match self.load.warmup_ms {
            0 => 0,
            _ => {
                self.unobserved()
                    .run(server, self.load.warmup_alone())?
                    .said
                    .ok
            }
        };
        let window = self.run(server, self.load.window_alone())?;
        self.measurement(server, window, warmed_up)
    }

    fn measurement(
        &self,
        server: &RunningServer,
        run: Run,
        warmed_up: u64,
    ) -> Result<Measurement, CellError> {
        // Who says so is believed without a declaration.
        let says_so = run.said.own.as_ref().is_some_and(|own| own.spins);
        let spinning = Spinning {
            server: server.spins(),
            generator: says_so || self.caller.variant.wait == IdleStrategy::Spin,
        };
        let window = Measurement {
            spinning,
            ..measurement(self.context, run, self.under_test, warmed_up)
        };
        match window.ok {
            0 => Err(no_answer(window)),
            _ => Ok(window),
        }
    }

    fn unobserved(&self) -> Self {
        Cell {
            observer: None,
            ..*self
        }
    }

    fn run(&self, server: &mut RunningServer, load: Workload) -> Result<Run, CellError> {
        let run = client_run::run(&Cell { load, ..*self }, server);
        match &run {
            Ok(run) => server.counts += run.said.call_counts(),
            Err(_) => server.counts.is_open = true,
        }
        run
    }
}

fn measurement(context: &RunContext, run: Run, under_test: Side, warmed_up: u64) -> Measurement {
    let Run { said, watched } = run;
    let (server, generator) = (&watched.server, &watched.generator);
    let (tested, opposite) = match under_test {
        Side::Server => (server, generator),
        Side::Client => (generator, server),
    };
    let backend = watched.backend.as_ref().map(usage);
    let own = said.own.as_ref();
    // Without a control group, threads that ended with the window are only in the generator's own
    // account.
    let generator_cpu = own
        .map_or(0.0, |own| own.cpu_seconds)
        .max(generator.cpu_seconds);
    let worked = AccountedCpu {
        window: server.seconds,
        server: server.cpu_seconds,
        generator: generator_cpu + beside_generator(context, backend.as_ref()),
        lab: watched.lab_seconds,
    };
    Measurement {
        side: under_test,
        window_seconds: said.window_seconds.unwrap_or(server.seconds),
        ok: said.ok,
        errors: said.errors.clone(),
        warmup: said.warmup + warmed_up,
        drained: said.drained,
        unfinished: said.unfinished,
        latency_histogram: latency::encode(&said.latencies),
        server_cpu_seconds: server.cpu_seconds,
        server_cpu_mean: server.cpu_mean,
        server_cpu_max: server.cpu_max,
        server_cpu_limit: match under_test {
            Side::Server => context.server_cpu_limit,
            // A witness has its CPUs whole.
            Side::Client => f64::from(context.server_threads()),
        },
        generator_cpu_seconds: generator_cpu,
        generator_busy_seconds: own.map(|own| own.busy_seconds),
        generator_threads: own.map(|own| own.threads),
        generator_cpus: context.caller_threads(under_test),
        machine: watched.ledger.total(),
        memory_mean_bytes: tested.memory_mean_bytes,
        memory_peak_bytes: tested.memory_peak_bytes,
        memory_source: tested.memory_source.to_owned(),
        threads: tested.threads,
        context_switches: watched.context_switches,
        requests_per_read: own.map(|own| own.requests_per_read),
        requests_per_write: own.map(|own| own.requests_per_write),
        client_cpu_mean: Some(generator.cpu_mean),
        client_cpu_max: Some(generator.cpu_max),
        client_cpu_limit: context.caller_cpu_limit(under_test),
        opposite: Some(usage(opposite)),
        backend,
        steady: own.map(|own| own.steady).unwrap_or_default(),
        notes: said.notes.into_map(),
        marks: marks(&watched.ledger, &context.placement, &worked),
        spinning: Spinning::default(),
    }
}

fn usage(used: &ResourceUsage) -> EndUsage {
    EndUsage {
        cpu_seconds: used.cpu_seconds,
        memory_mean_bytes: used.memory_mean_bytes,
        memory_peak_bytes: used.memory_peak_bytes,
        threads: used.threads,
    }
}

/// CPU time of what stands behind the server on the generator's CPUs: no stranger there.
fn beside_generator(context: &RunContext, backend: Option<&EndUsage>) -> f64 {
    match context.backend_has_own_cpus() {
        true => 0.0,
        false => backend.map_or(0.0, |backend| backend.cpu_seconds),
    }
}

/// A rate of nothing has no logarithm and no latency: the row says which errors there were, and
/// keeps what they cost.
fn no_answer(window: Measurement) -> CellError {
    let errors: Vec<String> = window
        .errors
        .iter()
        .map(|(code, count)| format!("{code} {count}"))
        .collect();
    let which = match errors.is_empty() {
        true => "nor with an error".to_owned(),
        false => format!("but with {}", errors.join(", ")),
    };
    CellError::Outcome(Outcome::Failed {
        error: format!("no call of the window ended OK, {which}"),
        window: Some(Box::new(window)),
    })
}
