//! The pages of checks and of comparisons that were kept.

use bookend_publication::power::POWER_HEADING;
use serde_json::{Value, json};
use std::fs;
use std::path::Path;
use std::process::{Command, Output};

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/..");

fn publication(folder: &Path, words: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_publication"));
    command.current_dir(folder).args(words);
    command.output().expect("the command starts")
}

fn said(output: &Output, status: i32) -> String {
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(status), "{text}");
    text
}

/// A record, the page that is made of it, and the command that makes it.
const PAGES: [(&str, &str, &str); 3] = [
    ("records/intel-xeon-processor-2-cpus/check.jsonl", "calibration.md", "check-page"),
    ("records/power.csv", "power.md", "power-page"),
    ("records/races.csv", "races.md", "power-page"),
];

#[test]
fn each_page_is_what_its_record_gives_and_without_a_record_there_is_none() {
    let root = Path::new(ROOT);
    let trust = fs::read_to_string(root.join("docs/measure/trust.md")).expect("the page");
    for (record, page, command) in PAGES {
        let file = root.join("records/pages").join(page);
        let is_kept = root.join(record).exists();
        assert_eq!(file.exists(), is_kept, "{page} is there exactly if {record} is");
        let is_linked = trust.contains(&format!("(../../records/pages/{page})"));
        assert_eq!(is_linked, is_kept, "trust.md links to {page} exactly if {record} is there");
        if is_kept {
            let made = publication(root, &[command, record]);
            said(&made, 0);
            let text = fs::read_to_string(file).expect("the page");
            let how = format!("publication {command} {record} -o records/pages/{page}");
            assert!(text.as_bytes() == made.stdout, "{page} is not what its record gives: {how}");
        }
    }
}

#[test]
fn kept_checks_become_a_page() {
    let home = tempfile::tempdir().expect("a temporary folder");
    fs::write(home.path().join("check.jsonl"), one_check().repeat(2)).expect("a record");
    let made = publication(home.path(), &["check-page", "check.jsonl", "-o", "page.md"]);
    said(&made, 0);
    let page = fs::read_to_string(home.path().join("page.md")).expect("a page");
    assert!(page.starts_with("# How far the instrument was from what was known\n"), "{page}");
    assert!(page.contains("| sent | 30 | 29 | -1 | -1 | ±0 | 0 of 2 |\n"), "{page}");
}

#[test]
fn a_race_becomes_a_line_and_the_lines_a_page() {
    let home = tempfile::tempdir().expect("a temporary folder");
    fs::write(home.path().join("race.json"), one_race(2)).expect("a race");
    let words = [
        "power-line",
        "race.json",
        "--machine",
        "EPYC, 2 CPUs",
        "--slowed",
        "3",
        "--burnt-ns",
        "150",
    ];
    let made = publication(home.path(), &words);
    said(&made, 0);
    let line = String::from_utf8(made.stdout).expect("UTF-8");
    assert!(line.starts_with("3,150.0,5000.0,100,EPYC; 2 CPUs,"), "{line}");
    assert!(line.ends_with(",0.97087;0.97087\n"), "{line}");
    let record = format!("{POWER_HEADING}\n{}", line.repeat(5));
    fs::write(home.path().join("power.csv"), record).expect("a record");
    let made = publication(home.path(), &["power-page", "power.csv"]);
    said(&made, 0);
    let page = String::from_utf8(made.stdout).expect("UTF-8");
    assert!(page.contains("| 3 % | 3.0 % | 3.0 % | 0.4 s | 8 (3.2 s) | "), "{page}");
}

#[test]
fn the_studies_write_the_record_that_is_read() {
    for name in ["power", "race-power"] {
        let file = Path::new(ROOT).join("scripts").join(name);
        let script = fs::read_to_string(file).expect("the script");
        assert!(script.contains(&format!("echo \"{POWER_HEADING}\"")), "{script}");
    }
}

#[test]
fn a_page_of_what_keeps_nothing_says_what_is_wrong() {
    let home = tempfile::tempdir().expect("a temporary folder");
    for (name, text) in [("check.jsonl", "{}\n"), ("one.json", &one_race(1)), ("power.csv", "a")] {
        fs::write(home.path().join(name), text).expect("a file");
    }
    for (words, expected) in [
        (&["check-page", "absent.jsonl"][..], "absent.jsonl: No such file"),
        (&["check-page", "check.jsonl"], "check.jsonl: line 1 is no check"),
        (&["power-page", "power.csv"], "power.csv: it does not begin with slowed_percent"),
        (
            &["power-line", "one.json", "--slowed=0", "--burnt-ns=0", "--machine=x"],
            "a race of one server",
        ),
        (&["power-line", "one.json"], "--slowed"),
    ] {
        let error = said(&publication(home.path(), words), 2);
        assert!(error.contains(expected), "{words:?}: {error}");
    }
}

/// A check whose generator lost a call, as `--json` prints it.
fn one_check() -> String {
    let machine = json!({
        "os": "Debian", "kernel": "Linux 6.1", "cpu_model": "EPYC", "cpus": 2,
        "memory_bytes": 1, "governor": null, "virtual_machine": true,
    });
    let check = json!({
        "origin": {"version": "0.1.0", "binary_unix_ms": 0, "witness": "h2", "machine": machine},
        "started_unix_ms": 0, "seconds": 1.0, "notes": [],
        "calibrations": [{
            "part": "counts", "what": "sent", "unit": "count", "known": 30.0, "measured": 29.0,
            "tolerance": {"relative": 0.0, "absolute": 0.0},
        }],
    });
    format!("{check}\n")
}

/// A race of `servers` servers, each next one 3 % slower, as `--save` keeps it.
fn one_race(servers: u64) -> String {
    let lap = |server: u64| {
        let cpu_ns = 50_000_000 + server * 1_500_000;
        json!({"server": server, "ok": 10_000, "failed": 0, "length_ns": 1, "cpu_ns": cpu_ns})
    };
    let block: Vec<Value> = [0, 1, 1, 0].map(|server: u64| lap(server.min(servers - 1))).into();
    let names: Vec<Value> =
        (0..servers).map(|server| json!({"name": server.to_string(), "command": ""})).collect();
    let race = json!({
        "servers": names, "cells": [{"connections": 1, "concurrency": 100}], "lap_ms": 100,
        "margin": 0.01, "seed": 1, "doubts": [], "starts": [[[block.clone()]], [[block]]],
    });
    race.to_string()
}
