//! The committed suites are well-formed, and what a user types is followed or answered.

use bookend_results::suite::{
    Case, Extent, Overrides, Plan, PlanError, Selection, ShortWindows, Suite,
};
use std::path::{Path, PathBuf};

fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../suites").join(name)
}

fn suite(name: &str) -> Suite {
    Suite::read(&folder(name)).unwrap_or_else(|error| panic!("{error}"))
}

fn quick() -> Selection {
    Selection { extent: Extent::Quick, ..Selection::default() }
}

fn plan_of(
    name: &str,
    selection: &Selection,
    environment: &[(&str, &str)],
) -> Result<Plan, PlanError> {
    let overrides = Overrides::from_environment(environment.iter().copied()).expect("readable");
    suite(name).plan(selection, &overrides, 2)
}

fn plan(environment: &[(&str, &str)], machine_cpus: u32) -> Result<Plan, PlanError> {
    let overrides = Overrides::from_environment(environment.iter().copied()).expect("readable");
    suite("pajamax-tonic").plan(&Selection::default(), &overrides, machine_cpus)
}

fn refused(environment: &[(&str, &str)]) -> String {
    Overrides::from_environment(environment.iter().copied())
        .expect_err("must be refused")
        .to_string()
}

#[test]
fn every_committed_suite_can_be_read_and_its_files_exist() {
    let suites = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../suites");
    let mut seen = 0;
    for entry in std::fs::read_dir(suites).expect("the suites folder") {
        let folder = entry.expect("an entry").path();
        if !folder.join("suite.toml").is_file() {
            continue;
        }
        let suite = Suite::read(&folder).unwrap_or_else(|error| panic!("{error}"));
        assert!(suite.path(&suite.request.proto).is_file(), "{}", suite.name);
        seen += 1;
    }
    assert!(seen >= 2, "only {seen} suites were found");
}

#[test]
fn the_published_grid_is_measured_whole() {
    let plan = plan(&[], 16).expect("a plan");
    // In three more, workers of ours share few connections at a given rate.
    let is_published = |case: &&Case| {
        plan.instruments_of.get(*case).is_none_or(|only| only.contains(&"bookend-load".to_owned()))
    };
    let cases: Vec<String> = plan.cases.iter().filter(is_published).map(Case::to_string).collect();
    assert_eq!((cases.len(), plan.cases.len()), (12, 15));
    assert_eq!(cases.first().map(String::as_str), Some("C=1 S=1"));
    assert_eq!(cases.last().map(String::as_str), Some("C=100 S=100000"));
    // The two that were published in twelve cases, and through ghz as grpc_bench calls it; four
    // more in nine, where calls are short; two in six, our drivers in seven; four in one case
    // through ghz as it is; two that share few connections in four.
    assert_eq!(plan.cells().len(), 2 * 12 + 2 * 12 + 4 * 9 + 2 * 6 + 3 * 7 + 4 + 2 * 4);
    assert_eq!((plan.warmup_ms, plan.window_ms, plan.rounds), (250, 1_000, 10));
    assert_eq!(plan.limits.server_memory_bytes, Some(512 << 20));
    assert_eq!(plan.baseline().map(|b| b.name.as_str()), Some("rust-tonic"));
    assert_eq!(plan.notes, [""; 0]);
}

#[test]
fn the_quick_part_ends_below_a_hundred_seconds() {
    /// What starting and stopping a server adds to a cell, generously.
    const START_MS: u64 = 200;
    for name in ["pajamax-tonic", "helloworld-profile"] {
        let plan = suite(name).plan(&quick(), &Overrides::default(), 2).expect("a plan");
        let cell_ms = plan.warmup_ms + plan.window_ms + START_MS;
        let total_ms = cell_ms * plan.cells().len() as u64 * u64::from(plan.rounds);
        assert!(total_ms < 100_000, "{name}: {total_ms} ms");
    }
}

/// Without the few cells that get longer windows: what those take, the comments of the suites say.
#[test]
fn a_full_run_of_each_document_takes_about_an_hour() {
    /// What starting and ending a server and its callers adds to a cell.
    const START_MS: u64 = 700;
    let documents = ["pajamax-tonic", "helloworld-profile", "grpc-thrift-go", "python-clients"];
    for name in documents {
        let plan = plan_of(name, &Selection::default(), &[]).expect("a plan");
        let cells = plan.cells().into_iter().filter(|cell| cell.case.calls.is_none()).count();
        let cell_ms = plan.warmup_ms + plan.window_ms + START_MS;
        let total_ms = cell_ms * cells as u64 * u64::from(plan.rounds);
        assert!(total_ms < 3_600_000, "{name}: {total_ms} ms");
        // A window under a second cannot be judged for its warm-up.
        assert!(plan.window_ms >= 1_000 && plan.window_max_ms > Some(plan.window_ms), "{name}");
    }
}

#[test]
fn no_window_is_longer_than_a_suite_a_user_or_the_usual_length_says() {
    let most = |selection: &Selection, environment: &[(&str, &str)]| {
        plan_of("transports", selection, environment).expect("a plan").window_max_ms
    };
    let full = Selection::default();
    assert_eq!(most(&full, &[]), Some(60_000));
    assert_eq!(most(&quick(), &[]), Some(5_000));
    assert_eq!(most(&full, &[("GRPC_BENCHMARK_DURATION", "700ms")]), Some(60_000));
    assert_eq!(most(&full, &[("GRPC_BENCHMARK_DURATION", "90s")]), Some(90_000));
    let declared = plan_of("pajamax-tonic", &full, &[]).expect("a plan");
    assert_eq!(declared.window_max_ms, Some(20_000), "as the document's");
    assert_eq!(declared.short_windows, ShortWindows::Kept);
}

#[test]
fn the_variables_of_grpc_bench_are_followed() {
    let plan = plan(
        &[
            ("GRPC_BENCHMARK_DURATION", "1m30s"),
            ("GRPC_BENCHMARK_WARMUP", "500ms"),
            ("GRPC_SERVER_CPUS", "2"),
            ("GRPC_SERVER_RAM", "1g"),
            ("GRPC_CLIENT_CONNECTIONS", "50"),
            ("GRPC_CLIENT_CONCURRENCY", "1000"),
            ("GRPC_CLIENT_QPS", "0"),
            ("GRPC_CLIENT_CPUS", "12"),
            ("GRPC_REQUEST_SCENARIO", "complex_proto"),
            ("GRPC_TRACE", "all"),
            ("PATH", "/bin"),
        ],
        16,
    )
    .expect("a plan");
    assert_eq!((plan.window_ms, plan.warmup_ms), (90_000, 500));
    assert_eq!((plan.limits.server_cpus, plan.limits.server_memory_bytes), (2.0, Some(1 << 30)));
    assert_eq!(plan.cases, [Case::new(50, 1000).expect("a case")]);
    assert_eq!(plan.generator_cpus, Some(12));
    assert_eq!(plan.notes, [""; 0]);
}

#[test]
fn what_cannot_be_given_is_said() {
    let plan = plan(
        &[
            ("GRPC_CLIENT_CPUS", "12"),
            ("GRPC_CLIENT_QPS", "500"),
            ("GRPC_GHZ_TAG", "0.114.0"),
            ("GRPC_SERVER_CPUS", "4"),
        ],
        2,
    )
    .expect("a plan");
    assert_eq!(plan.limits.server_cpus, 2.0);
    assert_eq!(plan.generator_cpus, None);
    assert_eq!(
        plan.notes,
        [
            "GRPC_CLIENT_QPS=500 is not applied: suites run a closed loop, as fast as answers come",
            "4 CPUs for the server: this machine has 2",
            "GRPC_CLIENT_CPUS=12: this machine has 2 CPUs in all",
        ]
    );
}

#[test]
fn the_version_of_ghz_matters_to_those_whom_it_loads() {
    let environment = [("GRPC_GHZ_TAG", "0.114.0")];
    let overrides = Overrides::from_environment(environment).expect("readable");
    let suite = suite("pajamax-tonic");
    let text = suite.text.replace(r#", "ghz"]"#, "]");
    let suite = Suite::parse(Path::new("pajamax-tonic"), &text).expect("still a suite");
    let is_noted = |subject: &str| {
        let subjects = Some(vec![subject.to_owned()]);
        let selection = Selection { subjects, ..Selection::default() };
        let plan = suite.plan(&selection, &overrides, 2).expect("a plan");
        let note = "GRPC_GHZ_TAG=0.114.0: the load of this run is not made by ghz";
        plan.notes.contains(&note.to_owned())
    };
    assert!(is_noted("rust-bookend"));
    assert!(!is_noted("rust-pajamax/0.2.0"), "a variant of ghz is ghz");
}

#[test]
fn a_line_of_the_grid_and_a_subject_may_take_part_of_the_cells() {
    let plan = |extent| {
        let selection = Selection { extent, ..Selection::default() };
        let suite = suite("python-clients");
        suite.plan(&selection, &Overrides::default(), 2).expect("a plan").cells()
    };
    let full = plan(Extent::Full);
    let cases = |subject: &str, instrument: &str| {
        full.iter()
            .filter(|cell| cell.id.subject == subject && cell.id.instrument == instrument)
            .map(|cell| cell.case.concurrency)
            .collect::<Vec<_>>()
    };
    assert_eq!(cases("python-grpcio/sync", "cpp-grpc"), [1, 2, 4, 8, 16, 32, 64]);
    assert_eq!(cases("python-grpcio/sync", "bookend-serve"), [8, 64]);
    assert_eq!(cases("python-grpcio/uvloop-one-channel", "cpp-grpc"), [8, 64]);
    let is_extra = |subject: &str| subject.ends_with("-one-channel");
    let quick = plan(Extent::Quick);
    assert!(!quick.iter().any(|cell| is_extra(&cell.id.subject)));
    assert!(full.iter().any(|cell| is_extra(&cell.id.subject)));
}

#[test]
fn one_of_connections_and_concurrency_keeps_what_fits_it() {
    let kept = plan(&[("GRPC_CLIENT_CONNECTIONS", "10")], 2).expect("a plan");
    assert_eq!(kept.cases.len(), 4);
    assert_eq!(plan(&[("GRPC_CLIENT_CONNECTIONS", "7")], 2), Err(PlanError::NoCase));
    let few = plan(&[("GRPC_CLIENT_CONNECTIONS", "9"), ("GRPC_CLIENT_CONCURRENCY", "8")], 2);
    assert!(matches!(few, Err(PlanError::Case(_))), "{few:?}");
}

#[test]
fn values_that_cannot_be_read_are_answered_with_what_to_write() {
    assert_eq!(
        refused(&[("GRPC_BENCHMARK_DURATION", "20")]),
        "GRPC_BENCHMARK_DURATION: `20` is not a duration: write a number and a unit, as 500ms, \
         20s or 1m30s"
    );
    assert_eq!(
        refused(&[("GRPC_SERVER_RAM", "lots")]),
        "GRPC_SERVER_RAM: `lots` is not a size: write a number and b, k, m or g (of 1024), as 512m"
    );
    assert_eq!(
        refused(&[("GRPC_CLIENT_CONECTIONS", "1")]),
        "GRPC_CLIENT_CONECTIONS is not a variable of grpc_bench, did you mean \
         GRPC_CLIENT_CONNECTIONS?"
    );
    assert!(refused(&[("GRPC_SERVER_CPUS", "-1")]).contains("not a number of CPUs"));
    assert!(refused(&[("GRPC_CLIENT_QPS", "1.5")]).contains("not a whole number"));
    assert!(refused(&[("GRPC_BENCHMARK_DURATION", "0s")]).contains("must have a length"));
    let other = plan(&[("GRPC_REQUEST_SCENARIO", "string_100B")], 2).expect_err("elsewhere");
    assert!(other.to_string().contains("this suite sends complex_proto"), "{other}");
}

#[test]
fn a_selection_may_name_strangers_and_says_what_is_lost() {
    let suite = suite("pajamax-tonic");
    let selection = Selection {
        subjects: Some(vec!["rust-bookend/epoll".into(), "my-server".into()]),
        rounds: Some(3),
        ..quick()
    };
    let plan = suite.plan(&selection, &Overrides::default(), 2).expect("a plan");
    assert_eq!(plan.subjects[0].folder_and_variant(), ("rust-bookend", Some("epoll")));
    assert_eq!(plan.subjects[1].folder_and_variant(), ("my-server", None));
    assert_eq!(
        plan.notes,
        [
            "rust-tonic was not selected: there are no ratios",
            "rounds: 3 of the 7 that a result to be quoted needs",
        ]
    );
    let twice = Selection { subjects: Some(vec!["a".into(), "a".into()]), ..quick() };
    assert!(suite.plan(&twice, &Overrides::default(), 2).is_err());
}

#[test]
fn faults_of_a_suite_name_file_line_and_remedy() {
    let folder = folder("pajamax-tonic");
    let text = std::fs::read_to_string(folder.join("suite.toml")).expect("readable");
    let complaint = |from: &str, to: &str| {
        assert!(text.contains(from), "{from}");
        let error = Suite::parse(&folder, &text.replacen(from, to, 1)).expect_err("refused");
        error.to_string().replace(&folder.display().to_string(), "SUITE")
    };
    assert_eq!(
        complaint("server_cpus", "server_cpu"),
        "SUITE/suite.toml:30: unknown key `server_cpu`, did you mean `server_cpus`?"
    );
    assert!(complaint("\"512m\"", "\"512 apples\"").contains("suite.toml:31: `512 apples`"));
    assert!(complaint("rounds = 10", "rounds = 3").contains("3 rounds: at least 10"));
    assert!(complaint("[100] }", "[0] }").contains("at least one connection"));
    assert!(complaint("[100] }", "[2, 2] }").contains("C=1 S=2 stands in the grid twice"));
    assert!(complaint("baseline = true", "").contains("exactly one subject"));
    assert!(complaint("Greeter/SayHello", "Greeter.SayHello").contains("pkg.Service/Method"));
    assert!(complaint("json = ", "#").contains("one of `json` and `bytes`"));
    assert!(complaint("name = \"pajamax-tonic\"", "name = \"x\"").contains("must be called so"));
    assert!(complaint("\"450ms\"", "\"0\"").contains("the window must have a length"));
    let shorter = complaint("window_max = \"20s\"", "window_max = \"900ms\"");
    assert!(shorter.contains("no window may be shorter than `window`"), "{shorter}");
    assert!(complaint("[\"bookend-load\"]", "[]").contains("at least one instrument"));
}

#[test]
fn a_case_is_written_and_read_the_same_way() {
    let case = Case::new(10, 1000).expect("a case");
    assert_eq!(case.to_string(), "C=10 S=1000");
    assert_eq!("C=10 S=1000".parse(), Ok(case));
    for text in ["", "C=1", "C=1 S=", "C=x S=1", "S=1 C=1", "C=2 S=1", "C=1 S=9999999"] {
        assert!(text.parse::<Case>().is_err(), "{text}");
    }
}

#[test]
fn single_cases_of_a_suite_may_be_selected() {
    let suite = suite("pajamax-tonic");
    let plan = |cases: &[&str]| {
        let cases = Some(cases.iter().map(|case| (*case).to_owned()).collect());
        suite.plan(&Selection { cases, ..quick() }, &Overrides::default(), 2)
    };
    let cases = plan(&["C=1 S=1000", "C=1 S=1"]).expect("a plan").cases;
    let texts: Vec<String> = cases.iter().map(ToString::to_string).collect();
    assert_eq!(texts, ["C=1 S=1", "C=1 S=1000"], "in the order of the suite");
    let error = plan(&["C=1 S=2"]).expect_err("no such case").to_string();
    assert_eq!(error, "no case is C=1 S=2: there are C=1 S=1, C=1 S=100, C=1 S=1000, C=100 S=100");
}

#[test]
fn all_that_is_missing_is_told_at_once() {
    let error = |text: &str| {
        let parsed = Suite::parse(Path::new("mine"), text);
        parsed.expect_err("it is not whole").to_string()
    };
    let said = error("name = \"mine\"\n[request]\nmethod = \"a.B/C\"\n[full]\nrounds = 10\n");
    let all = "missing fields `title`, `instruments`, `request.proto`, `subjects`, `full.warmup`, \
               `full.window`, `full.grid`";
    assert!(said.ends_with(all), "{said}");
    let misspelt = error("name = \"mine\"\ntitel = \"x\"\n");
    assert!(misspelt.contains("did you mean `title`?"), "{misspelt}");
}

#[test]
fn the_suite_of_the_guide_is_one() {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/extend/making-a-suite.md");
    let guide = std::fs::read_to_string(file).expect("the guide");
    let block = guide.split("```toml\n").nth(1).and_then(|rest| rest.split("```").next());
    let suite = Suite::parse(Path::new("my-question"), block.expect("a block"))
        .unwrap_or_else(|error| panic!("{error}"));
    let plan = suite.plan(&quick(), &Overrides::default(), 2).expect("a plan");
    assert_eq!((plan.limits.server_cpus, plan.cells().len()), (1.0, 4));
    // Windows, warm-ups and what is around them.
    assert_eq!(plan.least_duration().as_millis(), 4 * 7 * (200 + 500 + 700));
}
