//! `--profile`: which functions the difference is in, recorded after the race so that recording
//! costs none of its laps anything.

use super::ended::RaceEnd;
use super::running::{LiveServers, Starter};
use bookend_lab::race::RaceRecorder;
use bookend_results::race::{FunctionCost, Race, differing_functions};
use bookend_results::random::Random;
use std::time::Instant;

/// Calls both servers by turns while they are recorded. `None`: the user wants the race to end.
///
/// # Errors
/// A server has ended, or could not be recorded.
pub fn record(
    recorder: &RaceRecorder,
    starter: &Starter<'_>,
    mut running: LiveServers,
    race: &Race,
    random: &mut Random,
) -> Result<Option<Vec<FunctionCost>>, RaceEnd> {
    let recording = recorder.begin(starter.host, running.servers())?;
    let begin = Instant::now();
    while begin.elapsed() < starter.arguments.profile_window {
        if running.round(starter, random)?.is_none() {
            return Ok(None);
        }
    }
    let samples = recorder.end(recording)?;
    let [first, second] = samples.as_slice() else {
        return Ok(None);
    };
    let cost = [0, 1].map(|server| 1e9 / race.total(server, None).calls_per_cpu_second());
    Ok(Some(differing_functions([first, second], cost)))
}
