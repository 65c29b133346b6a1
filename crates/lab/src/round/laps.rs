//! Cells that are measured by turns: their servers and instruments are alive together, and calls
//! are made in laps, to one server at a time.
//!
//! Whatever the machine does in these seconds happens to all of them alike, so that it cancels out
//! of their ratios. A cell's row is the sum of its laps: its CPU time is read around each of them,
//! when nothing is in flight.

mod instrument;
mod turns;

use super::served_run::ServedRun;
use crate::cell_error::CellError;
use crate::process::interrupt::Interrupted;
use bookend_results::measurement::Measurement;
use fastrand::Rng;
use instrument::LapInstrument;
use turns::{cut, order, shortest_lap_ms};

/// The instrument of a run, or why its row has no figures.
type State<'a> = Result<LapInstrument<'a>, CellError>;

/// Measures all of them, in laps of at least `lap_ms`. One that fails leaves the others alone.
/// Every call that is made is added to the counts of its server.
///
/// # Errors
/// The user wants the lab to end.
pub fn measure_by_turns<'a>(
    runs: &mut [ServedRun<'a, '_>],
    lap_ms: u64,
    random: &mut Rng,
) -> Result<Vec<Result<Measurement, CellError>>, Interrupted> {
    let start = |each: &ServedRun<'a, '_>| LapInstrument::start(each.run, each.server);
    let mut turns = Turns { states: runs.iter().map(start).collect(), lap_ms };
    turns.warm_up(runs)?;
    turns.run_laps(runs, random)?;
    turns
        .states
        .into_iter()
        .zip(runs)
        .map(|(state, served)| uninterrupted(finish(served, state)))
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
    fn warm_up(&mut self, runs: &[ServedRun<'_, '_>]) -> Result<(), Interrupted> {
        let mut left_ms: Vec<u64> = runs.iter().map(|each| each.run.workload.warmup_ms).collect();
        while left_ms.iter().any(|left| *left > 0) {
            for (index, served) in runs.iter().enumerate() {
                let length_ms = left_ms[index].min(self.shortest_lap_ms(index, served));
                left_ms[index] -= length_ms;
                if length_ms > 0 {
                    self.step(index, served, |instrument| instrument.warm_up(length_ms))?;
                }
            }
        }
        Ok(())
    }

    fn run_laps(
        &mut self,
        runs: &[ServedRun<'_, '_>],
        random: &mut Rng,
    ) -> Result<(), Interrupted> {
        let windows: Vec<_> = runs
            .iter()
            .enumerate()
            .map(|(index, served)| {
                let shortest_ms = self.shortest_lap_ms(index, served);
                cut(served.run.workload.window_ms, shortest_ms)
            })
            .collect();
        let laps: Vec<u32> = windows.iter().map(|window| window.laps).collect();
        for index in order(&laps, random) {
            let (served, lap_ms) = (&runs[index], windows[index].lap_ms);
            self.step(index, served, |instrument| instrument.lap(served.server, lap_ms))?;
        }
        Ok(())
    }

    /// As far as the calls that were made tell.
    fn shortest_lap_ms(&self, index: usize, served: &ServedRun<'_, '_>) -> u64 {
        let call_seconds = self.states[index].as_ref().ok().and_then(LapInstrument::call_seconds);
        let longest_ms = served.run.workload.window_ms;
        shortest_lap_ms(self.lap_ms, call_seconds, longest_ms)
    }

    /// Lets one of them do something, if it has not failed.
    fn step(
        &mut self,
        index: usize,
        served: &ServedRun<'_, '_>,
        what: impl FnOnce(LapInstrument<'a>) -> Result<LapInstrument<'a>, CellError>,
    ) -> Result<(), Interrupted> {
        let state = &mut self.states[index];
        let before = std::mem::replace(state, Err(CellError::Interrupted));
        let after = uninterrupted(before.and_then(what))?;
        // How it has ended is said by whoever owns it.
        let is_gone = after.is_ok() && served.server.has_exited();
        let gone = || Err(CellError::failed("its server has ended"));
        *state = if is_gone { gone() } else { after };
        Ok(())
    }
}

fn finish(served: &mut ServedRun<'_, '_>, state: State<'_>) -> Result<Measurement, CellError> {
    let output = served.count(state.and_then(LapInstrument::finish))?;
    served.measurement(output, 0)
}
