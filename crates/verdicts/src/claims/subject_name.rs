//! The subject of a claim.

use std::fmt;

/// A subject and, where it matters, the load generator or, for a client, the server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SubjectName {
    /// `rust-tonic`, `java-grpc/virtual`.
    pub subject: String,
    /// `ghz`. `None`: the only one, or our own.
    pub instrument: Option<String>,
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
