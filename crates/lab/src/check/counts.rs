//! Calls by how they ended: both ends must say the same, to the last call.

use super::bench::Bench;
use super::observe::{Calls, Observed};
use super::stop::CheckStop;
use bookend_results::calibration::{CalibratedUnit, Calibration, Tolerance, WitnessedCounts};
use serde_json::{Value, json};

/// The status that the server answers with on command: FAILED_PRECONDITION, which no end makes up.
const STATUS: u32 = 9;

/// Messages of each stream, and streams.
const MESSAGES: u64 = 50;
const STREAMS: u64 = 100;

/// All calibrations of counts.
///
/// # Errors
/// See [`CheckStop`].
pub fn calibrate(bench: &Bench) -> Result<Vec<Calibration>, CheckStop> {
    let mut all = Vec::new();
    // Where a connection is dropped it has one call in flight at most: of more, nobody could say
    // whether they had reached the server.
    for (mode, order, flags) in [
        ("closed loop, C=1 S=1", order(97), "-c 1 -n 1000"),
        ("closed loop, C=8 S=8", order(97), "-c 8 --connections 8 -n 3000"),
        ("closed loop, C=1 S=50", order(0), "-c 50 -n 3000"),
        ("open loop, C=2", order(0), "--rps 5000 --async --connections 2 -n 3000"),
        ("a connection a call", order(97), "-c 8 --one-shot -n 1000"),
    ] {
        let seen = bench.observe("sleep", &Calls { order, flags, ..Calls::default() })?;
        let rows = witnessed(&seen).held_against(&measured(&seen), mode);
        all.extend(rows.into_iter().map(|row| row.disturbed_by(&seen.run.disturbances)));
    }
    all.push(messages(bench)?);
    Ok(all)
}

fn order(drop_every: u32) -> Value {
    json!({ "status": STATUS, "statusEvery": 7, "resetEvery": 11, "dropEvery": drop_every })
}

fn witnessed(seen: &Observed) -> WitnessedCounts {
    let [calls, ok, status, reset] =
        ["calls", "ok", "status", "reset"].map(|name| seen.witness.count(name));
    // Whatever was not written, on command or not.
    let cut_off = calls.saturating_sub(ok + status + reset);
    WitnessedCounts { calls, ok, status, reset, cut_off }
}

fn measured(seen: &Observed) -> WitnessedCounts {
    let report = &seen.run.report.bookend;
    let failed = |code: &str| report.errors.get(code).copied().unwrap_or(0);
    let outside = report.warmup + report.drained + report.unfinished;
    WitnessedCounts {
        calls: report.ok + report.errors.values().sum::<u64>() + outside,
        ok: report.ok,
        status: failed("FAILED_PRECONDITION"),
        reset: failed("CANCELLED"),
        cut_off: failed("UNAVAILABLE"),
    }
}

fn messages(bench: &Bench) -> Result<Calibration, CheckStop> {
    let flags = format!("-c 4 -n {STREAMS}");
    let calls = Calls {
        order: json!({ "messages": MESSAGES }),
        flags: &flags,
        method: Some("clockwork.Clockwork/Stream"),
        ..Calls::default()
    };
    let seen = bench.observe("sleep", &calls)?;
    let received = seen.run.report.bookend.streams.as_ref().map_or(0, |streams| streams.received);
    let figures = (seen.witness.figure("messages"), received as f64);
    let what = ("counts", "streams: messages");
    Ok(Calibration::new(what, CalibratedUnit::Count, figures, Tolerance::NONE))
}
