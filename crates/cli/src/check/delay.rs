//! Latencies, held against the witness's own record of the same calls.

use super::bare_client::Pace;
use super::bench::Bench;
use super::observe::{Calls, Observed};
use super::path::{Delay, Path};
use super::stop::CheckStop;
use bookend_load::contract::report::SplitPart;
use bookend_results::calibration::{
    CalibratedUnit, Calibration, CalibrationOutcome, Tolerance, is_steady_enough,
};
use serde_json::json;
use std::time::Duration;

/// How far half of the calls may be from the witness's record, beside what the path takes of them:
/// what Lancet reaches.
const MEDIAN: Tolerance = Tolerance { relative: 0.0, absolute: 10e3 };

/// How far a tail may be from it, beside what the path takes.
const TAIL: Tolerance = Tolerance { relative: 0.01, absolute: 20e3 };

/// A stall of the machine moves a tail once, an error of the instrument moves it each time. So what
/// missed is measured again, so often at most.
const TIMES_MAX: u32 = 3;

/// Percentiles that are held against the record, with their names in it.
const PERCENTILES: [(f64, &str); 3] = [(50.0, "p50"), (99.0, "p99"), (99.9, "p999")];

/// One connection, one call at a time.
const CLOSED: &str = "-c 1 --wait spin";

/// A mix of which every 99th call takes 50 ms: 1 % and a little, so that p99 is one of them and
/// does not stand between both values.
const MIX: Delay = Delay { delay_us: 1000, tail_delay_us: 50_000, tail_every: 99 };

/// All calibrations of latencies.
///
/// # Errors
/// See [`CheckStop`].
pub fn calibrate(bench: &Bench) -> Result<Vec<Calibration>, CheckStop> {
    let mut all = Vec::new();
    for (name, delay, flags, pace) in [
        ("closed loop, 0.2 ms", each(200), format!("{CLOSED} -n 2000"), Pace::Closed),
        ("closed loop, 1 ms", each(1000), format!("{CLOSED} -n 2000"), Pace::Closed),
        ("open loop, 10 ms", each(10_000), open(500, 1000), evenly(500)),
        ("open loop, 100 ms", each(100_000), open(500, 1000), evenly(500)),
        ("open loop, 1 % at 50 ms", MIX, open(5000, 10_098), evenly(5000)),
    ] {
        let beside = |path| unary(bench, name, delay, &flags, path);
        all.extend(steadily(name, || beside_path(bench, name, (delay, pace), beside))?);
    }
    let one_ms = each(1000);
    let name = "a connection a call, 1 ms";
    let beside = |path| connections(bench, name, path);
    let calls = (one_ms, Pace::ConnectionEach);
    all.extend(steadily(name, || beside_path(bench, name, calls, beside))?);
    let name = "messages of a stream, 1 ms apart";
    let beside = |path| streams(bench, name, path);
    all.extend(steadily(name, || beside_path(bench, name, (one_ms, Pace::Closed), beside))?);
    for (name, delay, flags, figures) in [
        ("closed loop, no delay", each(0), format!("{CLOSED} -n 2000"), 1),
        ("closed loop, 1 ms, --wait sleep", one_ms, "-c 1 -n 1000".to_owned(), 3),
    ] {
        let rows = unary(bench, name, delay, &flags, Path::NONE)?;
        all.extend(rows.into_iter().take(figures).map(Calibration::told));
    }
    Ok(all)
}

/// Measured again while a figure misses, [`TIMES_MAX`] times at most. How often is told where it is
/// more than once.
fn steadily(
    name: &str,
    measure: impl Fn() -> Result<Vec<Calibration>, CheckStop>,
) -> Result<Vec<Calibration>, CheckStop> {
    let is_missed = |row: &Calibration| row.outcome() == CalibrationOutcome::Missed;
    let mut rows = measure()?;
    let mut times = 1;
    while times < TIMES_MAX && rows.iter().any(is_missed) {
        rows = measure()?;
        times += 1;
    }
    if times > 1 {
        let what = ("delay", format!("{name}: times measured"));
        let figures = (1.0, f64::from(times));
        let row = Calibration::new(what, CalibratedUnit::Count, figures, Tolerance::NONE);
        rows.push(row.told());
    }
    Ok(rows)
}

/// What the path takes of such calls, and then what our generator makes of them.
fn beside_path(
    bench: &Bench,
    name: &str,
    (delay, pace): (Delay, Pace),
    measure: impl Fn(Path) -> Result<Vec<Calibration>, CheckStop>,
) -> Result<Vec<Calibration>, CheckStop> {
    let path = Path::measure(bench, delay, pace)?;
    let mut rows = told(name, path).to_vec();
    rows.extend(measure(path)?);
    Ok(rows)
}

fn each(delay_us: u32) -> Delay {
    Delay { delay_us, ..Delay::default() }
}

fn evenly(rate: u32) -> Pace {
    Pace::Open(Duration::from_secs(1) / rate)
}

fn told(name: &str, path: Path) -> [Calibration; 2] {
    [("p50", path.p50_ns), ("p99", path.p99_ns)].map(|(percentile, taken_ns)| {
        let what = ("delay", format!("{name}: {percentile} of a bare client"));
        let unit = CalibratedUnit::Nanoseconds;
        Calibration::new(what, unit, (0.0, taken_ns), Tolerance::NONE).told()
    })
}

/// Calls that come evenly, however long they take.
fn open(rate: u32, calls: u32) -> String {
    format!("--rps {rate} --async -n {calls} --wait spin")
}

fn unary(
    bench: &Bench,
    name: &str,
    delay: Delay,
    flags: &str,
    path: Path,
) -> Result<Vec<Calibration>, CheckStop> {
    let seen = bench.observe("spin", &Calls { order: delay.order(), flags, ..Calls::default() })?;
    let calls = seen.run.report.bookend.ok;
    let each = PERCENTILES.iter().map(|(percent, figure)| {
        let known = seen.witness.figure(&format!("service_{figure}_ns"));
        let measured = seen.run.latency_ns(*percent);
        let latency = held((name, *percent), (known, measured), calls, path);
        latency.disturbed_by(&seen.run.disturbances)
    });
    Ok(each.collect())
}

/// A connection a call: what is between the request and its answer is told apart from the rest.
fn connections(bench: &Bench, name: &str, path: Path) -> Result<Vec<Calibration>, CheckStop> {
    let calls = Calls {
        order: json!({ "delayUs": 1000 }),
        flags: "-c 1 -n 1000 --one-shot --wait spin",
        ..Calls::default()
    };
    let seen = bench.observe("spin", &calls)?;
    let split = seen.run.report.bookend.split.as_ref();
    let first_byte = split.map(|split| &split.first_byte);
    Ok(parts(&seen, (name, "service"), first_byte, path))
}

/// Messages of a stream that come every millisecond.
fn streams(bench: &Bench, name: &str, path: Path) -> Result<Vec<Calibration>, CheckStop> {
    let calls = Calls {
        order: json!({ "messages": 101, "gapUs": 1000 }),
        flags: "-c 1 -n 10 --wait spin",
        method: Some("clockwork.Clockwork/Stream"),
        ..Calls::default()
    };
    let seen = bench.observe("spin", &calls)?;
    let streams = seen.run.report.bookend.streams.as_ref();
    let gap = streams.and_then(|streams| streams.gap.as_ref());
    Ok(parts(&seen, (name, "message_gap"), gap, path))
}

fn parts(
    seen: &Observed,
    (name, noted): (&str, &str),
    part: Option<&SplitPart>,
    path: Path,
) -> Vec<Calibration> {
    let figures = part.map_or([f64::NAN; 2], |part| [part.p50_ns as f64, part.p99_ns as f64]);
    // Of either there are a thousand.
    let each = PERCENTILES.iter().zip(figures).map(|((percent, figure), measured)| {
        let known = seen.witness.figure(&format!("{noted}_{figure}_ns"));
        let latency = held((name, *percent), (known, measured), 1000, path);
        latency.disturbed_by(&seen.run.disturbances)
    });
    each.collect()
}

fn held((name, percent): (&str, f64), figures: (f64, f64), calls: u64, path: Path) -> Calibration {
    let (own, path_ns) = if percent == 50.0 { (MEDIAN, path.p50_ns) } else { (TAIL, path.p99_ns) };
    let tolerance = Tolerance { absolute: own.absolute + path_ns, ..own };
    let what = ("delay", format!("{name}: p{percent}"));
    let latency = Calibration::new(what, CalibratedUnit::Nanoseconds, figures, tolerance);
    latency.unless(is_steady_enough(percent, calls))
}
