//! The claims of the published documents, each with a verdict.
//!
//! `claims.toml` in a suite's folder lists what a document says, sentence by sentence
//! (docs/extend/claims-format.md). Each claim is worked out twice, from the document's own table and from
//! our record of the suite, and judged: held, did not hold, cannot tell here. Beside the claims,
//! the [audit](bookend_results::audit) is put to the document itself, and a [model] says what some of its
//! runs must come to. [`Ledger::markdown`] is docs/measure/claims.md.

mod declared;
mod formula;
mod marked;
mod metric;
pub mod model;
mod page;
mod printed;
mod quantity;
mod verdict;

pub use metric::Metric;
pub use quantity::{Over, Quantity, SubjectName, Take};
pub use verdict::{Judgement, Verdict};

use crate::document::{Conditions, Coverage, Document, DocumentFinding, audit_document};
use crate::published::PublishedError;
use bookend_results::audit::{Rule, Span};
use bookend_results::declaration::{DeclarationError, read_text};
use bookend_results::profile::{self, Profile};
use bookend_results::record::{Record, RecordError, file_of, profile_folder};
use bookend_results::suite::Extent;
use marked::Marked;
use model::Model;
use serde::Deserialize;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

/// The file in a suite's folder with the claims of its document.
pub const CLAIMS_FILE: &str = "claims.toml";

/// Every published document with its claims, its tables and our record.
#[derive(Clone, Debug)]
pub struct Ledger {
    /// By the name of their suite.
    pub suites: Vec<SuiteLedger>,
}

/// One document.
#[derive(Clone, Debug)]
pub struct SuiteLedger {
    /// Name of the suite that repeats it.
    pub suite: String,
    /// What it claims.
    pub claims: SuiteClaims,
    /// Its tables, and how it was measured.
    pub document: Document,
    /// What the audit finds in its tables.
    pub findings: Vec<DocumentFinding>,
    /// Which rules could look at which part of its tables.
    pub coverage: Vec<Coverage>,
    /// Our full run. `None`: it was not recorded yet.
    pub record: Option<Record>,
    /// Where the CPU time went in it, if that was kept.
    pub profile: Option<Profile>,
}

/// A checked `claims.toml`.
#[derive(Clone, Debug, PartialEq)]
pub struct SuiteClaims {
    /// What the document is, for a heading.
    pub title: String,
    /// There is no document: what is claimed is expected by us, of sources that the claims name.
    pub are_expectations: bool,
    /// How it was measured.
    pub conditions: Conditions,
    /// Models of its runs.
    pub models: Vec<DeclaredModel>,
    /// What it says.
    pub claims: Vec<Claim>,
}

/// A model of a published run, and of ours.
#[derive(Clone, Debug, PartialEq)]
pub struct DeclaredModel {
    /// Its name.
    pub id: String,
    /// What is modelled, for a reader.
    pub about: String,
    /// With the document's figures.
    pub published: Model,
    /// With those of our run.
    pub ours: Model,
    /// Whose run it is.
    pub subject: SubjectName,
    /// Under which case.
    pub case: String,
}

/// A sentence of a document.
#[derive(Clone, Debug, PartialEq)]
pub struct Claim {
    /// Its name.
    pub id: String,
    /// Where in the document.
    pub place: String,
    /// What it says, in our words.
    pub text: String,
    /// The figure or the word that is printed.
    pub published: String,
    /// How the document's own figures give it.
    pub recomputed: Option<Derivation>,
    /// How our record gives it.
    pub ours: Option<Quantity>,
    /// What counts as held.
    pub held: Option<Condition>,
    /// Which of the two figures is judged.
    pub judged_by: JudgedBy,
    /// A finding of the audit that settles it whatever we measure.
    pub refuted_by: Option<Refutation>,
    /// Why nobody can tell here.
    pub cannot_tell: Option<String>,
    /// What explains the verdict, after the figures.
    pub why: Option<String>,
}

/// How a document's own figures give a claim.
#[derive(Clone, Debug, PartialEq)]
pub enum Derivation {
    /// Arithmetic on what the text prints.
    Formula(Span),
    /// From its tables.
    Quantity(Quantity),
}

/// What counts as held: a range, open where nothing is given.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Condition {
    /// Not less.
    pub at_least: Option<f64>,
    /// Not more.
    pub at_most: Option<f64>,
}

/// Which figure of a claim is judged.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum JudgedBy {
    /// Ours.
    #[default]
    Records,
    /// The document's own: the claim is about its table alone.
    Document,
}

/// A finding that settles a claim.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refutation {
    /// Of this rule.
    pub rule: Rule,
    /// In rows that this subject of ours repeats. `None`: of any.
    pub subject: Option<String>,
    /// In rows that these cases repeat. `None`: in any.
    pub cases: Option<Vec<String>>,
}

impl Ledger {
    /// Reads every suite of `suites` that has claims, and its full record in `records`.
    ///
    /// # Errors
    /// When a file cannot be read or is not what it should be.
    pub fn read(suites: &Path, records: &Path) -> Result<Self, ClaimsError> {
        let mut names = Vec::new();
        for entry in read_folder(suites)? {
            if suites.join(&entry).join(CLAIMS_FILE).is_file() {
                names.push(entry);
            }
        }
        names.sort();
        let read = |name: &String| SuiteLedger::read(suites, records, name);
        let suites = names.iter().map(read).collect::<Result<_, _>>()?;
        Ok(Self { suites })
    }

    /// docs/measure/claims.md.
    pub fn markdown(&self) -> String {
        page::markdown(self)
    }

    /// The document of a suite.
    pub fn suite(&self, name: &str) -> Option<&SuiteLedger> {
        self.suites.iter().find(|one| one.suite == name)
    }
}

impl SuiteLedger {
    /// Reads the claims of one suite, its published tables, and its full record if there is one.
    ///
    /// # Errors
    /// As [`Ledger::read`].
    pub fn read(suites: &Path, records: &Path, suite: &str) -> Result<Self, ClaimsError> {
        let folder = suites.join(suite);
        let file = folder.join(CLAIMS_FILE);
        let claims = read_text(&file).and_then(|text| SuiteClaims::parse(&file, &text));
        let claims = claims.map_err(|error| ClaimsError::Declared(Box::new(error)))?;
        let record = file_of(records, suite, Extent::Full);
        let record = record.is_file().then(|| {
            let unreadable = |error| ClaimsError::Record(record.clone(), Box::new(error));
            Record::read(&record).map_err(unreadable)
        });
        let tables = printed::tables(&folder, &read_folder(&folder)?)?;
        let document = printed::document(&tables, claims.conditions);
        let profile = kept_profile(records, suite)?;
        let ledger = Self::new(suite, claims, document, record.transpose()?);
        Ok(Self { profile, ..ledger })
    }

    /// Puts the audit to the document, and names the cases of claims that name none.
    pub fn new(
        suite: &str,
        mut claims: SuiteClaims,
        document: Document,
        record: Option<Record>,
    ) -> Self {
        claims.fill_cases(&document);
        let (findings, coverage) = audit_document(&document);
        Self {
            suite: suite.to_owned(),
            claims,
            document,
            findings,
            coverage,
            record,
            profile: None,
        }
    }

    /// Every claim with its verdict, in the order of the document.
    pub fn judgements(&self) -> Vec<Judgement<'_>> {
        let marked = self.record.as_ref().map(Marked::of).unwrap_or_default();
        let judge = |claim| verdict::judge(claim, self, &marked);
        self.claims.claims.iter().map(judge).collect()
    }

    /// The claims and their verdicts as a short table, for the conclusion of a report.
    pub fn summary(&self) -> String {
        page::summary(self)
    }
}

impl SuiteClaims {
    /// Checks the text of a `claims.toml`.
    ///
    /// # Errors
    /// When it is not TOML, has an unknown word, or a claim cannot be judged; the error names
    /// file and line.
    pub fn parse(file: &Path, text: &str) -> Result<Self, DeclarationError> {
        declared::parse(file, text)
    }

    fn fill_cases(&mut self, document: &Document) {
        for claim in &mut self.claims {
            let recomputed = match &mut claim.recomputed {
                Some(Derivation::Quantity(quantity)) => Some(quantity),
                _ => None,
            };
            for quantity in recomputed.into_iter().chain(&mut claim.ours) {
                if quantity.cases.is_empty() {
                    quantity.cases = cases_of(document, &quantity.of);
                }
            }
        }
    }
}

fn kept_profile(records: &Path, suite: &str) -> Result<Option<Profile>, ClaimsError> {
    let folder = profile_folder(records, suite);
    match profile::read(&folder) {
        Ok(profile) => Ok(Some(profile)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(ClaimsError::Folder(folder, error.to_string())),
    }
}

/// The conclusion of one suite's report, read from its folder: see [`SuiteLedger::summary`].
///
/// # Errors
/// As [`Ledger::read`].
pub fn summary(suites: &Path, records: &Path, suite: &str) -> Result<String, ClaimsError> {
    Ok(SuiteLedger::read(suites, records, suite)?.summary())
}

/// The cases that a document has of one of our subjects, in its order: with that instrument, where
/// its rows are told apart by it.
fn cases_of(document: &Document, name: &SubjectName) -> Vec<String> {
    let with = |instrument: Option<&String>| {
        let mut cases: Vec<String> = Vec::new();
        for row in document
            .rows
            .iter()
            .filter(|row| row.subject == name.subject)
        {
            let is_meant = instrument.is_none_or(|one| *one == row.instrument);
            if is_meant && !cases.contains(&row.case) {
                cases.push(row.case.clone());
            }
        }
        cases
    };
    match with(name.instrument.as_ref()) {
        none if none.is_empty() => with(None),
        some => some,
    }
}

fn read_folder(folder: &Path) -> Result<Vec<String>, ClaimsError> {
    let unreadable = |error: io::Error| ClaimsError::Folder(folder.to_owned(), error.to_string());
    let mut names = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(unreadable)? {
        let name = entry.map_err(unreadable)?.file_name();
        names.push(name.to_string_lossy().into_owned());
    }
    names.sort();
    Ok(names)
}

/// Why the ledger cannot be read. Always the fault of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ClaimsError {
    /// A folder, or the profile in it, and what is wrong with it.
    Folder(PathBuf, String),
    /// A `claims.toml`.
    Declared(Box<DeclarationError>),
    /// A published table.
    Published(PathBuf, Box<PublishedError>),
    /// A record.
    Record(PathBuf, Box<RecordError>),
}

impl fmt::Display for ClaimsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Folder(folder, reason) => write!(f, "{}: {reason}", folder.display()),
            Self::Declared(error) => error.fmt(f),
            Self::Published(file, error) => write!(f, "{}: {error}", file.display()),
            Self::Record(file, error) => write!(f, "{}: {error}", file.display()),
        }
    }
}

impl std::error::Error for ClaimsError {}
