//! connectconformance: gRPC semantics, case by case, of our server and of our client.
#![forbid(unsafe_code)]

use bookend_conformance::{Ended, outside, run};

/// gRPC over cleartext HTTP/2, uncompressed and with gzip: `grpc-h2c.yaml`.
const SERVER_CASES: usize = 374;
/// The same for clients, against a server that checks their bytes and against grpc-go.
const CLIENT_CASES: usize = 409;

const SERVER: &str = env!("CARGO_BIN_EXE_connect-server");
const CLIENT: &str = env!("CARGO_BIN_EXE_connect-client");

fn connectconformance(mode: &str, command: &[&str]) -> Ended {
    let flags = ["--conf", "grpc-h2c.yaml", "--mode", mode, "--"];
    run(
        &outside("connectconformance"),
        [&flags[..], command].concat(),
    )
}

/// What is wrong with a run; nothing only where every case was run and passed. The status alone
/// does not say so: the runner forgives cases that it could not run.
fn complaint(ended: &Ended, cases: usize) -> Option<String> {
    let summary = [
        format!("Total cases: {cases}"),
        format!("{cases} passed, 0 failed"),
    ];
    let last: Vec<&str> = ended.text.trim_end().lines().rev().take(2).collect();
    let is_good = ended.succeeded && last.into_iter().rev().eq(summary.iter());
    (!is_good).then(|| format!("not {summary:?}, but:\n{}", ended.text))
}

fn assert_server_passes(io: &str) {
    let ended = connectconformance("server", &[SERVER, "--io", io]);
    assert_eq!(complaint(&ended, SERVER_CASES), None);
}

/// Every case that expects an error sees another one.
fn assert_notices_wrong_codes(mode: &str, program: &str, cases: usize) {
    let ended = connectconformance(mode, &[program, "--wrong-code"]);
    assert!(complaint(&ended, cases).is_some(), "{}", ended.text);
    assert!(!ended.succeeded);
    let failed = ended
        .text
        .lines()
        .filter(|line| line.starts_with("FAILED: "));
    let failed = failed.count();
    assert!(0 < failed && failed < cases, "{failed} of {cases} failed");
}

#[test]
fn the_server_passes_every_case_with_the_blocking_driver() {
    assert_server_passes("blocking");
}

#[test]
fn the_server_passes_every_case_with_the_epoll_driver() {
    assert_server_passes("epoll");
}

#[test]
fn the_client_passes_every_case() {
    let ended = connectconformance("client", &[CLIENT]);
    assert_eq!(complaint(&ended, CLIENT_CASES), None);
}

#[test]
fn a_server_that_ends_calls_with_another_code_is_a_complaint() {
    assert_notices_wrong_codes("server", SERVER, SERVER_CASES);
}

#[test]
fn a_client_that_reports_another_code_is_a_complaint() {
    assert_notices_wrong_codes("client", CLIENT, CLIENT_CASES);
}

#[test]
fn a_program_that_says_nothing_is_a_complaint() {
    for (mode, cases) in [("server", SERVER_CASES), ("client", CLIENT_CASES)] {
        let ended = connectconformance(mode, &["true"]);
        assert!(complaint(&ended, cases).is_some(), "{mode}: {}", ended.text);
    }
}

#[test]
fn a_case_that_was_not_run_is_a_complaint() {
    let complains = |text: &str| {
        let ended = Ended {
            succeeded: true,
            text: format!("some words\n{text}\n"),
        };
        complaint(&ended, 2).is_some()
    };
    assert!(!complains("Total cases: 2\n2 passed, 0 failed"));
    for less in [
        "",
        "Total cases: 1\n1 passed, 0 failed",
        "Total cases: 2\n1 passed, 0 failed",
        "Total cases: 2\n2 passed, 0 failed\nAnother 1 could not be run",
        "Total cases: 2\n1 passed, 0 failed\n(Another 1 failed as expected)",
    ] {
        assert!(complains(less), "{less}");
    }
}
