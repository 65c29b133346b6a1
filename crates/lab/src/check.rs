//! Is the instrument sound, on this machine, today? Each kind of figure is held against a witness
//! that shares no code with what it checks. The instrument is a process like every other.

mod agents;
mod bare_client;
mod bench;
mod clockwork;
mod counts;
mod cpu;
mod delay;
pub mod kept;
mod memory;
mod observe;
mod omission;
mod path;
mod rate;
mod relay;
mod start;
mod stop;
mod verdicts;

pub use bench::Bench;
pub use stop::CheckStop;

use bookend_contract::timestamp::Timestamp;
use bookend_results::calibration::{Calibration, InstrumentCheck};
use std::time::{Instant, SystemTime};

/// A kind of figure.
#[derive(Clone, Copy, Debug)]
pub struct CheckPart {
    /// What it is called.
    pub name: &'static str,
    /// Which figures they are.
    pub figures: &'static str,
    calibrate: Calibrate,
}

type Calibrate = fn(&Bench) -> Result<Vec<Calibration>, CheckStop>;

/// All kinds of figures, in the order in which they are checked.
pub const PARTS: [CheckPart; 9] = [
    part("delay", "Latencies", delay::calibrate),
    part("omission", "What a server that stands still does to latencies", omission::calibrate),
    part("counts", "Calls by how they ended", counts::calibrate),
    part("cpu", "CPU time", cpu::calibrate),
    part("memory", "Memory", memory::calibrate),
    part("rate", "Rates and gaps of an open loop", rate::calibrate),
    part("start", "How connections, targets and workers begin", start::calibrate),
    part("agents", "Several generators in the place of one", agents::calibrate),
    part("verdicts", "What limited a run", verdicts::calibrate),
];

const fn part(name: &'static str, figures: &'static str, calibrate: Calibrate) -> CheckPart {
    CheckPart { name, figures, calibrate }
}

/// Checks these kinds of figures. `on_part` is called before each.
///
/// The calling thread must live as long as this: the kernel kills what the lab started when the
/// thread that started it ends.
///
/// # Errors
/// See [`CheckStop`].
pub fn check(
    bench: &Bench,
    parts: &[CheckPart],
    on_part: &mut dyn FnMut(&CheckPart),
) -> Result<InstrumentCheck, CheckStop> {
    let (begin, started) = (Instant::now(), Timestamp::from(SystemTime::now()));
    let mut calibrations = Vec::new();
    for part in parts {
        on_part(part);
        calibrations.extend((part.calibrate)(bench)?);
    }
    Ok(InstrumentCheck {
        origin: kept::origin(&bench.version),
        started_unix_ms: started.unix_ms(),
        seconds: begin.elapsed().as_secs_f64(),
        notes: bench.placement.notes.clone(),
        calibrations,
    })
}
