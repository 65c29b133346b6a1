//! The table of drivers in docs/measure/performance.md is what the committed records give.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Where one end's rows come from.
struct End {
    suite: &'static str,
    /// The column whose last part names the driver.
    who: &'static str,
    cost: &'static str,
    ratio: &'static str,
}

const SERVER: End =
    End { suite: "drivers", who: "subject", cost: "requests_per_cpu_second", ratio: "cost_ratio" };
const GENERATOR: End = End {
    suite: "drivers-load",
    who: "instrument",
    cost: "requests_per_client_cpu_second",
    ratio: "instrument_cost_ratio",
};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

type Row = BTreeMap<String, String>;

fn recorded(suite: &str) -> Vec<Row> {
    let record = format!("records/{suite}/full.jsonl.zst");
    let mut command = Command::new(env!("CARGO_BIN_EXE_bookend"));
    let report = ["report", "--format", "csv", "--record", &record];
    let output = command.current_dir(root()).args(report).output().expect("the command starts");
    assert!(output.status.success(), "{record} can be read");
    let text = String::from_utf8(output.stdout).expect("UTF-8");
    let mut lines = text.lines();
    let names: Vec<&str> = lines.next().expect("a heading").split(',').collect();
    lines
        .map(|line| {
            let fields = line.split(',').map(str::to_owned);
            names.iter().map(|name| (*name).to_owned()).zip(fields).collect()
        })
        .collect()
}

fn number(row: &Row, name: &str) -> f64 {
    row[name].parse().expect("a figure")
}

fn per_second(value: f64) -> String {
    match value {
        value if value >= 1e6 => format!("{:.2} M", value / 1e6),
        value => format!("{:.0} k", value / 1e3),
    }
}

fn milliseconds(ns: f64) -> String {
    match ns / 1e6 {
        ms if ms < 9.995 => format!("{ms:.2}"),
        ms => format!("{ms:.0}"),
    }
}

fn ratio(row: &Row, name: &str) -> String {
    let of = |suffix: &str| number(row, &format!("{name}{suffix}"));
    format!("{:.2} ({:.2} to {:.2})", of(""), of("_low"), of("_high"))
}

/// The lines of the table for one end: a case each, epoll first, the others over it.
fn table(end: &End) -> Vec<String> {
    let rows = recorded(end.suite);
    let of = |case: &Row, driver: &str| {
        let same = |name: &str, row: &Row| row[name] == case[name];
        let found = rows.iter().find(|row| {
            same("connections", row)
                && same("concurrency", row)
                && row[end.who].ends_with(&format!("/{driver}"))
        });
        found.expect("each case has every driver").clone()
    };
    let cases = rows.iter().filter(|row| row[end.who].ends_with("/epoll"));
    cases
        .map(|epoll| {
            let (blocking, uring) = (of(epoll, "blocking"), of(epoll, "uring"));
            let p99 = |row: &Row| milliseconds(number(row, "latency_p99_ns"));
            format!(
                "| C={} S={} | {} | {} | {} | {} / {} / {} |",
                epoll["connections"],
                epoll["concurrency"],
                per_second(number(epoll, end.cost)),
                ratio(&blocking, end.ratio),
                ratio(&uring, end.ratio),
                p99(epoll),
                p99(&blocking),
                p99(&uring),
            )
        })
        .collect()
}

#[test]
fn the_tables_of_drivers_are_what_their_records_give() {
    let page = root().join("docs/measure/performance.md");
    let page = fs::read_to_string(page).expect("there is the page");
    let section = page
        .split("## The drivers\n")
        .nth(1)
        .expect("the section")
        .split("\n## ")
        .next()
        .expect("its end");
    let shown: Vec<&str> = section.lines().filter(|line| line.starts_with("| C=")).collect();
    let expected = [table(&SERVER), table(&GENERATOR)].concat();
    assert!(shown == expected, "the tables should be:\n{}", expected.join("\n"));
}
