//! An instrument that makes calls when it is told to, and what it has measured lap by lap.

use crate::cell_error::CellError;
use crate::process::{Process, ProcessEvent};
use crate::round::caller_report::CallerReportParser;
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
    process: Process,
    parser: CallerReportParser,
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
        let process = run.context.spawn(invocation, &run.limits().resources)?;
        Ok(LapInstrument {
            run,
            process,
            parser: CallerReportParser::default(),
            sampler: None,
            laps: MeasuredLaps::default(),
        })
    }

    /// Lets it make calls that count as warm-up.
    ///
    /// # Errors
    /// What the row says instead.
    pub fn warm_up(self, length_ms: u64) -> Result<Self, CellError> {
        let begin = Instant::now();
        let (mut instrument, line) = self.tell(LapCommand::WarmUp(length_ms), length_ms)?;
        let Line::Warmup(ok) = line else {
            return Err(out_of_place(&line));
        };
        let length_ns = u64::try_from(begin.elapsed().as_nanos()).unwrap_or(u64::MAX);
        instrument.laps.warmup.push(LapFigures { ok, failed: 0, length_ns });
        instrument.parser.take(line).map_err(CellError::failed)?;
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
            return Err(out_of_place(&line));
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
        let Self { run, process, mut parser, sampler, laps } = self;
        let usage = sampler.map(WindowSampler::end);
        let mut taken = Ok(());
        let exit = process.end(run.context.timeouts.drain, |output| {
            let line = output.parse().map_err(CellError::failed);
            let take = |line| parser.take(line).map_err(CellError::failed);
            if taken.is_ok() {
                taken = line.and_then(take);
            }
        });
        if exit.code() != Some(0) {
            return Err(CellError::from_exit(&exit));
        }
        taken?;
        let usage = usage.ok_or_else(|| CellError::failed("it had no lap"))?;
        let mut report = parser.finish().map_err(CellError::failed)?;
        laps.check(&report)?;
        report.window_seconds = Some(laps.window_seconds());
        Ok(CallerOutput { report, usage, raw: None, laps: Some(laps) })
    }

    fn processes<'b>(&'b self, server: &'b RunningServer) -> WindowProcesses<'b> {
        WindowProcesses {
            server: server.process(),
            generator: &self.process,
            backend: server.backend(),
            under_test: self.run.pairing.side,
        }
    }

    /// Writes a command and waits for its answer; takes samples meanwhile, if that takes long.
    fn tell(mut self, command: LapCommand, length_ms: u64) -> Result<(Self, Line), CellError> {
        // If it no longer reads, it has ended, and the code below reports how.
        let _ = self.process.write_line(&command.to_string());
        let grace = self.run.context.timeouts.grace;
        let timeout = self.run.workload.longest_of(length_ms).saturating_add(grace);
        let deadline = Instant::now() + timeout;
        let is_sampled = Duration::from_millis(length_ms) >= 2 * SAMPLE_INTERVAL;
        loop {
            let sampler = self.sampler.as_mut().filter(|_| is_sampled);
            let next = sampler.as_ref().map_or(deadline, |sampler| sampler.next_sample);
            let interrupt = &self.run.context.spawner.interrupt;
            match self.process.next_event(next.min(deadline), interrupt) {
                ProcessEvent::Output(output) => match output.parse().map_err(CellError::failed)? {
                    note @ Line::Note { .. } => {
                        self.parser.take(note).map_err(CellError::failed)?
                    }
                    line => return Ok((self, line)),
                },
                ProcessEvent::Exited => {
                    let exit = self.process.end(Duration::ZERO, |_| {});
                    return Err(CellError::from_exit(&exit));
                }
                ProcessEvent::Interrupted => return Err(CellError::Interrupted),
                ProcessEvent::TimedOut if Instant::now() >= deadline => {
                    let error = format!("`{command}` was not done after {timeout:?}");
                    return Err(CellError::failed(self.process.with_last_error(error)));
                }
                ProcessEvent::TimedOut => {}
            }
            if let Some(sampler) = self.sampler.as_mut().filter(|_| is_sampled) {
                sampler.sample_if_due();
            }
        }
    }
}

fn out_of_place(line: &Line) -> CellError {
    CellError::failed(format!("`{line}` is out of place"))
}
