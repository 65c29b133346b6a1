//! What a probe found, for people and for programs.

use super::check::{Check, Finding};
use super::verify::{CallOutcome, Failure, Verified};
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};
use std::fmt;

/// Octets of a reply that JSON shows: a reply is there to be compared, not to be archived.
const SHOWN_REPLY_BYTES: usize = 16 * 1024;

/// What a probe found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Report {
    /// Where the server listens.
    pub target: String,
    /// The path of the method that was called.
    pub path: String,
    /// The verified call.
    pub call: CallOutcome,
    /// All calls sent that the server may have answered and counted, those of reflection and of
    /// the checks included.
    pub calls_made: u64,
    /// What came of every check, if they were asked for.
    pub semantics: Option<Vec<(Check, Finding)>>,
}

impl Report {
    /// What the server does not do.
    pub fn skips(&self) -> Vec<Check> {
        let findings = self.semantics.iter().flatten();
        let missing = findings.filter(|(_, finding)| matches!(finding, Finding::No(_)));
        missing.map(|(check, _)| *check).collect()
    }

    /// Why the call failed, in one line; `None` if it did not.
    pub fn failure(&self) -> Option<String> {
        let failure = self.call.result.as_ref().err()?;
        Some(failure.to_string().replace(['\n', '\r'], " "))
    }

    /// The report on one line of JSON.
    pub fn to_json(&self) -> String {
        let findings = self.semantics.as_ref();
        let json = Json {
            target: &self.target,
            method: self.path.trim_start_matches('/'),
            call: JsonCall::new(self),
            semantics: findings.map(|findings| Words(findings)),
            reasons: findings.map(|findings| Reasons(findings)),
            skips: findings.map(|_| self.skips().into_iter().map(Check::label).collect()),
        };
        // Strings, numbers and maps with keys of text: nothing that JSON cannot say.
        serde_json::to_string(&json).unwrap_or_default()
    }
}

#[derive(Serialize)]
struct Json<'a> {
    target: &'a str,
    method: &'a str,
    call: JsonCall,
    #[serde(skip_serializing_if = "Option::is_none")]
    semantics: Option<Words<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reasons: Option<Reasons<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    skips: Option<Vec<&'static str>>,
}

#[derive(Serialize)]
struct JsonCall {
    ok: bool,
    calls_made: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    status: Option<&'static str>,
    #[serde(flatten)]
    reply: Option<JsonReply>,
}

#[derive(Serialize)]
struct JsonReply {
    latency_ns: u64,
    reply_messages: usize,
    reply_bytes: usize,
    /// `null` beyond [`SHOWN_REPLY_BYTES`].
    reply_base64: Option<Vec<String>>,
}

impl JsonCall {
    fn new(report: &Report) -> Self {
        let status = match &report.call.result {
            Ok(_) => Some("OK"),
            Err(Failure::Status(status)) => Some(status.code.name()),
            Err(_) => None,
        };
        Self {
            ok: report.call.result.is_ok(),
            calls_made: report.calls_made,
            error: report.failure(),
            status,
            reply: report.call.result.as_ref().ok().map(JsonReply::new),
        }
    }
}

impl JsonReply {
    fn new(verified: &Verified) -> Self {
        let reply_bytes = reply_bytes(verified);
        let encoded = |message: &Vec<u8>| BASE64_STANDARD.encode(message);
        Self {
            latency_ns: u64::try_from(verified.latency.as_nanos()).unwrap_or(u64::MAX),
            reply_messages: verified.messages.len(),
            reply_bytes,
            reply_base64: (reply_bytes <= SHOWN_REPLY_BYTES)
                .then(|| verified.messages.iter().map(encoded).collect()),
        }
    }
}

fn reply_bytes(verified: &Verified) -> usize {
    verified.messages.iter().map(Vec::len).sum()
}

/// `yes`, `no` or `not checked` by key.
struct Words<'a>(&'a [(Check, Finding)]);

impl Serialize for Words<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let words = self.0.iter();
        serializer.collect_map(words.map(|(check, finding)| (check.key(), finding.word())))
    }
}

/// What there is to say besides, by key.
struct Reasons<'a>(&'a [(Check, Finding)]);

impl Serialize for Reasons<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        for (check, finding) in self.0 {
            if let Some(reason) = finding.reason() {
                map.serialize_entry(check.key(), reason)?;
            }
        }
        map.end()
    }
}

impl fmt::Display for Report {
    /// A line about the call, then a line a check.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { target, path, .. } = self;
        match &self.call.result {
            Ok(verified) => write!(
                formatter,
                "{target} {path}: OK, {} bytes in {:.3} ms",
                reply_bytes(verified),
                verified.latency.as_secs_f64() * 1e3,
            )?,
            Err(_) => write!(formatter, "{target} {path}: failed")?,
        }
        for (check, finding) in self.semantics.iter().flatten() {
            write!(formatter, "\n{:24}{finding}", check.label())?;
        }
        Ok(())
    }
}
