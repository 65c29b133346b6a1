//! What the doctor found, a line a variant, and what that means for a script.

use bookend_lab::doctor::VariantName;
use bookend_lab::measurement::{Outcome, Row};
use bookend_load::contract::exit;
use std::collections::BTreeMap;
use std::fmt;

/// How a variant is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Finding {
    /// It can be measured. Its version, where it was started.
    Ready(String),
    /// Something that it needs is not here; the command that installs it.
    Missing(String),
    /// It is here and does not do what it should.
    Failed(String),
}

impl Finding {
    /// From the cell that was put through it.
    pub fn of(row: &Row, version: &str) -> Finding {
        match &row.outcome {
            Outcome::Measured(window) if window.ok == 0 => {
                let codes: Vec<&str> = window.errors.keys().map(String::as_str).collect();
                Finding::Failed(format!("no call ended OK: {}", codes.join(", ")))
            }
            Outcome::Measured(_) => Finding::Ready(version.to_owned()),
            Outcome::Missing { reason } => Finding::Missing(reason.clone()),
            Outcome::Failed { error } => Finding::Failed(error.clone()),
            Outcome::Unsupported { reason } => Finding::Failed(format!("unsupported: {reason}")),
        }
    }

    fn severity(&self) -> u8 {
        match self {
            Finding::Ready(_) => 0,
            Finding::Missing(_) => 1,
            Finding::Failed(_) => 2,
        }
    }
}

/// What was found of every variant.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Findings(BTreeMap<VariantName, Finding>);

impl Findings {
    /// Notes one. Of two about the same variant the worse one stays.
    pub fn note(&mut self, variant: VariantName, finding: Finding) {
        let known = self.0.get(&variant);
        if known.is_none_or(|known| finding.severity() >= known.severity()) {
            self.0.insert(variant, finding);
        }
    }

    /// What a script is told. `strict`: what is missing counts as failed.
    pub fn exit_status(&self, strict: bool) -> u8 {
        let bound = if strict { 1 } else { 2 };
        match self.0.values().any(|finding| finding.severity() >= bound) {
            true => exit::SOME_ROWS_FAILED,
            false => exit::MEASURED,
        }
    }

    fn count(&self, severity: u8) -> usize {
        let findings = self.0.values();
        findings.filter(|each| each.severity() == severity).count()
    }
}

impl fmt::Display for Findings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let width = self.0.keys().map(|name| name.0.len()).max().unwrap_or(0);
        for (VariantName(name), finding) in &self.0 {
            let (word, more) = match finding {
                Finding::Ready(version) => ("ready", version),
                Finding::Missing(reason) => ("missing", reason),
                Finding::Failed(error) => ("failed", error),
            };
            writeln!(
                f,
                "{}",
                format!("{word:<7}  {name:<width$}  {more}").trim_end()
            )?;
        }
        let (ready, missing, failed) = (self.count(0), self.count(1), self.count(2));
        writeln!(f, "\n{ready} ready, {missing} missing, {failed} failed")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(all: &[(&str, Finding)]) -> Findings {
        let mut findings = Findings::default();
        for (name, finding) in all {
            findings.note(VariantName((*name).to_owned()), finding.clone());
        }
        findings
    }

    #[test]
    fn what_is_missing_is_a_failure_in_ci_alone() {
        let findings = found(&[
            ("a/default", Finding::Ready("a 1".to_owned())),
            ("b/default", Finding::Missing("install b".to_owned())),
        ]);
        assert_eq!(findings.exit_status(false), exit::MEASURED);
        assert_eq!(findings.exit_status(true), exit::SOME_ROWS_FAILED);
    }

    #[test]
    fn a_call_that_failed_is_a_failure_everywhere() {
        let findings = found(&[("a/default", Finding::Failed("no answer".to_owned()))]);
        assert_eq!(findings.exit_status(false), exit::SOME_ROWS_FAILED);
    }

    #[test]
    fn of_two_findings_the_worse_one_stays() {
        let ready = || Finding::Ready(String::new());
        let failed = || Finding::Failed("no answer".to_owned());
        for order in [[ready(), failed()], [failed(), ready()]] {
            let [first, second] = order;
            let findings = found(&[("a", first), ("a", second)]);
            assert_eq!(findings, found(&[("a", failed())]));
        }
    }

    #[test]
    fn every_variant_has_a_line_and_the_last_line_counts() {
        let findings = found(&[
            ("a/default", Finding::Ready("a 1".to_owned())),
            ("b/long-name", Finding::Missing("install b".to_owned())),
        ]);
        assert_eq!(
            findings.to_string(),
            "ready    a/default    a 1\n\
             missing  b/long-name  install b\n\
             \n\
             1 ready, 1 missing, 0 failed\n"
        );
    }
}
