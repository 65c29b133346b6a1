//! How a run begins: over several connections, to several targets and by several workers, all of
//! them begin at once, on every driver.

use super::bench::Bench;
use super::clockwork::Clockwork;
use super::observe::Calls;
use super::stop::CheckStop;
use bookend_contract::report::LoadReport;
use bookend_results::calibration::{CalibratedUnit, Calibration, CalibrationOutcome, Tolerance};
use bookend_results::statistics::median;

const DRIVERS: [&str; 3] = ["blocking", "epoll", "uring"];

/// One worker with one connection, which waits for nobody.
const ALONE: Shape = Shape { name: "1 connection", connections: 1, targets: 1 };

/// What begins in several places.
const SHAPES: [Shape; 4] = [
    Shape { name: "2 connections", connections: 2, targets: 1 },
    Shape { name: "3 connections", connections: 3, targets: 1 },
    Shape { name: "8 connections", connections: 8, targets: 1 },
    Shape { name: "2 targets", connections: 2, targets: 2 },
];

/// A hundred calls are over in a millisecond, so what they take is when they begin.
const CLOSED: &str = "-n 100 -c 8";

/// An open loop of a third of a second: a third of its calls is due while a worker is late.
const OPEN: &str = "--rps 500 --async -n 150";

/// How often a hundred calls are made: the middle time counts.
const RUNS: usize = 3;

/// What missed is measured again, up to this number of times: a stop of the machine comes once.
const TIMES_MAX: usize = 3;

/// How much longer a hundred calls may take than over one connection, for each worker after the
/// first: all have one CPU, and wait for each other for a time slice of the kernel's scheduler.
const SLICE_NS: f64 = 3e6;

/// How late one call in a hundred may be: three such slices, since sleeping workers are woken by
/// timers as well. A worker that is not woken at the start is a hundred milliseconds late.
const LAG_ALLOWED: Tolerance = Tolerance { relative: 0.0, absolute: 9e6 };

struct Shape {
    name: &'static str,
    connections: u32,
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

/// How long a hundred calls take, compared with one connection.
fn whole_run(
    bench: &Bench,
    server: &mut Clockwork,
    driver: &str,
    shape: &Shape,
) -> Result<Calibration, CheckStop> {
    let known = median_ns(bench, server, driver, &ALONE)?;
    let measured = median_ns(bench, server, driver, shape)?;
    let others = shape.workers(driver) - 1;
    let allowed = Tolerance { relative: 0.0, absolute: SLICE_NS * f64::from(others) };
    Ok(row(driver, &format!("{}: 100 calls", shape.name), (known, measured), allowed))
}

fn median_ns(
    bench: &Bench,
    server: &mut Clockwork,
    driver: &str,
    shape: &Shape,
) -> Result<f64, CheckStop> {
    let mut whole_ns = [0.0; RUNS];
    for run_ns in &mut whole_ns {
        *run_ns = shape.load(bench, server, driver, CLOSED)?.total as f64;
    }
    Ok(median(&whole_ns).unwrap_or(f64::NAN))
}

/// How late calls of an open loop are made.
fn lag(
    bench: &Bench,
    server: &mut Clockwork,
    driver: &str,
    shape: &Shape,
) -> Result<Calibration, CheckStop> {
    let open_loop = shape.load(bench, server, driver, OPEN)?.bookend.open_loop;
    let lag_ns = open_loop.map_or(f64::NAN, |calls| calls.lag.p99_ns as f64);
    Ok(row(driver, &format!("{}, open loop: lag, p99", shape.name), (0.0, lag_ns), LAG_ALLOWED))
}

fn row(driver: &str, what: &str, figures: (f64, f64), allowed: Tolerance) -> Calibration {
    let what = ("start", format!("{driver}, {what}"));
    Calibration::new(what, CalibratedUnit::Nanoseconds, figures, allowed)
}

impl Shape {
    /// With the driver whose threads wait in reads, each of them has a connection.
    fn workers(&self, driver: &str) -> u32 {
        if driver == "blocking" { self.connections } else { self.connections.min(2) }
    }

    fn load(
        &self,
        bench: &Bench,
        server: &mut Clockwork,
        driver: &str,
        pace: &str,
    ) -> Result<LoadReport, CheckStop> {
        let Shape { connections, targets, .. } = *self;
        let threads = self.workers(driver);
        let flags = format!("--io {driver} {pace} --connections {connections} --threads {threads}");
        Ok(bench.load(server, &Calls { flags: &flags, targets, ..Calls::default() })?.report)
    }
}
