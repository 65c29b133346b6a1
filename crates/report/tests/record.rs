//! A run becomes a file, and the file the same run again.

#[path = "../../results/tests/table_rows/mod.rs"]
mod table_rows;

use bookend_contract::latency;
use bookend_report::run::Report;
use bookend_results::measurement::{Outcome, Row};
use bookend_results::record::{FORMAT, Record, RecordError, decompressed, file_in, file_of};
use bookend_results::store::Run;
use bookend_results::suite::Extent;
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::Path;
use table_rows::{cell, row, rows, run};

fn all_rows() -> Vec<Row> {
    rows(&run().new.plan)
}

fn record(run: &Run, rows: &[Row]) -> Record {
    let skips = vec!["PING".to_owned(), "SETTINGS".to_owned()];
    Record::of_run(run, rows, BTreeMap::from([("rust-pajamax".to_owned(), skips)]))
}

#[test]
fn a_run_is_the_same_after_it_was_written_and_read() {
    let record = record(&run(), &all_rows());
    let read = Record::parse(&record.text()).expect("a record");
    assert_eq!(read, record);
    assert_eq!(read.text(), record.text());
    assert_eq!(read.run().new, run().new);
    assert_eq!(read.run().notes, run().notes);
}

/// The keys in one order: there are records of several versions, which wrote them in others.
/// Without the key that told rows of joined runs, which their rounds tell as well, and without a
/// word that said that nothing was judged.
fn in_order_of_keys(json: &str) -> String {
    let mut row = json.parse::<Value>().expect("JSON");
    row.as_object_mut().expect("a row").remove("is_control");
    let outcome = row["outcome"].as_object_mut().expect("an outcome");
    if outcome.get("steady").is_some_and(|steady| steady == "unknown") {
        outcome.remove("steady");
    }
    row.to_string()
}

#[test]
fn a_committed_row_is_the_same_byte_for_byte_after_it_was_read_and_written() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    // Servers with a backend, clients under test, and a record that has short figures.
    for suite in ["java-executors", "python-clients", "pajamax-tonic"] {
        let file = file_of(&root.join("records"), suite, Extent::Full);
        let text = decompressed(std::fs::read(&file).expect("readable")).expect("whole");
        let text = String::from_utf8(text).expect("UTF-8");
        for line in text.lines().skip(1) {
            let row: Row = serde_json::from_str(line).expect("a row");
            let written = serde_json::to_string(&row).expect("JSON");
            assert_eq!(in_order_of_keys(&written), in_order_of_keys(line), "{suite}");
        }
    }
}

#[test]
fn the_order_in_which_rows_were_measured_leaves_no_trace() {
    let mut shuffled = all_rows();
    shuffled.reverse();
    let text = |rows: &[Row]| record(&run(), rows).text();
    assert_eq!(text(&shuffled), text(&all_rows()));
}

#[test]
fn tables_from_a_record_are_those_of_the_run() {
    let rows = all_rows();
    let read = Record::parse(&record(&run(), &rows).text()).expect("a record");
    let (from_run, from_record) = (run(), read.run());
    assert_eq!(Report::new(&from_record, &read.rows).text(), Report::new(&from_run, &rows).text());
}

#[test]
fn a_file_in_its_folder_is_read_by_what_is_in_it() {
    let home = tempfile::tempdir().expect("a temporary folder");
    let folder = home.path().join("invented");
    std::fs::create_dir_all(&folder).expect("made");
    assert_eq!(file_in(&folder, Extent::Quick), None);
    let record = record(&run(), &all_rows());
    let kept = file_of(home.path(), "invented", Extent::Quick);
    assert!(kept.ends_with("invented/quick.jsonl.zst"));
    for file in [folder.join("quick.jsonl"), kept] {
        std::fs::write(&file, record.text()).expect("written");
        assert_eq!(file_in(&folder, Extent::Quick).as_ref(), Some(&file));
        assert_eq!(file_in(&folder, Extent::Full), None);
        assert_eq!(Record::read(&file).as_ref(), Ok(&record), "whatever its name");
    }
}

#[test]
fn no_folder_of_the_machine_gets_into_a_record() {
    let mut run = run();
    let home = concat!("/ho", "me/somebody/project");
    run.new.command = format!("bookend run invented --store {home}/b.db");
    run.notes.push(format!("{home}/subjects is old"));
    let error = format!("{home}/target/x ended with status 1");
    let failed = row(0, cell("rust-tonic", "C=1 S=1"), Outcome::failed(error));
    let text = record(&run, &[failed]).text();
    assert!(!text.contains("somebody"), "{text}");
    assert!(text.contains("--store b.db"), "{text}");
    assert!(text.contains("x ended with status 1"), "{text}");
}

#[test]
fn a_record_has_three_digits_of_latencies_unless_it_says_otherwise() {
    let mut wide = latency::empty();
    for step in 1..20_000_u64 {
        latency::record(&mut wide, step * step * 20, step);
    }
    let mut rows = all_rows();
    for row in &mut rows {
        if let Outcome::Measured(measurement) = &mut row.outcome {
            measurement.latency_histogram = latency::encode(&wide);
        }
    }
    let mut record = record(&run(), &rows);
    assert_eq!(record.facts.latency_digits, 3);
    assert_eq!(Record::parse(&record.text()).expect("a record"), record);
    record.facts.latency_digits = 2;
    let text = record.text();
    let read = Record::parse(&text).expect("a record");
    assert_eq!(read.facts.latency_digits, 2);
    assert_eq!(read.text(), text);
    let Outcome::Measured(measurement) = &read.rows[0].outcome else {
        panic!("measured rows stay measured");
    };
    let read = latency::decode(&measurement.latency_histogram).expect("a histogram");
    assert_eq!(read.len(), wide.len());
}

#[test]
fn a_plan_has_no_more_rounds_and_cells_than_a_suite_may_have() {
    let with = |change: &dyn Fn(&mut Run)| {
        let mut changed = run();
        change(&mut changed);
        Record::parse(&record(&changed, &[]).text())
    };
    assert!(with(&|_| ()).is_ok());
    let error = with(&|run| run.new.plan.rounds = u32::MAX).expect_err("rounds").to_string();
    assert!(error.starts_with("line 1 of the record: 4294967295 rounds: give 1 to"), "{error}");
    let many = |run: &mut Run| {
        let plan = &mut run.new.plan;
        plan.subjects[0].instruments = (0..200).map(|number| number.to_string()).collect();
        plan.cases = plan.cases.repeat(20);
    };
    let error = with(&many).expect_err("cells").to_string();
    assert!(error.starts_with("line 1 of the record: it has more than 10000 cells"), "{error}");
}

#[test]
fn counts_beyond_all_reason_and_endless_words_are_refused_in_a_line() {
    let text = record(&run(), &all_rows()).text();
    let counts = text.replacen("\"unfinished\":0", "\"unfinished\":18446744073709551615", 1);
    let error = Record::parse(&counts).expect_err("a count").to_string();
    assert!(error.contains("no program makes more than 2^53"), "{error}");
    let words = format!("\"unfinished\":{:?}", "word ".repeat(100_000));
    let error = Record::parse(&text.replacen("\"unfinished\":0", &words, 1)).expect_err("a word");
    let error = error.to_string();
    assert!(error.contains("line 2 of the record: invalid type: string") && error.len() < 400);
}

#[test]
fn what_is_no_record_is_answered_with_its_line() {
    let text = record(&run(), &all_rows()).text();
    assert_eq!(Record::parse(""), Err(RecordError::Empty));
    let newer = text.replacen(&format!("\"record\":{FORMAT}"), "\"record\":99", 1);
    assert_eq!(Record::parse(&newer), Err(RecordError::OtherFormat(99)));
    let broken = text.replacen("\"outcome\":\"measured\"", "\"outcome\":\"guessed\"", 1);
    let error = Record::parse(&broken).expect_err("line 2").to_string();
    assert!(error.starts_with("line 2 of the record"), "{error}");
    let absent = Record::read(Path::new("no-such-folder/full.jsonl"));
    assert!(matches!(absent, Err(RecordError::Unreadable(_))));
}
