//! One subject of a record is measured anew, and everybody else's figures stay.

#[path = "../../results/tests/table_rows/mod.rs"]
mod table_rows;

use bookend_report::run::Report;
use bookend_results::join::{JoinError, JoinedCells, check, join, subjects_to_join};
use bookend_results::measurement::{Outcome, Row};
use bookend_results::record::Record;
use bookend_results::store::Run;
use bookend_results::suite::Plan;
use bookend_results::table::{Cell, Table};
use std::collections::BTreeMap;
use table_rows::{ROUNDS, cell, machine, rows, run};

const NAME: &str = "rust-bookend";

fn names() -> Vec<String> {
    vec![NAME.to_owned()]
}

fn cells() -> JoinedCells {
    JoinedCells { subjects: names(), cases: Vec::new() }
}

fn record() -> Record {
    Record::of_run(&run(), &rows(&run().new.plan), BTreeMap::new())
}

/// A later run of the subject with its control rows, on a machine that has become slower: for the
/// same answers, everybody needs so much more CPU time, and the subject half of what it needed.
fn later_run(slower: f64) -> (Run, Vec<Row>) {
    let mut later = run();
    let taken = subjects_to_join(&record(), &names()).expect("it is there");
    later.new.plan.subjects.retain(|subject| taken.contains(&subject.name));
    later.new.plan.notes.clear();
    later.new.command = "bookend run invented --subjects rust-bookend --into a.jsonl".to_owned();
    later.new.versions.insert(NAME.to_owned(), "bookend 2".to_owned());
    let mut rows = rows(&run().new.plan);
    rows.retain(|row| taken.contains(&row.cell.subject));
    for row in &mut rows {
        let factor = if row.cell.subject == NAME { slower / 2.0 } else { slower };
        row.outcome.window_mut().expect("measured").ends.server.cpu_seconds *= factor;
    }
    (later, rows)
}

fn joined(record: &Record, slower: f64) -> Record {
    let mut record = record.clone();
    let (run, rows) = later_run(slower);
    join(&mut record, &run, &rows, BTreeMap::new(), &cells()).expect("it fits");
    record
}

fn table(record: &Record) -> Table {
    Table::new(&record.facts.plan, &record.rows)
}

fn of<'a>(table: &'a Table, subject: &str) -> Vec<&'a Cell> {
    table.cells.iter().filter(|cell| cell.id.subject == subject).collect()
}

#[test]
fn a_run_for_a_record_has_its_control_rows() {
    let taken = subjects_to_join(&record(), &names()).expect("it is there");
    assert_eq!(taken, ["rust-tonic", NAME, "rust-floor"]);
    let refused = |name: &str| subjects_to_join(&record(), &[name.to_owned()]).unwrap_err();
    assert_eq!(refused("rust-x").to_string(), "rust-x is no subject of the record");
    assert_eq!(refused("rust-tonic"), JoinError::Control("rust-tonic".to_owned()));
    assert_eq!(refused("rust-floor"), JoinError::Control("rust-floor".to_owned()));
}

#[test]
fn the_others_keep_their_figures_and_the_subject_is_paired_with_its_own_run() {
    let before = record();
    // Had it been compared with the old baseline, the slower machine would be in its ratio.
    let after = joined(&before, 1.5);
    let (old, new) = (table(&before), table(&after));
    for subject in ["rust-pajamax", "rust-tonic", "rust-floor"] {
        assert_eq!(of(&old, subject), of(&new, subject), "{subject}");
    }
    for (old, new) in of(&old, NAME).into_iter().zip(of(&new, NAME)) {
        assert_eq!(new.rounds, old.rounds);
        let cost = |cell: &Cell| {
            let ratio = cell.summary().expect("measured").ratios.cost_ratio;
            *ratio.ratio().expect("paired")
        };
        assert_eq!(cost(new).pairs, ROUNDS as usize);
        assert!((cost(new).median / cost(old).median - 2.0).abs() < 1e-9, "{new:?}");
    }
    assert_eq!(after.rounds(), ROUNDS);
}

#[test]
fn the_record_says_of_which_run_rows_are_and_how_far_control_rows_differ() {
    let after = joined(&record(), 1.5);
    assert_eq!(Record::parse(&after.text()).expect("a record"), after);
    assert_eq!(after.facts.versions[NAME], "bookend 2");
    let run = after.run();
    let text = Report::new(&run, &after.rows).text();
    let sentence = "rust-bookend in a run begun 2024-02-29T12:34:56Z (`bookend run invented";
    for part in
        [sentence, "rust-tonic cost 0.667 (0.667 to 0.667), rate ~1", "rounds: 7 (7 stored)"]
    {
        assert!(text.contains(part), "{part}: {text}");
    }
}

#[test]
fn a_second_time_takes_the_place_of_the_first() {
    let once = joined(&record(), 1.5);
    let twice = joined(&once, 3.0);
    assert_eq!(twice.rows.len(), once.rows.len());
    assert_eq!(twice.facts.joined.len(), 1);
    assert_eq!(twice, joined(&record(), 3.0));
    let tonic = cell("rust-tonic", "C=1 S=1");
    let of_tonic = twice.rows.iter().filter(|row| row.cell == tonic);
    assert_eq!(of_tonic.filter(|row| row.is_control).count(), ROUNDS as usize);
}

#[test]
fn what_does_not_fit_is_refused_and_leaves_the_record_as_it_is() {
    let refused = |change: fn(&mut Run)| {
        let (mut run, rows) = later_run(1.0);
        change(&mut run);
        let mut record = record();
        let error = join(&mut record, &run, &rows, BTreeMap::new(), &cells()).unwrap_err();
        assert_eq!(record, self::record());
        error
    };
    assert_eq!(refused(|run| run.new.plan.window_ms += 1), JoinError::Plan("window_ms".to_owned()));
    assert_eq!(refused(|run| run.new.machine.cpus += 1), JoinError::Machine);
    assert_eq!(refused(|run| run.finished = None), JoinError::Unfinished);
    let version = refused(|run| {
        run.new.versions.insert("rust-tonic".to_owned(), "tonic 9".to_owned());
    });
    let said = "rust-tonic was tonic 0.14.2 in the record and is tonic 9: record the suite anew";
    assert_eq!(version.to_string(), said);
    let (whole, machine) = (run().new.plan, machine());
    let short = Plan { rounds: 1, ..later_run(1.0).0.new.plan };
    assert_eq!(
        check(&record(), &short, &machine, &cells()),
        Err(JoinError::Plan("rounds".to_owned()))
    );
    assert_eq!(check(&record(), &whole, &machine, &cells()), Ok(()));
}

/// The later run, of one case alone, where windows may be as long as that.
fn later_run_of(case: &str, window_max_ms: Option<u64>) -> (Run, Vec<Row>, JoinedCells) {
    let (mut run, mut rows) = later_run(1.0);
    run.new.plan.cases.retain(|each| each.to_string() == case);
    run.new.plan.window_max_ms = window_max_ms;
    rows.retain(|row| row.cell.case.to_string() == case);
    (run, rows, JoinedCells { cases: vec![case.to_owned()], ..cells() })
}

#[test]
fn one_case_of_a_subject_is_measured_anew_and_its_others_stay() {
    let before = record();
    let cases: Vec<String> = before.facts.plan.cases.iter().map(ToString::to_string).collect();
    let (run, rows, cells) = later_run_of(&cases[0], before.facts.plan.window_max_ms);
    let mut after = before.clone();
    join(&mut after, &run, &rows, BTreeMap::new(), &cells).expect("it fits");
    let own = |record: &Record, case: &str| {
        let is_own = |row: &&Row| row.cell.subject == NAME && row.cell.case.to_string() == case;
        record.rows.iter().filter(is_own).cloned().collect::<Vec<Row>>()
    };
    assert!(own(&after, &cases[0]).iter().all(|row| row.round >= ROUNDS));
    assert_eq!(own(&after, &cases[1]), own(&before, &cases[1]));
    let (old, new) = (table(&before), table(&after));
    for (old, new) in of(&old, NAME).into_iter().zip(of(&new, NAME)) {
        let is_anew = old.id.case.to_string() == cases[0];
        assert!(new.summary().is_some(), "{new:?}");
        assert!(is_anew || old == new, "{new:?}");
    }
    let note = after.facts.joined[0].note();
    assert!(note.contains(&format!("{NAME} at {} in a run begun", cases[0])), "{note}");
    assert_eq!(Record::parse(&after.text()).expect("a record"), after);
    // All of its cases: nothing of the run before is left.
    let all = joined(&after, 1.0);
    assert_eq!(all.facts.joined.len(), 1);
    assert_eq!(all, joined(&before, 1.0));
}

#[test]
fn longer_windows_are_allowed_where_no_cell_stays_refused() {
    let mut before = record();
    let case = before.facts.plan.cases[0].to_string();
    let (run, rows, cells) = later_run_of(&case, Some(80_000));
    let refused = |reason: &str| Outcome::Refused { reason: reason.to_owned(), window: None };
    let of = |row: &&mut Row, subject: &str| row.cell.subject == subject;
    for row in before.rows.iter_mut().filter(|row| of(row, NAME)) {
        if row.cell.case.to_string() == case {
            row.outcome = refused("a window of 60 s");
        }
    }
    let mut after = before.clone();
    join(&mut after, &run, &rows, BTreeMap::new(), &cells).expect("it was refused");
    assert_eq!(after.facts.plan.window_max_ms, Some(80_000));
    before.rows.iter_mut().find(|row| of(row, "rust-pajamax")).expect("a row").outcome =
        refused("a window of 60 s");
    let error = join(&mut before, &run, &rows, BTreeMap::new(), &cells).unwrap_err();
    assert!(matches!(error, JoinError::Refused(_)), "{error}");
}

#[test]
fn a_subject_may_have_one_more_instrument_and_the_others_may_not() {
    let before = record();
    let (mut run, mut rows) = later_run(1.0);
    let with_one_more = |run: &mut Run, name: &str| {
        run.new
            .plan
            .subjects
            .iter_mut()
            .find(|each| each.name == name)
            .expect("it is there")
            .instruments
            .push("h2load".to_owned());
    };
    with_one_more(&mut run, NAME);
    run.new.versions.insert("h2load".to_owned(), "h2load 1".to_owned());
    let more: Vec<Row> = rows
        .iter()
        .filter(|row| row.cell.subject == NAME)
        .cloned()
        .map(|mut row| {
            row.cell.instrument = "h2load".to_owned();
            row
        })
        .collect();
    rows.extend(more.iter().cloned());
    let mut after = before.clone();
    join(&mut after, &run, &rows, BTreeMap::new(), &cells()).expect("it fits");
    let added = after.rows.iter().filter(|row| row.cell.instrument == "h2load");
    assert_eq!(added.count(), more.len());
    assert_eq!(after.facts.versions["h2load"], "h2load 1");
    let planned = |record: &Record, name: &str| {
        record
            .facts
            .plan
            .subjects
            .iter()
            .find(|each| each.name == name)
            .expect("it is there")
            .instruments
            .clone()
    };
    assert!(planned(&after, NAME).contains(&"h2load".to_owned()));
    assert_eq!(planned(&after, "rust-tonic"), planned(&before, "rust-tonic"));

    with_one_more(&mut run, "rust-tonic");
    let error = join(&mut before.clone(), &run, &rows, BTreeMap::new(), &cells()).unwrap_err();
    assert_eq!(error, JoinError::Plan("subjects".to_owned()));
}

#[test]
fn a_case_may_be_measured_with_one_more_instrument() {
    let mut before = record();
    let (mut run, rows) = later_run(1.0);
    let case = before.facts.plan.cases[0];
    let listed = before.facts.plan.subjects[0].instruments.clone();
    let with_more = |name: &str| [listed.clone(), vec![name.to_owned()]].concat();
    before.facts.plan.instruments_of.insert(case, listed.clone());
    run.new.plan.instruments_of.insert(case, with_more("h2load"));
    let joined = |run: &Run| {
        let mut after = before.clone();
        join(&mut after, run, &rows, BTreeMap::new(), &cells()).map(|()| after)
    };
    let error = joined(&run).expect_err("nobody has that instrument");
    assert_eq!(error, JoinError::Plan("instruments_of".to_owned()));
    run.new
        .plan
        .subjects
        .iter_mut()
        .find(|each| each.name == NAME)
        .expect("it is there")
        .instruments
        .push("h2load".to_owned());
    let after = joined(&run).expect("the subject measured anew has it");
    assert_eq!(after.facts.plan.instruments_of[&case], with_more("h2load"));
}
