//! Cells that are measured by turns: their servers and instruments are alive together, and calls
//! are made in laps, to one server at a time.
//!
//! Whatever the machine does in these seconds happens to all of them alike, so that it cancels out
//! of their ratios. A cell's row is the sum of its laps: its CPU time is read around each of them,
//! when nothing is in flight.

mod instrument;
mod turns;

use super::caller_run::CallerRun;
use super::server::RunningServer;
use crate::cell_error::CellError;
use crate::process::interrupt::Interrupted;
use bookend_results::measurement::Measurement;
use fastrand::Rng;
use instrument::LapInstrument;
use turns::{cut, order, shortest_lap_ms};

/// One of the cells that are measured by turns.
pub struct Contestant<'a> {
    /// Its calls.
    pub run: CallerRun<'a>,
    /// Its server, which is ready.
    pub server: RunningServer,
}

/// A contestant's instrument, or why its row has no figures.
type State<'a> = Result<LapInstrument<'a>, CellError>;

/// Measures all of them, in laps of at least `lap_ms`. One that fails leaves the others alone.
/// Every call that is made is added to the counts of its server.
///
/// # Errors
/// The user wants the lab to end.
pub fn measure_by_turns<'a>(
    contestants: &mut [Contestant<'a>],
    lap_ms: u64,
    random: &mut Rng,
) -> Result<Vec<Result<Measurement, CellError>>, Interrupted> {
    let start = |each: &Contestant<'a>| LapInstrument::start(each.run, &each.server);
    let mut turns = Turns { states: contestants.iter().map(start).collect(), lap_ms };
    turns.warm_up(contestants)?;
    turns.run_laps(contestants, random)?;
    turns
        .states
        .into_iter()
        .zip(contestants)
        .map(|(state, contestant)| uninterrupted(contestant.finish(state)))
        .collect()
}

fn uninterrupted<T>(result: Result<T, CellError>) -> Result<Result<T, CellError>, Interrupted> {
    match result {
        Err(CellError::Interrupted) => Err(Interrupted),
        result => Ok(result),
    }
}

struct Turns<'a> {
    states: Vec<State<'a>>,
    lap_ms: u64,
}

impl<'a> Turns<'a> {
    /// By turns as well, so that none has cooled down when the laps begin.
    fn warm_up(&mut self, contestants: &[Contestant<'_>]) -> Result<(), Interrupted> {
        let mut left_ms: Vec<u64> =
            contestants.iter().map(|each| each.run.workload.warmup_ms).collect();
        while left_ms.iter().any(|left| *left > 0) {
            for (index, contestant) in contestants.iter().enumerate() {
                let length_ms = left_ms[index].min(self.shortest_lap_ms(index, contestant));
                left_ms[index] -= length_ms;
                if length_ms > 0 {
                    self.step(index, contestant, |instrument| instrument.warm_up(length_ms))?;
                }
            }
        }
        Ok(())
    }

    fn run_laps(
        &mut self,
        contestants: &[Contestant<'_>],
        random: &mut Rng,
    ) -> Result<(), Interrupted> {
        let windows: Vec<_> = contestants
            .iter()
            .enumerate()
            .map(|(index, contestant)| {
                let shortest_ms = self.shortest_lap_ms(index, contestant);
                cut(contestant.run.workload.window_ms, shortest_ms)
            })
            .collect();
        let laps: Vec<u32> = windows.iter().map(|window| window.laps).collect();
        for index in order(&laps, random) {
            let (contestant, lap_ms) = (&contestants[index], windows[index].lap_ms);
            self.step(index, contestant, |instrument| instrument.lap(&contestant.server, lap_ms))?;
        }
        Ok(())
    }

    /// As far as the calls that were made tell.
    fn shortest_lap_ms(&self, index: usize, contestant: &Contestant<'_>) -> u64 {
        let call_seconds = self.states[index].as_ref().ok().and_then(LapInstrument::call_seconds);
        let longest_ms = contestant.run.workload.window_ms;
        shortest_lap_ms(self.lap_ms, call_seconds, longest_ms)
    }

    /// Lets one of them do something, if it has not failed.
    fn step(
        &mut self,
        index: usize,
        contestant: &Contestant<'_>,
        what: impl FnOnce(LapInstrument<'a>) -> Result<LapInstrument<'a>, CellError>,
    ) -> Result<(), Interrupted> {
        let state = &mut self.states[index];
        let before = std::mem::replace(state, Err(CellError::Interrupted));
        let after = uninterrupted(before.and_then(what))?;
        // How it has ended is said by whoever owns it.
        let is_gone = after.is_ok() && contestant.server.has_exited();
        let gone = || Err(CellError::failed("its server has ended"));
        *state = if is_gone { gone() } else { after };
        Ok(())
    }
}

impl Contestant<'_> {
    fn finish(&mut self, state: State<'_>) -> Result<Measurement, CellError> {
        let output = state.and_then(LapInstrument::finish);
        match &output {
            Ok(output) => self.server.counts += output.report.counts.call_counts(),
            Err(_) => self.server.counts.is_open = true,
        }
        self.run.measurement(&self.server, output?, 0)
    }
}
