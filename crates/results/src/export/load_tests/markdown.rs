//! Load tests as Markdown, for a pull request.

use super::basis;
use super::read::LoadTests;
use super::tables::{self, LoadTable};
use crate::html::HtmlRow;
use crate::markdown::{code_block, list, plain, section, table};
use std::path::Path;

impl LoadTests {
    /// The same as the page, with the pictures that stand in that folder.
    pub fn markdown_with(&self, charts: Option<&Path>) -> String {
        let tests = &self.tests;
        let answer: Vec<String> = self.answer().iter().map(|line| plain(line)).collect();
        let flags = basis::flags(tests);
        let versions = basis::versions(tests);
        let versions = versions.iter().map(|(name, version)| plain(&format!("{name} {version}")));
        let sections = [
            ("Method", format!("{}\n\n{}", basis::METHOD, rows_of(&flags))),
            ("Machine", format!("{}\n\n{}", basis::WHOSE_MACHINE, block(&basis::machines(tests)))),
            ("Versions", list(&versions.collect::<Vec<_>>())),
            ("Command", block(&basis::commands(tests))),
        ];
        let tables = tables::all(tests);
        let tables = tables.iter().map(|table| section(table.title, &rows_of(table)));
        let sections = sections.iter().map(|(title, body)| section(title, body));
        format!(
            "# {}\n\n{}\n\n{}\n{}{}",
            plain(&self.title()),
            plain(&basis::origin(tests)),
            list(&answer),
            charts.map_or_else(String::new, |folder| self.links_to_pictures(folder)),
            tables.chain(sections).collect::<String>()
        )
    }

    fn links_to_pictures(&self, folder: &Path) -> String {
        let links = self.named_pictures().into_iter().map(|(name, picture)| {
            let file = folder.join(format!("{name}.svg"));
            format!("![{}](<{}>)\n\n", plain(&picture.title), file.display())
        });
        links.collect()
    }
}

/// The rows with their figures; a text in the place of figures stands in the first column of these.
fn rows_of(one: &LoadTable) -> String {
    let fields = |row: &HtmlRow| {
        let names = row.names.len();
        let rest = one.headings.len().saturating_sub(names);
        let figures = match &row.figures {
            Ok(figures) => figures.clone(),
            Err(text) => std::iter::once(text.clone()).chain(vec![String::new(); rest]).collect(),
        };
        let all = row.names.iter().chain(figures.iter().take(rest));
        all.map(|field| plain(field)).collect::<Vec<_>>()
    };
    let rows: Vec<Vec<String>> = one.rows.iter().map(fields).collect();
    let names = one.rows.first().map_or(0, |row| row.names.len());
    let is_text = one.rows.iter().any(|row| row.figures.is_err());
    let left = if is_text { one.headings.len() } else { names };
    let headings: Vec<String> = one.headings.iter().map(|heading| plain(heading)).collect();
    table(&headings, left, &rows)
}

fn block(text: &str) -> String {
    code_block(&format!("{}\n", text.trim_end()))
}
