//! `bookend record` and `bookend results`: the committed pages are what the committed records give.

use bookend_results::measurement::{CellId, Measurement, Outcome, Row};
use bookend_results::record::{Record, file_of};
use bookend_results::store::{NewRun, Store, Timestamp};
use bookend_results::suite::{Extent, Overrides, Plan, Selection, Suite};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use tempfile::TempDir;

const SUITE: &str = "helloworld-profile";

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn bookend(folder: &Path, words: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_bookend"));
    command.current_dir(folder).args(words);
    command.output().expect("the command starts")
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// A folder with one suite, and a store with a run of it.
fn bench() -> TempDir {
    let home = tempfile::tempdir().expect("a temporary folder");
    let (from, to) = (root().join("suites").join(SUITE), home.path().join("suites").join(SUITE));
    fs::create_dir_all(&to).expect("created");
    for name in ["suite.toml", "results.toml", "published.csv", "published-profile.csv"] {
        fs::copy(from.join(name), to.join(name)).expect("copied");
    }
    let mut store = Store::open(&home.path().join("bookend.db")).expect("a store");
    let plan = plan(&to);
    let run = store.begin_run(&new_run(&plan)).expect("begun");
    for round in 0..plan.rounds {
        let rows: Vec<Row> = plan.cells().into_iter().map(|cell| row(round, cell.id)).collect();
        store.write_round(run, round, &rows).expect("written");
    }
    store.finish_run(run, Timestamp::from_unix_ms(60_000)).expect("finished");
    store.begin_run(&new_run(&plan)).expect("a second run, not finished");
    home
}

fn plan(folder: &Path) -> Plan {
    let selection = Selection { extent: Extent::Quick, ..Selection::default() };
    let suite = Suite::read(folder).expect("well-formed");
    suite.plan(&selection, &Overrides::default(), 2).expect("a plan")
}

fn new_run(plan: &Plan) -> NewRun {
    NewRun {
        started: Timestamp::from_unix_ms(0),
        plan: plan.clone(),
        suite_text: fs::read_to_string(root().join("suites").join(SUITE).join("suite.toml"))
            .expect("readable"),
        seed: 1,
        machine: bookend_lab::machine::read(Path::new("no-such-folder")),
        versions: BTreeMap::new(),
        command: "bookend run helloworld-profile --quick".to_owned(),
        revision: None,
    }
}

fn row(round: u32, cell: CellId) -> Row {
    let measurement = Measurement {
        window_seconds: 1.0,
        ok: 1000 + u64::from(round),
        server_cpu_seconds: 0.5,
        server_cpu_limit: 1.0,
        memory_source: "cgroup".to_owned(),
        ..Measurement::default()
    };
    Row::new(round, cell, Outcome::Measured(Box::new(measurement)))
}

#[test]
fn every_committed_page_is_what_its_record_gives() {
    let checked = bookend(&root(), &["results", "--check"]);
    assert_eq!(checked.status.code(), Some(0), "{}", stderr(&checked));
}

#[test]
fn a_run_becomes_a_record_and_the_record_a_page() {
    let home = bench();
    let recorded = bookend(home.path(), &["record", "1"]);
    assert_eq!(recorded.status.code(), Some(0), "{}", stderr(&recorded));
    let file = file_of(&home.path().join("records"), SUITE, Extent::Quick);
    let record = Record::read(&file).expect("a record");
    assert_eq!(record.rounds(), record.facts.plan.rounds);

    let made = bookend(home.path(), &["results"]);
    assert_eq!(made.status.code(), Some(0), "{}", stderr(&made));
    let page = home.path().join("suites").join(SUITE).join("RESULTS.md");
    let text = fs::read_to_string(&page).expect("a page");
    assert!(text.contains("| tonic | C=1 S=50 | re-run | "), "{text}");
    let checked = bookend(home.path(), &["results", "--check", SUITE]);
    assert_eq!(checked.status.code(), Some(0), "{}", stderr(&checked));
}

#[test]
fn a_run_of_some_subjects_takes_no_records_place() {
    let home = bench();
    let recorded = bookend(home.path(), &["record", "1"]);
    assert_eq!(recorded.status.code(), Some(0), "{}", stderr(&recorded));
    let file = file_of(&home.path().join("records"), SUITE, Extent::Quick);
    let whole = fs::read_to_string(&file).expect("a record");

    let mut store = Store::open(&home.path().join("bookend.db")).expect("a store");
    let mut plan = plan(&home.path().join("suites").join(SUITE));
    plan.subjects.retain(|subject| subject.name == "rust-tonic");
    let run = store.begin_run(&new_run(&plan)).expect("begun");
    let end = Timestamp::from_unix_ms(60_000);
    store.finish_run(run, end).expect("finished");
    let refused = bookend(home.path(), &["record", &run.to_string()]);
    assert_eq!(refused.status.code(), Some(2));
    let said = stderr(&refused);
    let part = format!("run {run} is not of the whole suite {SUITE}: it has no rust-pajamax ");
    assert!(said.contains(&part), "{said}");
    assert_eq!(fs::read_to_string(&file).expect("a record"), whole);
}

#[test]
fn a_run_that_goes_on_is_profiled_as_it_began() {
    let home = bench();
    let mut store = Store::open(&home.path().join("bookend.db")).expect("a store");
    let mut plan = plan(&home.path().join("suites").join(SUITE));
    plan.cases = vec!["C=3 S=7".parse().expect("a case")];
    store.begin_run(&new_run(&plan)).expect("begun");
    let resumed = ["run", SUITE, "--resume", "--quick", "--profile", "--profile-case=C=1 S=50"];
    let refused = bookend(home.path(), &resumed);
    assert_eq!(refused.status.code(), Some(2));
    let said = stderr(&refused);
    let cases = format!("`C=1 S=50` is no case of {SUITE} in this run, only: C=3 S=7");
    assert!(said.contains(&cases), "{said}");
}

#[test]
fn a_run_that_cannot_be_read_is_listed_with_the_others() {
    let home = bench();
    let store = rusqlite::Connection::open(home.path().join("bookend.db")).expect("a store");
    store.execute("UPDATE runs SET plan = '{' WHERE id = 2", []).expect("damaged");
    let subjects = root().join("subjects");
    let folder = subjects.to_str().expect("UTF-8");
    let listed = bookend(home.path(), &["list", "--subjects-dir", folder]);
    assert_eq!(listed.status.code(), Some(0), "{}", stderr(&listed));
    let text = String::from_utf8_lossy(&listed.stdout);
    assert!(text.contains(&format!("     1  1970-01-01T00:00:00Z  {SUITE}, ")), "{text}");
    assert!(text.contains("     2  cannot be read: EOF while parsing"), "{text}");
}

#[test]
fn a_run_of_another_machine_is_not_resumed_here() {
    let home = bench();
    let suites = root().join("suites");
    let folder = suites.to_str().expect("UTF-8");
    let resumed = ["run", SUITE, "--resume", "--wait-for-lock", "--suites", folder];
    let refused = bookend(home.path(), &resumed);
    assert_eq!(refused.status.code(), Some(2));
    let said = stderr(&refused);
    assert!(said.contains("run 2 did not begin on this machine: "), "{said}");
    assert!(said.contains("the number of CPUs was 0 and is "), "{said}");
}

#[test]
fn a_page_that_somebody_changed_is_found_with_its_line() {
    let home = bench();
    bookend(home.path(), &["record", "1"]);
    bookend(home.path(), &["results"]);
    let page = home.path().join("suites").join(SUITE).join("RESULTS.md");
    let text = fs::read_to_string(&page).expect("a page");
    fs::write(&page, text.replacen("## Figures", "## Numbers", 1)).expect("written");
    let checked = bookend(home.path(), &["results", "--check"]);
    assert_eq!(checked.status.code(), Some(3));
    let line = "is `## Numbers`, its record gives `## Figures`";
    assert!(stderr(&checked).contains(line), "{}", stderr(&checked));
}

#[test]
fn a_picture_is_checked_as_its_page_is() {
    let home = bench();
    bookend(home.path(), &["record", "1"]);
    bookend(home.path(), &["results"]);
    let picture = home.path().join("suites").join(SUITE).join("RESULTS.svg");
    let text = fs::read_to_string(&picture).expect("a picture");
    fs::write(&picture, text.replacen("<circle", "<ellipse", 1)).expect("written");
    let checked = bookend(home.path(), &["results", "--check"]);
    assert_eq!(checked.status.code(), Some(3));
    assert!(stderr(&checked).contains("RESULTS.svg: line "), "{}", stderr(&checked));
    fs::remove_file(&picture).expect("removed");
    assert_eq!(bookend(home.path(), &["results", "--check"]).status.code(), Some(3));
}

#[test]
fn what_other_generators_printed_is_linked_where_it_was_kept() {
    let home = bench();
    bookend(home.path(), &["record", "1"]);
    let page = home.path().join("suites").join(SUITE).join("RESULTS.md");
    let link = "(../../records/helloworld-profile/raw-quick)";
    for is_kept in [false, true] {
        if is_kept {
            let raw = home.path().join("records").join(SUITE).join("raw-quick");
            fs::create_dir_all(raw).expect("created");
        }
        bookend(home.path(), &["results"]);
        let text = fs::read_to_string(&page).expect("a page");
        assert_eq!(text.contains(link), is_kept, "{text}");
    }
}

#[test]
fn without_a_record_there_must_be_no_page() {
    let home = bench();
    let check = || bookend(home.path(), &["results", "--check"]);
    assert_eq!(check().status.code(), Some(0));
    let made = bookend(home.path(), &["results"]);
    let said = String::from_utf8_lossy(&made.stdout).into_owned();
    assert!(said.contains("helloworld-profile has no record"), "{said}");
    let page = home.path().join("suites").join(SUITE).join("RESULTS.md");
    fs::write(page, "# invented\n").expect("written");
    assert_eq!(check().status.code(), Some(3));
    bookend(home.path(), &["record", "1"]);
    assert_eq!(check().status.code(), Some(3));
}

#[test]
fn a_suite_that_no_document_stands_behind_has_a_page_of_what_was_measured() {
    let home = bench();
    let folder = home.path().join("suites").join(SUITE);
    fs::remove_file(folder.join("results.toml")).expect("removed");
    let page = folder.join("RESULTS.md");
    let check = || bookend(home.path(), &["results", "--check"]);
    assert_eq!(check().status.code(), Some(0), "neither record nor page");
    bookend(home.path(), &["record", "1"]);
    assert_eq!(check().status.code(), Some(3), "a record, and no page");
    let made = bookend(home.path(), &["results"]);
    assert_eq!(made.status.code(), Some(0), "{}", stderr(&made));
    let text = fs::read_to_string(&page).expect("a page");
    assert!(text.contains("`records/helloworld-profile/quick.jsonl`"), "{text}");
    assert!(text.contains("<summary>What a request costs</summary>\n"), "{text}");
    assert!(!text.contains("Run "), "the number of the run is its store's: {text}");
    assert_eq!(check().status.code(), Some(0));
    fs::remove_dir_all(home.path().join("records")).expect("removed");
    assert_eq!(check().status.code(), Some(3), "a page, and no record");
}

#[test]
fn half_a_run_is_not_recorded() {
    let home = bench();
    let refused = bookend(home.path(), &["record"]);
    assert_eq!(refused.status.code(), Some(2));
    let line = "run 2 was not finished: bookend run helloworld-profile --resume";
    assert!(stderr(&refused).contains(line), "{}", stderr(&refused));
}

#[test]
fn a_report_of_a_record_is_that_of_the_run() {
    let home = bench();
    bookend(home.path(), &["record", "1"]);
    let file = "records/helloworld-profile/quick.jsonl";
    let of_record = bookend(home.path(), &["report", "--record", file, "--format", "text"]);
    let of_run = bookend(home.path(), &["report", "1", "--format", "text"]);
    assert_eq!(of_record.status.code(), Some(0), "{}", stderr(&of_record));
    assert!(!of_run.stdout.is_empty());
    assert_eq!(of_record.stdout, of_run.stdout);
    let both = bookend(home.path(), &["report", "1", "--record", file]);
    assert_eq!(both.status.code(), Some(2));
}

#[test]
fn words_about_a_picture_are_not_dropped_in_silence() {
    let home = bench();
    for words in [["--case", "C=1 S=50"], ["--theme", "dark"], ["--title", "x"]] {
        let refused = bookend(home.path(), &[&["report", "1"][..], &words].concat());
        assert_eq!(refused.status.code(), Some(2));
        let said = stderr(&refused);
        assert!(said.contains("--format svg"), "{said}");
    }
}

#[test]
fn the_picture_at_the_top_is_drawn_from_its_record_by_the_documented_command() {
    let readme = fs::read_to_string(root().join("README.md")).expect("there is a README");
    let documented = readme
        .lines()
        .skip_while(|line| {
            !(line.starts_with("bookend report --record") && line.contains("--format svg"))
        })
        .take(2)
        .collect::<Vec<_>>()
        .join(" ");
    let title =
        documented.split("--title \"").nth(1).expect("a title").split('"').next().expect("its end");
    for theme in ["light", "dark"] {
        let output = bookend(
            &root(),
            &[
                "report",
                "--record",
                &format!("records/{SUITE}/full.jsonl"),
                "--format",
                "svg",
                "--case",
                "C=1 S=100",
                "--theme",
                theme,
                "--title",
                title,
            ],
        );
        let picture = root().join(format!("docs/pictures/three-generators-{theme}.svg"));
        let committed = fs::read(&picture).expect("the picture is in the tree");
        assert!(output.status.success(), "{}", stderr(&output));
        assert!(output.stdout == committed, "{theme}: make it again");
    }
}

/// The suite with equal messages has the same document: only whose rows stand beside ours differs.
#[test]
fn what_a_document_prints_is_the_same_in_both_suites_that_repeat_it() {
    let printed = |suite: &str| -> Vec<Vec<String>> {
        let file = root().join("suites").join(suite).join("published.csv");
        let text = fs::read_to_string(file).expect("the suite has a published table");
        let fields = |line: &str| line.split(',').map(str::to_owned).collect::<Vec<_>>();
        let without_subject = |mut fields: Vec<String>| {
            fields.remove(3);
            fields
        };
        text.lines().map(fields).map(without_subject).collect()
    };
    assert_eq!(printed("grpc-thrift-go-equal"), printed("grpc-thrift-go"));
}
