//! Everything that a site is made of.

use crate::claims::JudgedSuites;
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
    /// The file in the site with all rows of a record, by suite.
    pub raw: BTreeMap<String, String>,
}
