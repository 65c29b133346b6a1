//! CPU time: a known burn a call, by whomever, against our ledger of the process tree.

use super::bench::Bench;
use super::clockwork::Clockwork;
use super::observe::{Calls, CheckedRun};
use super::stop::CheckStop;
use bookend_results::calibration::{CalibratedUnit, Calibration, Tolerance};
use serde_json::json;
use std::time::Duration;

/// How far the ledger may be from what was burnt.
const ALLOWED: Tolerance = Tolerance::share(0.03);

/// The machine counts in ticks of 10 ms, at either end of a run.
const TICKS_NS: f64 = 20e6;

/// The least that can be ordered: everything but the burn is the same.
const LEAST_US: u64 = 1;

/// What burns it, how much a call, and in how many calls. What follows a long burn costs more than
/// what follows none: a client that has slept for long is woken for 0.05 to 0.15 ms more, a thread
/// starts for up to 0.3 ms more, and a child for up to 0.8. That is not burnt, so each burns long.
const BURNS: [(u32, &str, u64, u32); 3] = [
    (0, "the server's thread", 20_000, 50),
    (1, "threads that end", 20_000, 40),
    (2, "children that end", 60_000, 15),
];

/// For how long a stranger works on the server's CPU, nanoseconds.
const STRANGER_NS: u64 = 800_000_000;

/// All calibrations of CPU time.
///
/// # Errors
/// See [`CheckStop`].
pub fn calibrate(bench: &Bench) -> Result<Vec<Calibration>, CheckStop> {
    let mut all = Vec::new();
    for (by, who, burn_us, calls) in BURNS {
        let without = burn(bench, (by, LEAST_US), calls)?;
        let with = burn(bench, (by, burn_us), calls)?;
        let used_ns = with.server_cpu_ns as f64 - without.server_cpu_ns as f64;
        let figures = (((burn_us - LEAST_US) * 1000) as f64, used_ns / f64::from(calls));
        let what = ("cpu", format!("a call's time, burnt by {who}"));
        let row = Calibration::new(what, CalibratedUnit::Nanoseconds, figures, ALLOWED);
        all.push(row.disturbed_by(&with.disturbances));
        if by == 0 {
            all.push(machine(&with));
        }
    }
    all.push(stranger(bench)?);
    Ok(all)
}

fn burn(bench: &Bench, (by, burn_us): (u32, u64), calls: u32) -> Result<CheckedRun, CheckStop> {
    let flags = format!("-c 1 -n {calls}");
    let order = json!({ "burnUs": burn_us, "burnBy": by });
    let seen = bench.observe("sleep", &Calls { order, flags: &flags, ..Calls::default() })?;
    Ok(seen.run)
}

/// The machine's own account of the server's CPU, which knows nothing of processes.
fn machine(run: &CheckedRun) -> Calibration {
    let what = ("cpu", "the machine's account of that CPU");
    let figures = (run.server_cpu_ns as f64, run.machine_seconds * 1e9);
    let allowed = Tolerance { relative: ALLOWED.relative, absolute: TICKS_NS };
    let row = Calibration::new(what, CalibratedUnit::Nanoseconds, figures, allowed);
    row.disturbed_by(&run.disturbances)
}

/// A second process on the server's CPU must be named.
fn stranger(bench: &Bench) -> Result<Calibration, CheckStop> {
    let mut server = Clockwork::start(bench, "sleep")?;
    let program = bench.witness.subject.program(&bench.witness.variant.run);
    let program = std::path::absolute(program).map_err(CheckStop::because)?;
    let command =
        vec![program.display().to_string(), "--burn-ns".to_owned(), STRANGER_NS.to_string()];
    let stranger =
        bench.spawner.spawn_tool(command, &bench.placement.server).map_err(CheckStop::because)?;
    let order = json!({ "burnUs": 200 });
    let run = bench.load(&mut server, &Calls { order, flags: "-c 1 -z 1s", ..Calls::default() })?;
    // It has burnt its time by then, or is ended here.
    stranger.end(Duration::ZERO, |_| {});
    server.end()?;
    let names = |text: &&String| text.starts_with("foreign process");
    let named = run.disturbances.iter().filter(names).count();
    let what = ("cpu", "a second process on the server's CPU is named");
    let figures = (1.0, named.min(1) as f64);
    Ok(Calibration::new(what, CalibratedUnit::Count, figures, Tolerance::NONE))
}
