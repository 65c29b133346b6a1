//! `bookend load` in laps, as the lab tells it on standard input.

#[path = "support/served.rs"]
mod served;

use bookend_contract::exit;
use bookend_contract::laps::LapFigures;
use bookend_contract::lines::Line;
use served::Served;
use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Command, Stdio};

fn bookend(words: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_bookend"));
    command.args(words);
    command
}

fn load(target: &str, more: &[&str]) -> Command {
    // Calls of reflection would be counted by the server, too.
    let proto = concat!(env!("CARGO_MANIFEST_DIR"), "/../../proto/helloworld.proto");
    let call = ["--proto", proto, "--call", "helloworld.Greeter/SayHello", "-c", "10", target];
    let mut command = bookend(&[&["load", "--insecure"], &call[..], more].concat());
    command.env("BOOKEND_CONTRACT", "1").env("BOOKEND_LAPS", "1");
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

#[test]
fn calls_are_made_when_they_are_asked_for_and_all_are_counted_once() {
    let server = Served::by(bookend(&["serve", "--port", "0"]));
    let mut load = load(&format!("127.0.0.1:{}", server.port), &[]).spawn().unwrap();
    let mut input = load.stdin.take().unwrap();
    let mut lines = BufReader::new(load.stdout.take().unwrap()).lines();
    let mut say = |command: &str| {
        writeln!(input, "{command}").unwrap();
        lines.next().unwrap().unwrap().parse::<Line>().unwrap()
    };
    let Line::Warmup(warmup) = say("warmup 20") else { panic!("no warm-up") };
    let laps = [say("lap 20"), say("lap 30")].map(|line| match line {
        Line::Lap(figures) => figures,
        line => panic!("{line}"),
    });
    drop(input);
    let Line::Report(report) = lines.next().unwrap().unwrap().parse().unwrap() else {
        panic!("no report")
    };
    assert!(lines.next().is_none());
    assert_eq!(load.wait().unwrap().code(), Some(i32::from(exit::MEASURED)));

    let own = &report.bookend;
    let sum = |of: fn(&LapFigures) -> u64| laps.iter().map(of).sum::<u64>();
    assert!(warmup > 0 && laps.iter().all(|lap| lap.ok > 0 && lap.failed == 0));
    assert_eq!((own.warmup, own.ok), (warmup, sum(|lap| lap.ok)));
    assert_eq!((own.unfinished, own.drained), (0, 0));
    assert_eq!(report.total, sum(|lap| lap.length_ns));
    assert_eq!(own.in_flight_at_end.map(|in_flight| in_flight.calls), Some(0));
    assert_eq!((report.end_reason.as_str(), own.connections_opened), ("timeout", 1));
    assert!(own.busy_seconds > 0.0 && own.intervals.is_none());
    let served = format!("served {}", warmup + own.ok);
    assert!(server.end().lines.contains(&served), "{served}");
}

#[test]
fn a_lap_by_a_rate_says_when_its_calls_were_made() {
    let server = Served::by(bookend(&["serve", "--port", "0"]));
    let target = format!("127.0.0.1:{}", server.port);
    let mut load = load(&target, &["-r", "1000"]).spawn().unwrap();
    let mut input = load.stdin.take().unwrap();
    let mut lines = BufReader::new(load.stdout.take().unwrap()).lines();
    writeln!(input, "lap 20").unwrap();
    let Line::Lap(figures) = lines.next().unwrap().unwrap().parse().unwrap() else {
        panic!("no lap")
    };
    let rated = figures.rated.expect("calls were made by a rate");
    assert_eq!((rated.due, figures.failed), (20, 0));
    assert!(rated.held_back <= rated.due && 0 < rated.p50_ns && rated.p50_ns <= rated.p99_ns);
    drop(input);
    assert_eq!(load.wait().unwrap().code(), Some(i32::from(exit::MEASURED)));
}

#[test]
fn what_cannot_be_done_in_laps_is_unsupported_and_no_command_is_an_error() {
    let server = Served::by(bookend(&["serve", "--port", "0"]));
    let target = format!("127.0.0.1:{}", server.port);
    let refused = load(&target, &["--one-shot"]).output().unwrap();
    assert_eq!(refused.status.code(), Some(i32::from(exit::UNSUPPORTED)));
    let said = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(said.contains("does not last from lap to lap"), "{said}");

    for (commands, expected) in [
        ("lap ten", "\"lap ten\" is no command"),
        ("lap 1\nwarmup 1", "a `warmup` comes after a `lap`: warm up first"),
    ] {
        let mut load = load(&target, &[]).spawn().unwrap();
        writeln!(load.stdin.take().unwrap(), "{commands}").unwrap();
        let mut said = String::new();
        load.stderr.take().unwrap().read_to_string(&mut said).unwrap();
        assert!(said.contains(expected), "{said}");
        assert_eq!(load.wait().unwrap().code(), Some(i32::from(exit::USAGE)));
    }
}
