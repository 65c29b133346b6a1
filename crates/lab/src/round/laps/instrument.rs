//! An instrument that makes calls when it is told to, and what it has measured lap by lap.

use crate::cell_error::CellError;
use crate::lap_process::{LapProcess, out_of_place};
use crate::round::caller_run::{CallerOutput, CallerRun};
use crate::round::measured_laps::MeasuredLaps;
use crate::round::server::RunningServer;
use crate::round::window::{WindowProcesses, WindowSampler};
use crate::sampler::SAMPLE_INTERVAL;
use bookend_contract::environment::WindowLength;
use bookend_contract::laps::{LapCommand, LapFigures};
use bookend_contract::lines::Line;
use std::time::{Duration, Instant};

/// An instrument that runs.
pub struct LapInstrument<'a> {
    run: CallerRun<'a>,
    process: LapProcess,
    /// From the first lap on; between laps it pauses.
    sampler: Option<WindowSampler>,
    laps: MeasuredLaps,
}

impl<'a> LapInstrument<'a> {
    /// Starts it. It makes its connections, and no call yet.
    ///
    /// # Errors
    /// What the row says instead.
    pub fn start(
        run: CallerRun<'a>,
        server: &RunningServer,
    ) -> Result<LapInstrument<'a>, CellError> {
        let invocation = run.invocation(server, WindowLength::Laps)?;
        let process = LapProcess::new(run.context.spawn(invocation, &run.limits().resources)?);
        Ok(LapInstrument { run, process, sampler: None, laps: MeasuredLaps::default() })
    }

    /// Lets it make calls that count as warm-up.
    ///
    /// # Errors
    /// What the row says instead.
    pub fn warm_up(self, length_ms: u64) -> Result<Self, CellError> {
        let begin = Instant::now();
        let (mut instrument, line) = self.tell(LapCommand::WarmUp(length_ms), length_ms)?;
        let Line::Warmup(ok) = line else {
            return Err(out_of_place(&line).into());
        };
        let length_ns = u64::try_from(begin.elapsed().as_nanos()).unwrap_or(u64::MAX);
        instrument.laps.warmup.push(LapFigures { ok, length_ns, ..LapFigures::default() });
        instrument.process.keep(line)?;
        Ok(instrument)
    }

    /// Lets it make the calls of one lap, and reads around it what they took.
    ///
    /// # Errors
    /// What the row says instead.
    pub fn lap(mut self, server: &RunningServer, length_ms: u64) -> Result<Self, CellError> {
        self.laps.lap_ms = length_ms;
        match &mut self.sampler {
            Some(sampler) => sampler.resume(),
            None => self.sampler = Some(WindowSampler::begin(self.processes(server))),
        }
        let (mut instrument, line) = self.tell(LapCommand::Lap(length_ms), length_ms)?;
        if let Some(sampler) = &mut instrument.sampler {
            sampler.pause();
        }
        let Line::Lap(figures) = line else {
            return Err(out_of_place(&line).into());
        };
        instrument.laps.window.push(figures);
        Ok(instrument)
    }

    /// How long a call takes, as the warm-up tells: the time in which every stream has its turn.
    /// `None` before it; infinite where no call has ended.
    pub fn call_seconds(&self) -> Option<f64> {
        let length_ns = self.laps.warmup.iter().map(|lap| lap.length_ns as f64).sum::<f64>();
        let calls = self.laps.warmup.iter().map(|lap| lap.ok as f64).sum::<f64>();
        let streams = f64::from(self.run.workload.case.concurrency);
        (length_ns > 0.0).then(|| streams * length_ns / 1e9 / calls)
    }

    /// Asks it for its report, and ends it.
    ///
    /// # Errors
    /// What the row says instead.
    pub fn finish(self) -> Result<CallerOutput, CellError> {
        let Self { run, process, sampler, laps } = self;
        let usage = sampler.map(WindowSampler::end);
        let mut report = process.finish(run.context.timeouts.drain)?;
        let usage = usage.ok_or_else(|| CellError::failed("it had no lap"))?;
        laps.check(&report)?;
        report.window_seconds = Some(laps.window_seconds());
        Ok(CallerOutput { report, usage, raw: None, laps: Some(laps) })
    }

    fn processes<'b>(&'b self, server: &'b RunningServer) -> WindowProcesses<'b> {
        WindowProcesses {
            server: server.process(),
            generator: self.process.process(),
            backend: server.backend(),
            under_test: self.run.pairing.side,
        }
    }

    /// Tells it what to do; takes samples meanwhile, if that takes long.
    fn tell(self, command: LapCommand, length_ms: u64) -> Result<(Self, Line), CellError> {
        let Self { run, process, mut sampler, laps } = self;
        let timeout = run.workload.longest_of(length_ms).saturating_add(run.context.timeouts.grace);
        let is_sampled = Duration::from_millis(length_ms) >= 2 * SAMPLE_INTERVAL;
        let sample = || {
            let sampler = sampler.as_mut().filter(|_| is_sampled)?;
            sampler.sample_if_due();
            Some(sampler.next_sample)
        };
        let interrupt = &run.context.spawner.interrupt;
        let (process, line) = process.tell(command, timeout, interrupt, sample)?;
        Ok((Self { run, process, sampler, laps }, line))
    }
}
