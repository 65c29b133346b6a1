//! Which functions the difference between two servers is in, and flame graphs, recorded after the
//! race so that recording costs none of its laps anything.

use super::contestants::run_round;
use super::error::RaceRunError;
use super::host::RaceHost;
use super::server::RaceServer;
use super::servers::RaceServers;
use crate::cell_error::CellError;
use crate::held_folder::{HeldFolder, PREFIX};
use crate::perf::{Folded, Perf, PerfUnavailable, RecordTarget, Recording};
use bookend_results::race::{
    FunctionCost, FunctionSamples, Race, RaceCell, RaceServerName, differing_functions,
};
use fastrand::Rng;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Records the servers of a race, and keeps what was recorded.
#[derive(Debug)]
pub struct RaceProfiler {
    perf: Perf,
    /// Where `perf` writes.
    held: HeldFolder,
    window: Duration,
    /// Where flame graphs are kept.
    folder: Option<PathBuf>,
}

/// A recording that goes on, and whose it is.
#[derive(Debug)]
struct RaceRecording {
    recording: Recording,
    file: PathBuf,
    pids: Vec<Vec<i32>>,
}

impl RaceProfiler {
    /// One that uses this program, `perf`, for `window`, and keeps flame graphs in `folder`.
    ///
    /// # Errors
    /// There is no `perf`, or the folder cannot be made.
    pub fn find(
        program: &Path,
        window: Duration,
        folder: Option<PathBuf>,
    ) -> Result<RaceProfiler, RaceRunError> {
        if let Some(folder) = &folder {
            fs::create_dir_all(folder)
                .map_err(|error| RaceRunError::Usage(format!("--profile-folder: {error}")))?;
        }
        let name = format!("{PREFIX}{}.profile", std::process::id());
        let held = HeldFolder::create(&std::env::temp_dir().join(name))
            .map_err(PerfUnavailable::Folder)?;
        let perf = Perf::find(program, held.path())
            .inspect_err(|_| drop(fs::remove_dir_all(held.path())))?;
        Ok(RaceProfiler { perf, held, window, folder })
    }

    /// Calls all servers by turns while they are recorded, and returns the functions in which two
    /// of them differ; of one alone, nothing.
    ///
    /// # Errors
    /// A server has ended, or could not be recorded; nothing can be written; or the user wants the
    /// race to end.
    pub fn record(
        &self,
        host: &RaceHost,
        servers: &mut RaceServers<'_>,
        race: &Race,
    ) -> Result<Option<Vec<FunctionCost>>, RaceRunError> {
        let mut random = Rng::with_seed(race.seed);
        let recording = self.begin(host, servers.live())?;
        let begin = Instant::now();
        while begin.elapsed() < self.window {
            run_round(servers, race.cells.len(), &mut random)?;
        }
        let recorded = self.end(recording)?;
        if let Some(folder) = &self.folder {
            keep(folder, &race.servers, &race.cells, &recorded)
                .map_err(RaceRunError::NotDelivered)?;
        }
        let [first, second] = recorded.as_slice() else {
            return Ok(None);
        };
        let cost = [0, 1].map(|server| 1e9 / race.total(server, None).calls_per_cpu_second());
        let samples = [&by_function(first), &by_function(second)];
        Ok(Some(differing_functions(samples, cost)))
    }

    fn begin(
        &self,
        host: &RaceHost,
        servers: &[RaceServer],
    ) -> Result<RaceRecording, RaceRunError> {
        let pids: Vec<Vec<i32>> = servers.iter().map(RaceServer::pids).collect();
        let file = self.held.path().join("perf.data");
        let target = RecordTarget { pids: &pids.concat(), cpus: &host.placement.server };
        let command = self.perf.record(&target, &file);
        let recording = Recording::begin(command, &host.spawner, &host.placement.generator);
        Ok(RaceRecording { recording: recording.map_err(not_recorded)?, file, pids })
    }

    /// The samples of each server.
    fn end(&self, recorded: RaceRecording) -> Result<Vec<Folded>, RaceRunError> {
        let RaceRecording { recording, file, pids } = recorded;
        recording.end().map_err(not_recorded)?;
        pids.iter()
            .map(|pids| self.perf.folded_of(&file, pids))
            .collect::<Result<_, _>>()
            .map_err(not_recorded)
    }
}

impl Drop for RaceProfiler {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(self.held.path());
    }
}

fn not_recorded(error: CellError) -> RaceRunError {
    RaceRunError::NotRecorded(error.to_string())
}

/// Writes `NAME.svg`, a flame graph, and `NAME.folded`, its stacks, for each server.
fn keep(
    folder: &Path,
    servers: &[RaceServerName],
    cells: &[RaceCell],
    recorded: &[Folded],
) -> Result<(), String> {
    let called = cells.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
    for (server, folded) in servers.iter().zip(recorded) {
        let subtitle = format!("{} samples, {called}", folded.samples());
        let picture =
            folded.flame_graph(server.name.clone(), subtitle).map_err(|error| error.to_string())?;
        let name = server.name.replace(['/', ' '], "-");
        write(&folder.join(format!("{name}.svg")), &picture)?;
        write(&folder.join(format!("{name}.folded")), folded.text().as_bytes())?;
    }
    Ok(())
}

fn write(file: &Path, bytes: &[u8]) -> Result<(), String> {
    fs::write(file, bytes).map_err(|error| format!("cannot write {}: {error}", file.display()))
}

/// A sample counts for the function that ran.
fn by_function(folded: &Folded) -> FunctionSamples {
    let mut samples = FunctionSamples::new();
    for stack in folded.stacks() {
        let function = stack.frames.last().copied().unwrap_or_default();
        *samples.entry(function.to_owned()).or_default() += stack.samples;
    }
    samples
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two samples as `perf script` prints them.
    const SCRIPT: &str = "\
server 7 1.0:  1 cycles:
\t  10 encode+0x1 (/bin/server)
\t  20 main+0x2 (/bin/server)

server 7 2.0:  1 cycles:
\t  20 main+0x2 (/bin/server)

";

    #[test]
    fn each_server_has_a_flame_graph_and_its_stacks_whatever_it_is_called() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let named = |name: &str| RaceServerName { name: name.to_owned(), command: String::new() };
        let servers = [named("old"), named("topic/new one")];
        let folded = Folded::of_script(SCRIPT.as_bytes()).expect("samples");
        let cells = [RaceCell { connections: 1, concurrency: 100 }];
        keep(folder.path(), &servers, &cells, &[folded.clone(), folded]).expect("written");
        let read = |file: &str| fs::read_to_string(folder.path().join(file)).expect(file);
        assert_eq!(read("old.folded"), "server;main 1\nserver;main;encode 1\n");
        assert_eq!(read("topic-new-one.folded"), read("old.folded"));
        for (file, name) in [("old.svg", "old"), ("topic-new-one.svg", "topic/new one")] {
            let picture = read(file);
            assert!(picture.contains(&format!(">{name}</text>")), "{picture}");
            assert!(picture.contains("2 samples, C=1 S=100"), "{picture}");
        }
    }

    #[test]
    fn a_sample_counts_for_the_function_that_ran() {
        let samples = by_function(&Folded::of_script(SCRIPT.as_bytes()).expect("samples"));
        let counted: Vec<_> = samples.iter().map(|(name, count)| (name.as_str(), *count)).collect();
        assert_eq!(counted, [("encode", 1), ("main", 1)]);
    }
}
