//! Runs that are kept: resumed, listed, reported and drawn.

#[path = "support/stored_run.rs"]
mod stored_run;

use bookend_results::record::Record;
use bookend_results::store::{RunId, Store};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use stored_run::{SUITE, bench, new_run, plan};

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
fn a_report_of_a_record_is_that_of_the_run() {
    let home = bench();
    let file = "record.jsonl";
    let store = Store::open_existing(&home.path().join("bookend.db")).expect("a store");
    let (run, rows) = (store.run(RunId(1)).expect("a run"), store.rows(RunId(1)).expect("rows"));
    let skips = store.skips(&run).expect("skips");
    fs::write(home.path().join(file), Record::of_run(&run, &rows, skips).text()).expect("written");
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
    for words in [
        ["--case", "C=1 S=50"],
        ["--metric", "cpu"],
        ["--instrument", "ghz"],
        ["--subjects", "rust-tonic"],
        ["--theme", "dark"],
        ["--title", "x"],
    ] {
        let refused = bookend(home.path(), &[&["report", "1"][..], &words].concat());
        assert_eq!(refused.status.code(), Some(2));
        let said = stderr(&refused);
        assert!(said.contains(words[0]) && said.contains("add --format svg"), "{said}");
    }
}

#[test]
fn the_picture_at_the_top_is_drawn_from_its_record_by_the_documented_command() {
    let page = root().join("docs/measure/report.md");
    let page = fs::read_to_string(page).expect("there is a page of reports");
    let documented: Vec<&str> = page
        .lines()
        .skip_while(|line| {
            !(line.starts_with("bookend report --record") && line.contains("--format svg"))
        })
        .take_while(|line| *line != "```")
        .map(|line| line.trim_end_matches('\\'))
        .collect();
    let documented = documented.concat();
    for theme in ["light", "dark"] {
        let words = words_of(&documented.replace("--theme light", &format!("--theme {theme}")));
        let words: Vec<&str> = words.iter().skip(1).map(String::as_str).collect();
        assert!(words.contains(&theme), "{words:?}");
        let output = bookend(&root(), &words);
        let picture = root().join(format!("docs/pictures/three-generators-{theme}.svg"));
        let committed = fs::read(&picture).expect("the picture is in the tree");
        assert!(output.status.success(), "{}", stderr(&output));
        assert!(output.stdout == committed, "{theme}: make it again");
    }
}

/// The words of a line as a shell reads it, which has no quotes but double ones.
fn words_of(line: &str) -> Vec<String> {
    let parts = line.split('"').enumerate();
    let words = parts.flat_map(|(index, part)| match index % 2 {
        1 => vec![part],
        _ => part.split_whitespace().collect(),
    });
    words.map(str::to_owned).collect()
}
