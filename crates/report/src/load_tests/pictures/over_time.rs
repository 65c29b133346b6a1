//! The rate over the time of a load test, with its warm-up shaded.

use super::super::basis::called;
use super::super::load_test::LoadTest;
use super::super::wording::per_second_text;
use super::series::series;
use crate::chart::{AxisName, AxisUnit, LineChart, LinePanel, LinePoint, Scale, failed_at_end};
use crate::html::HtmlRow;
use crate::picture::{Drawing, Picture};
use bookend_contract::report::Intervals;
use bookend_results::statistics::{Interval, median};
use bookend_results::steady::Steady;
use bookend_results::text::significant_text;

/// A line has about so many points: more are not seen.
const POINTS_MAX: usize = 120;

/// `None` where no load test was counted by interval.
pub(super) fn picture(tests: &[LoadTest]) -> Option<Picture> {
    let lines: Vec<Vec<LinePoint>> = tests
        .iter()
        .map(|test| failed_at_end(counted(test).map_or_else(Vec::new, points), test.failed_share()))
        .collect();
    lines.iter().find(|line| !line.is_empty())?;
    let has_warmup = tests.iter().filter_map(counted).any(|counts| counts.window_start > 0);
    let chart = LineChart {
        title: "Rate over time".to_owned(),
        subtitle: called(tests),
        across: AxisName::new("seconds after the window began", AxisUnit::Number),
        up: AxisName::new("calls answered OK per second (1/s)", AxisUnit::Number),
        scales: [Scale::Linear; 2],
        shaded_below: has_warmup.then_some(0.0),
        series: series(tests),
        panels: vec![LinePanel { title: String::new(), lines }],
        has_dots: false,
        has_bands: true,
    };
    let mut headings = vec!["name", "least (1/s)", "median (1/s)", "most (1/s)", "interval (s)"];
    let is_judged = tests.iter().filter_map(counted).any(|counts| Steady::of(counts).is_some());
    headings.extend(is_judged.then_some("steady from (s)"));
    Some(Picture {
        title: chart.title.clone(),
        caption: "What is shaded is the warm-up, which no figure counts. Where a line stands for \
                  several intervals, a band reaches from the least of them to the most: a gap to zero \
                  is a server, or a way to it, that stood still."
            .to_owned(),
        drawing: Drawing::Lines(chart),
        headings: headings.into_iter().map(str::to_owned).collect(),
        rows: tests.iter().map(|test| row(test, is_judged)).collect(),
    })
}

fn counted(test: &LoadTest) -> Option<&Intervals> {
    test.report.bookend.intervals.as_ref().filter(|counts| counts.counts.len() > 1)
}

fn width_seconds(counts: &Intervals) -> f64 {
    counts.interval_ms.max(1) as f64 / 1e3
}

/// Neighbours are put together where there are too many; warm-up and window stay apart.
fn points(counts: &Intervals) -> Vec<LinePoint> {
    let start = counts.window_start.min(counts.counts.len());
    let together = counts.counts.len().div_ceil(POINTS_MAX).max(1);
    let (warmup, window) = counts.counts.split_at(start);
    let width = width_seconds(counts);
    let point = |first: f64, part: &[u64]| {
        let rate = |calls: u64| calls as f64 / width;
        let least = part.iter().min().copied().unwrap_or(0);
        let most = part.iter().max().copied().unwrap_or(0);
        let mean = part.iter().map(|calls| rate(*calls)).sum::<f64>() / part.len() as f64;
        let interval = Interval { low: rate(least), high: rate(most) };
        LinePoint {
            x: (first + part.len() as f64 / 2.0) * width,
            y: mean,
            interval: (part.len() > 1).then_some(interval),
            is_bound: false,
            failed: None,
        }
    };
    let parts = |from: f64, side: &[u64]| {
        side.chunks(together)
            .enumerate()
            .map(|(index, part)| point(from + (index * together) as f64, part))
            .collect::<Vec<_>>()
    };
    [parts(-(start as f64), warmup), parts(0.0, window)].concat()
}

/// With when it was steady, if that was judged of any test.
fn row(test: &LoadTest, is_judged: bool) -> HtmlRow {
    let figures = counted(test).map(|counts| {
        let rates: Vec<f64> = counts
            .counts
            .iter()
            .skip(counts.window_start)
            .map(|calls| *calls as f64 / width_seconds(counts))
            .collect();
        let steady = match Steady::of(counts) {
            Some(Steady::From { seconds }) => significant_text(seconds.max(0.0)),
            Some(Steady::Never) => "never".to_owned(),
            None => "-".to_owned(),
        };
        let least = rates.iter().copied().reduce(f64::min);
        let most = rates.iter().copied().reduce(f64::max);
        let text = |rate: Option<f64>| rate.map_or("-".to_owned(), per_second_text);
        let width = significant_text(width_seconds(counts));
        let mut figures = vec![text(least), text(median(&rates)), text(most), width];
        figures.extend(is_judged.then_some(steady));
        figures
    });
    HtmlRow {
        names: vec![test.name.clone()],
        figures: figures.ok_or_else(|| "not counted by interval".to_owned()),
    }
}
