//! What a run counts, without a clock: calls begin and end when the test says so.

use rust_tonic_client::Load;
use std::collections::BTreeMap;
use std::time::Duration;
use tonic::Code;

const LATENCY: Duration = Duration::from_nanos(123_456_789);

/// The lines, by the text before their last blank.
fn counts(load: &Load) -> BTreeMap<String, u64> {
    let mut written = Vec::new();
    load.write(&mut written).expect("memory takes everything");
    let written = String::from_utf8(written).expect("text");
    let split = written.lines().map(|line| {
        let (name, count) = line.rsplit_once(' ').expect("a name and a number");
        (name.to_owned(), count.parse().expect("a number"))
    });
    split.collect()
}

fn call(load: &mut Load, caller: usize, outcome: Result<(), Code>) {
    load.begins(caller).expect("a call is left");
    load.ends(caller, LATENCY, outcome);
}

#[test]
fn a_call_belongs_to_the_part_of_the_run_in_which_it_ended() {
    let mut load = Load::new(3);
    call(&mut load, 0, Ok(()));
    load.begins(0);
    load.open_window(None);
    load.ends(0, LATENCY, Ok(()));
    call(&mut load, 1, Ok(()));
    load.begins(1);
    load.begins(2);
    load.close_window();
    assert_eq!(load.begins(0), None);
    load.ends(1, LATENCY, Ok(()));
    let counts = counts(&load);
    for (name, count) in [("warmup", 1), ("ok", 2), ("drained", 1), ("unfinished", 1)] {
        assert_eq!(counts[name], count, "{name}");
    }
    let in_flight = counts.keys().find(|name| name.starts_with("in_flight 2 "));
    assert!(in_flight.is_some(), "{counts:?}");
}

#[test]
fn a_window_of_calls_ends_with_the_last_of_them() {
    let mut load = Load::new(2);
    load.begins(1);
    load.open_window(Some(3));
    call(&mut load, 0, Ok(()));
    call(&mut load, 0, Ok(()));
    assert_eq!(load.begins(0), None);
    load.ends(1, LATENCY, Ok(()));
    load.close_window();
    let counts = counts(&load);
    assert_eq!((counts["ok"], counts["unfinished"]), (3, 0));
    assert!(counts.keys().all(|name| !name.starts_with("in_flight")), "{counts:?}");
}

#[test]
fn errors_have_the_names_that_grpc_gives_them() {
    let mut load = Load::new(1);
    load.open_window(None);
    for number in 1..=16 {
        call(&mut load, 0, Err(Code::from_i32(number)));
    }
    call(&mut load, 0, Err(Code::Unavailable));
    let counts = counts(&load);
    for (name, count) in [
        ("error CANCELLED", 1),
        ("error DEADLINE_EXCEEDED", 1),
        ("error INTERNAL", 1),
        ("error UNAVAILABLE", 2),
        ("error DATA_LOSS", 1),
        ("error UNAUTHENTICATED", 1),
        ("ok", 0),
    ] {
        assert_eq!(counts[name], count, "{name}");
    }
}

#[test]
fn an_error_outside_the_window_is_unfinished() {
    let mut load = Load::new(1);
    call(&mut load, 0, Err(Code::Unavailable));
    load.open_window(None);
    load.begins(0);
    load.close_window();
    load.ends(0, LATENCY, Err(Code::Unavailable));
    assert_eq!(counts(&load)["unfinished"], 2);
}

#[test]
fn latencies_keep_three_digits() {
    for latency_ns in [0, 1, 2047, 2048, 65_537, 123_456_789, u64::MAX] {
        let mut load = Load::new(1);
        load.open_window(None);
        load.begins(0);
        load.ends(0, Duration::from_nanos(latency_ns), Ok(()));
        let latencies = counts(&load).into_keys().filter_map(|name| name.parse::<u64>().ok());
        let [kept] = latencies.collect::<Vec<_>>()[..] else { panic!("one latency") };
        assert!(kept.abs_diff(latency_ns) <= latency_ns / 2048 + 1, "{kept} is not {latency_ns}");
    }
}
