//! A published row, followed by our measurements of the same.

use super::figures::{CellFigures, Cells};
use super::presentation::{ResultColumn, ResultTable};
use crate::published::PublishedRow;
use bookend_results::measurement::CellId;
use bookend_results::metric::REQUESTS_PER_SECOND;
use bookend_results::table::Cell;
use bookend_results::text::{rate_text, significant_text};
use bookend_results::verdict::Verdict;

/// The mark in place of a missing figure.
pub(super) const NONE: &str = "-";

/// The headings of our columns, which follow the published ones.
pub(super) const OURS: [&str; 6] =
    ["req/CPU-s", "95 % interval", "ratio ^", "95 % interval", "verdict", "marks"];

/// A line of a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Line {
    /// `published`, `re-run`, `re-run with ghz`.
    pub(super) whose: String,
    /// One figure for each column, or the word for why the cell was not measured.
    pub(super) figures: Result<Figures, String>,
}

/// The fields of a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Figures {
    /// In the columns of the original.
    pub(super) published: Vec<String>,
    /// In the columns of [`OURS`].
    pub(super) ours: Vec<String>,
}

/// The cells that follow a published row, with the names of their lines.
pub(super) fn cells_below(
    cells: &Cells<'_>,
    table: &ResultTable,
    row: &PublishedRow,
) -> Vec<(String, CellId)> {
    let Some(own) = &row.cell else {
        return Vec::new();
    };
    let mut below = vec![("re-run".to_owned(), own.clone())];
    for instrument in &table.also {
        let id = CellId { instrument: instrument.clone(), ..own.clone() };
        if cells.find(&id).is_some() {
            below.push((format!("re-run with {instrument}"), id));
        }
    }
    below
}

/// A published row as printed, then the lines of its cells.
pub(super) fn lines(cells: &Cells<'_>, table: &ResultTable, row: &PublishedRow) -> Vec<Line> {
    let printed = |column: &ResultColumn| row.printed.get(column.published.as_ref()?).cloned();
    let printed = table.columns.iter().map(|column| or_none(printed(column)));
    let mut lines = vec![Line {
        whose: "published".to_owned(),
        figures: Ok(Figures {
            published: printed.collect(),
            ours: vec![NONE.to_owned(); OURS.len()],
        }),
    }];
    for (whose, id) in cells_below(cells, table, row) {
        let figures = match cells.find(&id) {
            Some(cell) => figures(cells, &table.columns, cell),
            None => Err("not planned".to_owned()),
        };
        lines.push(Line { whose, figures });
    }
    lines
}

/// The fields of a cell under the given columns.
pub(super) fn figures(
    cells: &Cells<'_>,
    columns: &[ResultColumn],
    cell: &Cell,
) -> Result<Figures, String> {
    let figures = cells.figures(cell)?;
    Ok(Figures {
        published: columns.iter().map(|column| own_figure(&figures, column)).collect(),
        ours: ours(&figures),
    })
}

/// A figure of ours in a published column.
pub(super) fn own_figure(figures: &CellFigures<'_>, column: &ResultColumn) -> String {
    let Some(metric) = &column.metric else {
        return NONE.to_owned();
    };
    let text = or_none(figures.value(metric).map(|value| column.format.text(value)));
    let is_rate = metric.is(&REQUESTS_PER_SECOND);
    // If the generator was the limit, the server could have done more.
    match figures.summary.verdict {
        Verdict::ClientBound if is_rate && figures.tests_the_server() => format!(">= {text}"),
        _ => text,
    }
}

fn ours(figures: &CellFigures<'_>) -> Vec<String> {
    let summary = figures.summary;
    let (cost, cost_interval) = figures.cost();
    let ratio = summary.ratios.cost_ratio.ratio();
    let ratio_interval = ratio.and_then(|ratio| ratio.interval);
    let ratio_interval = ratio_interval.filter(|_| figures.has_intervals());
    vec![
        or_none(cost.map(rate_text)),
        or_none(cost_interval.map(|ends| ends.text(rate_text))),
        summary.ratios.cost_ratio.to_string(),
        or_none(ratio_interval.map(|ends| ends.text(significant_text))),
        summary.verdict.to_string(),
        summary.marks.len().to_string(),
    ]
}

pub(super) fn or_none(figure: Option<String>) -> String {
    figure.unwrap_or_else(|| NONE.to_owned())
}
