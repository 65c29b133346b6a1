//! What `bookend probe` found of the servers of this repository, as `bookend doctor --findings`
//! writes it: a line of JSON for each server and version.

use crate::record::Facts;
use crate::store::{Store, StoreError};
use bookend_contract::input;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::{fs, io};

/// What was found of one version of a server. The words are those of the probe's own JSON.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
pub struct ProbedServer {
    /// `rust-pajamax`, `rust-pajamax/0.2.0`.
    pub subject: String,
    /// The version that its program reported.
    pub version: String,
    /// `yes`, `no` or `not checked`, by the key of the check.
    pub semantics: BTreeMap<String, String>,
    /// Why it is not `yes`, by the key of the check.
    #[serde(default)]
    pub reasons: BTreeMap<String, String>,
    /// The labels of the checks that are `no`.
    pub skips: Vec<String>,
}

/// What was found of all of them, in the order of their names.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ProbeFindings(pub Vec<ProbedServer>);

/// Why kept findings cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum FindingsError {
    /// The file cannot be read.
    #[error("{} cannot be read: {}", .0.display(), .1)]
    File(PathBuf, io::Error),
    /// The line of this number, counted from 1, is no finding.
    #[error("line {0} is no finding as bookend doctor --findings writes it: {reason}", reason = input::reason(.1))]
    Line(usize, serde_json::Error),
}

impl ProbeFindings {
    /// The file of kept findings under the folder `records`.
    pub fn file(records: &Path) -> PathBuf {
        records.join("findings").join("probe.jsonl")
    }

    /// Reads the kept findings; none where none were kept.
    ///
    /// # Errors
    /// See [`FindingsError`].
    pub fn read(records: &Path) -> Result<Self, FindingsError> {
        let file = Self::file(records);
        match fs::read_to_string(&file) {
            Ok(text) => Self::parse(&text),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Self::default()),
            Err(error) => Err(FindingsError::File(file, error)),
        }
    }

    /// Reads a line for each server.
    ///
    /// # Errors
    /// [`FindingsError::Line`].
    pub fn parse(text: &str) -> Result<Self, FindingsError> {
        let lines = text.lines().zip(1..).filter(|(line, _)| !line.trim().is_empty());
        let server = |(line, number): (&str, usize)| {
            serde_json::from_str(line).map_err(|error| FindingsError::Line(number, error))
        };
        lines.map(server).collect::<Result<_, _>>().map(Self)
    }

    /// The findings of a store about these versions, by subject, under the names of suites: those
    /// of `first_variants` by their subject alone. One that was never checked is not among them.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn of_store(
        store: &Store,
        versions: &BTreeMap<String, String>,
        first_variants: &BTreeSet<String>,
    ) -> Result<Self, StoreError> {
        let mut servers = Vec::new();
        for (subject, version) in versions {
            let Some(mut found) = store.semantics(subject, version)? else {
                continue;
            };
            let without_variant = subject.split_once('/').map(|(subject, _)| subject);
            let name = without_variant.filter(|_| first_variants.contains(subject));
            let name = name.unwrap_or(subject);
            found["subject"] = name.into();
            found["version"] = version.as_str().into();
            // A probe that failed has found nothing.
            servers.extend(serde_json::from_value::<ProbedServer>(found));
        }
        servers.sort_by(|one, other| one.subject.cmp(&other.subject));
        Ok(Self(servers))
    }

    /// A line for each server.
    pub fn text(&self) -> String {
        let line = |server| serde_json::to_string(server).unwrap_or_default() + "\n";
        self.0.iter().map(line).collect()
    }

    /// What was found of a server in that version.
    pub fn of(&self, subject: &str, version: &str) -> Option<&ProbedServer> {
        self.0.iter().find(|one| one.subject == subject && one.version == version)
    }

    /// Puts what is known of a record's servers, in the versions that it has, in place of what was
    /// known when it was made.
    pub fn tell(&self, facts: &mut Facts) {
        for (subject, version) in &facts.versions {
            if let Some(found) = self.of(subject, version) {
                facts.skips.insert(subject.clone(), found.skips.clone());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn found() -> serde_json::Value {
        json!({
            "target": "127.0.0.1:1", "method": "a.B/C", "call": {"ok": true},
            "semantics": {"ping": "no", "padding": "yes"},
            "reasons": {"ping": "no answer within 500ms"}, "skips": ["PING"],
        })
    }

    #[test]
    fn what_a_store_knows_of_a_version_is_kept_and_read_back() {
        let mut store = Store::in_memory().unwrap();
        store.write_semantics("a/fast", "a 1", &found()).unwrap();
        store.write_semantics("b/slow", "b 2", &json!({"call": {"ok": false}})).unwrap();
        let versions = ["a/fast", "b/slow", "c"].map(|name| {
            let version = if name == "a/fast" { "a 1" } else { "b 2" };
            (name.to_owned(), version.to_owned())
        });
        let first_variants = ["a/fast".to_owned()].into();
        let kept = ProbeFindings::of_store(&store, &versions.into(), &first_variants).unwrap();
        assert_eq!(kept.0.len(), 1);
        assert_eq!(kept.of("a", "a 1").unwrap().skips, ["PING"]);
        assert_eq!(kept.of("a", "a 2"), None, "another version may have mended it");
        assert_eq!(ProbeFindings::parse(&kept.text()).unwrap(), kept);
    }

    #[test]
    fn a_line_that_is_none_is_named() {
        let error = ProbeFindings::parse("\n{}\n").unwrap_err().to_string();
        assert!(error.starts_with("line 2 is no finding as bookend doctor"), "{error}");
    }

    #[test]
    fn without_a_file_nothing_is_known() {
        let nowhere = Path::new("there is no such folder");
        assert_eq!(ProbeFindings::read(nowhere).unwrap(), ProbeFindings::default());
    }
}
