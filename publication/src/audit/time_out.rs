//! Rules for the summaries of a run of a fixed number of calls, some of which failed.

use crate::document::{Document, PrintedRow};
use bookend_results::audit::{Checked, Span};

const NANOSECONDS: f64 = 1e9;

/// A run that ends because its last calls are given up ends this little after them, as a share of
/// the time-out. It is not a share of the total: after 50 time-outs every total would be near a
/// multiple of the time-out.
const TIME_OUT_EXCESS: f64 = 0.02;

/// A rate is computed from a total with more digits than the printed total has.
const RATE_SLACK: f64 = 0.002;

/// Compares the total with the client's time-out.
pub(super) fn total_is_time_out(row: &PrintedRow, document: &Document) -> Checked {
    let time_out = document.conditions.time_out_seconds?;
    let total = row.figure("total_time")?.value / NANOSECONDS;
    let failures = row.failures()?.value;
    let times = (total / time_out).floor();
    let excess = total / time_out - times;
    if failures == 0.0 || times < 1.0 || excess > TIME_OUT_EXCESS {
        return Some(Ok(()));
    }
    let slowest = row.figure("latency_max").map_or(String::new(), |slowest| {
        let seconds = slowest.value / NANOSECONDS;
        format!(", and the slowest success took {seconds:.2} s")
    });
    Some(Err(format!(
        "the total of {total:.2} s is {times} x the client's time-out of {time_out} s, \
         {failures} calls ended by it{slowest}"
    )))
}

/// The mean of the successes that follows from a mean over all calls.
fn mean_of_successes(row: &PrintedRow, time_out_seconds: f64) -> Option<Span> {
    let mean = row.figure("latency_mean_all")?;
    let failures = row.failures()?;
    let time_out = Span::exact(time_out_seconds * NANOSECONDS);
    let all = row.figure("count")?.times(mean);
    all.minus(failures.times(time_out)).over(row.figure("ok")?)
}

/// A mean above the slowest success must include other calls.
pub(super) fn mean_includes_failures(row: &PrintedRow, document: &Document) -> Checked {
    let mean = row.figure("latency_mean_all")?;
    let slowest = row.figure("latency_max")?;
    let fastest = row.figure("latency_min")?;
    let successes = mean_of_successes(row, document.conditions.time_out_seconds?)?;
    if mean.low <= slowest.high || successes.high < fastest.low || successes.low > slowest.high {
        return Some(Ok(()));
    }
    let seconds = |span: Span| span.value / NANOSECONDS;
    Some(Err(format!(
        "the mean of {:.2} s is above the slowest success, {:.2} s; without the {} failures of {} \
         s each it is {:.2} s{}",
        seconds(mean),
        seconds(slowest),
        row.failures()?.value,
        document.conditions.time_out_seconds?,
        seconds(successes),
        agreement(row, successes)
    )))
}

/// Whether the histogram, which counts successes alone, allows that mean.
fn agreement(row: &PrintedRow, mean_ns: Span) -> String {
    let Some(allowed) = mean_of_histogram(row) else {
        return String::new();
    };
    let (low, high) = (allowed.low / NANOSECONDS, allowed.high / NANOSECONDS);
    let verb = if allowed.overlaps(mean_ns) { "allows" } else { "contradicts: it allows" };
    format!(", and the printed histogram {verb} {low:.2} to {high:.2} s")
}

/// The least and the largest mean of the calls that a histogram counts.
fn mean_of_histogram(row: &PrintedRow) -> Option<Span> {
    let mut lower = row.histogram.first()?.upper_ns.value;
    let (mut low, mut high, mut calls) = (0.0, 0.0, 0.0);
    for bucket in &row.histogram {
        low += bucket.count * lower;
        high += bucket.count * bucket.upper_ns.value;
        calls += bucket.count;
        lower = bucket.upper_ns.value;
    }
    (calls > 0.0).then(|| Span {
        low: low / calls,
        value: (low + high) / 2.0 / calls,
        high: high / calls,
    })
}

/// Whether the rate divides all calls, or the successes, by the total time.
pub(super) fn rate_includes_failures(row: &PrintedRow, _: &Document) -> Checked {
    let rate = row.figure("requests_per_second")?;
    let seconds = row.figure("total_time")?.times(Span::exact(1.0 / NANOSECONDS));
    let of_all = row.figure("count")?.over(seconds)?;
    let goodput = row.figure("ok")?.over(seconds)?;
    let matches = |other: Span| {
        rate.low <= other.high * (1.0 + RATE_SLACK) && other.low <= rate.high * (1.0 + RATE_SLACK)
    };
    if !matches(of_all) || matches(goodput) {
        return Some(Ok(()));
    }
    Some(Err(format!(
        "{:.2} a second is all {} calls over the total time; {:.2} a second succeeded",
        rate.value,
        row.figure("count")?.value,
        goodput.value
    )))
}

/// Compares a histogram with the figures next to it.
pub(super) fn histogram_differs(row: &PrintedRow, _: &Document) -> Checked {
    let (first, last) = (row.histogram.first()?, row.histogram.last()?);
    let calls: f64 = row.histogram.iter().map(|bucket| bucket.count).sum();
    let ok = row.figure("ok")?.value;
    if calls != ok {
        return Some(Err(format!("it counts {calls} calls, {ok} succeeded")));
    }
    let ends = [("latency_min", first), ("latency_max", last)];
    for (name, bucket) in ends {
        let printed = row.figure(name);
        if printed.is_some_and(|printed| !printed.overlaps(bucket.upper_ns)) {
            return Some(Err(format!("its end is not {name}")));
        }
    }
    let displaced = row
        .percentiles_ns()
        .into_iter()
        .find(|&(percent, value)| !is_in_its_bucket(row, percent, value));
    Some(match displaced {
        None => Ok(()),
        Some((percent, value)) => Err(format!(
            "p{percent} is {:.2} s, which is not where the counts put it",
            value.value / NANOSECONDS
        )),
    })
}

/// Whether the counts allow that `percent` of the calls took at most `value`.
fn is_in_its_bucket(row: &PrintedRow, percent: f64, value: Span) -> bool {
    let calls: f64 = row.histogram.iter().map(|bucket| bucket.count).sum();
    let rank = calls * percent / 100.0;
    let (mut counted, mut lower) = (0.0, 0.0);
    for bucket in &row.histogram {
        counted += bucket.count;
        // Tools differ by one call in their definition of a sample's percentile.
        let reaches = counted + 1.0 >= rank;
        if reaches && value.high >= lower && value.low <= bucket.upper_ns.high {
            return true;
        }
        if counted > rank + 1.0 {
            return false;
        }
        lower = bucket.upper_ns.low;
    }
    false
}
