//! Coordinated omission: a server that stands still for a second, and who notices.

use super::bench::Bench;
use super::observe::Calls;
use super::stop::CheckStop;
use bookend_results::calibration::{CalibratedUnit, Calibration, Tolerance, freeze_percentile_ns};
use serde_json::{Value, json};

/// Calls a second, and in all: 25 of them lie beyond p99.
const RATE: f64 = 1000.0;
const CALLS: u64 = 2500;

/// From which call on the server stands still, for how long, and how long each call takes besides.
const FREEZE_AT: u64 = 500;
const FREEZE_US: u64 = 1_000_000;
const DELAY_US: u64 = 1000;

/// Calls in flight where there is little room.
const ROOM: u32 = 10;

/// How far a percentile may be from the calculated one.
const ALLOWED: Tolerance = Tolerance::share(0.02);

/// All calibrations of what a freeze does.
///
/// # Errors
/// See [`CheckStop`].
pub fn calibrate(bench: &Bench) -> Result<Vec<Calibration>, CheckStop> {
    let flags = format!("--rps {RATE} --async -n {CALLS} --wait spin");
    let open =
        bench.observe("spin", &Calls { order: order(), flags: &flags, ..Calls::default() })?;
    // With room for few, calls are made later than they are due, and wait from when they are due.
    let flags = format!("--rps {RATE} -c {ROOM} -n {CALLS} --wait spin");
    let calls = Calls { order: order(), flags: &flags, ..Calls::default() };
    let narrow = bench.observe("spin", &calls)?;
    let calculated = |percent| {
        let service_ns = (DELAY_US * 1000) as f64;
        freeze_percentile_ns(percent, (RATE, CALLS), (FREEZE_US * 1000) as f64, service_ns)
    };
    let held = |what: String, percent, measured| {
        let figures = (calculated(percent), measured);
        let unit = CalibratedUnit::Nanoseconds;
        let latency = Calibration::new(("omission", what), unit, figures, ALLOWED);
        latency.disturbed_by(&open.run.disturbances)
    };
    let mut all: Vec<Calibration> = [99.0, 90.0]
        .map(|percent| {
            let measured = open.run.latency_ns(percent);
            held(format!("open loop, frozen for 1 s: p{percent}"), percent, measured)
        })
        .to_vec();
    let measured = narrow.run.latency_ns(99.0);
    all.push(held(format!("the same with room for {ROOM} calls: p99"), 99.0, measured));
    let flags = format!("-c 1 -n {} --wait spin", CALLS / 2);
    let calls = Calls { order: order(), flags: &flags, ..Calls::default() };
    let closed = bench.observe("spin", &calls)?;
    // A closed loop has one call in the freeze, whose second no percentile shows.
    let hidden = "what a closed loop shows of the same freeze: p99".to_owned();
    all.push(held(hidden, 99.0, closed.run.latency_ns(99.0)).told());
    Ok(all)
}

fn order() -> Value {
    json!({ "delayUs": DELAY_US, "freezeUs": FREEZE_US, "freezeAt": FREEZE_AT })
}
