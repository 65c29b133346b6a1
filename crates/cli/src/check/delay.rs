//! Latencies, held against the witness's own record of the same calls.

use super::bench::Bench;
use super::observe::{Calls, Observed};
use super::path::{Connections, Path};
use super::stop::CheckStop;
use bookend_load::contract::report::SplitPart;
use bookend_results::calibration::{CalibratedUnit, Calibration, Tolerance, is_steady_enough};
use serde_json::{Value, json};
use std::time::Duration;

/// How far half of the calls may be from the witness's record, beside what the path takes of them:
/// what Lancet reaches.
const MEDIAN: Tolerance = Tolerance { relative: 0.0, absolute: 10e3 };

/// How far a tail may be from it, beside what the path takes.
const TAIL: Tolerance = Tolerance { relative: 0.01, absolute: 20e3 };

/// Percentiles that are held against the record, with their names in it.
const PERCENTILES: [(f64, &str); 3] = [(50.0, "p50"), (99.0, "p99"), (99.9, "p999")];

/// One connection, one call at a time.
const CLOSED: &str = "-c 1 --wait spin";

/// A mix of which every 99th call takes 50 ms: 1 % and a little, so that p99 is one of them and
/// does not stand between both values.
const MIX: &str = "open loop, 1 % at 50 ms";

/// What the path takes by itself of calls as they are made here.
struct Paths {
    /// Something comes every 0.2 ms.
    busy: Path,
    /// Every millisecond or less often: caches and predictors have other things in them by then.
    seldom: Path,
    /// A connection for each call.
    new: Path,
}

/// All calibrations of latencies.
///
/// # Errors
/// See [`CheckStop`].
pub fn calibrate(bench: &Bench) -> Result<Vec<Calibration>, CheckStop> {
    let delay = |delay_us: u32| json!({ "delayUs": delay_us });
    let paths = Paths::measure(bench)?;
    let mut all = paths.told();
    let floor =
        unary(bench, "closed loop, no delay", delay(0), &format!("{CLOSED} -n 2000"), paths.busy)?;
    all.extend(floor.into_iter().take(1).map(Calibration::told));
    let mix = json!({ "delayUs": 1000, "tailDelayUs": 50_000, "tailEvery": 99 });
    for (name, order, flags, path) in [
        ("closed loop, 0.2 ms", delay(200), format!("{CLOSED} -n 2000"), paths.busy),
        ("closed loop, 1 ms", delay(1000), format!("{CLOSED} -n 2000"), paths.seldom),
        ("open loop, 10 ms", delay(10_000), open(500, 1000), paths.seldom),
        ("open loop, 100 ms", delay(100_000), open(500, 1000), paths.seldom),
        (MIX, mix, open(5000, 10_098), paths.busy),
    ] {
        all.extend(unary(bench, name, order, &flags, path)?);
    }
    all.extend(connections(bench, paths.new)?);
    all.extend(streams(bench, paths.seldom)?);
    let flags = "-c 1 -n 1000";
    let asleep = unary(bench, "closed loop, 1 ms, --wait sleep", delay(1000), flags, paths.seldom)?;
    all.extend(asleep.into_iter().map(Calibration::told));
    Ok(all)
}

impl Paths {
    fn measure(bench: &Bench) -> Result<Paths, CheckStop> {
        let [busy, seldom] = [200, 1000].map(Duration::from_micros);
        Ok(Paths {
            busy: Path::measure(bench, busy, Connections::One)?,
            seldom: Path::measure(bench, seldom, Connections::One)?,
            new: Path::measure(bench, seldom, Connections::Each)?,
        })
    }

    fn told(&self) -> Vec<Calibration> {
        let named = [
            ("every 0.2 ms", self.busy),
            ("every ms", self.seldom),
            ("a connection each, every ms", self.new),
        ];
        let rows = named.into_iter().flat_map(|(name, path)| {
            [("p50", path.p50_ns), ("p99", path.p99_ns)].map(|(percentile, taken_ns)| {
                let what = ("delay", format!("the path by bare sockets, {name}: {percentile}"));
                let unit = CalibratedUnit::Nanoseconds;
                Calibration::new(what, unit, (0.0, taken_ns), Tolerance::NONE).told()
            })
        });
        rows.collect()
    }
}

/// Calls that come evenly, however long they take.
fn open(rate: u32, calls: u32) -> String {
    format!("--rps {rate} --async -n {calls} --wait spin")
}

fn unary(
    bench: &Bench,
    name: &str,
    order: Value,
    flags: &str,
    path: Path,
) -> Result<Vec<Calibration>, CheckStop> {
    let seen = bench.observe("spin", &Calls { order, flags, ..Calls::default() })?;
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
fn connections(bench: &Bench, path: Path) -> Result<Vec<Calibration>, CheckStop> {
    let calls = Calls {
        order: json!({ "delayUs": 1000 }),
        flags: "-c 1 -n 1000 --one-shot --wait spin",
        ..Calls::default()
    };
    let seen = bench.observe("spin", &calls)?;
    let split = seen.run.report.bookend.split.as_ref();
    let first_byte = split.map(|split| &split.first_byte);
    Ok(parts(&seen, ("a connection a call, 1 ms", "service"), first_byte, path))
}

/// Messages of a stream that come every millisecond.
fn streams(bench: &Bench, path: Path) -> Result<Vec<Calibration>, CheckStop> {
    let calls = Calls {
        order: json!({ "messages": 101, "gapUs": 1000 }),
        flags: "-c 1 -n 10 --wait spin",
        method: Some("clockwork.Clockwork/Stream"),
        ..Calls::default()
    };
    let seen = bench.observe("spin", &calls)?;
    let streams = seen.run.report.bookend.streams.as_ref();
    let gap = streams.and_then(|streams| streams.gap.as_ref());
    Ok(parts(&seen, ("messages of a stream, 1 ms apart", "message_gap"), gap, path))
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
