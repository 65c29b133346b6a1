//! Of which revision the figures here are, and where what is said of an original was read, if it is
//! not in the document itself.

use bookend_contract::build_facts::is_clean_revision;
use bookend_report::markdown::{self, plain};
use bookend_results::declaration::{DeclarationError, Source, read_text};
use bookend_results::record::Facts;
use serde::Deserialize;
use std::path::Path;

/// The file next to the suites that says so.
const ORIGINALS_FILE: &str = "originals.toml";

/// The part of the file that is about provenance.
#[derive(Deserialize)]
struct Originals {
    #[serde(default)]
    provenance: Vec<Provenance>,
}

/// What was read in one place.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Provenance {
    suite: String,
    source: String,
    says: Vec<String>,
}

/// The revision of a record in a sentence. How many commits came since is no part of a page: it
/// would be another page with each of them.
pub(super) fn revision(facts: &Facts) -> String {
    match facts.revision.as_deref() {
        Some(revision) if is_clean_revision(revision) => format!("`{revision}`"),
        Some(revision) => format!("{}, a tree that is in no commit", plain(revision)),
        None => "a revision that was not recorded".to_owned(),
    }
}

/// What was read elsewhere than in the document of a suite.
///
/// # Errors
/// When there is such a file and it cannot be read.
pub(super) fn read(folder: &Path, suite: &str) -> Result<Vec<Provenance>, DeclarationError> {
    let file = folder.join("..").join(ORIGINALS_FILE);
    if !file.is_file() {
        return Ok(Vec::new());
    }
    let text = read_text(&file)?;
    let mut read: Originals = Source { file: &file, text: &text }.parse()?;
    read.provenance.retain(|one| one.suite == suite && one.source != "the document");
    Ok(read.provenance)
}

/// A list of the places; empty without any.
pub(super) fn list(all: &[Provenance]) -> String {
    if all.is_empty() {
        return String::new();
    }
    let items: Vec<_> =
        all.iter().map(|one| format!("{} ({})", one.says.join("; "), one.source)).collect();
    let items: String =
        items.iter().map(|item| markdown::wrapped(&format!("- {item}"), "  ")).collect();
    format!("Not in the document, but in the files that it was made with:\n\n{items}")
}
