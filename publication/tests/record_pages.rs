//! `publication record` and `publication results`: the committed pages are what the committed
//! records give.

#[path = "../../crates/cli/tests/support/stored_run.rs"]
mod stored_run;

use bookend_contract::latency;
use bookend_results::measurement::Row;
use bookend_results::record::{Record, decompressed, file_of};
use bookend_results::store::{NewRun, RunId, Store, Timestamp};
use bookend_results::suite::Extent;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use stored_run::{SUITE, bench, new_run, plan};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn publication(folder: &Path, words: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_publication"));
    command.current_dir(folder).args(words);
    command.output().expect("the command starts")
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn every_committed_page_is_what_its_record_gives() {
    let checked = publication(&root(), &["results", "--check"]);
    assert_eq!(checked.status.code(), Some(0), "{}", stderr(&checked));
}

#[test]
fn a_run_becomes_a_record_and_the_record_a_page() {
    let home = bench();
    let recorded = publication(home.path(), &["record", "1"]);
    assert_eq!(recorded.status.code(), Some(0), "{}", stderr(&recorded));
    let file = file_of(&home.path().join("records"), SUITE, Extent::Quick);
    let record = Record::read(&file).expect("a record");
    assert_eq!(record.rounds(), record.facts.plan.rounds);

    let made = publication(home.path(), &["results"]);
    assert_eq!(made.status.code(), Some(0), "{}", stderr(&made));
    let page = home.path().join("suites").join(SUITE).join("RESULTS.md");
    let text = fs::read_to_string(&page).expect("a page");
    assert!(text.contains("| tonic | C=1 S=50 | re-run | "), "{text}");
    let checked = publication(home.path(), &["results", "--check", SUITE]);
    assert_eq!(checked.status.code(), Some(0), "{}", stderr(&checked));
}

#[test]
fn a_page_is_of_the_first_host_that_has_a_record_and_names_its_folder() {
    let home = bench();
    for host in ["amd-2-cpus", "intel-2-cpus"] {
        let into = format!("records/{host}");
        let recorded = publication(home.path(), &["record", "1", "--into", &into]);
        assert_eq!(recorded.status.code(), Some(0), "{}", stderr(&recorded));
    }
    let page = || {
        let made = publication(home.path(), &["results", SUITE]);
        assert_eq!(made.status.code(), Some(0), "{}", stderr(&made));
        fs::read_to_string(home.path().join("suites").join(SUITE).join("RESULTS.md"))
    };
    assert!(page().is_err(), "nobody said of which host a page is made");
    let hosts = home.path().join("records/hosts.txt");
    for (order, first) in [
        ("absent\nintel-2-cpus\namd-2-cpus\n", "intel-2-cpus"),
        ("amd-2-cpus\nintel-2-cpus\n", "amd-2-cpus"),
    ] {
        fs::write(&hosts, order).expect("written");
        let text = page().expect("a page");
        let file = format!("records/{first}/{SUITE}/quick.jsonl.zst");
        assert!(text.contains(&format!("from `{file}`")), "{text}");
        assert!(text.contains(&format!("--record {file} --format text")), "{text}");
    }
}

#[test]
fn a_run_of_some_subjects_takes_no_records_place() {
    let home = bench();
    let recorded = publication(home.path(), &["record", "1"]);
    assert_eq!(recorded.status.code(), Some(0), "{}", stderr(&recorded));
    let file = file_of(&home.path().join("records"), SUITE, Extent::Quick);
    let whole = fs::read(&file).expect("a record");

    let mut store = Store::open(&home.path().join("bookend.db")).expect("a store");
    let mut plan = plan(&home.path().join("suites").join(SUITE));
    plan.subjects.retain(|subject| subject.name == "rust-tonic");
    let run = store.begin_run(&new_run(&plan)).expect("begun");
    let end = Timestamp::from_unix_ms(60_000);
    store.finish_run(run, end).expect("finished");
    let refused = publication(home.path(), &["record", &run.to_string()]);
    assert_eq!(refused.status.code(), Some(2));
    let said = stderr(&refused);
    let part = format!("run {run} is not of the whole suite {SUITE}: it has no rust-pajamax ");
    assert!(said.contains(&part), "{said}");
    assert_eq!(fs::read(&file).expect("a record"), whole);
}

#[test]
fn a_page_that_somebody_changed_is_found_with_its_line() {
    let home = bench();
    publication(home.path(), &["record", "1"]);
    publication(home.path(), &["results"]);
    let page = home.path().join("suites").join(SUITE).join("RESULTS.md");
    let text = fs::read_to_string(&page).expect("a page");
    fs::write(&page, text.replacen("## Figures", "## Numbers", 1)).expect("written");
    let checked = publication(home.path(), &["results", "--check"]);
    assert_eq!(checked.status.code(), Some(3));
    let line = "is `## Numbers`, its record gives `## Figures`";
    assert!(stderr(&checked).contains(line), "{}", stderr(&checked));
}

#[test]
fn a_picture_is_checked_as_its_page_is() {
    let home = bench();
    publication(home.path(), &["record", "1"]);
    publication(home.path(), &["results"]);
    let picture = home.path().join("suites").join(SUITE).join("RESULTS.svg");
    let text = fs::read_to_string(&picture).expect("a picture");
    fs::write(&picture, text.replacen("<circle", "<ellipse", 1)).expect("written");
    let checked = publication(home.path(), &["results", "--check"]);
    assert_eq!(checked.status.code(), Some(3));
    assert!(stderr(&checked).contains("RESULTS.svg: line "), "{}", stderr(&checked));
    fs::remove_file(&picture).expect("removed");
    assert_eq!(publication(home.path(), &["results", "--check"]).status.code(), Some(3));
}

#[test]
fn what_other_generators_printed_is_linked_where_it_was_kept() {
    let home = bench();
    publication(home.path(), &["record", "1"]);
    let page = home.path().join("suites").join(SUITE).join("RESULTS.md");
    let link = "(../../records/helloworld-profile/raw-quick)";
    for is_kept in [false, true] {
        if is_kept {
            let raw = home.path().join("records").join(SUITE).join("raw-quick");
            fs::create_dir_all(raw).expect("created");
        }
        publication(home.path(), &["results"]);
        let text = fs::read_to_string(&page).expect("a page");
        assert_eq!(text.contains(link), is_kept, "{text}");
    }
}

#[test]
fn what_was_cut_of_it_is_named_there() {
    let home = bench();
    publication(home.path(), &["record", "1"]);
    let raw = home.path().join("records").join(SUITE).join("raw-quick");
    fs::create_dir_all(&raw).expect("created");
    fs::write(raw.join("a.ghz.json"), "{\"a\":\n(cut off here)\n").expect("written");
    fs::write(raw.join("b.ghz.json"), "{}\n").expect("written");
    publication(home.path(), &["results"]);
    let page = home.path().join("suites").join(SUITE).join("RESULTS.md");
    let text = fs::read_to_string(&page).expect("a page").replace('\n', " ");
    let said = "Of these `a.ghz.json` was cut off at 64 KiB: its end is missing.";
    assert!(text.contains(said), "{text}");
}

/// Keeps in the store what instruments printed in the cells of its run: each a text of these.
fn print_in_cells(home: &Path, texts: &[String]) {
    let mut store = Store::open(&home.join("bookend.db")).expect("a store");
    let run = store.run(RunId(1)).expect("a run");
    let mut rows: Vec<Row> = store.rows(run.id).expect("rows");
    rows.retain(|row| row.round == 0);
    for (row, text) in rows.iter_mut().zip(texts) {
        let window = row.outcome.window_mut().expect("measured");
        window.raw_output = Some(text.clone());
    }
    store.write_round(run.id, 0, &rows).expect("written");
}

/// As ghz prints it that met an error on each of many connections.
fn summary_of_errors(bytes: usize) -> String {
    let error = |port| format!("    \"read tcp 127.0.0.1:{port}: connection reset by peer\": 1");
    let errors: Vec<String> = (0..bytes / 60).map(error).collect();
    format!("{{\n  \"errorDistribution\": {{\n{}\n  }}\n}}\n", errors.join(",\n"))
}

#[test]
fn what_instruments_printed_is_kept_whole_or_not_at_all() {
    let home = bench();
    let summary = summary_of_errors(1 << 20);
    assert!(summary.len() > 1_000_000);
    let mut random = fastrand::Rng::with_seed(1);
    let incompressible: String = (0..4 << 20).map(|_| random.alphanumeric()).collect();
    print_in_cells(home.path(), &[summary.clone(), incompressible]);
    let raw = home.path().join("records").join(SUITE).join("raw-quick");
    fs::create_dir_all(&raw).expect("created");
    fs::write(raw.join("of-an-earlier-record.json"), "{}").expect("written");

    let recorded = publication(home.path(), &["record", "1"]);
    assert_eq!(recorded.status.code(), Some(0), "{}", stderr(&recorded));
    let mut files: Vec<PathBuf> =
        fs::read_dir(&raw).expect("made").map(|file| file.expect("a file").path()).collect();
    files.sort_by_key(|file| fs::metadata(file).map(|facts| facts.len()).ok());
    let read = |file: &Path| {
        let text = decompressed(fs::read(file).expect("readable")).expect("whole");
        String::from_utf8(text).expect("UTF-8")
    };
    let [small, large] = files.as_slice() else {
        panic!("{files:?}");
    };
    assert!(large.to_string_lossy().ends_with(".json.zst"), "{large:?}");
    assert!(read(large) == summary, "it is whole");
    serde_json::from_str::<serde_json::Value>(&read(large)).expect("valid JSON");
    assert!(small.to_string_lossy().ends_with(".txt.zst"), "{small:?}");
    let said = read(small);
    assert!(said.starts_with("left out: it has ") && said.ends_with(" are kept\n"), "{said}");
    assert!(String::from_utf8_lossy(&recorded.stdout).contains(said.trim_end()));
}

/// Gives each row of the run a histogram with `buckets` buckets of random counts.
fn with_random_latencies(home: &Path, buckets: u64) {
    let mut random = fastrand::Rng::with_seed(1);
    let mut store = Store::open(&home.join("bookend.db")).expect("a store");
    let run = store.run(RunId(1)).expect("a run");
    let rows: Vec<Row> = store.rows(run.id).expect("rows");
    for round in 0..run.new.plan.rounds {
        let mut of_round: Vec<Row> = rows.clone();
        of_round.retain(|row| row.round == round);
        for row in &mut of_round {
            let mut latencies = latency::empty();
            for step in 0..buckets {
                latency::record(&mut latencies, 10_000 + step * 100, 1 + random.u64(0..1 << 22));
            }
            let window = row.outcome.window_mut().expect("measured");
            window.latency_histogram = latency::encode(&latencies);
        }
        store.write_round(run.id, round, &of_round).expect("written");
    }
}

#[test]
fn latencies_keep_three_digits_and_of_a_record_that_would_be_large_two() {
    let home = bench();
    let file = file_of(&home.path().join("records"), SUITE, Extent::Quick);
    let digits = || Record::read(&file).expect("a record").facts.latency_digits;
    with_random_latencies(home.path(), 100);
    publication(home.path(), &["record", "1"]);
    assert_eq!(digits(), 3);
    publication(home.path(), &["results"]);
    let page = home.path().join("suites").join(SUITE).join("RESULTS.md");
    let page_of = || fs::read_to_string(&page).expect("a page").replace('\n', " ");
    assert!(!page_of().contains("significant digits of latencies"));

    with_random_latencies(home.path(), 20_000);
    let recorded = publication(home.path(), &["record", "1"]);
    assert_eq!(recorded.status.code(), Some(0), "{}", stderr(&recorded));
    assert_eq!(digits(), 2, "{} bytes", fs::metadata(&file).expect("there").len());
    assert!(fs::metadata(&file).expect("there").len() <= 2 << 20);
    publication(home.path(), &["results"]);
    assert!(page_of().contains("keeps two significant digits of latencies"));
}

#[test]
fn the_tool_of_that_name_reads_a_record() {
    let home = bench();
    publication(home.path(), &["record", "1"]);
    let file = file_of(&home.path().join("records"), SUITE, Extent::Quick);
    let Ok(unpacked) = Command::new("zstd").arg("-dc").arg(&file).output() else {
        return;
    };
    assert!(unpacked.status.success(), "{}", stderr(&unpacked));
    let text = decompressed(fs::read(&file).expect("a record")).expect("whole");
    assert_eq!(unpacked.stdout, text);
}

#[test]
fn without_a_record_there_must_be_no_page() {
    let home = bench();
    let check = || publication(home.path(), &["results", "--check"]);
    assert_eq!(check().status.code(), Some(0));
    let made = publication(home.path(), &["results"]);
    let said = String::from_utf8_lossy(&made.stdout).into_owned();
    assert!(said.contains("helloworld-profile has no record"), "{said}");
    let page = home.path().join("suites").join(SUITE).join("RESULTS.md");
    fs::write(page, "# invented\n").expect("written");
    assert_eq!(check().status.code(), Some(3));
    publication(home.path(), &["record", "1"]);
    assert_eq!(check().status.code(), Some(3));
}

#[test]
fn a_suite_that_no_document_stands_behind_has_a_page_of_what_was_measured() {
    let home = bench();
    let folder = home.path().join("suites").join(SUITE);
    fs::remove_file(folder.join("results.toml")).expect("removed");
    let page = folder.join("RESULTS.md");
    let check = || publication(home.path(), &["results", "--check"]);
    assert_eq!(check().status.code(), Some(0), "neither record nor page");
    publication(home.path(), &["record", "1"]);
    assert_eq!(check().status.code(), Some(3), "a record, and no page");
    let made = publication(home.path(), &["results"]);
    assert_eq!(made.status.code(), Some(0), "{}", stderr(&made));
    let text = fs::read_to_string(&page).expect("a page");
    assert!(text.contains("`records/helloworld-profile/quick.jsonl.zst`"), "{text}");
    assert!(text.contains("<summary>What a request costs</summary>\n"), "{text}");
    assert!(!text.contains("Run "), "the number of the run is its store's: {text}");
    assert_eq!(check().status.code(), Some(0));
    fs::remove_dir_all(home.path().join("records")).expect("removed");
    assert_eq!(check().status.code(), Some(3), "a page, and no record");
}

#[test]
fn a_run_of_no_revision_is_not_recorded() {
    let home = bench();
    let mut store = Store::open(&home.path().join("bookend.db")).expect("a store");
    let sound = new_run(&plan(&home.path().join("suites").join(SUITE)));
    let refused = |store: &mut Store, new: &NewRun| {
        let run = store.begin_run(new).expect("begun");
        store.finish_run(run, Timestamp::from_unix_ms(60_000)).expect("finished");
        let refused = publication(home.path(), &["record", &run.to_string()]);
        assert_eq!(refused.status.code(), Some(2));
        assert!(!home.path().join("records").exists());
        stderr(&refused)
    };
    let change = "server.c has changes that are in no commit";
    let mut dirty = sound.clone();
    dirty.revision = Some("0123456789ab-dirty".to_owned());
    dirty.provenance.as_mut().expect("known").doubts = vec![change.to_owned()];
    let said = refused(&mut store, &dirty);
    let next =
        "; commit or stash what has changed, build bookend again, and measure again: bookend run";
    assert!(said.contains(&format!("could be made again: {change}{next}")), "{said}");

    let unknown = NewRun { revision: None, ..sound.clone() };
    let said = refused(&mut store, &unknown);
    assert!(said.contains("the revision of the tree is unknown"), "{said}");

    let mut of_archive = sound.clone();
    of_archive.provenance.as_mut().expect("known").build.revision = None;
    let said = refused(&mut store, &of_archive);
    assert!(said.contains("the revision of bookend is unknown"), "{said}");

    let said = refused(&mut store, &NewRun { provenance: None, ..sound });
    assert!(said.contains("a version of bookend that kept no revision"), "{said}");
}

#[test]
fn half_a_run_is_not_recorded() {
    let home = bench();
    let refused = publication(home.path(), &["record"]);
    assert_eq!(refused.status.code(), Some(2));
    let line = "run 2 was not finished: bookend run helloworld-profile --resume";
    assert!(stderr(&refused).contains(line), "{}", stderr(&refused));
}

/// The suite with equal messages has the same document: only the rows of ours next to it differ.
#[test]
fn what_a_document_prints_is_the_same_in_both_suites_that_repeat_it() {
    let printed = |suite: &str| -> Vec<Vec<String>> {
        let file = root().join("suites").join(suite).join("published.csv");
        let text = fs::read_to_string(file).expect("the suite has a published table");
        let fields = |line: &str| line.split(',').map(str::to_owned).collect::<Vec<_>>();
        // The server and the client of our row.
        let without_ours = |mut fields: Vec<String>| {
            assert_eq!(fields.remove(3).starts_with("our_"), fields[0] == "table");
            fields.remove(4);
            fields
        };
        text.lines().map(fields).map(without_ours).collect()
    };
    assert_eq!(printed("grpc-thrift-go-equal"), printed("grpc-thrift-go"));
}
