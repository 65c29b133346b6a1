//! Latency by percentile in the manner of HdrHistogram, by both clocks where there are two.

use super::super::basis::called;
use super::super::load_test::{Clock, FROM_DUE, FROM_START, LoadTest};
use super::super::wording::time_text;
use super::series::series;
use crate::chart::{
    AxisName, AxisUnit, LineChart, LinePanel, LinePoint, LineSeries, Scale, failed_at_end,
};
use crate::html::HtmlRow;
use crate::percentile_curve::points_by_percentile;
use crate::picture::{Drawing, Picture};

/// The percentages of the table.
const SHOWN: [f64; 4] = [50.0, 90.0, 99.0, 99.9];

const OPEN: &str = "Lower is faster. To the right stand ever fewer calls: at 99.9 % one of a thousand took longer. \
     A call that waited for room waited from when it was due: where the two clocks part, the other \
     one hides that.";

const CLOSED: &str = "Lower is faster. To the right stand ever fewer calls: at 99.9 % one of a thousand took longer. \
     The load is closed: a call is made when another has ended, so a server that stands still is not \
     called, and no wait for it is in these latencies.";

/// One load test has its clocks in one panel; of several, each clock has a panel.
pub(super) fn picture(tests: &[LoadTest]) -> Option<Picture> {
    tests.iter().find(|test| !test.clock().is_empty())?;
    let is_open = tests.iter().any(|test| test.from_due.is_some());
    let (series, panels) = match tests {
        [test] => one(test),
        _ => several(tests),
    };
    let chart = LineChart {
        title: "Latency by percentile".to_owned(),
        subtitle: called(tests),
        across: AxisName::new("share of calls that were not slower", AxisUnit::Percentile),
        up: AxisName::new("latency of OK calls", AxisUnit::Nanoseconds),
        scales: [Scale::Logarithmic; 2],
        shaded_below: None,
        parting: None,
        series,
        panels,
        has_dots: false,
        has_bands: false,
    };
    let headings =
        ["name", "latency", "calls", "mean", "50 %", "90 %", "99 %", "99.9 %", "longest"];
    let rows = tests
        .iter()
        .flat_map(|test| {
            test.clocks().into_iter().map(|(clock_name, clock)| HtmlRow {
                names: vec![test.name.clone(), clock_name.to_owned()],
                figures: figures(clock),
            })
        })
        .collect();
    Some(Picture {
        title: chart.title.clone(),
        caption: if is_open { OPEN } else { CLOSED }.to_owned(),
        drawing: Drawing::Lines(chart),
        headings: headings.map(str::to_owned).to_vec(),
        rows,
    })
}

fn one(test: &LoadTest) -> (Vec<LineSeries>, Vec<LinePanel>) {
    let clocks = test.clocks();
    let series = clocks
        .iter()
        .enumerate()
        .map(|(style, (name, _))| LineSeries { name: (*name).to_owned(), style })
        .collect();
    let curve = |clock: &Clock| points_by_percentile(&clock.histogram);
    let lines =
        clocks.iter().map(|(_, clock)| failed_at_end(curve(clock), test.failed_share())).collect();
    let panel = LinePanel { title: test.name.clone(), lines };
    (series, vec![panel])
}

fn several(tests: &[LoadTest]) -> (Vec<LineSeries>, Vec<LinePanel>) {
    let panels = [FROM_DUE, FROM_START]
        .map(|name| LinePanel {
            title: name.to_owned(),
            lines: tests.iter().map(|test| line(test, name)).collect(),
        })
        .into_iter()
        .filter(|panel| panel.lines.iter().any(|line| !line.is_empty()))
        .collect();
    (series(tests), panels)
}

fn line(test: &LoadTest, clock_name: &str) -> Vec<LinePoint> {
    test.clocks()
        .into_iter()
        .find(|(name, clock)| *name == clock_name && !clock.is_empty())
        .map_or_else(Vec::new, |(_, clock)| {
            failed_at_end(points_by_percentile(&clock.histogram), test.failed_share())
        })
}

fn figures(clock: &Clock) -> Result<Vec<String>, String> {
    if clock.is_empty() {
        return Err("no call ended with OK".to_owned());
    }
    let calls = [clock.histogram.len().to_string(), time_text(clock.mean_ns)];
    let percentiles = SHOWN.map(|percentage| time_text(clock.at(percentage)));
    Ok(calls.into_iter().chain(percentiles).chain([time_text(clock.max_ns)]).collect())
}
