//! Measures some subjects of a record anew, in all or in some of their cases: their rows take the
//! place of the old ones, and all others stay as they are.
//!
//! The later run measures the control rows (the baseline and the calibration), too. They stand in
//! the record, marked, in rounds of their own: the new rows are paired with them, and they show how
//! far the machine has changed meanwhile.

use crate::measurement::{CellId, Outcome, Row};
use crate::metric::{MetricDefinition, REQUESTS_PER_CPU_SECOND, REQUESTS_PER_SECOND};
use crate::ratio::ratio_text;
use crate::record::{JoinedRun, Record};
use crate::round::MeasuredRound;
use crate::statistics::{Ratio, paired_ratio};
use crate::store::Run;
use crate::suite::{Plan, PlannedSubject};
use crate::text::significant_text;
use bookend_contract::machine::MachineFacts;
use std::collections::BTreeMap;
use std::fmt;

/// The cells that are measured anew.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct JoinedCells {
    /// Of these subjects.
    pub subjects: Vec<String>,
    /// In the cases with these texts; empty for all.
    pub cases: Vec<String>,
}

impl JoinedCells {
    /// Whether that is one of them.
    pub fn have(&self, cell: &CellId) -> bool {
        self.subjects.contains(&cell.subject) && self.are_in(&cell.case.to_string())
    }

    fn are_in(&self, case: &str) -> bool {
        self.cases.is_empty() || self.cases.iter().any(|own| own == case)
    }

    /// Whether all cases of `run` are among theirs.
    fn cover(&self, run: &JoinedRun) -> bool {
        self.cases.is_empty()
            || (!run.cases.is_empty() && run.cases.iter().all(|case| self.are_in(case)))
    }
}

impl fmt::Display for JoinedCells {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.subjects.join(", "))?;
        if self.cases.is_empty() { Ok(()) } else { write!(f, " at {}", self.cases.join(", ")) }
    }
}

/// Why rows cannot be joined to a record.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum JoinError {
    /// The record does not have that subject.
    #[error("{0} is no subject of the record")]
    NotThere(String),
    /// That subject is what others are compared with.
    #[error("{0} is a control row: record the whole suite instead")]
    Control(String),
    /// What is measured is not what was measured.
    #[error("the record was made with another plan, which differs in {0}: record the suite anew")]
    Plan(String),
    /// Windows may be longer, and a cell stands refused because they were not.
    #[error(
        "the suite now allows longer windows, and {0} was refused for want of them: measure it as \
         well"
    )]
    Refused(String),
    /// It was another machine.
    #[error("the record was made on another machine: record the suite anew")]
    Machine,
    /// A program that both runs used has changed.
    #[error("{0} was {1} in the record and is {2}: record the suite anew")]
    Version(String, String, String),
    /// Half a run.
    #[error("the run was not finished")]
    Unfinished,
}

/// The subjects that a run measures to be joined to `record`: control rows and `names`.
///
/// # Errors
/// A name is not a subject of the record, or is a control row.
pub fn subjects_to_join(record: &Record, names: &[String]) -> Result<Vec<String>, JoinError> {
    let planned = &record.facts.plan.subjects;
    for name in names {
        let subject = planned
            .iter()
            .find(|subject| subject.name == *name)
            .ok_or_else(|| JoinError::NotThere(name.clone()))?;
        if is_control(subject) {
            return Err(JoinError::Control(name.clone()));
        }
    }
    Ok(planned
        .iter()
        .filter(|each| is_control(each) || names.contains(&each.name))
        .map(|subject| subject.name.clone())
        .collect())
}

/// Whether a run of `cells` by `plan` on `machine` can be joined to `record`.
///
/// The suite may allow longer windows than it did: they change nothing but that cells are measured
/// that were refused. And `cells`' subjects may be measured with more instruments.
///
/// # Errors
/// They differ.
pub fn check(
    record: &Record,
    plan: &Plan,
    machine: &MachineFacts,
    cells: &JoinedCells,
) -> Result<(), JoinError> {
    let mut expected = Plan { notes: Vec::new(), ..record.facts.plan.clone() };
    let is_planned = |name: &str| plan.subjects.iter().any(|subject| subject.name == name);
    expected.subjects.retain(|subject| is_planned(&subject.name));
    expected.cases.retain(|case| cells.are_in(&case.to_string()));
    if plan.window_max_ms > expected.window_max_ms {
        expected.window_max_ms = plan.window_max_ms;
        let is_refused = |row: &&Row| matches!(row.outcome, Outcome::Refused { .. });
        if let Some(row) = record.rows.iter().filter(is_refused).find(|row| !cells.have(&row.cell))
        {
            let CellId { subject, case, instrument } = &row.cell;
            return Err(JoinError::Refused(format!("{subject} via {instrument} at {case}")));
        }
    }
    add_instruments(&mut expected, plan, &cells.subjects);
    let plan = Plan { notes: Vec::new(), ..plan.clone() };
    if let Some(field) = difference(&expected, &plan) {
        return Err(JoinError::Plan(field));
    }
    (*machine == record.facts.machine).then_some(()).ok_or(JoinError::Machine)
}

/// Gives `subjects` in `plan` the instruments that they have in `later` besides, and lists those
/// with the cases. Where anything else differs, all of it stays.
fn add_instruments(plan: &mut Plan, later: &Plan, subjects: &[String]) {
    let mut added = Vec::new();
    for subject in plan.subjects.iter_mut().filter(|each| subjects.contains(&each.name)) {
        let Some(PlannedSubject { instruments: now, .. }) =
            later.subjects.iter().find(|each| each.name == subject.name)
        else {
            continue;
        };
        let is_kept = |name| now.contains(name);
        if subject.instruments.iter().all(is_kept) {
            added.extend(now.iter().filter(|name| !subject.instruments.contains(name)).cloned());
            subject.instruments.clone_from(now);
        }
    }
    for (case, instruments) in &mut plan.instruments_of {
        let Some(now) = later.instruments_of.get(case) else { continue };
        let old = now.iter().filter(|name| instruments.contains(name) || !added.contains(name));
        if instruments.iter().eq(old) {
            instruments.clone_from(now);
        }
    }
}

/// Puts the rows of `cells` in the place of the record's, with the control rows of their run.
/// `skips` are the findings on the servers' semantics.
///
/// # Errors
/// The run does not fit the record, which then stays as it is.
pub fn join(
    record: &mut Record,
    run: &Run,
    rows: &[Row],
    skips: BTreeMap<String, Vec<String>>,
    cells: &JoinedCells,
) -> Result<(), JoinError> {
    let names = &cells.subjects;
    subjects_to_join(record, names)?;
    check(record, &run.new.plan, &run.new.machine, cells)?;
    if run.finished.is_none() {
        return Err(JoinError::Unfinished);
    }
    let Record { mut facts, rows } = Record::of_run(run, rows, skips);
    for (program, now) in facts.versions.iter().filter(|(program, _)| !names.contains(program)) {
        if let Some(before) = record.facts.versions.get(program).filter(|before| *before != now) {
            return Err(JoinError::Version(program.clone(), before.clone(), now.clone()));
        }
    }
    let first_round = take_out(record, cells);
    record.facts.plan.window_max_ms = run.new.plan.window_max_ms;
    add_instruments(&mut record.facts.plan, &run.new.plan, names);
    for mut row in rows {
        row.round += first_round;
        row.is_control = !names.contains(&row.cell.subject);
        record.rows.push(row);
    }
    for name in names {
        let (versions, skips) = (&mut record.facts.versions, &mut record.facts.skips);
        facts.versions.remove(name).and_then(|said| versions.insert(name.clone(), said));
        facts.skips.remove(name).and_then(|found| skips.insert(name.clone(), found));
    }
    for (program, said) in facts.versions {
        record.facts.versions.entry(program).or_insert(said);
    }
    record.facts.joined.push(JoinedRun {
        subjects: names.clone(),
        cases: cells.cases.clone(),
        first_round,
        command: facts.command,
        started: facts.started,
        finished: facts.finished,
        seed: facts.seed,
        control: control_sentence(record, first_round),
    });
    record.sort();
    Ok(())
}

/// Removes the rows of `cells`, and those of earlier runs that were joined for nothing else.
/// Returns the number of the next free round.
fn take_out(record: &mut Record, cells: &JoinedCells) -> u32 {
    let rounds = record.facts.plan.rounds;
    record.rows.retain(|row| row.is_control || !cells.have(&row.cell));
    for joined in record.facts.joined.iter_mut().filter(|joined| cells.cover(joined)) {
        joined.subjects.retain(|subject| !cells.subjects.contains(subject));
    }
    let gone: Vec<u32> = record
        .facts
        .joined
        .extract_if(.., |joined| joined.subjects.is_empty())
        .map(|joined| joined.first_round / rounds)
        .collect();
    record.rows.retain(|row| !gone.contains(&(row.round / rounds)));
    (record.rows.iter().map(|row| row.round / rounds).max().unwrap_or(0) + 1) * rounds
}

/// A subject that other rows are judged by.
fn is_control(subject: &PlannedSubject) -> bool {
    subject.baseline || subject.calibration
}

/// The first field in which two plans differ.
fn difference(a: &Plan, b: &Plan) -> Option<String> {
    let fields = |plan: &Plan| match serde_json::to_value(plan) {
        Ok(serde_json::Value::Object(fields)) => fields,
        _ => serde_json::Map::new(),
    };
    let (a, b) = (fields(a), fields(b));
    a.keys().chain(b.keys()).find(|name| a.get(*name) != b.get(*name)).cloned()
}

/// How the control rows of the later run compare with the record's.
fn control_sentence(record: &Record, first_round: u32) -> String {
    let clauses: Vec<String> = record
        .facts
        .plan
        .subjects
        .iter()
        .filter(|subject| is_control(subject))
        .map(|subject| {
            let ratio = |metric| control_ratio(record, &subject.name, first_round, metric);
            let text = |ratio: Option<Ratio>| ratio.map_or("no ratio".to_owned(), in_words);
            let (cost, rate) = (ratio(&REQUESTS_PER_CPU_SECOND), ratio(&REQUESTS_PER_SECOND));
            format!("{} cost {}, rate {}", subject.name, text(cost), text(rate))
        })
        .collect();
    format!("those over the record's: {}", clauses.join("; "))
}

fn in_words(ratio: Ratio) -> String {
    let interval = ratio
        .interval
        .map(|ends| format!(" ({} to {})", significant_text(ends.low), significant_text(ends.high)))
        .unwrap_or_default();
    format!("{}{interval}", ratio_text(&ratio))
}

/// The later run over the record: in each round the geometric mean over the cells that both have.
fn control_ratio(
    record: &Record,
    subject: &str,
    first_round: u32,
    metric: &MetricDefinition,
) -> Option<Ratio> {
    let rounds = record.facts.plan.rounds;
    let of_round = |round: u32| {
        let own = |row: &&Row| row.round == round && row.cell.subject == subject;
        record
            .rows
            .iter()
            .filter(own)
            .filter_map(|row| {
                let figure = metric.of_round(&MeasuredRound::of(row, None)?)?;
                (figure.is_finite() && figure > 0.0).then_some((&row.cell, figure.ln()))
            })
            .collect::<BTreeMap<_, _>>()
    };
    let pair = |round| {
        let (before, after) = (of_round(round), of_round(first_round + round));
        let both: Vec<(f64, f64)> =
            after.iter().filter_map(|(cell, after)| Some((*after, *before.get(cell)?))).collect();
        let count = both.len() as f64;
        let mean =
            |part: fn(&(f64, f64)) -> f64| (both.iter().map(part).sum::<f64>() / count).exp();
        (!both.is_empty()).then(|| (mean(|pair| pair.0), mean(|pair| pair.1)))
    };
    let pairs: Vec<(f64, f64)> = (0..rounds).filter_map(pair).collect();
    paired_ratio(&pairs).ok()
}
