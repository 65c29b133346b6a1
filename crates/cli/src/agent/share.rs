//! What falls to an agent of the calls of a run.

use crate::fleet::task::LoadTask;
use crate::lab;
use crate::terminal::Failure;
use bookend_lab::held_folder::HeldFolder;
use bookend_load::descriptors;
use bookend_load::flags::LoadFlags;
use bookend_load::flags::pacing::PacingFlags;
use bookend_load::options::CallOptions;
use bookend_load::pace::{ArrivalProcess, Part};
use bookend_load::plan::{LoadPlan, ReportedPlan};
use bookend_load::probe::{self, ProbeDepth, ProbeRequest};
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// How long a probe goes on at most: the coordinator ends it.
const PROBE_MAX: Duration = Duration::from_secs(24 * 3600);

/// Calls of a probe that may be in flight: a server that stalls for some seconds still gets them
/// when they are due.
const PROBE_CONCURRENCY: u32 = 4_096;

/// Numbers the folders of this process.
static FOLDERS: AtomicU64 = AtomicU64::new(0);

/// What falls to this agent, ready to be run.
pub struct Share {
    /// The flags of the run, as they are read here.
    pub flags: LoadFlags,
    /// What this agent does.
    pub plan: Arc<LoadPlan>,
    /// What a report says of the plan of all.
    pub of_all: ReportedPlan,
    /// Calls that it took to get here.
    pub preparing_calls: u64,
    /// Where the files are that came with the flags.
    folder: HeldFolder,
}

impl Share {
    /// Reads the flags, and makes one call, whose answer is verified. Servers may be on the
    /// coordinator's machine, at `coordinator` from here.
    ///
    /// # Errors
    /// [`Failure`] when the flags make no sense here, or the server does not answer.
    pub fn prepare(task: &LoadTask, coordinator: IpAddr) -> Result<Share, Failure> {
        let number = FOLDERS.fetch_add(1, Ordering::Relaxed);
        let name = format!("bookend-run.{}.agent-{number}", std::process::id());
        let folder = HeldFolder::create(&std::env::temp_dir().join(name));
        let folder = folder.map_err(Failure::nothing_measured)?;
        let (mut flags, input) =
            task.flags.flags(folder.path()).map_err(Failure::nothing_measured)?;
        flags.pacing.seed.get_or_insert(task.seed);
        if let Some(rate) = task.probe_rate {
            probe_only(&mut flags, rate);
        }
        if task.servers_are_there {
            let targets = flags.call.targets.iter_mut();
            targets.for_each(|target| *target = as_seen_from_here(target, coordinator));
        }
        let part = Part { number: task.number, of: task.of };
        let made = LoadPlan::of_part(&flags, part, task.trial, &mut input.as_slice(), lab::cpus());
        let (mut plan, of_all) = made.map_err(Failure::unprepared)?;
        // Where io_uring is refused, the report says which driver was used instead.
        plan.fall_back();
        descriptors::provide(plan.connections, plan.threads).map_err(Failure::nothing_measured)?;
        let preparing_calls = verify(&flags, &input)?;
        Ok(Share { flags, plan: Arc::new(plan), of_all, preparing_calls, folder })
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        // What cannot be removed is cleared away by the next lab of this user.
        let _ = std::fs::remove_dir_all(self.folder.path());
    }
}

/// A target on the loopback of the coordinator's machine, as it is reached from this one.
fn as_seen_from_here(target: &str, coordinator: IpAddr) -> String {
    match target.parse::<SocketAddr>() {
        Ok(address) if address.ip().is_loopback() => {
            SocketAddr::new(coordinator, address.port()).to_string()
        }
        _ => target.to_owned(),
    }
}

/// A constant rate over one connection, whatever the others do.
fn probe_only(flags: &mut LoadFlags, rate: f64) {
    flags.pacing = PacingFlags {
        rps: rate,
        arrivals: ArrivalProcess::Even,
        ..LoadFlags::of_words::<&str>([]).expect("no flag is required").pacing
    };
    (flags.connections, flags.concurrency, flags.threads) = (1, PROBE_CONCURRENCY, None);
    flags.skip_first = 0;
    (flags.format, flags.output, flags.debug) = (None, None, None);
    if flags.duration.is_none() && flags.max_duration.is_none() {
        flags.duration = Some(PROBE_MAX);
    }
}

/// Makes one call and verifies its answer. Returns how many calls the server was asked for: those
/// by which it told its schema are among them, here and for the plan.
fn verify(flags: &LoadFlags, mut input: &[u8]) -> Result<u64, Failure> {
    if flags.thrift.file.is_some() {
        // Its servers describe nothing, and the calls of the run are checked as all are.
        return Ok(0);
    }
    let options = CallOptions::from_flags(&flags.call).map_err(Failure::usage)?;
    let request = ProbeRequest::of_first_call(&options, &mut input).map_err(Failure::unprepared)?;
    let report = probe::probe(&request, ProbeDepth::Call);
    if let Err(error) = report.call {
        return Err(Failure::nothing_measured(format!("its first call failed: {error}")));
    }
    Ok(report.calls_made + request.call.reflection_calls)
}
