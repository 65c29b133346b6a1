//! What the probe found of the servers that a claim is about: it is printed with every claim,
//! whatever came of it.

use super::claim::Claim;
use super::judged::JudgedSuite;
use super::quantity::Over;
use bookend_results::findings::ProbedServer;
use bookend_results::record::Record;
use bookend_results::table::{ACK_WAITS, CUT};
use std::collections::BTreeSet;

/// From a page of a suite, and from those in docs/measure.
const FINDINGS: &str = "../../records/findings/README.md";

/// Most failed checks that are all listed.
const LISTED: usize = 4;

/// What a probe says where a server ended the connection.
const CLOSED: &str = "closed the connection";

/// A sentence for each server of the claim that was found to skip something.
pub(super) fn told(claim: &Claim, suite: &JudgedSuite) -> Vec<String> {
    let (record, _) = suite.recorded(claim.suite.as_deref());
    let Some(record) = record else {
        return Vec::new();
    };
    let mut subjects = BTreeSet::new();
    for quantity in claim.quantities_of_record() {
        if let Some(Over::Subject(other)) = &quantity.over {
            subjects.insert(other.subject.clone());
        }
        subjects.insert(quantity.of.subject);
    }
    subjects.iter().filter_map(|subject| sentence(subject, record, suite)).collect()
}

/// Of every server of the suite that was found to skip something.
pub(super) fn of_suite(suite: &JudgedSuite) -> Vec<String> {
    let record = suite.record.as_ref();
    let servers = record.map(|record| record.facts.skips.keys());
    let sentences = servers.into_iter().flatten();
    sentences.filter_map(|subject| sentence(subject, record?, suite)).collect()
}

fn sentence(subject: &str, record: &Record, suite: &JudgedSuite) -> Option<String> {
    let facts = &record.facts;
    let version = facts.versions.get(subject).map_or("", String::as_str);
    let skips = facts.skips.get(subject).filter(|skips| !skips.is_empty())?;
    let found = suite.probed.of(subject, version);
    let of = found.map_or_else(String::new, |found| format!(" of {}", found.semantics.len()));
    let closes = found.map_or(0, closes);
    let closed = match closes {
        0 => String::new(),
        _ => format!(", and closes the connection in {closes}"),
    };
    let checks = if found.is_none() && skips.len() == 1 { "check" } else { "checks" };
    Some(format!(
        "[Probed]({FINDINGS}): {subject} fails {}{of} {checks}{closed}: {}.",
        skips.len(),
        worst(skips)
    ))
}

/// What is failed: of many, the worst.
fn worst(skips: &[String]) -> String {
    let is_worst = |skip: &&String| CUT.contains(&skip.as_str()) || skip.as_str() == ACK_WAITS;
    let worst: Vec<&str> = skips.iter().filter(is_worst).map(String::as_str).collect();
    if skips.len() <= LISTED || worst.is_empty() {
        return skips.join(", ");
    }
    format!("among them {}", worst.join(", "))
}

/// In how many of the checks that it fails the server closed the connection.
fn closes(found: &ProbedServer) -> usize {
    let is_no = |check: &str| found.semantics.get(check).is_some_and(|word| word == "no");
    found.reasons.iter().filter(|(check, why)| is_no(check) && why.contains(CLOSED)).count()
}
