//! Results survive: crashes, other people's files, older and newer versions.

mod table_rows;

use bookend_contract::timestamp::Timestamp;
use bookend_results::measurement::{Measurement, Outcome};
use bookend_results::record::{cut_off_raw_files, raw_text};
use bookend_results::store::{RunId, SCHEMA_VERSION, Store, StoreError};
use rusqlite::Connection;
use std::collections::BTreeSet;
use std::path::PathBuf;
use table_rows::{cell, measured, measurement, new_run, row, rows};

struct Home {
    folder: tempfile::TempDir,
}

impl Home {
    fn new() -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        Self { folder }
    }

    fn file(&self) -> PathBuf {
        self.folder.path().join("bookend.db")
    }

    fn open(&self) -> Store {
        Store::open(&self.file()).expect("opened")
    }
}

fn later() -> Timestamp {
    Timestamp::from_unix_ms(1_709_210_196_000)
}

#[test]
fn what_is_written_is_read_again_by_the_next_process() {
    let home = Home::new();
    let new = new_run();
    let all = rows(&new.plan);
    let mut store = home.open();
    let id = store.begin_run(&new).expect("begun");
    for round in 0..new.plan.rounds {
        let round_rows: Vec<_> = all.iter().filter(|row| row.round == round).cloned().collect();
        store.write_round(id, round, &round_rows).expect("written");
    }
    store.add_note(id, "it rained").expect("noted");
    store.add_note(id, "a \"quoted\" note").expect("noted");
    store.finish_run(id, later()).expect("finished");
    drop(store);

    let store = Store::open_existing(&home.file()).expect("opened");
    let run = store.run(id).expect("there");
    assert_eq!(run.new, new);
    assert_eq!(run.finished, Some(later()));
    assert_eq!(run.notes, ["it rained", "a \"quoted\" note"]);
    assert_eq!(store.rows(id).expect("readable"), all);
    assert_eq!(store.latest_run().expect("readable"), Some(run));
}

#[test]
fn what_both_ends_noted_is_kept_with_their_row() {
    let mut store = Store::in_memory().expect("opened");
    let id = store.begin_run(&new_run()).expect("begun");
    let mut measurement = measurement(1, 100, 0.5);
    measurement.notes.insert("connections_opened".into(), 64.0);
    measurement.ends.caller.cpu_sampled_seconds = Some(0.25);
    measurement.ends.caller.threads = Some(7);
    let mut row = measured(0, cell("a", "C=1 S=1 calls=100"), measurement);
    row.has_own_server = true;
    (row.server_life, row.cells_before) = (2, Some(7));
    row.server_notes.insert("gc_share".into(), 0.125);
    row.backend_notes.insert("gc_cycles".into(), 57.0);
    row.backend_served = Some(101);
    store.write_round(id, 0, std::slice::from_ref(&row)).expect("written");
    assert_eq!(store.rows(id).expect("readable"), [row]);
}

#[test]
fn what_a_foreign_instrument_printed_is_kept_of_one_round() {
    let mut store = Store::in_memory().expect("opened");
    let id = store.begin_run(&new_run()).expect("begun");
    let printed = |round: u32, text: &str| {
        let raw_output = Some(text.to_owned());
        let window = Measurement { raw_output, ..measurement(1, 100, 0.5) };
        measured(round, cell("a/b", "C=1 S=1 calls=100"), window)
    };
    store.write_round(id, 0, &[printed(0, "first\n")]).expect("written");
    store.write_round(id, 1, &[printed(1, "second\n")]).expect("written");
    let kept = |store: &Store| store.raw_outputs(id).expect("readable");
    assert_eq!((kept(&store).len(), kept(&store)[0].text.as_str()), (1, "first\n"));
    assert_eq!(kept(&store)[0].file_name(), "a-b.C=1_S=1_calls=100.bookend-load.txt");
    store.write_round(id, 0, &[printed(0, "{\"at\": \"/srv/me/a.proto\"}\n")]).expect("again");
    assert!(kept(&store)[0].file_name().ends_with(".json"), "its round was measured again");
    assert_eq!(raw_text(&kept(&store)[0]), "{\"at\": \"a.proto\"}\n", "no folder of the machine");
}

#[test]
fn a_file_that_was_cut_once_is_known_by_its_end() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    for (name, text) in [
        ("whole.json", "{}\n"),
        ("b.json", "{\"a\": \n(cut off here)\n"),
        ("a.txt", "x\n(cut off here)\n"),
        ("inside.txt", "x\n(cut off here)\ny\n"),
        ("empty.txt", ""),
    ] {
        std::fs::write(folder.path().join(name), text).expect("written");
    }
    assert_eq!(cut_off_raw_files(folder.path()).expect("readable"), ["a.txt", "b.json"]);
}

#[test]
fn every_outcome_is_kept_with_its_words() {
    let mut store = Store::in_memory().expect("opened");
    let id = store.begin_run(&new_run()).expect("begun");
    let reason = "no \"go\" here; DROP TABLE rows".to_owned();
    let mut all = vec![
        row(0, cell("a", "C=1 S=1"), Outcome::Unsupported { reason: reason.clone() }),
        row(0, cell("b", "C=1 S=1"), Outcome::failed(reason.clone())),
        row(0, cell("c", "C=1 S=1"), Outcome::Missing { reason }),
        measured(0, cell("d", "C=1 S=1"), measurement(1, 100, 0.5)),
    ];
    let mut late = measured(0, cell("e", "C=1 S=1"), measurement(1, 100, 0.5));
    late.outcome.fail("too late");
    assert!(late.outcome.window().is_some());
    all.push(late);
    all[3].served = Some(u64::MAX);
    all[3].probe_calls = 12;
    store.write_round(id, 0, &all).expect("written");
    assert_eq!(store.rows(id).expect("readable"), all);
}

#[test]
fn a_round_is_stored_whole_or_not_at_all() {
    let mut store = Store::in_memory().expect("opened");
    let id = store.begin_run(&new_run()).expect("begun");
    let one = measured(0, cell("a", "C=1 S=1"), measurement(1, 100, 0.5));
    store.write_round(id, 0, std::slice::from_ref(&one)).expect("written");

    let twice = [one.clone(), one.clone()];
    store.write_round(id, 1, &twice).expect_err("one cell has one row a round");
    assert_eq!(store.complete_rounds(id).expect("readable"), BTreeSet::from([0]));
    assert_eq!(store.rows(id).expect("readable"), [one]);
}

#[test]
fn a_round_that_is_measured_again_replaces_the_old_one() {
    let mut store = Store::in_memory().expect("opened");
    let id = store.begin_run(&new_run()).expect("begun");
    let old = measured(0, cell("a", "C=1 S=1"), measurement(1, 100, 0.5));
    let new = measured(0, cell("a", "C=1 S=1"), measurement(1, 200, 0.5));
    store.write_round(id, 0, &[old]).expect("written");
    store.write_round(id, 0, std::slice::from_ref(&new)).expect("written");
    assert_eq!(store.rows(id).expect("readable"), [new]);
}

#[test]
fn a_round_of_no_run_is_refused() {
    let mut store = Store::in_memory().expect("opened");
    let outcome = store.write_round(RunId(7), 0, &[]);
    assert!(matches!(outcome, Err(StoreError::Unusable { .. })), "{outcome:?}");
}

#[test]
fn the_run_to_resume_is_the_latest_unfinished_of_its_suite() {
    let mut store = Store::in_memory().expect("opened");
    let mut other = new_run();
    other.plan.suite = "other".into();
    let first = store.begin_run(&new_run()).expect("begun");
    let second = store.begin_run(&new_run()).expect("begun");
    let third = store.begin_run(&new_run()).expect("begun");
    store.begin_run(&other).expect("begun");
    store.finish_run(third, later()).expect("finished");
    store.write_round(second, 0, &[]).expect("written");
    store.write_round(second, 4, &[]).expect("written");

    let resumed = store.latest_unfinished("invented").expect("readable").expect("one");
    assert_eq!(resumed.id, second);
    let complete = store.complete_rounds(resumed.id).expect("readable");
    assert_eq!(complete, BTreeSet::from([0, 4]));

    store.finish_run(second, later()).expect("finished");
    let resumed = store.latest_unfinished("invented").expect("readable").expect("one");
    assert_eq!(resumed.id, first);
    assert_eq!(store.latest_unfinished("unknown").expect("readable"), None);
    assert_eq!(store.runs().expect("readable").len(), 4);
}

#[test]
fn what_the_semantics_check_found_is_kept_by_version() {
    let mut store = Store::in_memory().expect("opened");
    let findings = serde_json::json!({"ping": "skips"});
    store.write_semantics("rust-pajamax", "0.3.3", &findings).expect("written");
    let read = |version| store.semantics("rust-pajamax", version).expect("readable");
    assert_eq!(read("0.3.3"), Some(findings));
    assert_eq!(read("0.4.0"), None);
}

#[test]
fn a_file_that_is_something_else_is_left_alone() {
    let home = Home::new();
    let text = "These are my holiday notes, longer than the header of a database file. ".repeat(9);
    std::fs::write(home.file(), &text).expect("written");
    let error = Store::open(&home.file()).expect_err("no database");
    assert_eq!(error, StoreError::Foreign(home.file()));
    assert_eq!(std::fs::read_to_string(home.file()).expect("readable"), text);
}

#[test]
fn the_database_of_another_program_is_left_alone() {
    let home = Home::new();
    let other = Connection::open(home.file()).expect("opened");
    other.execute_batch("CREATE TABLE songs (title TEXT)").expect("made");
    drop(other);
    let error = Store::open(&home.file()).expect_err("not ours");
    assert_eq!(error, StoreError::Foreign(home.file()));
    assert!(error.to_string().contains("--store"), "{error}");
}

#[test]
fn a_file_of_a_newer_version_is_left_alone() {
    let home = Home::new();
    drop(home.open());
    let newer = Connection::open(home.file()).expect("opened");
    newer.pragma_update(None, "user_version", SCHEMA_VERSION + 1).expect("set");
    drop(newer);
    let error = Store::open(&home.file()).expect_err("newer");
    let found = SCHEMA_VERSION + 1;
    assert_eq!(error, StoreError::Newer { file: home.file(), found, known: SCHEMA_VERSION });
    assert!(error.to_string().contains("update bookend"), "{error}");
}

#[test]
fn a_file_that_another_process_is_writing_is_named_as_locked() {
    let home = Home::new();
    let mut store = home.open();
    let id = store.begin_run(&new_run()).expect("begun");
    let other = Connection::open(home.file()).expect("opened");
    other.execute_batch("BEGIN EXCLUSIVE").expect("locked");
    let locked = StoreError::Locked(home.file());
    assert_eq!(store.write_round(id, 0, &[]), Err(locked.clone()));
    assert_eq!(Store::open(&home.file()).expect_err("locked"), locked);
    other.execute_batch("ROLLBACK").expect("let go");
    store.write_round(id, 0, &[]).expect("written now");
}

#[test]
fn a_damaged_figure_names_the_file() {
    let home = Home::new();
    let mut store = home.open();
    let id = store.begin_run(&new_run()).expect("begun");
    let one = measured(0, cell("a", "C=1 S=1"), measurement(1, 100, 0.5));
    store.write_round(id, 0, &[one]).expect("written");
    let other = Connection::open(home.file()).expect("opened");
    other.execute("UPDATE rows SET outcome = '{'", []).expect("damaged");
    let error = store.rows(id).expect_err("damaged");
    assert!(matches!(error, StoreError::Damaged { .. }), "{error:?}");
}

#[test]
fn a_run_that_cannot_be_read_does_not_hide_the_others() {
    let home = Home::new();
    let mut store = home.open();
    let [first, broken] = [(); 2].map(|()| store.begin_run(&new_run()).expect("begun"));
    let other = Connection::open(home.file()).expect("opened");
    other.execute("UPDATE runs SET plan = '{' WHERE id = ?", [broken.0]).expect("damaged");
    let runs = store.runs().expect("readable");
    assert_eq!(runs[0].as_ref().map(|run| run.id), Ok(first));
    let why = runs[1].as_ref().expect_err("damaged").to_string();
    assert!(why.starts_with("run 2 cannot be read: EOF while parsing"), "{why}");
    assert!(store.run(first).is_ok());
    let error = store.latest_run().expect_err("damaged");
    assert_eq!(error, StoreError::Damaged { file: home.file(), reason: why });
}

#[test]
fn what_does_not_exist_is_said_so() {
    let home = Home::new();
    let error = Store::open_existing(&home.file()).expect_err("absent");
    assert_eq!(error, StoreError::Absent(home.file()));
    assert!(!home.file().exists(), "looking must not make it");
    let error = home.open().run(RunId(9)).expect_err("no such run");
    assert_eq!(error, StoreError::NoSuchRun(RunId(9)));
    let folder = Store::open(home.folder.path()).expect_err("a folder");
    assert!(matches!(folder, StoreError::Unusable { .. }), "{folder:?}");
}

#[test]
fn a_reader_sees_finished_rounds_while_a_run_goes_on() {
    let home = Home::new();
    let mut writer = home.open();
    let id = writer.begin_run(&new_run()).expect("begun");
    let reader = home.open();
    for round in 0..3 {
        writer.write_round(id, round, &[]).expect("written");
        let complete = reader.complete_rounds(id).expect("readable");
        assert_eq!(complete, (0..=round).collect());
    }
}
