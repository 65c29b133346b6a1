//! The picture of a page, and the short table with the same figures.

use super::figures::Cells;
use super::overview::{Overview, OverviewColumn, OverviewLine, OverviewSeries};
use super::page::Page;
use super::rows::NONE;
use bookend_report::chart::{AxisUnit, ChartPoint, ChartSeries, PointChart, PointLine, Scale};
use bookend_report::failed_calls::figure_with;
use bookend_report::markdown;
use bookend_results::failed_share::FailedShare;
use bookend_results::grouping::each_once;
use bookend_results::metric::{COST_RATIO, Metric, Unit};
use bookend_results::statistics::Interval;
use bookend_results::suite::Case;
use bookend_results::table::{Cell, Rank};

/// Number of series beyond which colours are repeated.
const SERIES_MAX: usize = 6;

/// Figures of the record's own run alone are drawn: those of runs that were joined to it are of
/// another day.
const OWN_RUN: u32 = 0;

impl Overview {
    /// That of a suite which declares none: the cost of all subjects against the baseline.
    pub(super) fn of_plan(page: &Page<'_>, cells: &Cells<'_>) -> Self {
        let ranked = cells
            .table
            .cells
            .iter()
            .filter(|cell| cell.rank == Rank::Ranked)
            .map(|cell| (cell.id.subject.clone(), cell.id.instrument.clone()));
        let series = each_once(ranked)
            .into_iter()
            .take(SERIES_MAX)
            .map(|(subject, instrument)| OverviewSeries {
                name: format!("{subject} via {instrument}"),
                subject: Some(subject),
                instrument: Some(instrument),
                ..OverviewSeries::default()
            })
            .collect();
        let baseline =
            page.record.facts.plan.baseline().map_or("the baseline", |baseline| &baseline.name);
        Self {
            title: format!("Requests per CPU-second over those of {baseline}"),
            axis: "median of the rounds".to_owned(),
            lines_are: "case".to_owned(),
            metric: Metric::Listed(&COST_RATIO),
            format: "ratio".parse().expect("a style of figures"),
            scale: Scale::Logarithmic,
            reference: Some(1.0),
            series,
            lines: Vec::new(),
            besides: Vec::new(),
        }
    }

    /// All figures, without the lines and series that have none.
    pub(super) fn drawn<'b>(&'b self, page: &Page<'_>, cells: &Cells<'_>) -> Drawn<'b> {
        let drawn_line = |line: &OverviewLine| DrawnLine {
            label: line.label.clone(),
            points: self
                .series
                .iter()
                .map(|series| self.point(page, cells, series, line))
                .collect(),
            besides: self.besides.iter().map(|column| column.text(cells, line)).collect(),
        };
        let declared = self.lines_of(page);
        let is_left_out = |line: &&OverviewLine| {
            self.series.iter().any(|series| self.is_of_another_run(cells, series, line))
        };
        let left_out = declared.iter().filter(is_left_out).map(|line| line.label.clone()).collect();
        let mut lines: Vec<DrawnLine> = declared.iter().map(drawn_line).collect();
        lines.retain(|line| line.points.iter().any(Option::is_some));
        let has_point = |index: usize| lines.iter().any(|line| line.points[index].is_some());
        let kept: Vec<bool> = (0..self.series.len()).map(has_point).collect();
        let is_kept = |index: &usize| kept[*index];
        for line in &mut lines {
            line.points = line
                .points
                .drain(..)
                .enumerate()
                .filter(|(index, _)| is_kept(index))
                .map(|(_, one)| one)
                .collect();
        }
        let series = self
            .series
            .iter()
            .enumerate()
            .filter(|(index, _)| is_kept(index))
            .map(|(_, one)| one)
            .collect();
        Drawn { overview: self, series, lines, left_out }
    }

    fn lines_of(&self, page: &Page<'_>) -> Vec<OverviewLine> {
        if !self.lines.is_empty() {
            return self.lines.clone();
        }
        let cases = page.record.facts.plan.cases.iter();
        let line =
            |case: &Case| OverviewLine { label: case.to_string(), subject: None, case: *case };
        cases.map(line).collect()
    }

    fn point(
        &self,
        page: &Page<'_>,
        cells: &Cells<'_>,
        series: &OverviewSeries,
        line: &OverviewLine,
    ) -> Option<DrawnFigure> {
        let subject = series.subject.as_ref().or(line.subject.as_ref())?;
        let format = self.format;
        if let Some(column) = &series.published {
            let printed = |subject| page.printed(column, subject, line.case);
            let (value, text) = printed(subject)?;
            let (value, own_text) = match &series.over {
                None => (value, text),
                Some(other) => (value / printed(other)?.0, None),
            };
            let text = own_text.unwrap_or_else(|| format.text(value));
            return Some(DrawnFigure { point: self.charted(value, text, None), failed: None });
        }
        let (own, other) = self.measured(cells, series, line)?;
        let is_of_the_run = cells.run_of(own, other) == Some(OWN_RUN);
        let (value, interval) = cells.estimate(&self.metric, own, other)?;
        let failed = FailedShare::larger(own.failed_share(), other.and_then(Cell::failed_share));
        let point = || self.charted(value, format.text(value), interval);
        is_of_the_run.then(|| DrawnFigure { point: point(), failed })
    }

    /// The cell of a point that is ours, and the one that it is divided by.
    fn measured<'c>(
        &self,
        cells: &'c Cells<'_>,
        series: &OverviewSeries,
        line: &OverviewLine,
    ) -> Option<(&'c Cell, Option<&'c Cell>)> {
        if series.published.is_some() {
            return None;
        }
        let cell =
            |subject: &String| cells.find_with(subject, line.case, series.instrument.as_deref());
        let other = match &series.over {
            None => None,
            Some(other) => Some(cell(other)?),
        };
        Some((cell(series.subject.as_ref().or(line.subject.as_ref())?)?, other))
    }

    /// Whether a point has a figure, and it is of a later run.
    fn is_of_another_run(
        &self,
        cells: &Cells<'_>,
        series: &OverviewSeries,
        line: &OverviewLine,
    ) -> bool {
        let measured = self.measured(cells, series, line);
        measured.is_some_and(|(own, other)| cells.run_of(own, other) > Some(OWN_RUN))
    }

    /// A point of the axis, which has times in seconds.
    fn charted(&self, value: f64, text: String, interval: Option<Interval>) -> ChartPoint {
        let unit = if self.metric.unit() == Unit::Nanoseconds { 1e-9 } else { 1.0 };
        let scaled = |ends: Interval| Interval { low: ends.low * unit, high: ends.high * unit };
        ChartPoint { value: value * unit, text, interval: interval.map(scaled) }
    }
}

impl OverviewColumn {
    fn text(&self, cells: &Cells<'_>, line: &OverviewLine) -> (String, Option<FailedShare>) {
        let subject = self.subject.as_ref().or(line.subject.as_ref());
        let instrument = self.instrument.as_deref();
        let cell = subject.and_then(|subject| cells.find_with(subject, line.case, instrument));
        let Some(cell) = cell.filter(|cell| cell.run == OWN_RUN) else {
            return (NONE.to_owned(), None);
        };
        let text = match cells.figures(cell) {
            Err(word) => word,
            Ok(figures) => {
                let value = figures.value(&self.metric);
                value.map_or(NONE.to_owned(), |value| self.format.text(value))
            }
        };
        (text, cell.failed_share())
    }
}

/// The figures of an overview.
pub(super) struct Drawn<'a> {
    overview: &'a Overview,
    series: Vec<&'a OverviewSeries>,
    lines: Vec<DrawnLine>,
    /// Labels of the lines with figures of later runs.
    left_out: Vec<String>,
}

struct DrawnLine {
    label: String,
    points: Vec<Option<DrawnFigure>>,
    besides: Vec<(String, Option<FailedShare>)>,
}

/// A figure with the share of failed calls in its cells.
struct DrawnFigure {
    point: ChartPoint,
    failed: Option<FailedShare>,
}

impl DrawnFigure {
    /// Its point, the share at it.
    fn charted(&self) -> ChartPoint {
        ChartPoint { text: figure_with(&self.point.text, self.failed), ..self.point.clone() }
    }
}

impl DrawnLine {
    /// The fields of its row, each behind a sign where calls failed.
    fn fields(&self) -> impl Iterator<Item = String> {
        let text_of = |figure: &Option<DrawnFigure>| {
            let known = figure.as_ref();
            known.map_or_else(
                || NONE.to_owned(),
                |one| FailedShare::marked(one.failed, &one.point.text),
            )
        };
        let besides = self.besides.iter().map(|(text, failed)| FailedShare::marked(*failed, text));
        self.points.iter().map(text_of).chain(besides)
    }

    /// The shares of failed calls of its figures, in their order.
    fn failed(&self) -> Vec<String> {
        let points = self.points.iter().flatten().filter_map(|figure| figure.failed);
        let besides = self.besides.iter().filter_map(|(_, failed)| *failed);
        each_once(points.chain(besides).map(|share| share.to_string()))
    }
}

impl Drawn<'_> {
    /// The picture. `None` if there is nothing to draw.
    pub(super) fn picture(&self) -> Option<PointChart> {
        let lines = self
            .lines
            .iter()
            .map(|line| PointLine {
                label: line.label.clone(),
                points: line
                    .points
                    .iter()
                    .map(|figure| figure.as_ref().map(DrawnFigure::charted))
                    .collect(),
            })
            .collect();
        (!self.lines.is_empty()).then(|| PointChart {
            title: self.overview.title.clone(),
            subtitle: self.overview.axis.clone(),
            scale: self.overview.scale,
            unit: AxisUnit::Number,
            reference: self.overview.reference,
            series: coloured(&self.series),
            lines,
        })
    }

    /// What is not shown because it was measured in another run. `None`: nothing.
    pub(super) fn left_out(&self) -> Option<String> {
        let names = self.left_out.join(", ");
        (!self.left_out.is_empty()).then(|| {
            format!(
                "Measured here in another run, and not ranked with these until all are recorded \
                 anew: {names}."
            )
        })
    }

    /// The table with the figures of the picture, and with the further columns.
    pub(super) fn table(&self) -> String {
        let series =
            self.series.iter().map(|series| series.heading.as_ref().unwrap_or(&series.name));
        let besides = self.overview.besides.iter().map(|column| &column.heading);
        let failed = "failed".to_owned();
        let has_failed = self.lines.iter().any(|line| !line.failed().is_empty());
        let headings: Vec<String> = std::iter::once(&self.overview.lines_are)
            .chain(series)
            .chain(besides)
            .chain(has_failed.then_some(&failed))
            .cloned()
            .collect();
        let row = |line: &DrawnLine| {
            let failed = Some(line.failed().join(", ")).filter(|text| !text.is_empty());
            let failed = failed.unwrap_or_else(|| "0".to_owned());
            std::iter::once(line.label.clone())
                .chain(line.fields())
                .chain(has_failed.then_some(failed))
                .collect()
        };
        let rows: Vec<Vec<String>> = self.lines.iter().map(row).collect();
        markdown::table(&headings, 1, &rows)
    }
}

/// With several subjects a colour is a subject, otherwise it is a series.
fn coloured(series: &[&OverviewSeries]) -> Vec<ChartSeries> {
    let subjects = each_once(series.iter().map(|series| &series.subject));
    let chart_series = |(index, series): (usize, &&OverviewSeries)| {
        let subject = subjects.iter().position(|subject| *subject == &series.subject);
        ChartSeries {
            name: series.name.clone(),
            colour: if subjects.len() > 1 { subject.unwrap_or(index) } else { index },
            is_printed: series.published.is_some(),
        }
    };
    series.iter().enumerate().map(chart_series).collect()
}
