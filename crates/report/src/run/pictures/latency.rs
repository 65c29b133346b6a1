//! Latency by percentile, in the manner of HdrHistogram: the tail has as much room as the rest.

use super::drawn::{Drawn, DrawnGroup, names, word_of};
use super::streams::series;
use crate::chart::{AxisName, AxisUnit, LineChart, LinePanel, LinePoint, Scale, failed_at_end};
use crate::html::HtmlRow;
use crate::percentile_curve::points_by_percentile;
use crate::picture::{Drawing, Picture};
use crate::run::report::Report;
use bookend_results::metric::{self, MetricDefinition};
use bookend_results::record::rows_of_cell;
use bookend_results::round::MeasuredRounds;
use bookend_results::table::Cell;

/// The percentiles of the table.
static SHOWN: [&MetricDefinition; 7] = [
    &metric::LATENCY_MEAN,
    &metric::LATENCY_P50,
    &metric::LATENCY_P90,
    &metric::LATENCY_P95,
    &metric::LATENCY_P99,
    &metric::LATENCY_P99_9,
    &metric::LATENCY_MAX,
];

/// A picture for each instrument, with a panel for each case.
pub(super) fn pictures(drawn: &Drawn<'_>) -> Vec<Picture> {
    drawn.groups.iter().filter_map(|group| picture(drawn, group)).collect()
}

fn picture(drawn: &Drawn<'_>, group: &DrawnGroup<'_>) -> Option<Picture> {
    let series = series(drawn, &group.cells);
    let line = |name: &str, case| {
        group.find(name, case).map_or_else(Vec::new, |cell| {
            failed_at_end(curve(drawn.report, cell), cell.failed_share())
        })
    };
    let panels: Vec<LinePanel> = group
        .cases()
        .into_iter()
        .map(|case| LinePanel {
            title: case.to_string(),
            lines: series.iter().map(|one| line(&one.name, case)).collect(),
        })
        .collect();
    panels.iter().flat_map(|panel| &panel.lines).find(|line| !line.is_empty())?;
    let chart = LineChart {
        title: group.titled("Latency by percentile"),
        subtitle: drawn.origin(),
        across: AxisName::new("share of calls that were not slower", AxisUnit::Percentile),
        up: AxisName::new("latency", AxisUnit::Nanoseconds),
        panels,
        series,
        scales: [Scale::Logarithmic; 2],
        shaded_below: None,
        parting: None,
        has_dots: false,
        has_bands: false,
    };
    let names = SHOWN
        .iter()
        .map(|metric| metric.name.trim_start_matches("latency_"))
        .map(|name| name.replace('_', "."));
    let headings = ["case", "name"].map(str::to_owned).into_iter().chain(names).collect();
    Some(Picture {
        title: chart.title.clone(),
        caption:
            "Lower is faster. To the right stand ever fewer calls: at 99.9 % one of a thousand \
                  took longer. Where the load is closed, a call waits for those before it on its \
                  stream, so a slow server is called less often."
                .to_owned(),
        drawing: Drawing::Lines(chart),
        headings,
        rows: group.cells.iter().map(|cell| figures(cell)).collect(),
    })
}

/// The latencies of all rounds, merged.
fn curve(report: &Report<'_>, cell: &Cell) -> Vec<LinePoint> {
    let own = rows_of_cell(&report.run.new.plan, report.rows, &cell.id);
    MeasuredRounds::of(own, None).latencies().map_or_else(Vec::new, points_by_percentile)
}

fn figures(cell: &Cell) -> HtmlRow {
    let figures = cell
        .summary()
        .map(|summary| {
            let text = |metric: &&MetricDefinition| {
                summary
                    .text(metric, |value| metric.unit.text(value))
                    .unwrap_or_else(|| "-".to_owned())
            };
            SHOWN.iter().map(text).collect()
        })
        .ok_or_else(|| word_of(cell));
    HtmlRow { names: names(cell), figures }
}
