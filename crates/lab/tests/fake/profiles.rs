//! Profiles with a fake `perf`: what is recorded of whom, what is kept, what is said without it.

use crate::rounds::FakeRun;
use crate::test_folder::{CALL, TestFolder, processes_with, serve};
use bookend_lab::perf::{PerfUnavailable, ProfileSettings};
use bookend_lab::progress::{ProgressReporter, ProgressShown};
use bookend_lab::run::profile;
use bookend_report::profile::{estimates, notes, split_table};
use bookend_results::profile::{Layer, Profile, ProfileOutcome, SPLIT_FILE, read};
use std::fs;
use std::path::PathBuf;

tests![
    a_recorded_subject_leaves_its_split_and_its_flame_graph,
    the_work_that_two_servers_share_gives_their_ratio,
    a_server_is_told_that_it_is_recorded,
    only_who_is_recorded_is_told_so,
    every_subject_is_recorded_in_a_case_of_its_own,
    a_profile_of_another_version_is_not_read,
    a_subject_that_fails_keeps_its_row,
    a_recorder_that_dies_is_a_row_not_an_end,
    without_counters_its_cpus_are_recorded_and_others_left_out,
    without_perf_one_line_says_how_to_get_it,
    where_perf_may_not_record_the_line_says_what_it_said,
];

/// Writes down whom it records, and prints the samples of the file next to it.
const PERF: &str = r#"
here=$(dirname "$0")
case "$1" in
record)
    while [ "$1" != -- ]; do
        if [ "$1" = -o ]; then file=$2; fi
        if [ "$1" = -p ]; then echo "$2" >> "$here/recorded"; fi
        shift
    done
    shift
    echo samples > "$file"
    exec "$@" ;;
evlist) echo cycles ;;
script) cat "$here/samples" ;;
esac
"#;

/// Samples of formatting a text and of writing it.
fn samples(formatting: usize, writing: usize) -> String {
    let sample = |leaf: &str| {
        format!("server  1 0.000001: cpu-clock: \n\t1 {leaf} (server)\n\t2 main (server)\n\n")
    };
    sample("alloc::fmt::format::format_inner").repeat(formatting)
        + &sample("__send").repeat(writing)
}

fn with_servers(names: &[&str]) -> FakeRun {
    let test_folder = TestFolder::new();
    for (port, name) in (1..).zip(names) {
        test_folder.subject(name, "server", &serve(port));
    }
    test_folder.subject("load", "instrument", CALL);
    test_folder.script("perf", PERF);
    fs::write(test_folder.path().join("samples"), samples(30, 70)).unwrap();
    FakeRun::new(test_folder, names, "load")
}

fn settings(fake_run: &FakeRun, perf: PathBuf) -> ProfileSettings {
    let folder = fake_run.test_folder.path().join("profiles/fake");
    ProfileSettings {
        perf,
        warmup_ms: 1,
        window_ms: 1,
        ..ProfileSettings::of(&fake_run.settings.plan, folder)
    }
}

fn recorded_with(fake_run: &FakeRun, perf: PathBuf) -> Result<Profile, PerfUnavailable> {
    let how = settings(fake_run, perf);
    let mut told = Vec::new();
    let mut progress = ProgressReporter::new(&mut told, ProgressShown::Lines);
    let profile = profile(&fake_run.settings, &how, &mut progress).unwrap();
    let test_folder = fake_run.test_folder.path().to_str().unwrap();
    assert_eq!(processes_with(test_folder), [0; 0], "processes are left");
    profile.expect("nobody interrupted")
}

fn recorded(fake_run: &FakeRun) -> Profile {
    recorded_with(fake_run, fake_run.test_folder.path().join("perf")).unwrap()
}

fn a_recorded_subject_leaves_its_split_and_its_flame_graph() {
    let fake_run = with_servers(&["server"]);
    let profile = recorded(&fake_run);
    let samples = profile.cells[0].samples().unwrap();
    assert_eq!((samples.split.samples, samples.ok), (100, 10));
    assert_eq!(samples.split.layers[&Layer::NetworkOut], 70);
    let table = split_table(&profile);
    assert!(table.contains("70.0 %"), "{table}");
    assert!(notes(&profile)[0].contains("there are no rules for sh"));

    let folder = fake_run.test_folder.path().join("profiles/fake");
    assert_eq!(read(&folder).unwrap(), profile);
    let csv = fs::read_to_string(folder.join(SPLIT_FILE)).unwrap();
    let row = "fake,C=1 S=1,server,load,recorded,cycles,100,0.000000,0.700000,";
    assert!(csv.lines().nth(1).unwrap().starts_with(row), "{csv}");
    let mut names: Vec<_> =
        fs::read_dir(&folder).unwrap().map(|file| file.unwrap().file_name()).collect();
    names.sort();
    let expected = ["profile.json", "server-C1-S1.folded", "server-C1-S1.svg", "split.csv"];
    assert_eq!(names, expected, "nothing else is left");
}

fn the_work_that_two_servers_share_gives_their_ratio() {
    let mut fake_run = with_servers(&["cheap", "dear"]);
    fake_run.settings.plan.subjects[1].baseline = true;
    let folder = fake_run.test_folder.path();
    let perf = r#"
case "$1" in
record)
    while [ "$1" != -- ]; do if [ "$1" = -o ]; then file=$2; fi; shift; done
    shift
    echo > "$file"
    exec "$@" ;;
evlist) echo cycles ;;
script) case "$*" in *cheap*) cat "${0%/*}/cheap.samples" ;; *) cat "${0%/*}/dear.samples" ;; esac ;;
esac
"#;
    fake_run.test_folder.script("perf", perf);
    fs::write(folder.join("cheap.samples"), samples(400, 600)).unwrap();
    fs::write(folder.join("dear.samples"), samples(100, 900)).unwrap();
    for name in ["cheap", "dear"] {
        let file = folder.join(name).join("subject.toml");
        let text = fs::read_to_string(&file).unwrap();
        fs::write(&file, text.replace("\"sh\"", "\"Rust\"")).unwrap();
    }
    let profile = recorded(&fake_run);
    let ratio = profile.cells[0].samples().unwrap().cost_ratio.unwrap();
    assert!((ratio.ratio - 4.0).abs() < 1e-9, "{ratio:?}");
    assert_eq!(profile.cells[1].samples().unwrap().cost_ratio, None);
    let line = "C=1 S=1: cheap over dear ^4.00 [3.27, 4.89]; shared work is 40.0 % of 1000 samples \
                and 10.0 % of 1000 samples";
    assert_eq!(estimates(&profile), [line]);
}

fn a_server_is_told_that_it_is_recorded() {
    let fake_run = with_servers(&["server"]);
    let text = format!("echo \"profile=$BOOKEND_PROFILE $$\" > ../told\n{}", serve(1));
    fake_run.test_folder.subject("server", "server", &text);
    recorded(&fake_run);
    let folder = fake_run.test_folder.path();
    let told = fs::read_to_string(folder.join("told")).unwrap();
    let pid = told.strip_prefix("profile=1 ").expect(&told).trim();
    let recorded = fs::read_to_string(folder.join("recorded")).unwrap();
    assert!(recorded.trim().split(',').any(|word| word == pid), "{recorded:?} is not {pid}");
}

fn only_who_is_recorded_is_told_so() {
    let test_folder = TestFolder::new();
    let tell = |name: &str| format!("echo \"$BOOKEND_PROFILE\" > ../{name}.told\n");
    test_folder.subject("server", "server", &(tell("server") + &serve(1)));
    test_folder.subject("client", "client", &(tell("client") + CALL));
    test_folder.script("perf", PERF);
    fs::write(test_folder.path().join("samples"), samples(30, 70)).unwrap();
    let told = |fake_run: &FakeRun| {
        recorded(fake_run);
        ["server", "client"].map(|name| {
            let file = fake_run.test_folder.path().join(format!("{name}.told"));
            fs::read_to_string(file).unwrap()
        })
    };
    let mut fake_run = FakeRun::new(test_folder, &["client"], "server");
    assert_eq!(told(&fake_run), ["\n", "1\n"]);
    let subject = &mut fake_run.settings.plan.subjects[0];
    subject.name = "server".to_owned();
    subject.instruments = vec!["client".to_owned()];
    assert_eq!(told(&fake_run), ["1\n", "\n"]);
}

fn every_subject_is_recorded_in_a_case_of_its_own() {
    let mut fake_run = with_servers(&["few", "many"]);
    let plan = &mut fake_run.settings.plan;
    plan.cases = ["C=1 S=1", "C=1 S=5", "C=1 S=9"].map(|case| case.parse().unwrap()).to_vec();
    plan.subjects[0].concurrency_max = Some(5);
    let profile = recorded(&fake_run);
    let cells = profile.cells.iter().map(|cell| format!("{} {}", cell.subject, cell.case));
    let expected = ["few C=1 S=5", "many C=1 S=5", "many C=1 S=9"];
    assert_eq!(cells.collect::<Vec<_>>(), expected);
}

fn a_profile_of_another_version_is_not_read() {
    let fake_run = with_servers(&["server"]);
    recorded(&fake_run);
    let folder = fake_run.test_folder.path().join("profiles/fake");
    let file = folder.join("profile.json");
    let text = fs::read_to_string(&file).unwrap();
    let newer = text.replace("\"schema_version\": 1", "\"schema_version\": 2");
    fs::write(&file, newer).unwrap();
    let error = read(&folder).unwrap_err().to_string();
    assert!(error.contains("has version 2"), "{error}");
}

fn a_subject_that_fails_keeps_its_row() {
    let fake_run = with_servers(&["broken", "server"]);
    fake_run.test_folder.subject("broken", "server", "echo 'no such option' >&2; exit 3");
    let profile = recorded(&fake_run);
    let ProfileOutcome::NotRecorded { reason } = &profile.cells[0].outcome else {
        panic!("{profile:?}");
    };
    assert!(reason.starts_with("failed: no such option"), "{reason}");
    assert!(profile.cells[1].samples().is_some());
    assert!(split_table(&profile).contains("failed: no such option"));
}

fn a_recorder_that_dies_is_a_row_not_an_end() {
    let fake_run = with_servers(&["server"]);
    // The trial records `true`.
    let dies = "case \"$*\" in evlist*) echo cycles ;; *true) exit 0 ;; *) echo 'out of memory' >&2; exit 1 ;; esac";
    fake_run.test_folder.script("perf", dies);
    let profile = recorded(&fake_run);
    let ProfileOutcome::NotRecorded { reason } = &profile.cells[0].outcome else {
        panic!("{profile:?}");
    };
    assert!(reason.contains("perf did not begin: out of memory"), "{reason}");
}

fn without_counters_its_cpus_are_recorded_and_others_left_out() {
    let fake_run = with_servers(&["server"]);
    let text = format!("echo $$ > ../told\n{}", serve(1));
    fake_run.test_folder.subject("server", "server", &text);
    let perf = PERF.replace("echo cycles", "echo cpu-clock");
    let told = "\necho \"$*\" >> \"$(dirname \"$0\")/words\"\n";
    fake_run.test_folder.script("perf", &format!("{told}{perf}"));
    let profile = recorded(&fake_run);
    assert_eq!(profile.cells[0].samples().unwrap().event, "cpu-clock");
    let folder = fake_run.test_folder.path();
    let words = fs::read_to_string(folder.join("words")).unwrap();
    let records: Vec<&str> = words.lines().filter(|line| line.contains("recording")).collect();
    assert!(records.len() == 1 && records[0].contains(" -a -- "), "{words}");
    let pid = fs::read_to_string(folder.join("told")).unwrap();
    let script = words.lines().find(|line| line.starts_with("script"));
    let (_, pids) = script.unwrap().rsplit_once("--pid ").expect(&words);
    assert!(pids.split(',').any(|word| word == pid.trim()), "{pids} without {pid}");
}

fn without_perf_one_line_says_how_to_get_it() {
    let fake_run = with_servers(&["server"]);
    let error = recorded_with(&fake_run, "/nowhere/perf".into()).unwrap_err().to_string();
    assert!(error.contains("`/nowhere/perf` is not here"), "{error}");
    assert!(error.contains("apt-get install linux-perf"), "{error}");
    assert_eq!(error.lines().count(), 1);
}

fn where_perf_may_not_record_the_line_says_what_it_said() {
    let fake_run = with_servers(&["server"]);
    let perf =
        fake_run.test_folder.script("perf", "echo 'No permission to enable it.' >&2; exit 255");
    let error = recorded_with(&fake_run, perf).unwrap_err().to_string();
    assert!(error.contains("No permission to enable it."), "{error}");
    assert_eq!(error.lines().count(), 1);
}
