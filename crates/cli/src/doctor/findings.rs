//! What the doctor found, a line a variant, and what that means for a script.

use bookend_lab::doctor::VariantName;
use bookend_load::contract::exit;
use bookend_load::contract::transport::Transport;
use bookend_results::measurement::{Outcome, Row};
use std::collections::BTreeMap;
use std::fmt;

/// By subject and instrument of a cell: the variants that it is about.
type About = BTreeMap<(String, String), Vec<VariantName>>;

/// The state of a variant.
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
            Outcome::Failed { error, .. } => Finding::Failed(error.clone()),
            Outcome::Unsupported { reason } => Finding::Failed(format!("unsupported: {reason}")),
        }
    }

    /// What went wrong may be the transport's fault: it is named, unless it is the usual one.
    fn over(self, transport: Transport) -> Finding {
        match self {
            Finding::Failed(error) if transport != Transport::H2c => {
                Finding::Failed(format!("over {transport}: {error}"))
            }
            other => other,
        }
    }

    fn uncalled() -> Finding {
        Finding::Failed("it was not called".to_owned())
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
    /// ProcessNotes one. Of two about the same variant the worse one stays.
    pub fn note(&mut self, variant: VariantName, finding: Finding) {
        let known = self.0.get(&variant);
        if known.is_none_or(|known| finding.severity() >= known.severity()) {
            self.0.insert(variant, finding);
        }
    }

    /// ProcessNotes what came of one check-up. A variant whose cell has no row was not called, and nobody
    /// supports_method whether it would answer.
    pub fn add_rows(&mut self, about: &About, rows: &[Row], versions: &BTreeMap<String, String>) {
        for ((subject, instrument), variants) in about {
            let own =
                |row: &&Row| row.cell.subject == *subject && row.cell.instrument == *instrument;
            let row = rows.iter().find(own);
            for variant in variants {
                let version = versions.get(&variant.0).map_or("", String::as_str);
                let of_row = |row: &Row| Finding::of(row, version).over(row.cell.case.transport);
                let finding = row.map_or_else(Finding::uncalled, of_row);
                self.note(variant.clone(), finding);
            }
        }
    }

    /// The exit status for scripts. `strict`: what is missing counts as failed.
    pub fn exit_status(&self, strict: bool) -> u8 {
        let bound = if strict { 1 } else { 2 };
        if self.0.values().any(|finding| finding.severity() >= bound) {
            exit::SOME_ROWS_FAILED
        } else {
            exit::MEASURED
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
    use bookend_results::measurement::{CellId, Measurement};

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
    fn a_variant_that_was_never_called_is_not_ready() {
        let name = |name: &str| VariantName(name.to_owned());
        let cell = |subject: &str| (subject.to_owned(), "load".to_owned());
        let about = BTreeMap::from([
            (
                cell("a/default"),
                vec![name("a/default"), name("load/default")],
            ),
            (cell("b/default"), vec![name("b/default")]),
        ]);
        let called = CellId {
            subject: "a/default".to_owned(),
            case: "C=1 S=1".parse().expect("a case"),
            instrument: "load".to_owned(),
        };
        let window = Measurement {
            ok: 1,
            ..Measurement::default()
        };
        let row = Row::new(0, called, Outcome::Measured(Box::new(window)));
        let ready = || Finding::Ready(String::new());
        let all = ["a/default", "b/default", "load/default"];
        let mut findings = found(&all.map(|name| (name, ready())));
        findings.add_rows(&about, &[row], &BTreeMap::new());
        let uncalled = [
            ("a/default", ready()),
            ("b/default", Finding::Failed("it was not called".to_owned())),
            ("load/default", ready()),
        ];
        assert_eq!(findings, found(&uncalled));
        assert_eq!(findings.exit_status(false), exit::SOME_ROWS_FAILED);
    }

    #[test]
    fn what_failed_over_another_transport_names_it() {
        let about = BTreeMap::from([(
            ("a".to_owned(), "load".to_owned()),
            vec![VariantName("a".to_owned())],
        )]);
        let said = |case: &str| {
            let cell = CellId {
                subject: "a".to_owned(),
                case: case.parse().expect("a case"),
                instrument: "load".to_owned(),
            };
            let mut findings = Findings::default();
            let row = Row::new(0, cell, Outcome::failed("no answer"));
            findings.add_rows(&about, &[row], &BTreeMap::new());
            findings
        };
        let failed = |error: &str| found(&[("a", Finding::Failed(error.to_owned()))]);
        assert_eq!(said("C=1 S=1"), failed("no answer"));
        assert_eq!(said("C=1 S=1 tls"), failed("over tls: no answer"));
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
