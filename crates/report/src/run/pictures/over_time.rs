//! The rate over the time of a round, warm-up included.

use super::drawn::{Drawn, DrawnGroup, names, with_failed};
use super::streams::series;
use crate::chart::{AxisName, AxisUnit, LineChart, LinePanel, LinePoint, Scale, failed_at_end};
use crate::html::HtmlRow;
use crate::picture::{Drawing, Picture};
use bookend_results::grouping::each_once;
use bookend_results::measurement::Row;
use bookend_results::record::rows_of_cell;
use bookend_results::statistics::median;
use bookend_results::steady::Steady;
use bookend_results::table::Cell;
use bookend_results::text::{rate_text, significant_text};

/// About as many points as can be seen in a curve.
const POINTS_MAX: usize = 60;

/// The first round in which each cell was counted by interval, a picture for each instrument.
pub(super) fn pictures(drawn: &Drawn<'_>) -> Vec<Picture> {
    drawn.groups.iter().filter_map(|group| picture(drawn, group)).collect()
}

fn picture(drawn: &Drawn<'_>, group: &DrawnGroup<'_>) -> Option<Picture> {
    let counted: Vec<(&Cell, Counted)> =
        group.cells.iter().filter_map(|cell| Some((*cell, Counted::of(drawn, cell)?))).collect();
    let cells: Vec<&Cell> = counted.iter().map(|(cell, _)| *cell).collect();
    let series = series(drawn, &cells);
    let line = |name: &str, case| {
        counted
            .iter()
            .find(|(cell, _)| cell.case == case && cell.id.subject == name)
            .map_or_else(Vec::new, |(cell, counted)| {
                failed_at_end(counted.points(), cell.failed_share())
            })
    };
    let panels: Vec<LinePanel> = each_once(cells.iter().map(|cell| cell.case))
        .into_iter()
        .map(|case| LinePanel {
            title: case.to_string(),
            lines: series.iter().map(|one| line(&one.name, case)).collect(),
        })
        .collect();
    (!panels.is_empty()).then_some(())?;
    let chart = LineChart {
        title: group.titled("Rate over the time of a round"),
        subtitle: drawn.origin(),
        across: AxisName::new("seconds after the window began", AxisUnit::Number),
        up: AxisName::new("requests per second (1/s)", AxisUnit::Number),
        scales: [Scale::Linear, Scale::Logarithmic],
        shaded_below: Some(0.0),
        parting: None,
        panels,
        series,
        has_dots: false,
        has_bands: false,
    };
    let mut headings = vec!["case", "name", "round", "least (1/s)", "median (1/s)", "most (1/s)"];
    let is_judged = counted.iter().any(|(_, counted)| counted.steady.is_some());
    headings.extend(is_judged.then_some("steady from (s)"));
    let rows = counted.iter().map(|(cell, counted)| counted.row(cell, is_judged)).collect();
    let (headings, rows) = with_failed(drawn, &headings, rows, &cells);
    Some(Picture {
        title: chart.title.clone(),
        caption:
            "One round of each cell. What is shaded is the warm-up, which no figure counts: a \
                  line that still rises to the right of it was not warm."
                .to_owned(),
        drawing: Drawing::Lines(chart),
        headings,
        rows,
    })
}

/// The rates of a cell in one round.
struct Counted {
    round: u32,
    /// Seconds after the window began, and the rate from then on.
    rates: Vec<(f64, f64)>,
    steady: Option<Steady>,
}

impl Counted {
    fn of(drawn: &Drawn<'_>, cell: &Cell) -> Option<Self> {
        let report = drawn.report;
        rows_of_cell(&report.run.new.plan, report.rows, &cell.id).find_map(Self::of_row)
    }

    fn of_row(row: &Row) -> Option<Self> {
        let window = row.outcome.window()?;
        let counts = window.intervals.as_ref().filter(|counts| counts.counts.len() > 1)?;
        let seconds = counts.interval_ms.max(1) as f64 / 1e3;
        let rate = |(count, index): (&u64, usize)| {
            let from = (index as f64 - counts.window_start as f64) * seconds;
            (from, *count as f64 / seconds)
        };
        let rates = counts.counts.iter().zip(0..).map(rate).collect();
        Some(Self { round: row.round, rates, steady: window.steady })
    }

    /// Neighbours are put together where there are too many.
    fn points(&self) -> Vec<LinePoint> {
        let together = self.rates.len().div_ceil(POINTS_MAX);
        self.rates
            .chunks(together.max(1))
            .map(|part| {
                let mean = part.iter().map(|(_, rate)| rate).sum::<f64>() / part.len() as f64;
                LinePoint { x: part[0].0, y: mean, interval: None, is_bound: false, failed: None }
            })
            .collect()
    }

    /// With when it was steady, if that was judged of any row.
    fn row(&self, cell: &Cell, is_judged: bool) -> HtmlRow {
        let rates: Vec<f64> = self.rates.iter().map(|(_, rate)| *rate).collect();
        let least = rates.iter().copied().fold(f64::INFINITY, f64::min);
        let most = rates.iter().copied().fold(0.0, f64::max);
        let steady = match self.steady {
            Some(Steady::From { seconds }) => significant_text(seconds),
            Some(Steady::Never) => "never".to_owned(),
            None => "-".to_owned(),
        };
        let middle = median(&rates).unwrap_or(0.0);
        let mut figures = vec![
            (self.round + 1).to_string(),
            rate_text(least),
            rate_text(middle),
            rate_text(most),
        ];
        figures.extend(is_judged.then_some(steady));
        HtmlRow { names: names(cell), figures: Ok(figures) }
    }
}
