//! A folder with a suite and a store of two runs of it, one of them not finished.
#![allow(dead_code, reason = "each test program uses some of it")]

use bookend_contract::build_facts::BuildFacts;
use bookend_contract::machine::MachineFacts;
use bookend_results::measurement::{
    CellId, EndUsage, Ends, Measurement, Outcome, Row, WindowCounts,
};
use bookend_results::provenance::Provenance;
use bookend_results::store::{NewRun, Store, Timestamp};
use bookend_results::suite::{Extent, Overrides, Plan, Selection, Suite};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

pub const SUITE: &str = "helloworld-profile";

/// The committed suite. Packages that use this are at different depths.
pub fn suite() -> PathBuf {
    let above = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors();
    let mut suites = above.map(|folder| folder.join("suites").join(SUITE));
    suites.find(|folder| folder.is_dir()).expect("the suite is in the tree")
}

/// A folder with one suite, and a store with a run of it.
pub fn bench() -> TempDir {
    let home = tempfile::tempdir().expect("a temporary folder");
    let (from, to) = (suite(), home.path().join("suites").join(SUITE));
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

pub fn plan(folder: &Path) -> Plan {
    let selection = Selection { extent: Extent::Quick, ..Selection::default() };
    let suite = Suite::read(folder).expect("well-formed");
    suite.plan(&selection, &Overrides::default(), 2).expect("a plan")
}

pub fn new_run(plan: &Plan) -> NewRun {
    NewRun {
        started: Timestamp::from_unix_ms(0),
        plan: plan.clone(),
        suite_text: fs::read_to_string(suite().join("suite.toml")).expect("readable"),
        seed: 1,
        machine: MachineFacts {
            os: String::new(),
            kernel: String::new(),
            cpu_model: String::new(),
            cpus: 0,
            memory_bytes: 0,
            governor: None,
            virtual_machine: false,
            hardware: None,
        },
        versions: BTreeMap::new(),
        command: "bookend run helloworld-profile --quick".to_owned(),
        revision: Some("0123456789ab".to_owned()),
        provenance: Some(Provenance {
            build: BuildFacts {
                version: "0.1.0".to_owned(),
                revision: Some("ba9876543210".to_owned()),
                profile: "release: opt-level 3, lto fat, codegen-units 1".to_owned(),
            },
            profiles: BTreeMap::new(),
            doubts: Vec::new(),
        }),
    }
}

pub fn row(round: u32, cell: CellId) -> Row {
    let measurement = Measurement {
        window_seconds: 1.0,
        counts: WindowCounts { ok: 1000 + u64::from(round), ..WindowCounts::default() },
        ends: Ends {
            server: EndUsage {
                cpu_seconds: 0.5,
                cpu_limit: Some(1.0),
                memory_source: Some("cgroup".to_owned()),
                ..EndUsage::default()
            },
            ..Ends::default()
        },
        ..Measurement::default()
    };
    Row::new(round, cell, Outcome::Measured(Box::new(measurement)))
}
