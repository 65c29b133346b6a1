//! The report of a probe, for people and for programs.

use super::check::{CheckOutcome, SemanticsCheck};
use super::verify::{VerifiedReply, VerifyError};
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use bookend_contract::duration::nanoseconds;
use bookend_contract::printable;
use serde::Serialize;
use std::collections::BTreeMap;
use std::fmt;

/// Bytes of a reply that JSON shows: a reply is there to be compared, not to be archived.
const SHOWN_REPLY_BYTES: usize = 16 * 1024;

/// The report of a probe.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProbeReport {
    /// Where the server listens.
    pub target: String,
    /// The path of the method that was called.
    pub path: String,
    /// The verified call: its reply, or why it failed.
    pub call: Result<VerifiedReply, VerifyError>,
    /// All calls sent that the server may have answered and counted, those of reflection and of
    /// the checks included.
    pub calls_made: u64,
    /// The outcome of every check, if checks were requested.
    pub semantics: Option<BTreeMap<SemanticsCheck, CheckOutcome>>,
}

impl ProbeReport {
    /// What the server does not do.
    pub fn skips(&self) -> Vec<SemanticsCheck> {
        self.semantics
            .iter()
            .flatten()
            .filter(|(_, outcome)| matches!(outcome, CheckOutcome::Unsupported(_)))
            .map(|(check, _)| *check)
            .collect()
    }

    /// Why the call failed, in one line that a terminal only shows; `None` if it did not.
    pub fn failure(&self) -> Option<String> {
        let failure = self.call.as_ref().err()?;
        Some(printable::line(&failure.to_string()).into_owned())
    }

    /// The report on one line of JSON, with the words of the server as they are.
    pub fn to_json(&self) -> String {
        let semantics = self.semantics.as_ref().map(|outcomes| {
            let words = outcomes.iter().map(|(check, outcome)| (*check, outcome.word()));
            let reasons = outcomes
                .iter()
                .filter_map(|(check, outcome)| outcome.reason().map(|reason| (*check, reason)));
            JsonSemantics {
                semantics: words.collect(),
                reasons: reasons.collect(),
                skips: self.skips().into_iter().map(SemanticsCheck::label).collect(),
            }
        });
        let json = JsonReport {
            target: &self.target,
            method: self.path.trim_start_matches('/'),
            call: JsonCall::new(self),
            semantics,
        };
        // Strings, numbers and maps with keys of text: nothing that JSON cannot hold.
        printable::json(&serde_json::to_string(&json).unwrap_or_default()).into_owned()
    }
}

#[derive(Serialize)]
struct JsonReport<'a> {
    target: &'a str,
    method: &'a str,
    call: JsonCall,
    #[serde(flatten)]
    semantics: Option<JsonSemantics<'a>>,
}

#[derive(Serialize)]
struct JsonSemantics<'a> {
    semantics: BTreeMap<SemanticsCheck, &'static str>,
    reasons: BTreeMap<SemanticsCheck, &'a str>,
    skips: Vec<&'static str>,
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
    fn new(report: &ProbeReport) -> Self {
        let status = match &report.call {
            Ok(_) => Some("OK"),
            Err(VerifyError::Status(status)) => Some(status.code.name()),
            Err(_) => None,
        };
        Self {
            ok: report.call.is_ok(),
            calls_made: report.calls_made,
            error: report.call.as_ref().err().map(VerifyError::to_string),
            status,
            reply: report.call.as_ref().ok().map(JsonReply::new),
        }
    }
}

impl JsonReply {
    fn new(verified: &VerifiedReply) -> Self {
        let reply_bytes = reply_bytes(verified);
        let encoded = |message: &Vec<u8>| BASE64_STANDARD.encode(message);
        Self {
            latency_ns: nanoseconds(verified.latency),
            reply_messages: verified.messages.len(),
            reply_bytes,
            reply_base64: (reply_bytes <= SHOWN_REPLY_BYTES)
                .then(|| verified.messages.iter().map(encoded).collect()),
        }
    }
}

fn reply_bytes(verified: &VerifiedReply) -> usize {
    verified.messages.iter().map(Vec::len).sum()
}

impl fmt::Display for ProbeReport {
    /// A line about the call, then a line a check. What a server says begins no line.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [target, path] = [&self.target, &self.path].map(|text| printable::line(text));
        match &self.call {
            Ok(verified) => write!(
                formatter,
                "{target} {path}: OK, {} bytes in {:.3} ms",
                reply_bytes(verified),
                verified.latency.as_secs_f64() * 1e3,
            )?,
            Err(_) => write!(formatter, "{target} {path}: failed")?,
        }
        for (check, outcome) in self.semantics.iter().flatten() {
            let outcome = outcome.to_string();
            write!(formatter, "\n{:24}{}", check.label(), printable::line(&outcome))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bookend_contract::printable::is_printable;

    #[test]
    fn what_a_server_says_begins_no_line_and_moves_no_cursor() {
        let said = "\u{1b}]0;owned\u{7}\r\nprimitives  supported\u{202e}\u{9b}31m\u{2028}\0";
        let outcomes = [
            (SemanticsCheck::ALL[0], CheckOutcome::Unsupported(said.to_owned())),
            (SemanticsCheck::ALL[1], CheckOutcome::NotChecked(said.to_owned())),
        ];
        let report = ProbeReport {
            target: format!("host{said}"),
            path: format!("/a.B/{said}"),
            call: Err(VerifyError::Reply(said.to_owned())),
            calls_made: 1,
            semantics: Some(BTreeMap::from(outcomes)),
        };
        let text = report.to_string();
        assert_eq!(text.lines().count(), 3, "{text:?}");
        assert!(text.chars().all(|letter| letter == '\n' || is_printable(letter)), "{text:?}");
        assert!(report.failure().unwrap().chars().all(is_printable));
        let json = report.to_json();
        assert!(json.chars().all(is_printable), "{json:?}");
        let json: serde_json::Value = serde_json::from_str(&json).unwrap();
        assert_eq!(json["call"]["error"], said);
    }
}
