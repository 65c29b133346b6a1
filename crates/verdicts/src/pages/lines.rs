//! The look of a Markdown table: a published row, followed by a line for each cell.

use super::figures::Cells;
use super::page::Page;
use super::presentation::ResultTable;
use super::rows::{RowLine, lines, markdown_table};

pub(super) fn table(page: &Page<'_>, cells: &Cells<'_>, table: &ResultTable) -> String {
    let keys = [&table.subject, &table.label].map(Option::as_deref);
    let rows = page.rows_of(table).flat_map(|row| {
        let names = [&row.place.subject, &row.place.label].into_iter().zip(keys);
        let names = names.filter(|(_, heading)| heading.is_some()).map(|(name, _)| name.clone());
        let names: Vec<String> = names.collect();
        let line = move |line: RowLine| ([names.as_slice(), &[line.whose]].concat(), line.fields);
        lines(cells, table, row).into_iter().map(line)
    });
    let names: Vec<&str> = keys.into_iter().flatten().chain(["whose"]).collect();
    markdown_table(&names, &table.columns, rows)
}
