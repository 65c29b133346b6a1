//! What it takes to decide a race that has decided nothing.

use bookend_results::race::{Race, STARTS_MIN, Standing};

/// What is said where nothing is known of it.
const UNKNOWN: &str = "A larger --budget tells more.";

/// Nobody gives a race a larger multiple of its budget.
const TIMES_MAX: f64 = 1_000.0;

/// What budget would decide a race that has an interval, if what comes differs as it did so
/// far and the ratio stays where it is: one that narrows the interval until it leaves out
/// equality, or is within the margin.
pub(super) fn deciding_budget(race: &Race, standing: &Standing) -> String {
    let distance = standing.cost_ratio().ln().abs();
    let half = distance.max(race.margin.ln_1p() - distance);
    match standing.times_until(half).filter(|times| *times > 1.0 && *times < TIMES_MAX) {
        Some(times) => {
            format!("As rounds differ here, a --budget {} would decide it.", larger(times))
        }
        None => UNKNOWN.to_owned(),
    }
}

/// What budget yields an interval, for a race without one.
pub(super) fn budget_for_interval(standing: &Standing) -> String {
    let starts = standing.starts();
    if !(2..STARTS_MIN).contains(&starts) {
        return UNKNOWN.to_owned();
    }
    let times = STARTS_MIN as f64 / starts as f64;
    format!("There were {starts} starts of {STARTS_MIN}: a --budget {} is enough.", larger(times))
}

/// `about 2.4 times as large`, rounded up.
fn larger(times: f64) -> String {
    let rounded = if times < 10.0 { (times * 10.0).ceil() / 10.0 } else { times.ceil() };
    format!("about {rounded} times as large")
}
