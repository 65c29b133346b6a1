//! The published documents with what the audit finds in them and what we recorded.

use super::claim::SuiteClaims;
use super::error::ClaimsError;
use super::printed;
use super::repeated_ratios::SuiteRunTwice;
use crate::audit::{Coverage, DocumentFinding, audit_document};
use crate::document::Document;
use bookend_results::declaration::read_text;
use bookend_results::findings::ProbeFindings;
use bookend_results::profile::{self, Profile};
use bookend_results::record::{PROFILE_FOLDER, Record, file_in, suite_folder};
use bookend_results::suite::Extent;
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Path, PathBuf};

/// The file in a suite's folder with the claims of its document.
pub const CLAIMS_FILE: &str = "claims.toml";

/// The folder among the records with those of suites that were run again.
const REPEATED: &str = "repeated";

/// Every published document with its claims, its tables and our record.
#[derive(Clone, Debug, Default)]
pub struct JudgedSuites {
    /// In the order of the suites' names.
    pub suites: Vec<JudgedSuite>,
    /// Suites without claims that were run twice.
    pub run_twice: Vec<SuiteRunTwice>,
}

/// One document.
#[derive(Clone, Debug)]
pub struct JudgedSuite {
    /// Name of the suite that repeats it.
    pub suite: String,
    /// What it claims.
    pub claims: SuiteClaims,
    /// Its tables, and how it was measured.
    pub document: Document,
    /// What the audit finds in its tables.
    pub findings: Vec<DocumentFinding>,
    /// Which rules could be applied to which part of its tables.
    pub coverage: Vec<Coverage>,
    /// Our full run. `None`: it has not been recorded yet.
    pub record: Option<Record>,
    /// Where the CPU time of that run went, if that was recorded.
    pub profile: Option<Profile>,
    /// What the probe found of our servers.
    pub probed: ProbeFindings,
    /// The same of other suites that a claim names.
    pub elsewhere: BTreeMap<String, (Option<Record>, Option<Profile>)>,
    /// The same of a second run of the suite, which is kept in `repeated`, a folder of the records.
    /// What a claim needs of other suites is that of the first runs.
    pub again: Option<Box<JudgedSuite>>,
}

impl JudgedSuites {
    /// Reads every suite of `suites` that has claims, and its full record in `records`.
    ///
    /// # Errors
    /// When a file cannot be read or is invalid.
    pub fn read(suites: &Path, records: &Path) -> Result<Self, ClaimsError> {
        let has_claims = |name: &String| suites.join(name).join(CLAIMS_FILE).is_file();
        let (judged, others): (Vec<_>, Vec<_>) =
            read_folder(suites)?.into_iter().partition(has_claims);
        let read = |name: &String| JudgedSuite::read(suites, records, name);
        let suites = judged.iter().map(read).collect::<Result<_, _>>()?;
        let run_twice = others.iter().filter_map(|name| run_twice(records, name).transpose());
        Ok(Self { suites, run_twice: run_twice.collect::<Result<_, _>>()? })
    }

    /// The document of a suite.
    pub fn suite(&self, name: &str) -> Option<&JudgedSuite> {
        self.suites.iter().find(|one| one.suite == name)
    }
}

impl JudgedSuite {
    /// Reads the claims of one suite, its published tables, and its full record if there is one.
    ///
    /// # Errors
    /// As [`JudgedSuites::read`].
    pub fn read(suites: &Path, records: &Path, suite: &str) -> Result<Self, ClaimsError> {
        let folder = suites.join(suite);
        let file = folder.join(CLAIMS_FILE);
        let claims = read_text(&file)
            .and_then(|text| SuiteClaims::parse(&file, &text))
            .map_err(|error| ClaimsError::Declared(Box::new(error)))?;
        let others: BTreeSet<&String> = claims.claims.iter().flat_map(|one| &one.suite).collect();
        let elsewhere = others
            .into_iter()
            .map(|name| Ok((name.clone(), recorded(records, name)?)))
            .collect::<Result<_, ClaimsError>>()?;
        let probed = findings(records)?;
        let tables = printed::tables(&folder, &read_folder(&folder)?)?;
        let document = printed::document(&tables, claims.document.clone());
        let (record, profile) = recorded(records, suite)?;
        let judged = Self::new(suite, claims, document, record);
        let judged = Self { profile, probed, elsewhere, ..judged };
        let (record, profile) = recorded_in(&repeated(records, suite), records)?;
        let again =
            record.map(|record| Box::new(Self { record: Some(record), profile, ..judged.clone() }));
        Ok(Self { again, ..judged })
    }

    /// Audits the document, and fills in the cases of claims that name none.
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
            probed: ProbeFindings::default(),
            elsewhere: BTreeMap::new(),
            again: None,
        }
    }

    /// The record and the profile of this suite, or of another that a claim names.
    pub(super) fn recorded(&self, suite: Option<&str>) -> (Option<&Record>, Option<&Profile>) {
        let other = suite.map(|name| self.elsewhere.get(name));
        match other {
            None => (self.record.as_ref(), self.profile.as_ref()),
            Some(other) => {
                other.map_or((None, None), |(record, profile)| (record.as_ref(), profile.as_ref()))
            }
        }
    }
}

/// The records of both runs of a suite. `None`: it was not run twice.
fn run_twice(records: &Path, suite: &str) -> Result<Option<SuiteRunTwice>, ClaimsError> {
    let (Some(again), _) = recorded_in(&repeated(records, suite), records)? else {
        return Ok(None);
    };
    let (first, _) = recorded(records, suite)?;
    Ok(first.map(|first| SuiteRunTwice { suite: suite.to_owned(), first, again }))
}

/// Where a second run of a suite is kept.
fn repeated(records: &Path, suite: &str) -> PathBuf {
    suite_folder(records, suite).with_file_name(REPEATED).join(suite)
}

/// A suite's full record and its profile, if they are there.
fn recorded(records: &Path, suite: &str) -> Result<(Option<Record>, Option<Profile>), ClaimsError> {
    recorded_in(&suite_folder(records, suite), records)
}

fn recorded_in(
    folder: &Path,
    records: &Path,
) -> Result<(Option<Record>, Option<Profile>), ClaimsError> {
    let file = file_in(folder, Extent::Full);
    let record = file.map(|file| read_record(records, &file)).transpose()?;
    Ok((record, kept_profile(folder)?))
}

/// A record, with what is known today of the servers that it has.
///
/// # Errors
/// When the record, or what the probe found, cannot be read.
pub fn read_record(records: &Path, file: &Path) -> Result<Record, ClaimsError> {
    let mut record = Record::read(file)
        .map_err(|error| ClaimsError::Record(file.to_owned(), Box::new(error)))?;
    findings(records)?.tell(&mut record.facts);
    Ok(record)
}

fn findings(records: &Path) -> Result<ProbeFindings, ClaimsError> {
    ProbeFindings::read(records)
        .map_err(|error| ClaimsError::Folder(PathBuf::from("findings"), error.to_string()))
}

/// Where the CPU time of a suite's full run went, if that was put next to its record, in the folder
/// of the suite.
///
/// # Errors
/// When it is there and cannot be read.
pub fn kept_profile(folder: &Path) -> Result<Option<Profile>, ClaimsError> {
    let folder = folder.join(PROFILE_FOLDER);
    match profile::read(&folder) {
        Ok(profile) => Ok(Some(profile)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(ClaimsError::Folder(folder, error.to_string())),
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
