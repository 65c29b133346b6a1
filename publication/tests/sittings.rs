//! What a release run has left to do, by its records, and in which sittings.

#[path = "../../crates/cli/tests/support/stored_run.rs"]
mod stored_run;

use bookend_publication::release_run::{Origin, ReleaseRun};
use bookend_results::newest_record::newest;
use bookend_results::record::{Record, file_of};
use bookend_results::store::{RunId, Store, Timestamp};
use bookend_results::suite::{Extent, Overrides, Selection, Suite};
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::time::Duration;
use stored_run::bench;

const MINUTE: Duration = Duration::from_secs(60);

/// A suite whose windows, with 0.7 s for each start, take a minute.
fn suite(name: &str) -> Suite {
    let text = format!(
        r#"
            name = "{name}"
            title = "a question"
            instruments = ["load"]
            [request]
            method = "a.B/C"
            proto = "c.proto"
            json = "c.json"
            [[subjects]]
            name = "server"
            baseline = true
            [full]
            warmup = "1s"
            window = "4300ms"
            rounds = 10
            grid = [{{ connections = 1, concurrency = [1] }}]
        "#
    );
    Suite::parse(Path::new(name), &text).expect("a suite")
}

fn origin(kernel: &str) -> Origin {
    Origin {
        revision: "0123456789ab".to_owned(),
        kernel: kernel.to_owned(),
        cpu_model: "EPYC".to_owned(),
    }
}

/// A folder of records, and what becomes a record in it.
struct Records {
    home: tempfile::TempDir,
    record: Record,
}

impl Records {
    fn new() -> Records {
        let home = bench();
        let store = Store::open(&home.path().join("bookend.db")).expect("a store");
        let run = store.run(RunId(1)).expect("a run");
        let mut record = Record::of_run(&run, &[], BTreeMap::new());
        record.facts.extent = Extent::Full;
        record.facts.revision = Some("0123456789ab".to_owned());
        record.facts.machine.kernel = "Linux 6.1".to_owned();
        record.facts.machine.cpu_model = "EPYC".to_owned();
        Records { home, record }
    }

    /// The suite has a record there that took this long.
    fn keep(&mut self, folder: &str, suite: &Suite, took: Duration, began_ms: i64) {
        let plan = suite.plan(&Selection::default(), &Overrides::default(), 2).expect("a plan");
        let facts = &mut self.record.facts;
        (facts.suite, facts.plan) = (suite.name.clone(), plan);
        let took_ms = i64::try_from(took.as_millis()).expect("short");
        facts.started = Timestamp::from_unix_ms(began_ms);
        facts.finished = Some(Timestamp::from_unix_ms(began_ms + took_ms));
        let folder = self.home.path().join("all").join(folder);
        let file = file_of(&folder, &suite.name, Extent::Full).with_extension("");
        fs::create_dir_all(file.parent().expect("a folder")).expect("made");
        fs::write(&file, self.record.text()).expect("written");
    }

    fn plan(&self, origin: Origin, suites: &[Suite]) -> Result<ReleaseRun, String> {
        let all = self.home.path().join("all");
        let besides = [("b".to_owned(), 5 * MINUTE)];
        ReleaseRun::plan(origin, suites, (&all, &all.join("host")), &besides, 30 * MINUTE)
    }
}

#[test]
fn suites_are_in_the_first_sitting_with_room_by_their_newest_records() {
    let suites = ["a", "b", "c", "d"].map(suite);
    let mut records = Records::new();
    records.keep("history/old", &suites[0], 90 * MINUTE, 1);
    records.keep("host-of-another-kind", &suites[0], 20 * MINUTE, 2);
    records.keep("", &suites[1], 15 * MINUTE, 3);
    records.keep("host", &suites[2], 7 * MINUTE, 4);
    let run = records.plan(origin("Linux 6.1"), &suites).expect("a plan");
    assert_eq!(run.next(), ["a", "d"]);
    let printed = "Release run of 0123456789ab on EPYC, Linux 6.1\n  \
                   recorded      7 min  c\n  \
                   sitting 1    20 min  a\n  \
                   sitting 1     1 min  d\n  \
                   sitting 2    20 min  b\n  \
                   in all       48 min\n";
    assert_eq!(run.to_string(), printed, "b takes 15 and 5 besides, d is in no record");
    let all = records.home.path().join("all");
    for suite in &suites {
        records.keep("host", suite, MINUTE, 5);
    }
    let run = records.plan(origin("Linux 6.1"), &suites).expect("a plan");
    assert_eq!((run.next(), run.total()), (vec![], 9 * MINUTE), "with what b takes besides");
    let facts = newest(&all, "a", Extent::Full).expect("three records");
    assert_eq!((facts.started.unix_ms(), facts.took()), (5, Some(MINUTE)));
    assert_eq!(newest(&all, "a", Extent::Quick), None);
}

#[test]
fn a_run_has_one_origin_and_no_suite_is_longer_than_a_sitting() {
    let suites = ["a", "b"].map(suite);
    let mut records = Records::new();
    records.keep("host", &suites[0], MINUTE, 1);
    let refused = records.plan(origin("Linux 6.2"), &suites).expect_err("another kernel");
    let said = "full.jsonl is of 0123456789ab on EPYC, Linux 6.1, and this would be 0123456789ab on \
                EPYC, Linux 6.2: a release run has one revision, one CPU model and one kernel; move \
                the older records to records/history";
    assert!(refused.ends_with(said), "{refused}");
    records.keep("elsewhere", &suites[1], 31 * MINUTE, 2);
    let refused = records.plan(origin("Linux 6.1"), &suites).expect_err("too long");
    assert_eq!(refused, "b takes 36 min, and a sitting is shorter");
}
