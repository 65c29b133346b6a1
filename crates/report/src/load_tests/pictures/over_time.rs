//! The rate and the latency over the time of a load test, with its warm-up shaded: of an open loop,
//! what was due over what was answered.

use super::super::basis::called;
use super::super::load_test::LoadTest;
use super::super::parting::{due_and_counted, parting};
use super::super::wording::{figure_text, per_second_text, time_text};
use super::offered::DUE_STYLE;
use super::series::series;
use crate::chart::{
    AxisName, AxisUnit, LineChart, LinePanel, LineParting, LinePoint, LineRows, LineSeries, Scale,
    failed_at_end,
};
use crate::html::HtmlRow;
use crate::picture::{Drawing, Picture};
use crate::result_page::PageTable;
use bookend_contract::latency_intervals::LatencyIntervals;
use bookend_contract::report::Intervals;
use bookend_results::statistics::{Interval, median};
use bookend_results::steady::Steady;
use bookend_results::text::significant_text;

/// About as many points as can be seen in a line.
const POINTS_MAX: usize = 120;

const RATE_READING: &str = "What is shaded on the left is the warm-up, which no figure counts. Where a line stands for several \
     intervals, a band reaches from the least of them to the most: a gap to zero is a server, or a \
     way to it, that stood still.";

const PARTING_READING: &str = " From the vertical line on, less than 95 % of the calls that were due were answered OK; the \
     shaded area between the lines is what is missing.";

const LATENCY_READING: &str = " Latencies are those of the OK calls that ended in each second, or in several of a long run. In a \
     second with fewer than 1,000 calls, fewer than ten took longer than the 99 % line.";

/// `None` where no load test was counted by interval.
pub(super) fn picture(tests: &[LoadTest]) -> Option<Picture> {
    tests.iter().find_map(counted)?;
    let has_latency = tests.iter().any(|test| followed(test).is_some());
    let parting = single(tests).and_then(parting);
    let title = if has_latency { "Rate and latency over time" } else { "Rate over time" };
    let rates = LineChart {
        title: title.to_owned(),
        subtitle: called(tests),
        parting: parting.map(|at| LineParting {
            x: at.seconds,
            text: Some(format!("{} were due per second", per_second_text(at.due_per_second))),
        }),
        ..rates(tests)
    };
    let latencies = has_latency.then(|| LineChart {
        parting: parting.map(|at| LineParting { x: at.seconds, text: None }),
        ..latencies(tests)
    });
    let caption = [
        RATE_READING,
        if parting.is_some() { PARTING_READING } else { "" },
        if has_latency { LATENCY_READING } else { "" },
    ];
    let (headings, rows) = match single(tests).and_then(by_second) {
        Some(rows) => (headings(&BY_SECOND), rows),
        None => summary(tests),
    };
    Some(Picture {
        title: title.to_owned(),
        caption: caption.concat(),
        drawing: Drawing::Rows(LineRows { first: rates, others: latencies.into_iter().collect() }),
        headings,
        rows,
    })
}

/// How steady the rate was, where the numbers of the picture are those of each second.
pub(in crate::load_tests) fn steadiness(tests: &[LoadTest]) -> Vec<PageTable> {
    let is_beside = single(tests).and_then(by_second).is_some();
    let table = || {
        let (headings, rows) = summary(tests);
        PageTable { title: "Rate over time", headings, rows }
    };
    is_beside.then(table).into_iter().collect()
}

fn single(tests: &[LoadTest]) -> Option<&LoadTest> {
    if let [test] = tests { Some(test) } else { None }
}

/// Of one open loop what was due and what was answered, else the answers of each test.
fn rates(tests: &[LoadTest]) -> LineChart {
    let answered = |test: &LoadTest| {
        let points = counted(test).map_or_else(Vec::new, |counts| points(counts, &counts.counts));
        failed_at_end(points, test.failed_share())
    };
    let due = single(tests).and_then(due_and_counted);
    let answers = tests.iter().map(answered);
    let (up, series, lines) = match due {
        Some((counts, due)) => (
            "calls per second (1/s)",
            named_series([("due", DUE_STYLE), ("answered OK", 0)]),
            std::iter::once(points(counts, due)).chain(answers).collect(),
        ),
        None => ("calls answered OK per second (1/s)", series(tests), answers.collect()),
    };
    let has_warmup = tests.iter().filter_map(counted).any(|counts| counts.window_start > 0);
    LineChart {
        shaded_below: has_warmup.then_some(0.0),
        has_bands: true,
        ..over_time(AxisName::new(up, AxisUnit::Number), Scale::Linear, series, lines)
    }
}

/// Half and nearly all of the calls of one test, nearly all of those of several.
fn latencies(tests: &[LoadTest]) -> LineChart {
    let line = |test: &LoadTest, of: fn(&LatencyIntervals) -> &[Option<u64>]| {
        followed(test).map_or_else(Vec::new, |latencies| latency_points(latencies, of(latencies)))
    };
    let p99: fn(&LatencyIntervals) -> &[Option<u64>] = |latencies| &latencies.p99_ns;
    let (what, series, lines) = match single(tests) {
        Some(test) => (
            "latency",
            named_series([("50 %", 0), ("99 %", 1)]),
            vec![line(test, |latencies| &latencies.p50_ns), line(test, p99)],
        ),
        None => {
            ("99 % of latencies", series(tests), tests.iter().map(|test| line(test, p99)).collect())
        }
    };
    let since = match tests.iter().any(|test| test.from_due.is_some()) {
        true => "from when calls were due",
        false => "from when they were made",
    };
    let up = AxisName::new(&format!("{what} {since}"), AxisUnit::Nanoseconds);
    over_time(up, Scale::Logarithmic, series, lines)
}

fn over_time(
    up: AxisName,
    scale: Scale,
    series: Vec<LineSeries>,
    lines: Vec<Vec<LinePoint>>,
) -> LineChart {
    LineChart {
        title: String::new(),
        subtitle: String::new(),
        across: AxisName::new("seconds after the window began", AxisUnit::Number),
        up,
        scales: [Scale::Linear, scale],
        shaded_below: None,
        parting: None,
        series,
        panels: vec![LinePanel { title: String::new(), lines }],
        has_dots: false,
        has_bands: false,
    }
}

fn named_series<const N: usize>(names: [(&str, usize); N]) -> Vec<LineSeries> {
    names.map(|(name, style)| LineSeries { name: name.to_owned(), style }).to_vec()
}

/// The latencies over the window, where there are enough for a line.
fn followed(test: &LoadTest) -> Option<&LatencyIntervals> {
    let latencies = test.report.bookend.latency_intervals.as_ref()?;
    let told = latencies.p99_ns.iter().flatten().count();
    (told > 1 && latencies.p50_ns.len() == latencies.p99_ns.len()).then_some(latencies)
}

/// In the middle of its interval each; none for one without a call.
fn latency_points(latencies: &LatencyIntervals, each_ns: &[Option<u64>]) -> Vec<LinePoint> {
    let width = latencies.interval_ms as f64 / 1e3;
    let point = |(place, latency_ns): (usize, &Option<u64>)| {
        let (x, y) = ((place as f64 + 0.5) * width, (*latency_ns)? as f64);
        Some(LinePoint { x, y, interval: None, is_bound: false, failed: None })
    };
    each_ns.iter().enumerate().filter_map(point).collect()
}

const BY_SECOND: [&str; 5] = ["from (s)", "due (1/s)", "answered OK (1/s)", "50 %", "99 %"];

/// A row for each interval whose latencies are known.
fn by_second(test: &LoadTest) -> Option<Vec<HtmlRow>> {
    let (latencies, counts) = (followed(test)?, counted(test)?);
    let together = (latencies.interval_ms / counts.interval_ms.max(1)).max(1) as usize;
    let rate = |calls: &[u64], place: usize| {
        let start = counts.window_start.saturating_add(place.saturating_mul(together));
        let own = calls.get(start..start.checked_add(together)?)?;
        let sum: f64 = own.iter().map(|calls| *calls as f64).sum();
        Some(per_second_text(sum / (together as f64 * width_seconds(counts))))
    };
    let dash = || "-".to_owned();
    let due = due_and_counted(test).map(|(_, due)| due);
    let row = |(place, (p50_ns, p99_ns)): (usize, (&Option<u64>, &Option<u64>))| {
        let time = |time_ns: &Option<u64>| time_ns.map_or_else(dash, time_text);
        let from = place as f64 * latencies.interval_ms as f64 / 1e3;
        let figures = vec![
            due.and_then(|due| rate(due, place)).unwrap_or_else(dash),
            rate(&counts.counts, place).unwrap_or_else(dash),
            time(p50_ns),
            time(p99_ns),
        ];
        HtmlRow { names: vec![figure_text(from)], figures: Ok(figures) }
    };
    Some(latencies.p50_ns.iter().zip(&latencies.p99_ns).enumerate().map(row).collect())
}

fn headings(texts: &[&str]) -> Vec<String> {
    texts.iter().map(|text| (*text).to_owned()).collect()
}

/// How far apart the rates of intervals are, and when they were steady, if that was judged of any.
fn summary(tests: &[LoadTest]) -> (Vec<String>, Vec<HtmlRow>) {
    let mut texts = vec!["name", "least (1/s)", "median (1/s)", "most (1/s)", "interval (s)"];
    let is_judged = tests.iter().filter_map(counted).any(|counts| Steady::of(counts).is_some());
    texts.extend(is_judged.then_some("steady from (s)"));
    (headings(&texts), tests.iter().map(|test| row(test, is_judged)).collect())
}

fn counted(test: &LoadTest) -> Option<&Intervals> {
    test.report.bookend.intervals.as_ref().filter(|counts| counts.counts.len() > 1)
}

fn width_seconds(counts: &Intervals) -> f64 {
    counts.interval_ms.max(1) as f64 / 1e3
}

/// Neighbours are put together where there are too many; warm-up and window stay apart.
fn points(counts: &Intervals, calls: &[u64]) -> Vec<LinePoint> {
    let start = counts.window_start.min(calls.len());
    let together = calls.len().div_ceil(POINTS_MAX).max(1);
    let (warmup, window) = calls.split_at(start);
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
