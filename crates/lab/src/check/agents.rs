//! Several generators in the place of one: at the same rate in all, which is far below what the
//! witness could answer, the same latencies, and every call counted once.

use super::bench::Bench;
use super::delay::{self, Judged, MIX, PERCENTILES, disagreement, evenly, steadily};
use super::observe::{Calls, Observed};
use super::path::Path;
use super::stop::CheckStop;
use bookend_results::calibration::{CalibratedUnit, Calibration, Tolerance};

/// Calls a second, and in all: of one in 97 that is slow, a few more than one in a hundred.
const RATE: u32 = 2_000;
const CALLS: u32 = 10_088;

/// What one generator does in two threads, and two in one each. They share a CPU, so they sleep.
const ONE: &str = "--threads 2";
const TWO: &str = "--threads 1 --agents local:2";

const PART: &str = "agents";
const NAME: &str = "two agents and one generator";

/// All calibrations of agents.
///
/// # Errors
/// See [`CheckStop`].
pub fn calibrate(bench: &Bench) -> Result<Vec<Calibration>, CheckStop> {
    steadily((PART, NAME), || compared(bench))
}

fn compared(bench: &Bench) -> Result<Vec<Judged>, CheckStop> {
    let path = Path::measure(bench, MIX, evenly(RATE))?;
    let (one, two) = (observe(bench, ONE)?, observe(bench, TWO)?);
    let disturbances = [&one, &two].map(|seen| seen.run.disturbances.as_slice()).concat();
    let latencies = PERCENTILES[..2].iter().map(|(percent, _)| {
        let figures = (one.run.latency_ns(*percent), two.run.latency_ns(*percent));
        let row = delay::held((PART, NAME, *percent), figures, u64::from(CALLS), path);
        Judged {
            disagreement: disagreement(&row, *percent, &two.run.latencies_ns),
            row: row.disturbed_by(&disturbances),
        }
    });
    Ok(latencies.chain(counts(&two).map(Judged::from)).collect())
}

fn observe(bench: &Bench, generators: &str) -> Result<Observed, CheckStop> {
    let flags = format!(
        "--rps {RATE} --async -n {CALLS} --arrivals poisson --seed 1 --connections 2 {generators}"
    );
    let calls = Calls { order: MIX.order(), flags: &flags, listed: true, ..Calls::default() };
    bench.observe("spin", &calls)
}

/// Calls by the witness, by the agents together, and by each of them.
fn counts(two: &Observed) -> [Calibration; 2] {
    let report = &two.run.report;
    let fleet = report.bookend.fleet.as_deref();
    let preparing = fleet.map_or(0, |fleet| fleet.preparing_calls);
    let of_agents = fleet.map_or(0, |fleet| fleet.agents.iter().map(|agent| agent.ok).sum());
    let row = |what: &str, figures| {
        let what = (PART, format!("{NAME}: {what}"));
        Calibration::new(what, CalibratedUnit::Count, figures, Tolerance::NONE)
    };
    let answered = two.witness.count("calls").saturating_sub(preparing);
    [
        row("calls answered", (answered as f64, report.count as f64)),
        row("OK calls by agent, added up", (report.bookend.ok as f64, of_agents as f64)),
    ]
}
