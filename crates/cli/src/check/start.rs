//! How a run begins: over several connections, to several targets and by several workers, all of
//! them begin at once, on every driver.

use super::bench::Bench;
use super::clockwork::Clockwork;
use super::observe::{Calls, CheckedRun};
use super::stop::CheckStop;
use bookend_results::calibration::{CalibratedUnit, Calibration, CalibrationOutcome, Tolerance};

const DRIVERS: [&str; 3] = ["blocking", "epoll", "uring"];

/// One worker with one connection, which waits for nobody.
const ALONE: Shape = Shape { name: "one connection", flags: "--threads 1", targets: 1 };

/// What begins in several places.
const SHAPES: [Shape; 4] = [
    Shape { name: "2 connections", flags: "--threads 2 --connections 2", targets: 1 },
    Shape { name: "3 connections", flags: "--threads 2 --connections 3", targets: 1 },
    Shape { name: "8 connections", flags: "--threads 2 --connections 8", targets: 1 },
    Shape { name: "2 targets", flags: "--threads 2 --connections 2", targets: 2 },
];

/// A hundred calls are over in a millisecond, so what they take is when they begin.
const CLOSED: &str = "-n 100 -c 8";

/// An open loop of half a second: more than one call in a hundred is due while a worker is late.
const OPEN: &str = "--rps 500 --async -n 250";

/// How often each is run: the middle one counts.
const RUNS: usize = 3;

/// What missed is measured again, so often at most: a stop of the machine comes once.
const TIMES_MAX: usize = 3;

/// How much longer a hundred calls may take than over one connection: both workers have one CPU,
/// and one may have to wait for the other for a time slice of the kernel's scheduler.
const ALLOWED: Tolerance = Tolerance { relative: 0.0, absolute: 3e6 };

/// How late one call in a hundred may be: three such slices, since sleeping workers are woken by
/// timers as well. A worker that is not woken at the start is a hundred milliseconds late.
const LAG_ALLOWED: Tolerance = Tolerance { relative: 0.0, absolute: 9e6 };

struct Shape {
    name: &'static str,
    flags: &'static str,
    targets: usize,
}

/// All calibrations of how a run begins.
///
/// # Errors
/// See [`CheckStop`].
pub fn calibrate(bench: &Bench) -> Result<Vec<Calibration>, CheckStop> {
    let mut server = Clockwork::start(bench, "sleep")?;
    let mut all = Vec::new();
    for driver in DRIVERS {
        for shape in &SHAPES {
            all.push(again(|| whole_run(bench, &mut server, driver, shape))?);
            all.push(again(|| lag(bench, &mut server, driver, shape))?);
        }
    }
    server.end()?;
    Ok(all)
}

/// Measured until it is within its tolerance, [`TIMES_MAX`] times at most.
fn again(
    mut measure: impl FnMut() -> Result<Calibration, CheckStop>,
) -> Result<Calibration, CheckStop> {
    let mut row = measure()?;
    for _ in 1..TIMES_MAX {
        if row.outcome() != CalibrationOutcome::Missed {
            break;
        }
        row = measure()?;
    }
    Ok(row)
}

/// How long a hundred calls take, beside the same over one connection.
fn whole_run(
    bench: &Bench,
    server: &mut Clockwork,
    driver: &str,
    shape: &Shape,
) -> Result<Calibration, CheckStop> {
    let whole_ns = |run: &CheckedRun| run.report.total;
    let known = median(bench, server, (driver, CLOSED, &ALONE), whole_ns)?;
    let measured = median(bench, server, (driver, CLOSED, shape), whole_ns)?;
    Ok(row(driver, &format!("{}: 100 calls", shape.name), (known, measured), ALLOWED))
}

/// How late calls of an open loop are made.
fn lag(
    bench: &Bench,
    server: &mut Clockwork,
    driver: &str,
    shape: &Shape,
) -> Result<Calibration, CheckStop> {
    let lag_ns = |run: &CheckedRun| {
        run.report.bookend.open_loop.as_ref().map_or(u64::MAX, |calls| calls.lag.p99_ns)
    };
    let measured = median(bench, server, (driver, OPEN, shape), lag_ns)?;
    Ok(row(driver, &format!("{}, open loop: lag, p99", shape.name), (0.0, measured), LAG_ALLOWED))
}

fn row(driver: &str, what: &str, figures: (f64, f64), allowed: Tolerance) -> Calibration {
    let what = ("start", format!("{driver}, {what}"));
    Calibration::new(what, CalibratedUnit::Nanoseconds, figures, allowed)
}

fn median(
    bench: &Bench,
    server: &mut Clockwork,
    (driver, pace, shape): (&str, &str, &Shape),
    figure_ns: impl Fn(&CheckedRun) -> u64,
) -> Result<f64, CheckStop> {
    let flags = format!("--io {driver} {pace} {}", shape.flags);
    let calls = Calls { flags: &flags, targets: shape.targets, ..Calls::default() };
    let mut figures = Vec::new();
    for _ in 0..RUNS {
        figures.push(figure_ns(&bench.load(server, &calls)?));
    }
    figures.sort_unstable();
    Ok(figures[RUNS / 2] as f64)
}
