//! What the doctor found out about each variant, and what that is for scripts: an exit status.

use super::VariantName;
use bookend_contract::exit;
use bookend_contract::transport::Transport;
use bookend_results::measurement::{Outcome, Row};
use std::collections::BTreeMap;

/// By subject and instrument of a cell: the variants that the cell checks.
type About = BTreeMap<(String, String), Vec<VariantName>>;

/// The state of a variant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum VariantState {
    /// It can be measured; its version, if it was started.
    Ready(String),
    /// It needs something that is not here; the command that installs it.
    Missing(String),
    /// It is here and does not work.
    Failed(String),
}

impl VariantState {
    /// From the cell that was measured through it.
    pub fn of(row: &Row, version: &str) -> VariantState {
        match &row.outcome {
            Outcome::Measured(window) if window.counts.ok == 0 => {
                let codes: Vec<&str> = window.counts.errors.keys().map(String::as_str).collect();
                VariantState::Failed(format!("no call ended OK: {}", codes.join(", ")))
            }
            Outcome::Measured(_) => VariantState::Ready(version.to_owned()),
            Outcome::Missing { reason } => VariantState::Missing(reason.clone()),
            Outcome::Failed { error, .. } | Outcome::Refused { reason: error, .. } => {
                VariantState::Failed(error.clone())
            }
            Outcome::Unsupported { reason } => {
                VariantState::Failed(format!("unsupported: {reason}"))
            }
        }
    }

    /// The transport may be at fault: the error names it, unless it is the usual one.
    fn over(self, transport: Transport) -> VariantState {
        match self {
            VariantState::Failed(error) if transport != Transport::H2c => {
                VariantState::Failed(format!("over {transport}: {error}"))
            }
            other => other,
        }
    }

    /// What could not be prepared though everything that it depends on is there does not work.
    fn with_dependencies(self, are_there: bool) -> VariantState {
        match self {
            VariantState::Missing(reason) if are_there => VariantState::Failed(reason),
            other => other,
        }
    }

    fn severity(&self) -> u8 {
        match self {
            VariantState::Ready(_) => 0,
            VariantState::Missing(_) => 1,
            VariantState::Failed(_) => 2,
        }
    }
}

/// The states of all variants.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct VariantStates(BTreeMap<VariantName, VariantState>);

impl VariantStates {
    /// Notes the state of a variant. Of two about the same variant the worse one stays.
    pub fn note(&mut self, variant: VariantName, state: VariantState) {
        let known = self.0.get(&variant);
        if known.is_none_or(|known| state.severity() >= known.severity()) {
            self.0.insert(variant, state);
        }
    }

    /// Notes the rows of one suite of checks. A variant whose cell has no row was not called.
    pub fn add_rows(&mut self, about: &About, rows: &[Row], versions: &BTreeMap<String, String>) {
        for ((subject, instrument), variants) in about {
            let own =
                |row: &&Row| row.cell.subject == *subject && row.cell.instrument == *instrument;
            let row = rows.iter().find(own);
            let are_ready = variants.iter().all(|variant| self.is_ready(variant));
            for variant in variants {
                let version = versions.get(&variant.0).map_or("", String::as_str);
                let state = match row {
                    Some(row) => VariantState::of(row, version)
                        .over(row.cell.case.transport)
                        .with_dependencies(are_ready),
                    None => VariantState::Failed("it was not called".to_owned()),
                };
                self.note(variant.clone(), state);
            }
        }
    }

    fn is_ready(&self, variant: &VariantName) -> bool {
        self.0.get(variant).is_some_and(|state| state.severity() == 0)
    }

    /// The exit status for scripts. `strict`: what is missing counts as failed.
    pub fn exit_status(&self, strict: bool) -> u8 {
        let bound = if strict { 1 } else { 2 };
        if self.0.values().any(|state| state.severity() >= bound) {
            exit::SOME_ROWS_FAILED
        } else {
            exit::MEASURED
        }
    }

    /// All of them, by name.
    pub fn iter(&self) -> impl Iterator<Item = (&VariantName, &VariantState)> {
        self.0.iter()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bookend_results::measurement::{CellId, Measurement, WindowCounts};

    fn found(all: &[(&str, VariantState)]) -> VariantStates {
        let mut states = VariantStates::default();
        for (name, state) in all {
            states.note(VariantName((*name).to_owned()), state.clone());
        }
        states
    }

    #[test]
    fn what_is_missing_is_a_failure_in_ci_alone() {
        let states = found(&[
            ("a/default", VariantState::Ready("a 1".to_owned())),
            ("b/default", VariantState::Missing("install b".to_owned())),
        ]);
        assert_eq!(states.exit_status(false), exit::MEASURED);
        assert_eq!(states.exit_status(true), exit::SOME_ROWS_FAILED);
    }

    #[test]
    fn a_call_that_failed_is_a_failure_everywhere() {
        let states = found(&[("a/default", VariantState::Failed("no answer".to_owned()))]);
        assert_eq!(states.exit_status(false), exit::SOME_ROWS_FAILED);
    }

    #[test]
    fn of_two_states_the_worse_one_stays() {
        let ready = || VariantState::Ready(String::new());
        let failed = || VariantState::Failed("no answer".to_owned());
        for order in [[ready(), failed()], [failed(), ready()]] {
            let [first, second] = order;
            let states = found(&[("a", first), ("a", second)]);
            assert_eq!(states, found(&[("a", failed())]));
        }
    }

    #[test]
    fn a_variant_that_was_never_called_is_not_ready() {
        let name = |name: &str| VariantName(name.to_owned());
        let cell = |subject: &str| (subject.to_owned(), "load".to_owned());
        let about = BTreeMap::from([
            (cell("a/default"), vec![name("a/default"), name("load/default")]),
            (cell("b/default"), vec![name("b/default")]),
        ]);
        let called = CellId {
            subject: "a/default".to_owned(),
            case: "C=1 S=1".parse().expect("a case"),
            instrument: "load".to_owned(),
        };
        let window = Measurement {
            counts: WindowCounts { ok: 1, ..WindowCounts::default() },
            ..Measurement::default()
        };
        let row = Row::new(0, called, Outcome::Measured(Box::new(window)));
        let ready = || VariantState::Ready(String::new());
        let all = ["a/default", "b/default", "load/default"];
        let mut states = found(&all.map(|name| (name, ready())));
        states.add_rows(&about, &[row], &BTreeMap::new());
        let uncalled = [
            ("a/default", ready()),
            ("b/default", VariantState::Failed("it was not called".to_owned())),
            ("load/default", ready()),
        ];
        assert_eq!(states, found(&uncalled));
        assert_eq!(states.exit_status(false), exit::SOME_ROWS_FAILED);
    }

    #[test]
    fn a_build_that_fails_is_a_failure_where_nothing_is_missing() {
        let name = |name: &str| VariantName(name.to_owned());
        let about =
            BTreeMap::from([(("a".to_owned(), "load".to_owned()), vec![name("a"), name("load")])]);
        let cell = CellId {
            subject: "a".to_owned(),
            case: "C=1 S=1".parse().expect("a case"),
            instrument: "load".to_owned(),
        };
        let reason = "`make` failed: no rule".to_owned();
        let row = Row::new(0, cell, Outcome::Missing { reason: reason.clone() });
        let ready = VariantState::Ready(String::new());
        let mut states = found(&[("a", ready.clone()), ("load", ready.clone())]);
        states.add_rows(&about, std::slice::from_ref(&row), &BTreeMap::new());
        assert_eq!(states.exit_status(false), exit::SOME_ROWS_FAILED);
        // The other end is not installed: nothing was built, and nothing is known.
        let missing = VariantState::Missing("install load".to_owned());
        let mut states = found(&[("a", ready), ("load", missing)]);
        states.add_rows(&about, &[row], &BTreeMap::new());
        assert_eq!(states.exit_status(false), exit::MEASURED);
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
            let mut states = VariantStates::default();
            let row = Row::new(0, cell, Outcome::failed("no answer"));
            states.add_rows(&about, &[row], &BTreeMap::new());
            states
        };
        let failed = |error: &str| found(&[("a", VariantState::Failed(error.to_owned()))]);
        assert_eq!(said("C=1 S=1"), failed("no answer"));
        assert_eq!(said("C=1 S=1 tls"), failed("over tls: no answer"));
    }
}
