//! The page of a suite without a published table: its report, and the verdicts on its claims.

use super::sections::{day_of, record_of};
use super::text::section;
use bookend_results::export::Report;
use bookend_results::record::Record;

/// The text of the page. `verdicts` are those on the suite's claims, in Markdown; empty if it has
/// no claims. The same inputs always give the same text.
pub fn measured_page(record: &Record, verdicts: &str) -> String {
    let facts = &record.facts;
    let origin = format!(
        "Measured on {}. Made by `bookend results {}` from\n`{}`; every figure is defined in\n\
         [docs/measure/metrics.md](../../docs/measure/metrics.md).",
        day_of(facts),
        facts.suite,
        record_of(facts).display()
    );
    let run = record.run();
    let report = Report::new(&run, &record.rows).with_skips(facts.skips.clone());
    let mut page = report.markdown_made_of(&origin);
    if !verdicts.trim().is_empty() {
        page.push_str(&section("Claims", &format!("{}\n", verdicts.trim())));
    }
    page
}
