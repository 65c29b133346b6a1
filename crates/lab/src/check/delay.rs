//! Latencies, held against the witness's own record of the same calls.

use super::bare_client::Pace;
use super::bench::Bench;
use super::observe::{Calls, Observed};
use super::path::{Delay, Path};
use super::stop::CheckStop;
use bookend_contract::report::SplitPart;
use bookend_results::calibration::{
    CalibratedUnit, Calibration, CalibrationOutcome, Tolerance, halves_disagree, is_steady_enough,
};
use serde_json::json;
use std::time::Duration;

const PART: &str = "delay";

/// How far half of the calls may be from the witness's record, on top of what the path takes: what
/// Lancet reaches.
const MEDIAN: Tolerance = Tolerance { relative: 0.0, absolute: 10e3 };

/// How far a tail may be from it, on top of what the path takes.
const TAIL: Tolerance = Tolerance { relative: 0.01, absolute: 20e3 };

/// A stall of the machine moves a tail once, an error of the instrument moves it each time. So what
/// missed is measured again, up to this number of times. Where the halves of the last time
/// disagree, the tail is refused, whether it missed or held.
const TIMES_MAX: u32 = 3;

/// Percentiles that are held against the record, with their names in it.
pub(super) const PERCENTILES: [(f64, &str); 3] = [(50.0, "p50"), (99.0, "p99"), (99.9, "p999")];

/// One connection, one call at a time.
const CLOSED: &str = "-c 1 --wait spin";

/// A mix of which every 97th call takes 50 ms: 1 % and a little, so that p99 is one of them in each
/// half of the run and does not stand between both values.
pub(super) const MIX: Delay = Delay { delay_us: 1000, tail_delay_us: 50_000, tail_every: 97 };

/// A latency, judged but for this: why its tail says nothing of the instrument, if that is so.
pub(super) struct Judged {
    pub(super) row: Calibration,
    pub(super) disagreement: Option<String>,
}

impl From<Calibration> for Judged {
    fn from(row: Calibration) -> Judged {
        Judged { row, disagreement: None }
    }
}

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
        ("open loop, 1 % at 50 ms", MIX, open(5000, 10_088), evenly(5000)),
    ] {
        let beside = |path| unary(bench, name, delay, &flags, path);
        all.extend(steadily((PART, name), || beside_path(bench, name, (delay, pace), beside))?);
    }
    let one_ms = each(1000);
    let name = "a connection a call, 1 ms";
    let beside = |path| connections(bench, name, path);
    let calls = (one_ms, Pace::ConnectionEach);
    all.extend(steadily((PART, name), || beside_path(bench, name, calls, beside))?);
    let name = "messages of a stream, 1 ms apart";
    let beside = |path| streams(bench, name, path);
    all.extend(steadily((PART, name), || {
        beside_path(bench, name, (one_ms, Pace::Closed), beside)
    })?);
    for (name, delay, flags, figures) in [
        ("closed loop, no delay", each(0), format!("{CLOSED} -n 2000"), 1),
        ("closed loop, 1 ms, --wait sleep", one_ms, "-c 1 -n 1000".to_owned(), 3),
    ] {
        let rows = unary(bench, name, delay, &flags, Path::NONE)?;
        all.extend(rows.into_iter().take(figures).map(|judged| judged.row.told()));
    }
    Ok(all)
}

/// Measured again while a figure misses, [`TIMES_MAX`] times at most. The result says how often, if
/// more than once.
pub(super) fn steadily(
    (part, name): (&str, &str),
    measure: impl Fn() -> Result<Vec<Judged>, CheckStop>,
) -> Result<Vec<Calibration>, CheckStop> {
    let is_missed = |judged: &Judged| judged.row.outcome() == CalibrationOutcome::Missed;
    let mut judged = measure()?;
    let mut times = 1;
    while times < TIMES_MAX && judged.iter().any(is_missed) {
        judged = measure()?;
        times += 1;
    }
    let refused = |judged: Judged| judged.row.unless(judged.disagreement);
    let mut rows: Vec<Calibration> = judged.into_iter().map(refused).collect();
    if times > 1 {
        let what = (part, format!("{name}: times measured"));
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
    measure: impl Fn(Path) -> Result<Vec<Judged>, CheckStop>,
) -> Result<Vec<Judged>, CheckStop> {
    let path = Path::measure(bench, delay, pace)?;
    let mut rows: Vec<Judged> = told(name, path).map(Judged::from).into();
    rows.extend(measure(path)?);
    Ok(rows)
}

fn each(delay_us: u32) -> Delay {
    Delay { delay_us, ..Delay::default() }
}

pub(super) fn evenly(rate: u32) -> Pace {
    Pace::Open(Duration::from_secs(1) / rate)
}

fn told(name: &str, path: Path) -> [Calibration; 2] {
    [("p50", path.p50_ns), ("p99", path.p99_ns)].map(|(percentile, taken_ns)| {
        let what = (PART, format!("{name}: {percentile} of a bare client"));
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
) -> Result<Vec<Judged>, CheckStop> {
    let calls = Calls { order: delay.order(), flags, listed: true, ..Calls::default() };
    let seen = bench.observe("spin", &calls)?;
    let calls = seen.run.report.bookend.ok;
    let judged = |(percent, figure): (f64, &str)| {
        let known = seen.witness.figure(&format!("service_{figure}_ns"));
        let measured = seen.run.latency_ns(percent);
        let latency = held((PART, name, percent), (known, measured), calls, path);
        Judged {
            disagreement: disagreement(&latency, percent, &seen.run.latencies_ns),
            row: latency.disturbed_by(&seen.run.disturbances),
        }
    };
    Ok(PERCENTILES.into_iter().map(judged).collect())
}

/// Why the tail of these calls says nothing of the instrument, if that is so.
pub(super) fn disagreement(
    latency: &Calibration,
    percent: f64,
    latencies_ns: &[u64],
) -> Option<String> {
    let is_tail = percent > 50.0 && latency.refused.is_none();
    let allowed = latency.tolerance.filter(|_| is_tail)?;
    halves_disagree(percent, latencies_ns, latency.known, allowed)
}

/// A connection a call: what is between the request and its answer is timed separately.
fn connections(bench: &Bench, name: &str, path: Path) -> Result<Vec<Judged>, CheckStop> {
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
fn streams(bench: &Bench, name: &str, path: Path) -> Result<Vec<Judged>, CheckStop> {
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
) -> Vec<Judged> {
    let figures = part.map_or([f64::NAN; 2], |part| [part.p50_ns as f64, part.p99_ns as f64]);
    // Of either there are a thousand.
    PERCENTILES
        .iter()
        .zip(figures)
        .map(|((percent, figure), measured)| {
            let known = seen.witness.figure(&format!("{noted}_{figure}_ns"));
            let latency = held((PART, name, *percent), (known, measured), 1000, path);
            Judged::from(latency.disturbed_by(&seen.run.disturbances))
        })
        .collect()
}

pub(super) fn held(
    (part, name, percent): (&str, &str, f64),
    figures: (f64, f64),
    calls: u64,
    path: Path,
) -> Calibration {
    let (own, path_ns) = if percent == 50.0 { (MEDIAN, path.p50_ns) } else { (TAIL, path.p99_ns) };
    let tolerance = Tolerance { absolute: own.absolute + path_ns, ..own };
    let what = (part, format!("{name}: p{percent}"));
    let latency = Calibration::new(what, CalibratedUnit::Nanoseconds, figures, tolerance);
    latency.unless(is_steady_enough(percent, calls))
}
