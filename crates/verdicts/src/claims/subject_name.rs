//! The subject of a claim.

use serde::Deserialize;
use std::fmt;
use std::str::FromStr;
use thiserror::Error;

/// A subject and, where it matters, the load generator or, for a client, the server. `Display` and
/// `FromStr` use the forms `rust-tonic` and `rust-tonic via ghz`.
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

impl FromStr for SubjectName {
    type Err = NoSubject;

    fn from_str(text: &str) -> Result<Self, NoSubject> {
        let mut names = text.splitn(2, " via ").map(str::to_owned);
        let name = Self { subject: names.next().unwrap_or_default(), instrument: names.next() };
        let is_name = |name: &String| !name.is_empty() && !name.contains(' ');
        let is_whole = is_name(&name.subject) && name.instrument.iter().all(is_name);
        is_whole.then_some(name).ok_or_else(|| NoSubject(text.to_owned()))
    }
}

impl TryFrom<String> for SubjectName {
    type Error = NoSubject;

    fn try_from(text: String) -> Result<Self, NoSubject> {
        text.parse()
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
