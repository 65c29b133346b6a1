//! Races of clients against the reference server: each lap is a run of its own.

use serde_json::Value;
use std::path::Path;
use std::process::{Command, Output};

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
const BOOKEND: &str = env!("CARGO_BIN_EXE_bookend");
/// Ends with the first interval.
const SOON: [&str; 2] = ["--until", "90%"];

/// Races with a machine of its own, so that labs of others do not matter here.
fn race(home: &Path, words: &[&str]) -> Output {
    let mut command = Command::new(BOOKEND);
    command.args(["race", "--client", "--proto", &format!("{ROOT}/proto/helloworld.proto")]);
    command.args(["--call", "helloworld.Greeter/SayHello", "-d", r#"{"name":"x"}"#]);
    // A client on a busy machine has to come to its turn within a lap.
    command.args(["--lap", "400ms", "--warmup", "5ms", "--quiet"]).args(words);
    command.current_dir(home).env("TMPDIR", home).output().expect("the command starts")
}

/// A client that takes all that it needs from the contract's variables.
fn load(name: &str) -> String {
    format!(
        "{name}=exec {BOOKEND} load --insecure --proto {ROOT}/proto/helloworld.proto \
         --call \"$BOOKEND_METHOD\" -B \"$BOOKEND_REQUEST_FILE\" -c \"$BOOKEND_CONCURRENCY\" \
         --connections \"$BOOKEND_CONNECTIONS\" --warmup \"$BOOKEND_WARMUP_MS\"ms \
         -z \"$BOOKEND_MEASURE_MS\"ms \"$BOOKEND_TARGET\""
    )
}

fn said(output: &Output, status: i32) -> String {
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(status), "{text}");
    text
}

#[test]
fn two_clients_are_started_for_each_lap_and_call_one_server() {
    let home = tempfile::tempdir().expect("a temporary folder");
    let counted = |name: &str| load(name).replacen('=', &format!("=echo x >> {name}.runs; "), 1);
    let [old, new] = [counted("old"), counted("new")];
    let more = ["--connections", "2", "-c", "4", "--json", "--save", "race.json"];
    let output = race(home.path(), &[&[old.as_str(), &new], &more[..], &SOON].concat());
    said(&output, 0);
    let answer: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(answer["tested"], "client", "{answer}");
    assert_eq!(answer["covers_starts"], true, "{answer}");
    for client in answer["servers"].as_array().expect("two") {
        assert!(client["calls_ok"].as_u64().expect("a number") > 0, "{answer}");
        assert_eq!(client["calls_failed"], 0, "{answer}");
        let runs = format!("{}.runs", client["name"].as_str().expect("a name"));
        let runs = std::fs::read_to_string(home.path().join(runs)).expect("it was started");
        let rounds = answer["rounds"].as_u64().expect("a number");
        assert_eq!(runs.lines().count() as u64, 2 * rounds, "{answer}");
    }
    let kept = std::fs::read_to_string(home.path().join("race.json")).expect("it was kept");
    let kept: Value = serde_json::from_str(&kept).expect("JSON");
    assert_eq!(kept["cells"][0]["connections"], 2);
    let left: Vec<_> = std::fs::read_dir(home.path())
        .expect("a folder")
        .filter_map(Result::ok)
        .map(|entry| entry.file_name())
        .collect();
    assert!(!left.iter().any(|name| name.to_string_lossy().contains("request")), "{left:?}");
}

#[test]
fn one_client_is_measured_and_the_answer_is_in_words() {
    let home = tempfile::tempdir().expect("a temporary folder");
    let output = race(home.path(), &[&[load("mine").as_str()][..], &SOON].concat());
    said(&output, 0);
    let answer = String::from_utf8_lossy(&output.stdout);
    assert!(answer.starts_with("A call costs ") && answer.contains(" in mine; "), "{answer}");
    assert!(answer.contains("runs of 400 ms, each started anew"), "{answer}");
}

#[test]
fn a_client_that_fails_is_reported_in_its_own_words() {
    let home = tempfile::tempdir().expect("a temporary folder");
    for (command, part) in [
        ("echo no library here >&2; exit 3", "bad: no library here (exit status: 3)"),
        ("echo one stream only >&2; exit 89", "bad cannot do this: one stream only"),
        ("echo Hello", "bad: it does not speak the contract of clients"),
        ("true", "bad: it ended without `window start`"),
        ("echo window end", "bad: `window end` is out of place"),
        ("echo window start; echo window end; echo ok 0", "bad: no call of its window ended"),
        (
            "echo window start; echo window end; echo ok 0; echo error UNAVAILABLE 7",
            "bad: no call of its window ended OK, but with UNAVAILABLE 7",
        ),
    ] {
        let bad = format!("bad={command}");
        let error = said(&race(home.path(), &[&load("good"), &bad]), 1);
        assert!(error.contains(part), "{command}: {error}");
        assert_eq!(error.lines().count(), 1, "{error}");
    }
}

#[test]
fn what_was_measured_before_a_client_failed_is_kept_and_told() {
    let home = tempfile::tempdir().expect("a temporary folder");
    // Two rounds, and no more.
    let ends = "=echo x >> runs; [ $(wc -l < runs) -le 8 ] || { echo no more >&2; exit 3; }; ";
    let client = load("mine").replacen('=', ends, 1);
    let output = race(home.path(), &[&client, "--save", "race.json"]);
    let error = said(&output, 1);
    assert!(error.contains("bookend race: mine: no more (exit status: 3)"), "{error}");
    let answer = String::from_utf8_lossy(&output.stdout);
    assert!(answer.starts_with("A call costs "), "{answer}");
    let kept = std::fs::read_to_string(home.path().join("race.json")).expect("it was kept");
    let kept: Value = serde_json::from_str(&kept).expect("JSON");
    assert_eq!(kept["starts"].as_array().map(Vec::len), Some(2), "{kept}");
}

#[test]
fn flags_that_mean_nothing_to_clients_are_refused_with_the_reason() {
    let home = tempfile::tempdir().expect("a temporary folder");
    for (words, part) in [
        (&["--at", "a=127.0.0.1:9"][..], "--client and --at: clients are started for each lap"),
        (&["--rev", "HEAD"], "--client and --rev: "),
        (&["--starts", "9"], "--client and --starts: each lap of a client is a start of its own"),
        (&["--no-restart"], "--client and --no-restart: "),
        (&["--profile"], "--client and --profile: "),
        (&["--rps", "9"], "--client and --rps: the contract of clients has no rate"),
        (&["--skipTLS"], "--client and TLS: clients are raced in plain text"),
        (&["-m", "{}"], "--client and --metadata: "),
    ] {
        let error = said(&race(home.path(), &[words, &["a=./a", "b=./b"]].concat()), 2);
        assert!(error.contains(part), "{words:?}: {error}");
    }
    let error = said(&race(home.path(), &["a=./a --port {port}"]), 2);
    assert!(error.contains("BOOKEND_TARGET"), "{error}");
    let error = said(&race(home.path(), &["a=./a", "a=./b"]), 2);
    assert!(error.contains("both clients are called `a`"), "{error}");
    let template = ["a=./a", "--data", r#"{"name":"{{.RequestNumber}}"}"#];
    let output = Command::new(BOOKEND)
        .args(["race", "--client", "--proto", &format!("{ROOT}/proto/helloworld.proto")])
        .args(["--call", "helloworld.Greeter/SayHello"])
        .args(template)
        .env("TMPDIR", home.path())
        .output()
        .expect("the command starts");
    assert!(said(&output, 2).contains("no template"), "{output:?}");
}
