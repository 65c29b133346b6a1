//! The page of a run: the question, where and how it was measured, the results, and how certain
//! they are.

use super::report::Report;
use crate::layout::one_line;
use crate::markdown::{code_block, lines, list, section};
use crate::table::{
    connection_table, cost_table, cpu_account_table, instrument_table, marks, published_table,
    resource_table,
};

impl Report<'_> {
    /// Writes a page with everything that is known about the run.
    pub fn markdown(&self) -> String {
        page(self, &origin_of_run(self))
    }

    /// As above, for a page that is committed: `origin` describes its source instead of the number
    /// that the run has in a local store.
    pub fn markdown_made_of(&self, origin: &str) -> String {
        page(self, origin)
    }
}

fn page(report: &Report<'_>, origin: &str) -> String {
    let (title, analysis) = report.prose();
    let new = &report.run.new;
    let mut page = format!("# {title}\n\n");
    if !analysis.trim().is_empty() {
        page.push_str(&format!("{}\n\n", analysis.trim()));
    }
    page.push_str(&format!("{origin}\n\n"));
    page.push_str(&section("Machine", &code_block(&new.machine.to_string())));
    page.push_str(&section("Parameters", &list(&report.parameters())));
    page.push_str(&section("Versions", &code_block(&versions(report))));
    let notes: Vec<String> = report.notes().iter().map(|&note| note.to_owned()).collect();
    if !notes.is_empty() {
        page.push_str(&section("Notes", &list(&notes)));
    }
    page.push_str(&section("Results", &code_block(&published_table(&report.table))));
    page.push_str(&section(
        "What a request costs",
        &code_block(&(cost_table(&report.table) + &lines(&report.remarks()))),
    ));
    if let Some(connections) = connection_table(&report.table) {
        page.push_str(&section("What connections cost", &code_block(&connections)));
    }
    if let Some(instruments) = instrument_table(&report.table) {
        let title = "What a request costs the instrument";
        page.push_str(&section(title, &code_block(&instruments)));
    }
    page.push_str(&section("Latency and memory", &code_block(&resource_table(&report.table))));
    let account = code_block(&cpu_account_table(&report.table));
    page.push_str(&section("Where the machine's CPU went", &account));
    let marks = marks(&report.table);
    if !marks.is_empty() {
        page.push_str(&section("Marks", &code_block(&lines(&marks))));
    }
    page.push_str(&section("How to make this again", &code_block(&format!("{}\n", new.command))));
    page
}

/// Identifies the run, when it was made, and where its figures are explained.
fn origin_of_run(report: &Report<'_>) -> String {
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
    let versions = report.run.new.versions.iter();
    let said = versions.map(|(program, version)| one_line(&format!("{program}: {version}")));
    lines(&said.collect::<Vec<_>>())
}
