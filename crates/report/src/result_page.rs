//! What a page about load tests or a race has on it, as HTML and as Markdown.

use crate::html::{HtmlRow, note, verbatim};
use crate::markdown::{self, code_block, list, plain};
use crate::page;
use crate::picture::Picture;
use maud::{Markup, html};
use std::path::Path;

/// A table under its heading. A row is named by its first fields.
#[derive(Clone, Debug)]
pub(super) struct PageTable {
    pub(super) title: &'static str,
    pub(super) headings: Vec<String>,
    pub(super) rows: Vec<HtmlRow>,
}

/// A page about results of `bookend load` (one load test, several that are compared, or a search of
/// the capacity), or about a race.
#[derive(Clone, Debug)]
pub struct ResultPage {
    /// What the results are called together: a single one has its own name.
    pub name: String,
    /// The heading.
    pub title: String,
    /// The answer in words, some sentences a line.
    pub answer: Vec<String>,
    /// The pictures for which there are figures, each with a name for an element and for a file.
    pub pictures: Vec<(String, Picture)>,
    /// What was called, for how long and when.
    pub(super) origin: String,
    pub(super) tables: Vec<PageTable>,
    /// How they were measured.
    pub(super) method: &'static str,
    pub(super) flags: PageTable,
    /// Whose machine it is.
    pub(super) machine_note: &'static str,
    pub(super) machine: String,
    /// Each program that measured, with its version.
    pub(super) versions: Vec<(String, String)>,
    pub(super) command: String,
}

impl ResultPage {
    /// The whole page; it needs nothing else.
    pub fn html(&self) -> String {
        let head = page::head(&self.title, &self.origin, &self.answer);
        let sections = page::sections([
            html! { @for picture in &self.pictures { (page::figure(picture)) } },
            html! { @for table in &self.tables { (titled(table)) } },
            html! { p { (self.method) } "\n" (titled(&self.flags)) },
            html! { (note(self.machine_note)) (verbatim(&self.machine)) },
            page::versions(self.versions.iter().map(|(name, version)| (name, version))),
            verbatim(&self.command),
        ]);
        page::titled(&self.title, &html! { (head) (sections) }).document()
    }

    /// The same for a pull request, with the pictures that stand in that folder.
    pub fn markdown_with(&self, charts: Option<&Path>) -> String {
        let answer: Vec<String> = self.answer.iter().map(|line| plain(line)).collect();
        let versions: Vec<_> = self
            .versions
            .iter()
            .map(|(name, version)| plain(&format!("{name} {version}")))
            .collect();
        let sections = [
            ("Method", format!("{}\n\n{}", self.method, rows_of(&self.flags))),
            ("Machine", format!("{}\n\n{}", self.machine_note, block(&self.machine))),
            ("Versions", list(&versions)),
            ("Command", block(&self.command)),
        ];
        let tables =
            self.tables.iter().map(|table| markdown::section(table.title, &rows_of(table)));
        let tables_and_sections: String = tables
            .chain(sections.iter().map(|(title, body)| markdown::section(title, body)))
            .collect();
        format!(
            "# {}\n\n{}\n\n{}\n{}{tables_and_sections}",
            plain(&self.title),
            plain(&self.origin),
            list(&answer),
            charts.map_or_else(String::new, |folder| self.links_to_pictures(folder))
        )
    }

    fn links_to_pictures(&self, folder: &Path) -> String {
        self.pictures
            .iter()
            .map(|(name, picture)| {
                markdown::picture(&picture.title, &folder.join(format!("{name}.svg")))
            })
            .collect()
    }
}

fn titled(one: &PageTable) -> Markup {
    page::titled_table(one.title, &one.headings, &one.rows)
}

/// The rows with their figures; a text in the place of figures stands in the first column of these.
fn rows_of(one: &PageTable) -> String {
    let fields = |row: &HtmlRow| {
        let names = row.names.len();
        let rest = one.headings.len().saturating_sub(names);
        let figures = match &row.figures {
            Ok(figures) => figures.clone(),
            Err(text) => std::iter::once(text.clone()).chain(vec![String::new(); rest]).collect(),
        };
        row.names
            .iter()
            .chain(figures.iter().take(rest))
            .map(|field| plain(field))
            .collect::<Vec<_>>()
    };
    let rows: Vec<Vec<String>> = one.rows.iter().map(fields).collect();
    let names = one.rows.first().map_or(0, |row| row.names.len());
    let is_text = one.rows.iter().any(|row| row.figures.is_err());
    let left = if is_text { one.headings.len() } else { names };
    let headings: Vec<String> = one.headings.iter().map(|heading| plain(heading)).collect();
    markdown::table(&headings, left, &rows)
}

fn block(text: &str) -> String {
    code_block(&format!("{}\n", text.trim_end()))
}
