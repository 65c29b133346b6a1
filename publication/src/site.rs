//! The site of committed results: a front page with every system, a page for each suite, and one
//! for the claims. It is a folder of files that needs no server, and no script for reading.

mod address;
mod claims_table;
mod front;
mod measurer;
mod result_site;
mod style;

pub use result_site::ResultSite;

use address::{CLAIMS_PAGE, FRONT_FILE, file_of_suite, links};
use bookend_report::run::Report;
use maud::html;
use style::own_style;

impl ResultSite {
    /// Every file by its name. The same records always give the same files.
    pub fn files(&self) -> Vec<(String, String)> {
        let mut files = vec![
            (FRONT_FILE.to_owned(), front::page(self)),
            (CLAIMS_PAGE.to_owned(), claims_table::page(&self.judged)),
        ];
        files.extend(self.records.iter().map(|record| {
            let run = record.run();
            let report = Report::new(&run, &record.rows).with_skips(record.facts.skips.clone());
            let judged = self.judged.suite(&record.facts.suite);
            let findings = html! {
                (measurer::of_record(record, self.raw.get(&record.facts.suite)))
                @if let Some(judged) = judged { (claims_table::of_suite(judged)) }
            };
            let mut page = report.page_among(&links(), &findings);
            page.style += &own_style();
            (file_of_suite(&record.facts.suite), page.document())
        }));
        files
    }
}
