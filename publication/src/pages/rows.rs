//! A published row, followed by our measurements of the same.

use super::figures::{CellFigures, Cells};
use super::page::Page;
use super::pairs;
use super::presentation::{ResultColumn, ResultTable};
use crate::published::PublishedRow;
use bookend_contract::verdict::Verdict;
use bookend_report::markdown;
use bookend_results::failed_share::FailedShare;
use bookend_results::measurement::CellId;
use bookend_results::metric::REQUESTS_PER_SECOND;
use bookend_results::suite::TestedEnd;
use bookend_results::table::Cell;
use bookend_results::text::{rate_text, significant_text};

/// The mark in place of a missing figure.
pub(super) const NONE: &str = "-";

/// The headings of our columns, which follow the published ones.
pub(super) const OURS: [&str; 6] =
    ["req/CPU-s", "95 % interval", "ratio ^", "95 % interval", "verdict", "marks"];

/// One field for each column of the original and of [`OURS`], or the word for why the cell was not
/// measured.
pub(super) type Fields = Result<Vec<String>, String>;

/// A line of a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct RowLine {
    /// `published`, `re-run`, `re-run with ghz`.
    pub(super) whose: String,
    pub(super) fields: Fields,
}

/// The headings of the figures of a table: ours are followed by that of failed calls where a call
/// of the record failed.
pub(super) fn headings(cells: &Cells<'_>, columns: &[ResultColumn]) -> Vec<String> {
    let failed = cells.table.has_failed_calls().then_some("failed");
    let ours = OURS.into_iter().chain(failed).map(str::to_owned);
    columns.iter().map(|column| column.heading.clone()).chain(ours).collect()
}

/// A Markdown table of lines, each with the names that stand before its figures.
pub(super) fn markdown_table(
    names: &[&str],
    cells: &Cells<'_>,
    columns: &[ResultColumn],
    lines: impl IntoIterator<Item = (Vec<String>, Fields)>,
) -> String {
    let headings: Vec<String> =
        names.iter().map(|name| (*name).to_owned()).chain(headings(cells, columns)).collect();
    let row = |(mut row, fields): (Vec<String>, Fields)| {
        row.extend(fields.unwrap_or_else(|word| vec![word]));
        row.resize(headings.len(), NONE.to_owned());
        row
    };
    let rows: Vec<Vec<String>> = lines.into_iter().map(row).collect();
    markdown::table(&headings, names.len(), &rows)
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
pub(super) fn lines(
    page: &Page<'_>,
    cells: &Cells<'_>,
    table: &ResultTable,
    row: &PublishedRow,
) -> Vec<RowLine> {
    let printed = |column: &ResultColumn| row.printed.get(column.published.as_ref()?).cloned();
    let ours = headings(cells, &table.columns).len() - table.columns.len();
    let printed = table
        .columns
        .iter()
        .map(|column| or_none(printed(column)))
        .chain(vec![NONE.to_owned(); ours])
        .collect();
    let published = RowLine { whose: "published".to_owned(), fields: Ok(printed) };
    let mut lines = vec![published];
    for (whose, id) in cells_below(cells, table, row) {
        let (whose, fields) = match cells.find(&id) {
            Some(cell) => {
                let figures = match pairs::reference(page, row, &id) {
                    Some(other) => cells.figures_over(cell, &other),
                    None => cells.figures(cell),
                };
                let whose = FailedShare::marked(cell.failed_share(), &whose) + cell.other_run();
                let fields =
                    figures.map(|figures| all_fields(cells, &table.columns, cell, &figures));
                (whose, fields)
            }
            None => (whose, Err("not planned".to_owned())),
        };
        lines.push(RowLine { whose, fields });
    }
    lines
}

/// The fields of a cell under the given columns.
pub(super) fn fields(cells: &Cells<'_>, columns: &[ResultColumn], cell: &Cell) -> Fields {
    cells.figures(cell).map(|figures| all_fields(cells, columns, cell, &figures))
}

fn all_fields(
    cells: &Cells<'_>,
    columns: &[ResultColumn],
    cell: &Cell,
    figures: &CellFigures<'_>,
) -> Vec<String> {
    let failed = || FailedShare::field(cell.failed_share());
    let own = columns.iter().map(|column| own_figure(figures, column)).chain(ours(figures));
    own.chain(cells.table.has_failed_calls().then(failed)).collect()
}

/// A figure of ours in a published column.
fn own_figure(figures: &CellFigures<'_>, column: &ResultColumn) -> String {
    let Some(metric) = &column.metric else {
        return NONE.to_owned();
    };
    let text = or_none(figures.value(metric).map(|value| column.format.text(value)));
    let summary = figures.summary;
    let is_limit = summary.verdict == Verdict::ClientBound && summary.side == TestedEnd::Server;
    // If the generator was the limit, the server could have done more; if calls were in flight at
    // the end, latencies can be longer.
    let is_cut_off = metric.is_cut_off(&figures.rounds);
    if is_cut_off || (is_limit && metric.is(&REQUESTS_PER_SECOND)) {
        format!(">= {text}")
    } else {
        text
    }
}

fn ours(figures: &CellFigures<'_>) -> [String; OURS.len()] {
    let summary = figures.summary;
    let (cost, cost_interval) = figures.cost();
    let ratio = figures.cost_ratio.ratio();
    let ratio_interval = ratio.and_then(|ratio| ratio.interval).filter(|_| figures.has_intervals());
    [
        or_none(cost.map(rate_text)),
        or_none(cost_interval.map(|ends| ends.text(rate_text))),
        figures.cost_ratio.to_string(),
        or_none(ratio_interval.map(|ends| ends.text(significant_text))),
        summary.verdict.to_string(),
        summary.marks.len().to_string(),
    ]
}

fn or_none(figure: Option<String>) -> String {
    figure.unwrap_or_else(|| NONE.to_owned())
}
