//! One cell over the runs of its suite: each figure with its interval, and where it changed.

use super::{StorePages, day, run_in_words, titled_links};
use crate::chart::{AxisUnit, ChartPoint, ChartSeries, PointChart, PointLine, Scale};
use crate::failed_calls::figure_with;
use crate::html::HtmlRow;
use crate::page;
use crate::picture::{Drawing, Picture};
use bookend_results::compare::ratio_of;
use bookend_results::failed_share::FailedShare;
use bookend_results::measurement::{CellId, Row};
use bookend_results::metric::REQUESTS_PER_CPU_SECOND;
use bookend_results::quoted::quoted_line;
use bookend_results::ratio::ratio_text;
use bookend_results::round::MeasuredRounds;
use bookend_results::statistics::{CONFIDENCE, Interval, NoRatio, Ratio, median_interval};
use bookend_results::store::Run;
use bookend_results::text::{rate_text, significant_text};
use maud::html;

/// A run with its rows of one cell.
#[derive(Clone, Debug, PartialEq)]
pub struct PastFigure {
    /// The run.
    pub run: Run,
    /// Its rows of that cell.
    pub rows: Vec<Row>,
}

const HEADINGS: [&str; 10] = [
    "run",
    "day",
    "commit",
    "1/CPU-second",
    "from",
    "to",
    "over the one before",
    "95 % interval",
    "also different",
    "failed",
];

impl StorePages {
    /// The cell over all these runs, oldest first; `of` is the run from which the reader came.
    pub fn history(&self, of: &Run, cell: &CellId, past: &[PastFigure]) -> String {
        let points = points(cell, past);
        let name = format!("{} {} via {}", cell.subject, cell.case, cell.instrument);
        let origin = format!("Requests per CPU-second, as in {}.", run_in_words(of));
        let rows: Vec<_> = points.iter().rev().map(|point| self.past_row(point)).collect();
        // A column of zeros tells nothing.
        let has_failed = points.iter().any(|point| point.failed.is_some());
        let headings = &HEADINGS[..HEADINGS.len() - usize::from(!has_failed)];
        let rows: Vec<_> =
            rows.into_iter().map(|(run, row)| (run, narrowed(row, headings.len()))).collect();
        let body = html! {
            (self.others(&[self.link_to(of.id)]))
            @if let Some(picture) = picture(&name, &points) { (page::figure(&picture)) }
            (titled_links("Figures", headings, &rows))
        };
        self.page(&name, &origin, &[changes_in_words(&points)], &body)
    }

    fn past_row(&self, point: &Point<'_>) -> (String, HtmlRow) {
        let text = |figure: Option<f64>| figure.map_or("-".to_owned(), rate_text);
        let ratio = point.over_last.and_then(Result::ok);
        let over_last = match point.over_last {
            None => "-".to_owned(),
            Some(Ok(ratio)) => ratio_text(&ratio),
            Some(Err(_)) => "no ratio".to_owned(),
        };
        let ends = ratio.and_then(|ratio| ratio.interval).map(|ends| ends.text(significant_text));
        let row = HtmlRow {
            names: vec![FailedShare::marked(point.failed, &point.run.id.to_string())],
            figures: Ok(vec![
                day(point.run),
                commit(point.run),
                text(point.figure),
                text(point.interval.map(|ends| ends.low)),
                text(point.interval.map(|ends| ends.high)),
                over_last,
                ends.unwrap_or_else(|| "-".to_owned()),
                point.remarks.join(", "),
                FailedShare::field(point.failed),
            ]),
        };
        (self.run_address(point.run.id), row)
    }
}

/// What one run says of the cell.
struct Point<'a> {
    run: &'a Run,
    figure: Option<f64>,
    interval: Option<Interval>,
    /// The share of its calls that failed.
    failed: Option<FailedShare>,
    /// Over the last run before it that has a figure. `None`: no such run exists.
    over_last: Option<Result<Ratio, NoRatio>>,
    /// What else is different from that run.
    remarks: Vec<String>,
}

impl<'a> Point<'a> {
    fn of(cell: &CellId, own: &'a PastFigure, last: Option<&PastFigure>) -> Self {
        let metric = &REQUESTS_PER_CPU_SECOND;
        let rounds = MeasuredRounds::of(&own.rows, own.run.new.plan.deadline_ns());
        let figure = metric.pooled(&rounds);
        let each: Vec<f64> =
            rounds.each().iter().filter_map(|round| metric.of_round(round)).collect();
        let last = last.filter(|_| figure.is_some());
        Self {
            run: &own.run,
            figure,
            interval: median_interval(&each, CONFIDENCE),
            failed: FailedShare::of_rounds(&rounds),
            over_last: last.map(|last| ratio_of(metric, (cell, &own.rows), (cell, &last.rows))),
            remarks: remarks(cell, last.map(|last| &last.run), &own.run),
        }
    }

    /// Whether the interval of the ratio leaves out 1.
    fn has_changed(&self) -> bool {
        matches!(self.over_last, Some(Ok(ratio)) if !ratio.is_indistinct())
    }

    fn line(&self) -> Option<PointLine> {
        let value = self.figure?;
        let text = figure_with(&rate_text(value), self.failed);
        let point = ChartPoint { value, text, interval: self.interval };
        let points = if self.has_changed() { [None, Some(point)] } else { [Some(point), None] };
        let mut label = format!("run {}, {}", self.run.id, day(self.run));
        if self.run.new.revision.is_some() {
            label = format!("{label}, {}", commit(self.run));
        }
        Some(PointLine { label, points: points.to_vec() })
    }

    fn html_row(&self) -> HtmlRow {
        let text = |figure: Option<f64>| figure.map_or("-".to_owned(), rate_text);
        HtmlRow {
            names: vec![self.run.id.to_string(), day(self.run), commit(self.run)],
            figures: Ok(vec![
                figure_with(&text(self.figure), self.failed),
                text(self.interval.map(|ends| ends.low)),
                text(self.interval.map(|ends| ends.high)),
                if self.has_changed() { "yes" } else { "no" }.to_owned(),
            ]),
        }
    }
}

/// A row with as many fields as there are headings.
fn narrowed(mut row: HtmlRow, headings: usize) -> HtmlRow {
    let figures = headings.saturating_sub(row.names.len());
    if let Ok(fields) = &mut row.figures {
        fields.truncate(figures);
    }
    row
}

fn points<'a>(cell: &CellId, past: &'a [PastFigure]) -> Vec<Point<'a>> {
    let mut points = Vec::new();
    let mut last: Option<&PastFigure> = None;
    for one in past {
        let point = Point::of(cell, one, last);
        if point.figure.is_some() {
            last = Some(one);
        }
        points.push(point);
    }
    points
}

/// What is different in a run, besides the figure.
fn remarks(cell: &CellId, last: Option<&Run>, own: &Run) -> Vec<String> {
    let mut remarks = Vec::new();
    if let Some(last) = last {
        let version = |run: &Run| run.new.versions.get(&cell.subject).cloned();
        if last.new.machine.is_other_than(&own.new.machine) {
            remarks.push("another machine".to_owned());
        }
        if last.new.plan.window_ms != own.new.plan.window_ms {
            remarks.push("another window".to_owned());
        }
        if let Some(version) = version(own).filter(|own| version(last).as_ref() != Some(own)) {
            remarks.push(quoted_line(&version));
        }
    }
    if own.finished.is_none() {
        remarks.push("not finished".to_owned());
    }
    remarks
}

/// The commit on which a run was made, shortened.
fn commit(run: &Run) -> String {
    run.new.revision.as_deref().map_or_else(|| "-".to_owned(), quoted_line)
}

/// Where it changed, in words.
fn changes_in_words(points: &[Point<'_>]) -> String {
    let measured = points.iter().filter(|point| point.figure.is_some()).count();
    let changes: Vec<String> = points
        .iter()
        .rev()
        .filter(|point| point.has_changed())
        .map(|point| format!("run {}", point.run.id))
        .collect();
    let told = match changes.as_slice() {
        [] => "No change is distinguishable.".to_owned(),
        [newest] => format!("Changed in {newest}."),
        [newest, others @ ..] => {
            format!("Last changed in {newest}; changes before that: {}.", others.len())
        }
    };
    let failed = points.iter().filter_map(|point| Some((point.failed?, point.run.id)));
    let most = failed.reduce(|most, one| if one.0 > most.0 { one } else { most });
    let failed = match most {
        Some((share, run)) => format!(" Calls failed: {share} of those of run {run}, at most."),
        None => String::new(),
    };
    format!("{told} Runs with a figure: {measured}.{failed}")
}

/// A line a run, the newest first. `None`: no run has a figure.
fn picture(name: &str, points: &[Point<'_>]) -> Option<(String, Picture)> {
    let series =
        |name: &str, colour| ChartSeries { name: name.to_owned(), colour, is_printed: false };
    let lines: Vec<PointLine> = points.iter().rev().filter_map(Point::line).collect();
    let rows = points.iter().rev().map(Point::html_row);
    let title = format!("Requests per CPU-second: {}", quoted_line(name));
    let headings =
        ["run", "day", "commit", "requests per CPU-second (1/s)", "from", "to", "changed"];
    let picture = Picture {
        title: title.clone(),
        caption: "Each line is a run, the newest on top; more is cheaper. Bars are 95 % intervals over \
                  its rounds. Changed: the interval of the ratio to the last run before it, round by \
                  round, leaves out 1."
            .to_owned(),
        headings: headings.map(str::to_owned).to_vec(),
        rows: rows.collect(),
        drawing: Drawing::Points(PointChart {
            title,
            subtitle: "requests per CPU-second (1/s)".to_owned(),
            scale: Scale::Logarithmic,
            unit: AxisUnit::Number,
            reference: None,
            series: vec![series("not told apart from the run before", 0), series("changed", 1)],
            lines,
        }),
    };
    let has_figures = points.iter().any(|point| point.figure.is_some());
    has_figures.then(|| ("history".to_owned(), picture))
}
