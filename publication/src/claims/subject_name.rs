//! The subject of a claim, and the cell that is meant by it.

use bookend_results::measurement::CellId;
use bookend_results::suite::Case;
use serde::Deserialize;
use std::fmt;
use thiserror::Error;

/// A subject and, where it matters, the load generator or, for a client, the server: `rust-tonic`,
/// `rust-tonic via ghz`.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub struct SubjectName {
    /// `rust-tonic`, `java-grpc/virtual`.
    pub subject: String,
    /// `ghz`. `None`: the only one, or our own.
    pub instrument: Option<String>,
}

impl SubjectName {
    /// Whether it is, or may be, the subject with that instrument.
    pub(super) fn is_instrument(&self, instrument: &str) -> bool {
        self.instrument.as_deref().is_none_or(|own| own == instrument)
    }
}

/// Not a subject.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("`{_0}` is no subject: write rust-tonic or rust-tonic via ghz")]
pub struct NoSubject(String);

impl TryFrom<String> for SubjectName {
    type Error = NoSubject;

    fn try_from(text: String) -> Result<Self, NoSubject> {
        let mut names = text.splitn(2, " via ").map(str::to_owned);
        let name = Self { subject: names.next().unwrap_or_default(), instrument: names.next() };
        let is_name = |name: &String| !name.is_empty() && !name.contains(' ');
        let is_whole = is_name(&name.subject) && name.instrument.iter().all(is_name);
        is_whole.then_some(name).ok_or(NoSubject(text))
    }
}

impl fmt::Display for SubjectName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.subject)?;
        match &self.instrument {
            Some(instrument) => write!(f, " via {instrument}"),
            None => Ok(()),
        }
    }
}

/// A cell as a claim names it.
#[derive(Clone, Copy)]
pub(super) struct NamedCell<'a> {
    pub(super) name: &'a SubjectName,
    pub(super) case: Case,
}

impl NamedCell<'_> {
    /// Whether it is a cell of that subject and case, whatever its instrument.
    pub(super) fn is_of(self, cell: &CellId) -> bool {
        cell.subject == self.name.subject && cell.case == self.case
    }
}

impl fmt::Display for NamedCell<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} at {}", self.name, self.case)
    }
}
