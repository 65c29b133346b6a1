//! The site of committed results: a front page with every system, a page for each suite, and one
//! for the claims. It is a folder of files that needs no server, and no script for reading.

mod address;
mod claims_table;
mod front;

use crate::claims::JudgedSuites;
use address::{CLAIMS_PAGE, FRONT_FILE, file_of_suite, links};
use bookend_report::run::Report;
use bookend_results::record::Record;
use std::collections::BTreeMap;

/// Everything that a site is made of.
#[derive(Clone, Debug)]
pub struct ResultSite {
    /// The records, in the order in which they are shown.
    pub records: Vec<Record>,
    /// The published documents with their claims.
    pub judged: JudgedSuites,
    /// What came after each record, by suite ([`crate::since::since`]).
    pub since: BTreeMap<String, String>,
}

impl ResultSite {
    /// Every file by its name. The same records always give the same files.
    pub fn files(&self) -> Vec<(String, String)> {
        let mut files = vec![
            (FRONT_FILE.to_owned(), front::page(&self.records, &self.judged, &self.since)),
            (CLAIMS_PAGE.to_owned(), claims_table::page(&self.judged)),
        ];
        files.extend(self.records.iter().map(|record| {
            let run = record.run();
            let report = Report::new(&run, &record.rows).with_skips(record.facts.skips.clone());
            let judged = self.judged.suite(&record.facts.suite);
            let findings = judged.map(claims_table::of_suite).unwrap_or_default();
            (file_of_suite(&record.facts.suite), report.html_among(&links(), &findings))
        }));
        files
    }
}
