//! The page of a run: the question, where and how it was measured, the results, and how certain
//! they are.

use super::report::Report;
use crate::markdown::{self, code_block, lines, list, plain, prose, section};
use crate::picture::Picture;
use crate::tables::{
    connection_table, cost_table, cpu_account_table, instrument_table, marks, published_table,
    resource_table,
};
use bookend_results::quoted::quoted_line;
use std::path::Path;

impl Report<'_> {
    /// Writes a page with everything that is known about the run, the answer first.
    pub fn markdown(&self) -> String {
        self.markdown_with(None)
    }

    /// As above, with the pictures that stand in that folder.
    pub fn markdown_with(&self, charts: Option<&Path>) -> String {
        page(self, charts)
    }

    /// The tables of the page, each with its heading; empty where the run has none.
    pub fn tables(&self) -> Vec<(&'static str, String)> {
        let table = &self.table;
        let lives = lines(self.server_lives().as_slice());
        vec![
            ("Results", code_block(&published_table(table))),
            ("What a request costs", code_block(&(cost_table(table) + &lines(&self.remarks())))),
            ("What connections cost", block_of(connection_table(table))),
            ("What a request costs the instrument", block_of(instrument_table(table))),
            ("Latency and memory", code_block(&(resource_table(table) + &lives))),
            ("Where the machine's CPU went", code_block(&cpu_account_table(table))),
        ]
    }
}

fn page(report: &Report<'_>, charts: Option<&Path>) -> String {
    let (title, analysis) = report.prose();
    let new = &report.run.new;
    let mut page = format!("# {}\n\n", plain(&title));
    if let Some(joined) = report.table.joined() {
        page.push_str(&format!("{}\n\n", plain(&joined)));
    }
    page.push_str(&format!("{}\n", plain_list(report.answer().iter().map(String::as_str))));
    if let Some(folder) = charts {
        page.push_str(&pictures(report, folder));
    }
    if !analysis.trim().is_empty() {
        page.push_str(&format!("{}\n\n", prose(analysis.trim())));
    }
    page.push_str(&format!("{}\n\n", plain(&origin(report))));
    let table = &report.table;
    let first = [
        ("Machine", code_block(&new.provenance_text())),
        ("Parameters", plain_list(report.parameters().iter().map(String::as_str))),
        ("Versions", code_block(&versions(report))),
        ("Notes", plain_list(report.notes())),
    ];
    let last = [
        ("Marks", block_of(Some(lines(&marks(table))).filter(|marks| !marks.is_empty()))),
        ("How to make this again", code_block(&quoted_line(&new.command))),
    ];
    let sections =
        first.into_iter().chain(report.tables()).chain(last).filter(|(_, body)| !body.is_empty());
    page.extend(sections.map(|(title, body)| section(title, &body)));
    page
}

/// Links to the pictures, each with its heading.
fn pictures(report: &Report<'_>, folder: &Path) -> String {
    let link = |(name, picture): (String, Picture)| {
        markdown::picture(&picture.title, &folder.join(format!("{name}.svg")))
    };
    report.named_pictures().into_iter().map(link).collect()
}

fn plain_list<'a>(texts: impl IntoIterator<Item = &'a str>) -> String {
    list(&texts.into_iter().map(plain).collect::<Vec<_>>())
}

fn block_of(text: Option<String>) -> String {
    text.map_or_else(String::new, |text| code_block(&text))
}

/// Identifies the run, when it was made, and where its figures are explained.
fn origin(report: &Report<'_>) -> String {
    let new = &report.run.new;
    let end = match report.run.finished {
        Some(finished) => format!("finished {finished}"),
        None => "not finished".to_owned(),
    };
    format!(
        "Run {} of suite {}, started {}, {end}. Every figure is defined in docs/measure/metrics.md.",
        report.run.id, new.plan.suite, new.started
    )
}

fn versions(report: &Report<'_>) -> String {
    let said: Vec<_> = report
        .run
        .new
        .versions
        .iter()
        .map(|(program, version)| quoted_line(&format!("{program}: {version}")))
        .collect();
    lines(&said)
}
