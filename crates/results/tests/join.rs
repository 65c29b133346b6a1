//! One subject of a record is measured anew, and everybody else's figures stay.

mod table_rows;

use bookend_results::export::Report;
use bookend_results::join::{JoinError, check, join, subjects_to_join};
use bookend_results::measurement::Row;
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
        row.outcome.window_mut().expect("measured").server_cpu_seconds *= factor;
    }
    (later, rows)
}

fn joined(record: &Record, slower: f64) -> Record {
    let mut record = record.clone();
    let (run, rows) = later_run(slower);
    join(&mut record, &run, &rows, BTreeMap::new(), &names()).expect("it fits");
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
        let error = join(&mut record, &run, &rows, BTreeMap::new(), &names()).unwrap_err();
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
    assert_eq!(check(&record(), &short, &machine), Err(JoinError::Plan("rounds".to_owned())));
    assert_eq!(check(&record(), &whole, &machine), Ok(()));
}
