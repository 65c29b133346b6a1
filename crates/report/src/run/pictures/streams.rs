//! What grows with the streams of a connection: how many requests a CPU-second answers, and memory.

use super::drawn::{Drawn, DrawnGroup, names, with_failed, word_of};
use crate::chart::{AxisName, AxisUnit, LineChart, LinePanel, LinePoint, LineSeries, Scale};
use crate::html::HtmlRow;
use crate::picture::{Drawing, Picture};
use bookend_results::grouping::each_once;
use bookend_results::metric;
use bookend_results::statistics::Interval;
use bookend_results::suite::Case;
use bookend_results::table::{Cell, Summary, is_lower_bound};
use bookend_results::text::{memory_text, rate_text};

/// A mebibyte, the unit of the axis of memory.
const MEBIBYTE: f64 = (1 << 20) as f64;

/// A figure of a cell, its interval, and whether it is a bound.
type PointOf = fn(&Summary) -> Option<(f64, Option<Interval>, bool)>;

/// Requests per CPU-second, a picture for each instrument that measured several numbers of streams.
pub(super) fn costs(drawn: &Drawn<'_>) -> Vec<Picture> {
    drawn.groups.iter().filter_map(|group| cost_picture(drawn, group)).collect()
}

fn cost_picture(drawn: &Drawn<'_>, group: &DrawnGroup<'_>) -> Option<Picture> {
    let own = &group.cells;
    let along = Along::of(own)?;
    let chart = LineChart {
        title: group.titled("Requests per CPU-second"),
        subtitle: drawn.origin(),
        across: along.axis(),
        up: AxisName::new("requests per CPU-second (1/s)", AxisUnit::Number),
        series: series(drawn, own),
        panels: along.panels(own, &series(drawn, own), cost_point),
        scales: [Scale::Logarithmic; 2],
        shaded_below: None,
        parting: None,
        has_dots: true,
        has_bands: true,
    };
    let headings =
        ["case", "name", "requests per CPU-second (1/s)", "from", "to", "hollow", "limit"];
    let rows = own.iter().map(|cell| cost_row(cell)).collect();
    let (headings, rows) = with_failed(drawn, &headings, rows, own);
    Some(Picture {
        title: chart.title.clone(),
        caption: "Higher is cheaper. Bars and bands are 95 % intervals over the rounds: lines \
                  closer than that are noise. A hollow dot: the other end was the limit, and the \
                  load was less than it could have been."
            .to_owned(),
        drawing: Drawing::Lines(chart),
        headings,
        rows,
    })
}

/// Mean and peak memory, a picture for each instrument as above.
pub(super) fn memory(drawn: &Drawn<'_>) -> Vec<Picture> {
    drawn.groups.iter().filter_map(|group| memory_picture(drawn, group)).collect()
}

fn memory_picture(drawn: &Drawn<'_>, group: &DrawnGroup<'_>) -> Option<Picture> {
    let own = &group.cells;
    let along = Along::of(own)?;
    let chart = LineChart {
        title: group.titled("Memory"),
        subtitle: drawn.origin(),
        across: along.axis(),
        up: AxisName::new("memory of the end under test (MiB)", AxisUnit::Number),
        series: series(drawn, own),
        panels: along.panels(own, &series(drawn, own), memory_point),
        scales: [Scale::Logarithmic; 2],
        shaded_below: None,
        parting: None,
        has_dots: true,
        has_bands: false,
    };
    let headings = ["case", "name", "mean memory", "peak memory", "read from"];
    Some(Picture {
        title: chart.title.clone(),
        caption: "Dots are the mean over the window, and bars reach up to the peak of all rounds."
            .to_owned(),
        drawing: Drawing::Lines(chart),
        headings: headings.map(str::to_owned).to_vec(),
        rows: own.iter().map(|cell| memory_row(cell)).collect(),
    })
}

/// The series of these cells, in the colours of their subjects.
pub(super) fn series(drawn: &Drawn<'_>, cells: &[&Cell]) -> Vec<LineSeries> {
    let subjects = each_once(cells.iter().map(|cell| &cell.id.subject));
    let one = |name: &String| LineSeries { name: name.clone(), style: drawn.style(name) };
    subjects.into_iter().map(one).collect()
}

/// What the axis along the bottom has.
#[derive(Clone, Copy)]
enum Along {
    /// Streams for each connection; a panel for each number of connections.
    Streams,
    /// Connections, where each has as many streams.
    Connections,
}

impl Along {
    /// `None`: all cells have the same load, and nothing grows.
    fn of(cells: &[&Cell]) -> Option<Self> {
        let several = |along: Self| {
            each_once(cells.iter().map(|cell| along.figure(cell.case).to_bits())).len() > 1
        };
        [Self::Streams, Self::Connections].into_iter().find(|along| several(*along))
    }

    fn figure(self, case: Case) -> f64 {
        match self {
            Self::Streams => f64::from(case.concurrency) / f64::from(case.connections),
            Self::Connections => f64::from(case.connections),
        }
    }

    fn axis(self) -> AxisName {
        match self {
            Self::Streams => AxisName::new("streams per connection", AxisUnit::Number),
            Self::Connections => AxisName::new("connections", AxisUnit::Number),
        }
    }

    /// What cases of one panel have in common.
    fn panel_of(self, case: Case) -> String {
        let mut words = match self {
            Self::Streams => vec![format!("C={}", case.connections)],
            Self::Connections => Vec::new(),
        };
        let streams = case.streams(false);
        let kind = streams.split(' ').skip(1).filter(|word| !word.starts_with("calls="));
        words.extend(kind.map(str::to_owned));
        words.join(" ")
    }

    fn panels(self, cells: &[&Cell], series: &[LineSeries], point: PointOf) -> Vec<LinePanel> {
        let titles = each_once(cells.iter().map(|cell| self.panel_of(cell.case)));
        let line = |title: &String, name: &String| {
            let mut points: Vec<LinePoint> = cells
                .iter()
                .filter(|cell| cell.id.subject == *name && self.panel_of(cell.case) == *title)
                .filter_map(|cell| {
                    let (y, interval, is_bound) = point(cell.summary()?)?;
                    let (x, failed) = (self.figure(cell.case), cell.failed_share());
                    Some(LinePoint { x, y, interval, is_bound, failed })
                })
                .collect();
            points.sort_by(|a, b| a.x.total_cmp(&b.x));
            points
        };
        titles
            .iter()
            .map(|title| LinePanel {
                title: title.clone(),
                lines: series.iter().map(|one| line(title, &one.name)).collect(),
            })
            .collect()
    }
}

fn cost_point(summary: &Summary) -> Option<(f64, Option<Interval>, bool)> {
    let metric = &metric::REQUESTS_PER_CPU_SECOND;
    Some((summary.value(metric)?, summary.interval(metric), is_lower_bound(summary)))
}

fn memory_point(summary: &Summary) -> Option<(f64, Option<Interval>, bool)> {
    let mean = summary.value(&metric::MEMORY_MEAN)? / MEBIBYTE;
    let peak = summary.value(&metric::MEMORY_PEAK)? / MEBIBYTE;
    Some((mean, Some(Interval { low: mean, high: peak.max(mean) }), false))
}

fn cost_row(cell: &Cell) -> HtmlRow {
    let figures = cell
        .summary()
        .map(|summary| {
            let metric = &metric::REQUESTS_PER_CPU_SECOND;
            let interval = summary.interval(metric);
            let text = |value: Option<f64>| value.map_or("-".to_owned(), rate_text);
            let hollow = if is_lower_bound(summary) { "yes" } else { "no" };
            vec![
                text(summary.value(metric)),
                text(interval.map(|ends| ends.low)),
                text(interval.map(|ends| ends.high)),
                hollow.to_owned(),
                summary.verdict.to_string(),
            ]
        })
        .ok_or_else(|| word_of(cell));
    HtmlRow { names: names(cell), figures }
}

fn memory_row(cell: &Cell) -> HtmlRow {
    let figures = cell
        .summary()
        .map(|summary| {
            let text = |metric| summary.value(metric).map_or("-".to_owned(), memory_text);
            vec![
                text(&metric::MEMORY_MEAN),
                text(&metric::MEMORY_PEAK),
                summary.memory_source.clone(),
            ]
        })
        .ok_or_else(|| word_of(cell));
    HtmlRow { names: names(cell), figures }
}
