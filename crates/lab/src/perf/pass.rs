//! One recording: a server and its caller started as in a round, `perf` attached for the window.

use super::folded::Folded;
use super::recording::Recording;
use super::tool::{self, Perf};
use crate::cell_error::CellError;
use crate::process::Process;
use crate::round::{Cell, Observer, Pairing, RunContext, RunningServer, Workload};
use bookend_results::measurement::Measurement;
use bookend_results::suite::Side;
use std::cell::{Cell as Slot, RefCell};
use std::fs;
use std::path::Path;
use std::time::Duration;

/// How long a profiled server may take to end: a virtual machine writes its symbols then.
const DRAIN_MIN: Duration = Duration::from_secs(15);

/// Who is recorded, and how.
#[derive(Clone, Copy)]
pub struct Pass<'a> {
    /// What all cells share.
    pub context: &'a RunContext,
    /// The recorder.
    pub perf: &'a Perf,
    /// Who meets whom.
    pub ends: &'a Pairing<'a>,
    /// The load.
    pub load: Workload,
    /// A file that may be written and is gone afterwards.
    pub file: &'a Path,
}

/// What a recording yields.
#[derive(Clone, Debug)]
pub struct Recorded {
    /// The samples.
    pub folded: Folded,
    /// The event that was sampled, as `perf` names it.
    pub event: String,
    /// What the window came to, with `perf` attached.
    pub measurement: Measurement,
}

impl Pass<'_> {
    /// Starts both ends, records the window and reads the samples.
    ///
    /// # Errors
    /// What the row says instead.
    pub fn record(&self) -> Result<Recorded, CellError> {
        let watcher = Watcher::new(*self);
        let mut server = RunningServer::start(self.context, &self.ends.station)?;
        let cell = Cell {
            context: self.context,
            caller: self.ends.caller,
            load: self.load,
            under_test: self.ends.side,
            retries: 0,
            observer: Some(&watcher),
        };
        let measured = cell.measure(&mut server);
        // The names of compiled code are known only once the server has ended.
        server.end(self.context.timeouts.drain.max(DRAIN_MIN));
        let pids = watcher.pids.borrow().clone();
        let recorded = measured.and_then(|measurement| self.read(measurement, &pids));
        watcher.clean_up();
        recorded
    }

    fn read(&self, measurement: Measurement, pids: &[i32]) -> Result<Recorded, CellError> {
        let event = self.perf.event_of(self.file)?;
        let folded = self.perf.folded(self.file, pids)?;
        if folded.samples() == 0 {
            return Err(CellError::failed("perf took no sample of it"));
        }
        Ok(Recorded {
            folded,
            event,
            measurement,
        })
    }
}

/// Records from the beginning of a window to its end.
struct Watcher<'a> {
    pass: Pass<'a>,
    recording: Slot<Option<Recording>>,
    pids: RefCell<Vec<i32>>,
}

impl<'a> Watcher<'a> {
    fn new(pass: Pass<'a>) -> Watcher<'a> {
        Watcher {
            pass,
            recording: Slot::new(None),
            pids: RefCell::default(),
        }
    }

    /// Removes what the recording and the virtual machines have left behind.
    fn clean_up(&self) {
        let _ = fs::remove_file(self.pass.file);
        for pid in self.pids.borrow().iter() {
            let _ = fs::remove_file(format!("/tmp/perf-{pid}.map"));
        }
    }
}

impl Observer for Watcher<'_> {
    fn begins(&self, under_test: &Process) -> Result<(), CellError> {
        let members = under_test.tree().members();
        let pids: Vec<i32> = members.iter().map(|member| member.pid).collect();
        let Pass {
            context,
            perf,
            file,
            ..
        } = self.pass;
        let placement = &context.placement;
        let recorded = tool::Recorded {
            pids: &pids,
            cpus: match self.pass.ends.side {
                Side::Server => &placement.server,
                Side::Client => &placement.generator,
            },
        };
        let own_cpus = &placement.generator;
        let recording = Recording::begin(perf, &context.launcher, own_cpus, &recorded, file)?;
        self.recording.set(Some(recording));
        self.pids.replace(pids);
        Ok(())
    }

    fn ends(&self) -> Result<(), CellError> {
        self.recording.take().map_or(Ok(()), Recording::end)
    }
}
