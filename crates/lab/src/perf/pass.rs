//! One recording: a server and its caller started as in a round, `perf` attached for the window.

use super::folded::Folded;
use super::recording::Recording;
use super::tool::{Perf, RecordTarget};
use crate::cell_error::CellError;
use crate::context::RunContext;
use crate::process::Process;
use crate::round::{CallerRun, Pairing, Profiler, RunningServer, ServedRun, Workload};
use bookend_results::measurement::Measurement;
use bookend_results::suite::TestedEnd;
use std::cell::{Cell, RefCell};
use std::fs;
use std::path::Path;
use std::time::Duration;

/// How long a profiled server may take to end: a virtual machine writes its symbols then.
const DRAIN_MIN: Duration = Duration::from_secs(15);

/// What is recorded, and how.
#[derive(Clone, Copy)]
pub struct ProfilePass<'a> {
    /// What all cells share.
    pub context: &'a RunContext,
    /// The recorder.
    pub perf: &'a Perf,
    /// Both ends.
    pub pairing: &'a Pairing<'a>,
    /// The calls.
    pub workload: Workload,
    /// A file that may be written and is gone afterwards.
    pub file: &'a Path,
}

/// What a recording yields.
#[derive(Clone, Debug)]
pub struct RecordedSamples {
    /// The samples.
    pub folded: Folded,
    /// The event that was sampled, as `perf` names it.
    pub event: String,
    /// What the window came to, with `perf` attached.
    pub measurement: Measurement,
}

impl ProfilePass<'_> {
    /// Starts both ends, records the window and reads the samples.
    ///
    /// # Errors
    /// What the row says instead.
    pub fn record(&self) -> Result<RecordedSamples, CellError> {
        let profiler =
            PerfProfiler { pass: *self, recording: Cell::new(None), pids: RefCell::default() };
        let mut server = RunningServer::start(self.context, &self.pairing.server)?;
        let run = CallerRun {
            context: self.context,
            pairing: self.pairing,
            workload: self.workload,
            profiler: Some(&profiler),
        };
        let measured = ServedRun { run, server: &mut server }.measure();
        // The names of compiled code are known only once the server has ended.
        server.end(self.context.timeouts.drain.max(DRAIN_MIN));
        let pids = profiler.pids.borrow().clone();
        let recorded = measured.and_then(|measurement| self.read(measurement, &pids));
        profiler.clean_up();
        recorded
    }

    fn read(&self, measurement: Measurement, pids: &[i32]) -> Result<RecordedSamples, CellError> {
        let event = self.perf.event_of(self.file)?;
        let folded = self.perf.folded(self.file, pids)?;
        if folded.samples() == 0 {
            return Err(CellError::failed("perf took no sample of it"));
        }
        Ok(RecordedSamples { folded, event, measurement })
    }
}

/// Records from the beginning of a window to its end.
struct PerfProfiler<'a> {
    pass: ProfilePass<'a>,
    recording: Cell<Option<Recording>>,
    pids: RefCell<Vec<i32>>,
}

impl PerfProfiler<'_> {
    /// Removes what the recording and the virtual machines have left behind.
    fn clean_up(&self) {
        let _ = fs::remove_file(self.pass.file);
        for pid in self.pids.borrow().iter() {
            let _ = fs::remove_file(format!("/tmp/perf-{pid}.map"));
        }
    }
}

impl Profiler for PerfProfiler<'_> {
    fn start(&self, under_test: &Process) -> Result<(), CellError> {
        let pids: Vec<i32> = under_test.tree().members().iter().map(|member| member.pid).collect();
        let pass = &self.pass;
        let placement = &pass.context.placement;
        let cpus = match pass.pairing.side {
            TestedEnd::Server => &placement.server,
            TestedEnd::Client => &placement.generator,
        };
        let command = pass.perf.record(&RecordTarget { pids: &pids, cpus }, pass.file);
        let spawner = &pass.context.spawner;
        let recording = Recording::begin(command, spawner, &placement.generator)?;
        self.recording.set(Some(recording));
        self.pids.replace(pids);
        Ok(())
    }

    fn stop(&self) -> Result<(), CellError> {
        self.recording.take().map_or(Ok(()), Recording::end)
    }
}
