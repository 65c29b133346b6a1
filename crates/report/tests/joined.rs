//! Records that were joined from two runs are read as they were, and do not rank one run's rows
//! with the other's.

#[path = "../../results/tests/table_rows/mod.rs"]
mod table_rows;

use bookend_report::chart::Theme;
use bookend_report::run::Report;
use bookend_results::measurement::Row;
use bookend_results::record::{JoinedRun, Record, first_run, rows_of_cell, run_of};
use bookend_results::table::{Cell, Table};
use std::collections::BTreeMap;
use table_rows::{ROUNDS, cell, rows, run};

const NAME: &str = "rust-bookend";

const SAID: &str = "Joined from two runs, and rows of one are not ranked with those of another. Not of \
                    the first: rust-bookend.";

fn record() -> Record {
    Record::of_run(&run(), &rows(&run().new.plan), BTreeMap::new())
}

/// The rows of a later run of the subject, the baseline and the floor: for the same answers,
/// everybody needs half as much CPU time again, and the subject half of what it needed.
fn later_rows() -> Vec<Row> {
    let mut later = record().rows;
    later.retain(|row| row.cell.subject != "rust-pajamax");
    for row in &mut later {
        row.round += ROUNDS;
        let factor = if row.cell.subject == NAME { 1.5 / 2.0 } else { 1.5 };
        row.outcome.window_mut().expect("measured").ends.server.cpu_seconds *= factor;
    }
    later
}

fn joined() -> Record {
    let mut joined = record();
    joined.rows.retain(|row| row.cell.subject != NAME);
    joined.rows.extend(later_rows());
    joined.facts.joined.push(JoinedRun {
        subjects: vec![NAME.to_owned()],
        cases: Vec::new(),
        command: "bookend run invented --subjects rust-bookend".to_owned(),
        started: joined.facts.started,
    });
    joined
}

fn table(record: &Record) -> Table {
    Table::new(&record.facts.plan, &record.rows)
}

fn of<'a>(table: &'a Table, subject: &str) -> Vec<&'a Cell> {
    table.cells.iter().filter(|cell| cell.id.subject == subject).collect()
}

#[test]
fn the_others_keep_their_figures_and_the_subject_is_paired_with_its_own_run() {
    let (before, after) = (record(), joined());
    let (old, new) = (table(&before), table(&after));
    for subject in ["rust-pajamax", "rust-tonic", "rust-floor"] {
        assert_eq!(of(&old, subject), of(&new, subject), "{subject}");
    }
    for (old, new) in of(&old, NAME).into_iter().zip(of(&new, NAME)) {
        assert_eq!((new.rounds, old.run, new.run), (old.rounds, 0, 1));
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
fn no_rows_of_two_runs_are_ever_beside_each_other() {
    let Record { facts, rows } = joined();
    let has = |subject: &'static str| {
        move |run: &[Row]| run.iter().any(|row| row.cell == cell(subject, "C=1 S=100"))
    };
    for (one, other, of_run) in [
        ("rust-tonic", "rust-pajamax", Some(0)),
        ("rust-tonic", "rust-floor", Some(0)),
        (NAME, "rust-tonic", Some(1)),
        (NAME, "rust-pajamax", None),
    ] {
        let shared = first_run(&facts.plan, &rows, |run| has(one)(run) && has(other)(run));
        assert_eq!(shared.first().map(|row| run_of(&facts.plan, row)), of_run, "{one}, {other}");
        assert!(shared.iter().all(|row| Some(run_of(&facts.plan, row)) == of_run));
    }
    let tonic = cell("rust-tonic", "C=1 S=100");
    let rounds: Vec<u32> = rows_of_cell(&facts.plan, &rows, &tonic).map(|row| row.round).collect();
    assert_eq!(rounds, Vec::from_iter(0..ROUNDS));
}

#[test]
fn every_form_says_it_first() {
    let record = joined();
    let (run, one_run) = (record.run(), self::record());
    let report = Report::new(&run, &record.rows);
    assert_eq!(report.text().lines().next(), Some(SAID));
    assert_eq!(report.brief(100, &[]).lines().next(), Some(SAID));
    assert_eq!(report.markdown().lines().nth(2), Some(SAID));
    let page = report.html();
    let (_, below) = page.split_once("</h1>\n").expect("a title");
    assert!(below.starts_with(&format!("<p class=\"note\">{SAID} Suite ")), "{below}");
    let json = report.json();
    assert_eq!(json.lines().nth(2), Some(format!("  \"joined\": \"{SAID}\",").as_str()));
    assert!(report.text().contains("| rust-bookend, other run "), "{}", report.text());
    let sentence = "note: measured anew: rust-bookend in a run begun 2024-02-29T12:34:56Z";
    assert!(report.text().contains(sentence), "{}", report.text());

    let run = one_run.run();
    let report = Report::new(&run, &one_run.rows);
    for text in
        [report.text(), report.brief(100, &[]), report.markdown(), report.html(), report.json()]
    {
        assert!(!text.contains("oined") && !text.contains("other run"), "{text}");
    }
}

#[test]
fn only_the_cases_of_the_later_run_are_named() {
    let mut record = joined();
    let is_late = |row: &Row| row.round >= ROUNDS && row.cell.case.concurrency == 1;
    record.rows.retain(|row| !is_late(row));
    let said = table(&record).joined().expect("joined");
    assert!(said.ends_with("Not of the first: rust-bookend at C=1 S=100, C=100 S=100."), "{said}");
}

#[test]
fn the_answer_ranks_nobody_with_the_rows_of_another_run() {
    let answer = |record: &Record| Report::new(&record.run(), &record.rows).answer().join("\n");
    let (before, after) = (answer(&record()), answer(&joined()));
    assert!(before.contains("rust-bookend needs") || before.contains("comes rust-bookend"));
    let unranked = " Not ranked, measured in a run of its own: rust-bookend.";
    assert!(after.contains("rust-pajamax needs") && after.contains(unranked), "{after}");
    assert_eq!(after.matches("rust-bookend").count(), 1, "{after}");

    let mut alone = joined();
    for subject in &mut alone.facts.plan.subjects {
        subject.baseline = false;
    }
    let costs = answer(&alone);
    assert!(costs.contains("rust-tonic ") && !costs.contains("rust-bookend"), "{costs}");
}

#[test]
fn no_picture_ranks_rows_of_two_runs() {
    let drawn = |record: &Record| {
        let run = record.run();
        let report = Report::new(&run, &record.rows);
        let pictures = report.named_pictures();
        pictures.iter().map(|(_, picture)| picture.svg(Theme::Light)).collect::<String>()
    };
    let (before, after) = (drawn(&record()), drawn(&joined()));
    assert!(before.contains(NAME) && after.contains("rust-pajamax"));
    assert!(!after.contains(NAME), "{after}");
}

#[test]
fn what_earlier_versions_wrote_is_read() {
    let mut text = joined().text();
    let later = format!("{{\"round\":{ROUNDS},");
    text = text.replacen(&later, &format!("{later}\"is_control\":true,"), 1);
    let written =
        "\"joined\":[{\"first_round\":7,\"seed\":1,\"finished\":null,\"control\":\"as before\",";
    text = text.replacen("\"joined\":[{", written, 1);
    assert!(text.contains("is_control") && text.contains("first_round"), "{text}");
    assert_eq!(Record::parse(&text).expect("a record"), joined());
}
