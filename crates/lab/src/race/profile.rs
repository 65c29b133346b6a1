//! Samples of both servers of a race, while they are called by turns.

use super::error::RaceRunError;
use super::host::RaceHost;
use super::server::RaceServer;
use crate::cell_error::CellError;
use crate::held_folder::{HeldFolder, PREFIX};
use crate::perf::{Folded, Perf, PerfUnavailable, RecordTarget, Recording};
use std::path::{Path, PathBuf};

/// Records the servers of a race.
#[derive(Debug)]
pub struct RaceRecorder {
    perf: Perf,
    folder: HeldFolder,
}

/// A recording that goes on, and whose it is.
#[derive(Debug)]
pub struct RaceRecording {
    recording: Recording,
    file: PathBuf,
    pids: Vec<Vec<i32>>,
}

impl RaceRecorder {
    /// One that uses this program, `perf`.
    ///
    /// # Errors
    /// [`PerfUnavailable`] with what to do about it.
    pub fn find(program: &Path) -> Result<RaceRecorder, PerfUnavailable> {
        let name = format!("{PREFIX}{}.profile", std::process::id());
        let folder = HeldFolder::create(&std::env::temp_dir().join(name))
            .map_err(PerfUnavailable::Folder)?;
        let perf = Perf::find(program, folder.path())
            .inspect_err(|_| drop(std::fs::remove_dir_all(folder.path())))?;
        Ok(RaceRecorder { perf, folder })
    }

    /// Begins to record these servers.
    ///
    /// # Errors
    /// `perf` did not begin.
    pub fn begin(
        &self,
        host: &RaceHost,
        servers: &[RaceServer],
    ) -> Result<RaceRecording, RaceRunError> {
        let pids: Vec<Vec<i32>> = servers.iter().map(RaceServer::pids).collect();
        let file = self.folder.path().join("perf.data");
        let target = RecordTarget { pids: &pids.concat(), cpus: &host.placement.server };
        let command = self.perf.record(&target, &file);
        let recording = Recording::begin(command, &host.spawner, &host.placement.generator);
        Ok(RaceRecording { recording: recording.map_err(not_recorded)?, file, pids })
    }

    /// Ends the recording and returns the samples of each server.
    ///
    /// # Errors
    /// `perf` could not write or read it.
    pub fn end(&self, recorded: RaceRecording) -> Result<Vec<Folded>, RaceRunError> {
        let RaceRecording { recording, file, pids } = recorded;
        recording.end().map_err(not_recorded)?;
        pids.iter()
            .map(|pids| self.perf.folded_of(&file, pids))
            .collect::<Result<_, _>>()
            .map_err(not_recorded)
    }
}

impl Drop for RaceRecorder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(self.folder.path());
    }
}

fn not_recorded(error: CellError) -> RaceRunError {
    RaceRunError::NotRecorded(error.to_string())
}
