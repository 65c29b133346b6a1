//! The look of a Markdown table: a published row, followed by a line for each cell.

use super::figures::Cells;
use super::page::Page;
use super::presentation::ResultTable;
use super::rows::{NONE, OURS, lines};
use bookend_results::markdown;

pub(super) fn table(page: &Page<'_>, cells: &Cells<'_>, table: &ResultTable) -> String {
    let mut headings: Vec<String> = keys(table).cloned().collect();
    headings.push("whose".to_owned());
    let left = headings.len();
    headings.extend(table.columns.iter().map(|column| column.heading.clone()));
    headings.extend(OURS.map(str::to_owned));
    let width = headings.len();
    let mut rows = Vec::new();
    for row in page.rows_of(table) {
        let mut names = Vec::new();
        names.extend(table.subject.is_some().then(|| row.subject.clone()));
        names.extend(table.label.is_some().then(|| row.label.clone()));
        for line in lines(cells, table, row) {
            let mut fields = names.clone();
            fields.push(line.whose);
            match line.figures {
                Ok(figures) => fields.extend([figures.published, figures.ours].concat()),
                Err(word) => fields.push(word),
            }
            fields.resize(width, NONE.to_owned());
            rows.push(fields);
        }
    }
    markdown::table(&headings, left, &rows)
}

fn keys(table: &ResultTable) -> impl Iterator<Item = &String> {
    table.subject.iter().chain(&table.label)
}
