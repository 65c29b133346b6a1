//! What a suite can ask beyond a grid of windows: connections a call, fixed numbers of calls,
//! deadlines, backends, clients under test.

use bookend_results::suite::{
    Extent, Overrides, Plan, PlanError, Selection, ServerLife, Suite, TestedEnd,
};
use std::path::Path;

const SUITE: &str = r#"
name = "all"
title = "everything"
analysis = "everything"
instruments = ["ghz"]
[request]
method = "a.B/C"
proto = "a.proto"
bytes = "a.bin"
[limits]
server_cpus = 1
server_processes = 2000
client_cpus = 1.5
[[subjects]]
name = "server"
baseline = true
[[subjects]]
name = "sync"
instruments = ["server"]
concurrency_max = 64
side = "client"
[[subjects]]
name = "other"
backend = "fast/backend"
server_processes = 4096
[full]
warmup = "0"
window = "1s"
rounds = 10
deadline = "20s"
backend = "slow/backend"
drain = "45s"
grid = [
    { connections = "concurrency", concurrency = [1, 256] },
    { connection_per_call = true, concurrency = [10] },
    { connections = 1, concurrency = [5000], calls = 10000 },
]
[quick]
warmup = "0"
window = "1s"
rounds = 7
grid = [{ connections = 1, concurrency = [5], calls = 10 }]
"#;

fn suite(text: &str) -> Suite {
    Suite::parse(Path::new("suites/all"), text).unwrap_or_else(|error| panic!("{error}"))
}

fn plan_of(selection: &Selection) -> Plan {
    suite(SUITE).plan(selection, &Overrides::default(), 4).unwrap_or_else(|error| panic!("{error}"))
}

fn complaint(from: &str, to: &str) -> String {
    assert!(SUITE.contains(from), "{from}");
    let text = SUITE.replacen(from, to, 1);
    let error = Suite::parse(Path::new("suites/all"), &text).expect_err("must be refused");
    error.to_string()
}

#[test]
fn every_kind_of_case_stands_in_the_grid() {
    let cases = suite(SUITE).full.cases;
    let written: Vec<String> = cases.iter().map(ToString::to_string).collect();
    assert_eq!(
        written,
        ["C=1 S=1", "C=256 S=256", "C=10 S=10 per-call", "C=1 S=5000 calls=10000",]
    );
}

#[test]
fn a_full_run_has_a_server_a_cell_unless_the_suite_says_otherwise() {
    let lives = |text: &str| {
        let suite = suite(text);
        [suite.full.server_life, suite.quick.expect("a quick part").server_life]
    };
    assert_eq!(lives(SUITE), [ServerLife::Cell, ServerLife::Round]);
    let other = SUITE
        .replace("rounds = 10", "rounds = 10\nserver_life = \"round\"")
        .replace("rounds = 7", "rounds = 7\nserver_life = \"cell\"");
    assert_eq!(lives(&other), [ServerLife::Round, ServerLife::Cell]);
    let full = plan_of(&Selection::default());
    assert_eq!(full.server_life, ServerLife::Cell);
    let mut old = serde_json::to_value(&full).expect("JSON");
    old.as_object_mut().expect("an object").remove("server_life");
    let old: Plan = serde_json::from_value(old).expect("readable");
    assert_eq!(old.server_life, ServerLife::Round, "runs of before shared their servers");
}

#[test]
fn a_line_of_the_grid_has_a_case_a_transport() {
    let line = "{ connection_per_call = true, concurrency = [10] }";
    let more =
        "{ connection_per_call = true, concurrency = [10], transports = [\"h2c\", \"tls\"] }";
    let cases = suite(&SUITE.replace(line, more)).full.cases;
    let written: Vec<String> = cases.iter().map(ToString::to_string).collect();
    assert_eq!(written[2..4], ["C=10 S=10 per-call", "C=10 S=10 tls per-call"]);
    let with = |list: &str| complaint(line, &more.replace("[\"h2c\", \"tls\"]", list));
    assert!(with("[]").contains("at least one transport"));
    assert!(with("[\"tls\", \"tls\"]").contains("`tls` is named twice"));
    let said = with("[\"quic\"]");
    assert!(said.contains("a transport is h2c, tls or unix"), "{said}");
    assert!(said.starts_with("suites/all/suite.toml:"), "{said}");
}

#[test]
fn one_case_of_the_environment_is_asked_over_every_transport_of_the_grid() {
    let line = "{ connections = 1, concurrency = [5], calls = 10 }";
    let more = "{ connections = 1, concurrency = [5], transports = [\"h2c\", \"unix\"] }";
    let environment = [("GRPC_CLIENT_CONNECTIONS", "2"), ("GRPC_CLIENT_CONCURRENCY", "8")];
    let overrides = Overrides::from_environment(environment).expect("known variables");
    let quick = Selection { extent: Extent::Quick, ..Selection::default() };
    let planned = |text: &str| {
        let plan = suite(text).plan(&quick, &overrides, 4).expect("a plan");
        plan.cases.iter().map(ToString::to_string).collect::<Vec<String>>()
    };
    assert_eq!(planned(SUITE), ["C=2 S=8"]);
    assert_eq!(planned(&SUITE.replace(line, more)), ["C=2 S=8", "C=2 S=8 unix"]);
}

#[test]
fn what_a_suite_says_of_both_ends_is_planned() {
    let plan = plan_of(&Selection::default());
    assert_eq!((plan.deadline_ms, plan.drain_ms), (Some(20_000), Some(45_000)));
    assert_eq!(plan.limits.server_processes, Some(2000));
    assert_eq!(plan.limits.client_cpus, Some(1.5));
    let [server, sync, other] = &plan.subjects[..] else {
        panic!("{:?}", plan.subjects);
    };
    assert_eq!(server.backend.as_deref(), Some("slow/backend"));
    assert_eq!(other.backend.as_deref(), Some("fast/backend"));
    assert_eq!((server.side, sync.side), (None, Some(TestedEnd::Client)));
    assert_eq!((server.server_processes, other.server_processes), (None, Some(4096)));
}

#[test]
fn cases_above_a_subjects_limit_are_left_out_and_that_is_said() {
    let plan = plan_of(&Selection::default());
    let cells = plan.cells();
    let of = |name: &str| cells.iter().filter(|cell| cell.id.subject == name).count();
    assert_eq!((of("server"), of("sync"), of("other")), (4, 2, 4));
    assert_eq!(plan.notes, ["sync is not measured above S=64"]);
}

#[test]
fn a_subject_without_a_case_is_named() {
    let text = SUITE.replace("concurrency_max = 64", "concurrency = [7]");
    let notes =
        suite(&text).plan(&Selection::default(), &Overrides::default(), 4).expect("a plan").notes;
    assert_eq!(notes, ["sync is measured in none of these cases"]);
}

#[test]
fn the_command_line_may_give_another_limit_of_processes() {
    let plan = plan_of(&Selection { server_processes: Some(300), ..Selection::default() });
    assert_eq!(plan.limits.server_processes, Some(300));
    assert!(plan.subjects.iter().all(|subject| subject.server_processes.is_none()));
    let none = Selection { server_processes: Some(0), ..Selection::default() };
    let plan = suite(SUITE).plan(&none, &Overrides::default(), 4);
    assert_eq!(plan, Err(PlanError::NoProcess));
}

#[test]
fn a_fixed_number_of_calls_gives_the_server_time_to_end() {
    let plan = plan_of(&Selection { extent: Extent::Quick, ..Selection::default() });
    assert_eq!((plan.drain_ms, plan.deadline_ms), (Some(10_000), None));
    assert_eq!(plan.subjects[0].backend, None);
}

#[test]
fn a_machine_with_fewer_cpus_than_the_client_is_to_get_is_noted() {
    let plan = suite(SUITE).plan(&Selection::default(), &Overrides::default(), 1).expect("a plan");
    assert_eq!(plan.limits.client_cpus, Some(1.0));
    assert!(
        plan.notes.contains(&"1.5 CPUs for the client: this machine has 1".to_owned()),
        "{:?}",
        plan.notes
    );
}

#[test]
fn a_stored_plan_of_an_earlier_version_is_still_read() {
    let mut json = serde_json::to_value(plan_of(&Selection::default())).expect("a plan");
    let new = ["deadline_ms", "drain_ms", "server_processes", "client_cpus"];
    let plan = json.as_object_mut().expect("an object");
    plan.retain(|key, _| !new.contains(&key.as_str()));
    for subject in plan["subjects"].as_array_mut().expect("a list") {
        let subject = subject.as_object_mut().expect("an object");
        let new = ["concurrency_max", "backend", "server_processes", "side"];
        subject.retain(|key, _| !new.contains(&key.as_str()));
    }
    let read: Plan = serde_json::from_value(json).expect("readable");
    assert_eq!((read.deadline_ms, read.subjects[1].concurrency_max), (None, None));
}

#[test]
fn faults_name_the_line_and_what_to_write() {
    assert_eq!(
        complaint("connections = \"concurrency\"", "connections = \"all\""),
        "suites/all/suite.toml:34: \"all\" connections: write a whole number, or \"concurrency\" \
         for one a call in flight"
    );
    assert!(complaint("connections = \"concurrency\", ", "").contains("give the line its conn"));
    assert!(complaint("connections = 1,", "connections = -1,").contains("-1 connections"));
    assert!(
        complaint("connection_per_call = true", "connections = 1, connection_per_call = true")
            .contains("as many connections as calls in flight")
    );
    assert!(complaint("calls = 10000", "calls = 4999").contains("at least as many calls"));
    assert!(complaint("calls = 10000", "cals = 10000").contains("did you mean `calls`?"));
    assert!(complaint("\"20s\"", "\"0\"").contains("a call needs at least 1ms"));
    assert!(complaint("\"slow/backend\"", "\"\"").contains("name a subject"));
    assert!(complaint("\"45s\"", "\"long\"").contains("`long` is not a duration"));
    assert!(complaint("= 2000", "= 0").contains("at least one process"));
    assert!(complaint("= 1.5", "= 0.0").contains("both ends need some CPU"));
    assert!(complaint("= 64", "= 0").contains("no case has 0 streams"));
    assert!(complaint("\"client\"", "\"middle\"").contains("`server` or `client`"));
    assert!(complaint("deadline", "deadlin").contains("did you mean `deadline`?"));
    let only = "concurrency = [10], instruments = [\"gzh\"]";
    assert!(complaint("concurrency = [10]", only).contains("no subject is measured with `gzh`"));
}
