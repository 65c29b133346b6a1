//! A run as one JSON document.

use super::report::Report;
use bookend_contract::printable;
use bookend_results::measurement::Row;
use bookend_results::suite::Plan;
use bookend_results::table::Cell;
use serde::Serialize;
use std::collections::BTreeMap;

/// The version of the JSON export. Raised when a field is removed or changes its meaning.
pub const JSON_SCHEMA_VERSION: u32 = 2;

impl Report<'_> {
    /// The run, its cells and the raw rows of all rounds as one JSON document.
    pub fn json(&self) -> String {
        let new = &self.run.new;
        let document = Document {
            schema_version: JSON_SCHEMA_VERSION,
            joined: self.table.joined(),
            run: self.run.id.0,
            started: new.started.to_string(),
            finished: self.run.finished.map(|finished| finished.to_string()),
            command: &new.command,
            revision: new.revision.as_deref(),
            provenance: new.provenance.as_ref(),
            scope: self.run.scope().to_string(),
            quotable: self.is_quotable(),
            seed: new.seed,
            plan: &new.plan,
            machine: &new.machine,
            versions: &new.versions,
            notes: self.notes(),
            cells: &self.table.cells,
            skips: &self.table.skips,
            rows: self.rows,
        };
        // This fails only for maps whose keys are not strings; the document has none.
        let text =
            serde_json::to_string_pretty(&document).expect("the keys of the document are strings");
        printable::json(&text).into_owned()
    }
}

#[derive(Serialize)]
struct Document<'a> {
    schema_version: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    joined: Option<String>,
    run: i64,
    started: String,
    finished: Option<String>,
    command: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    revision: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    provenance: Option<&'a bookend_results::provenance::Provenance>,
    scope: String,
    quotable: bool,
    seed: u64,
    plan: &'a Plan,
    machine: &'a bookend_contract::machine::MachineFacts,
    versions: &'a std::collections::BTreeMap<String, String>,
    notes: Vec<&'a str>,
    cells: &'a [Cell],
    skips: &'a BTreeMap<String, Vec<String>>,
    rows: &'a [Row],
}
