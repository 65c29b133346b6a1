//! What `bookend load` says of servers that fail, stand still or refuse calls: by its exit status,
//! its limit and its JSON.

#[path = "support/served.rs"]
mod served;

use serde_json::Value;
use served::Served;
use std::io::{BufRead as _, BufReader, Read as _};
use std::process::{Command, Output, Stdio};

const BOOKEND: &str = env!("CARGO_BIN_EXE_bookend");
const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

fn serve() -> Served {
    let mut command = Command::new(BOOKEND);
    command.args(["serve", "--threads", "1", "--port", "0"]);
    Served::by(command)
}

fn signal(name: &str, process: u32) {
    let sent = Command::new("kill").args(["-s", name, &process.to_string()]).status();
    assert!(sent.expect("kill is a command of every Unix").success());
}

/// A generator of calls that are answered.
fn load(server: &Served, words: &[&str]) -> Command {
    let mut command = Command::new(BOOKEND);
    command.args(["load", "--insecure", "--proto", &format!("{ROOT}/proto/helloworld.proto")]);
    command.args(["--call", "helloworld.Greeter/SayHello", "-d", r#"{"name":"x"}"#]);
    command.args(words).arg(format!("127.0.0.1:{}", server.port));
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// Lets the server stand still from the first second of the run until its end.
fn load_of_a_server_that_stands_still(words: &[&str]) -> (Output, Value) {
    let server = serve();
    let live = ["--live", "lines", "-O", "json"];
    let mut running = load(&server, &[words, &live].concat()).spawn().expect("it starts");
    let mut progress = BufReader::new(running.stderr.take().expect("a pipe"));
    let mut said = String::new();
    while !said.contains("in flight") {
        assert!(progress.read_line(&mut said).expect("text") > 0, "{said}");
    }
    signal("STOP", server.process.id());
    let mut stdout = String::new();
    running.stdout.take().expect("a pipe").read_to_string(&mut stdout).expect("text");
    progress.read_to_string(&mut said).expect("text");
    let status = running.wait().expect("it ends");
    signal("CONT", server.process.id());
    let report = serde_json::from_str(&stdout).expect("JSON");
    (Output { status, stdout: stdout.into_bytes(), stderr: said.into_bytes() }, report)
}

#[track_caller]
fn missed(output: &Output, report: &Value) {
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(3), "{said}");
    let limit = report["bookend"]["limit"].as_str().expect("a sentence");
    assert!(!limit.contains("at least this much"), "{limit}");
    let gates = report["bookend"]["gates"].as_array().expect("gates");
    for gate in gates {
        assert_eq!(gate["outcome"], "missed", "{gate}");
    }
    assert!(report["bookend"]["never_came_back"].as_u64() > Some(0), "{report}");
}

#[test]
fn calls_that_never_came_back_miss_every_objective() {
    let by_rate = ["--rps", "300", "-z", "3s"];
    let gates = ["--slo", "p99<20ms,max<10s", "--slo", "errors<1%", "--fail-if", "p90>1h"];
    for words in [&by_rate[..], &[&by_rate[..], &["--async"]].concat()] {
        let (output, report) = load_of_a_server_that_stands_still(&[words, &gates].concat());
        missed(&output, &report);
    }
    // In a closed loop only the calls in flight hang.
    let closed = ["-c", "50", "-z", "3s", "--slo", "max<10s", "--fail-if", "errors>0"];
    let (output, report) = load_of_a_server_that_stands_still(&closed);
    missed(&output, &report);
}

#[test]
fn a_timeout_below_the_bound_does_not_hide_a_server_that_stands_still() {
    let words = ["--rps", "300", "-z", "3s", "--timeout", "50ms"];
    let (output, _) =
        load_of_a_server_that_stands_still(&[&words[..], &["--slo", "p99<1s"]].concat());
    assert_eq!(output.status.code(), Some(3));
}

#[test]
fn a_server_that_fails_every_call_keeps_no_objective_and_shows_no_limit() {
    let server = serve();
    let gates = ["--slo", "p50<1h", "--fail-if", "errors>99%", "-O", "json"];
    let home = tempfile::tempdir().expect("a temporary folder");
    let proto = home.path().join("absent.proto");
    let absent = "syntax = \"proto3\"; message M {} service Absent { rpc Call(M) returns (M); }";
    std::fs::write(&proto, absent).expect("it can be written");
    let words = ["--call", "Absent/Call", "-d", "{}"];
    for pace in [&["--rps", "200", "-z", "1s"][..], &["-n", "200"]] {
        let mut command = Command::new(BOOKEND);
        let target = format!("127.0.0.1:{}", server.port);
        command.args(["load", "--insecure", "--proto"]).arg(&proto).args(words).args(pace);
        let output = command.args(gates).arg(target).output().expect("it starts");
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(3), "{said}");
        let report: Value = serde_json::from_slice(&output.stdout).expect("JSON");
        let limit = report["bookend"]["limit"].as_str().expect("a sentence");
        assert_eq!(limit, "unknown: none of 200 calls was answered OK");
    }
}

#[test]
fn what_is_kept_is_in_the_json_as_well() {
    let server = serve();
    let gates = ["--slo", "p50<1h,errors<1", "--fail-if", "rps<1", "-O", "json"];
    let output = load(&server, &[&["-n", "500"][..], &gates].concat()).output().expect("started");
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    assert!(output.stderr.is_empty(), "{output:?}");
    let report: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let gates: Vec<_> = report["bookend"]["gates"].as_array().expect("gates").iter().collect();
    let said = |gate: &Value| format!("{} {} {}", gate["kind"], gate["condition"], gate["outcome"]);
    let all: Vec<String> = gates.into_iter().map(said).collect();
    let expected =
        [r#""slo" "p50<3600s" "met""#, r#""slo" "errors<1" "met""#, r#""fail-if" "rps<1" "met""#];
    assert_eq!(all, expected);
}

#[test]
fn a_search_that_is_interrupted_decides_nothing_by_it() {
    let server = serve();
    let words = ["--find-capacity", "p99<1ns", "-z", "400ms", "-O", "json"];
    let running = load(&server, &words).spawn().expect("it starts");
    // Long enough for the closed loops, too short for the search; either is no capacity.
    std::thread::sleep(std::time::Duration::from_secs(4));
    signal("INT", running.id());
    let output = running.wait_with_output().expect("it ends");
    assert_eq!(output.status.code(), Some(130), "{output:?}");
    let found: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(found["kept_rate"], Value::Null, "{found}");
}
