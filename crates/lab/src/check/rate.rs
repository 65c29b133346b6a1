//! Rates: what an open loop offers, against the arrivals that the witness saw.

use super::bench::Bench;
use super::observe::Calls;
use super::stop::CheckStop;
use bookend_results::calibration::{CalibratedUnit, Calibration, Tolerance};
use serde_json::json;
use std::f64::consts::{E, LN_2};

/// Calls a second, and in all.
const RATE: f64 = 2000.0;
const CALLS: u32 = 4000;

/// How far the rate of even arrivals may be from what was offered.
const RATE_ALLOWED: Tolerance = Tolerance::share(0.01);
/// Tolerance of a rate with random gaps: three times the standard error of the mean of that number
/// of exponential gaps, which is their mean over the root of their number.
const RANDOM_RATE_ALLOWED: Tolerance = Tolerance::share(0.0475);
/// How far a median gap may be from its own, and the mean deviation of random gaps from that of a
/// Poisson process, which this number of gaps determines to 1.1 %. Not their standard deviation:
/// the machine stops now and then, and one stop of 10 ms in a run of 2 s would make that 5 %
/// larger.
const GAP_ALLOWED: Tolerance = Tolerance { relative: 0.01, absolute: 20e3 };
const DEVIATION_ALLOWED: Tolerance = Tolerance::share(0.05);

/// All calibrations of rates.
///
/// # Errors
/// See [`CheckStop`].
pub fn calibrate(bench: &Bench) -> Result<Vec<Calibration>, CheckStop> {
    let gap_ns = 1e9 / RATE;
    let mut all = Vec::new();
    for (arrivals, median_ns, deviation, rate_allowed) in [
        ("even", gap_ns, 0.0, RATE_ALLOWED),
        ("poisson", gap_ns * LN_2, 2.0 / E, RANDOM_RATE_ALLOWED),
    ] {
        let flags =
            format!("--rps {RATE} --async -n {CALLS} --arrivals {arrivals} --seed 1 --wait spin");
        let calls = Calls { order: json!({}), flags: &flags, ..Calls::default() };
        let seen = bench.observe("spin", &calls)?;
        let [mean_ns, p50_ns, mean_deviation_ns] = ["mean", "p50", "mean_deviation"]
            .map(|figure| seen.witness.figure(&format!("arrival_gap_{figure}_ns")));
        let open = seen.run.report.bookend.open_loop.as_ref();
        let made = open.map_or(0, |open| open.made);
        let lag_ns = open.map_or(f64::NAN, |open| open.lag.p99_ns as f64);
        let row = |what: &str, unit, figures, allowed| {
            let what = ("rate", format!("{arrivals} arrivals: {what}"));
            Calibration::new(what, unit, figures, allowed).disturbed_by(&seen.run.disturbances)
        };
        let calls = (f64::from(CALLS), made as f64);
        all.push(row("calls made", CalibratedUnit::Count, calls, Tolerance::NONE));
        let rates = (RATE, 1e9 / mean_ns);
        all.push(row("offered and arrived", CalibratedUnit::PerSecond, rates, rate_allowed));
        let gaps = (median_ns, p50_ns);
        all.push(row("gap, p50", CalibratedUnit::Nanoseconds, gaps, GAP_ALLOWED));
        let deviations = row(
            "mean deviation of gaps over their mean",
            CalibratedUnit::Ratio,
            (deviation, mean_deviation_ns / mean_ns),
            DEVIATION_ALLOWED,
        );
        // Of even arrivals it is the path's, and has no share to be within.
        all.push(if deviation > 0.0 { deviations } else { deviations.told() });
        let lag = row("lag, p99", CalibratedUnit::Nanoseconds, (0.0, lag_ns), Tolerance::NONE);
        all.push(lag.told());
    }
    all.push(window(bench)?);
    Ok(all)
}

/// A window ends when it ends: no call is due in it that is due after it.
fn window(bench: &Bench) -> Result<Calibration, CheckStop> {
    let flags = format!("--rps {RATE} --async -z 1s --wait spin");
    let seen = bench.observe("spin", &Calls { flags: &flags, ..Calls::default() })?;
    let due = seen.run.report.bookend.open_loop.as_ref().map_or(0, |open| open.due);
    let what = ("rate", "calls due in a window of 1 s");
    let figures = (RATE, due as f64);
    let row = Calibration::new(what, CalibratedUnit::Count, figures, Tolerance::NONE);
    Ok(row.disturbed_by(&seen.run.disturbances))
}
