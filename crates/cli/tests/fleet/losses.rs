//! Runs in which an agent, a link or the coordinator is lost.

use crate::link::{Connections, Link};
use crate::machines::{AGENTS, Ended, Machines, PORT, await_that, kept, number};
use crate::relay::Relay;
use rustix::process::Signal;
use serde_json::Value;
use std::net::SocketAddrV4;

/// In an open loop of this rate, each second that all have told has as many calls.
const RATE: u64 = 300;
const LONG_RUN: [&str; 6] = ["--rps", "300", "-z", "60s", "--connections", "3"];

/// What was printed of a run that an agent's loss has ended: whole seconds of all agents.
fn assert_whole_seconds(ended: &Ended, lost: &str) -> Value {
    assert_eq!(ended.status, Some(7), "{}", ended.errors);
    let result = ended.result();
    let total_ns = number(&result["total"]);
    assert!(total_ns > 0 && total_ns.is_multiple_of(1_000_000_000), "{total_ns}");
    let seconds = total_ns / 1_000_000_000;
    let due = number(&result["bookend"]["open_loop"]["due"]);
    // A call that is due at the end of a second may be made in the next.
    assert!(due.abs_diff(seconds * RATE) <= 3 * seconds.max(3), "{due} in {seconds} s");
    assert!(number(&result["count"]) <= due);
    assert_eq!(result["endReason"], "cancel");
    let fleet = &result["bookend"]["fleet"];
    assert_eq!(fleet["lost"][0]["name"], lost);
    assert!(lost == "server" || number(&fleet["lost"][0]["seconds_told"]) >= seconds);
    let sentences = ended.sentences();
    assert!(sentences.contains(&format!("agent {lost} was lost")), "{sentences}");
    result
}

#[test]
fn an_agent_that_is_killed_ends_the_run_and_what_all_had_told_is_printed() {
    let machines = Machines::new();
    let _server = machines.serve();
    let mut agents = machines.agents();
    let mut load = machines.load(3, &LONG_RUN);
    load.await_seconds(2);
    agents[1].0.signal(Signal::KILL);
    let result = assert_whole_seconds(&load.end(), "two");
    assert!(number(&result["total"]) >= 2_000_000_000);
    // The others have heard that it is over.
    for agent in [agents.remove(2), agents.remove(0)] {
        assert_eq!(agent.0.end().status, Some(0));
    }
}

#[test]
fn a_server_node_that_is_lost_leaves_the_seconds_before() {
    let machines = Machines::new();
    let _server = machines.serve();
    let agents = machines.agents();
    let of_server = machines.agent_at("server", machines.coordinator(), &["--role", "server"]);
    let mut load = machines.load(3, &[&LONG_RUN[..], &["--server-agent"]].concat());
    load.await_seconds(2);
    of_server.0.signal(Signal::KILL);
    let result = assert_whole_seconds(&load.end(), "server");
    assert!(number(&result["total"]) >= 2_000_000_000);
    drop(agents);
}

#[test]
fn a_race_that_loses_an_agent_ends_with_its_status() {
    let machines = Machines::new();
    let coordinator = SocketAddrV4::new(machines.node("server").address(), PORT);
    let agents = ["one", "two"].map(|name| machines.agent_at(name, coordinator, &[]));
    let mut race = machines.race(2, &["--budget", "60s"]);
    race.await_line("awaiting 2 agents");
    // Long enough for some laps.
    std::thread::sleep(std::time::Duration::from_secs(5));
    agents[0].0.signal(Signal::KILL);
    let ended = race.end();
    assert_eq!(ended.status, Some(7), "{}", ended.errors);
    assert!(ended.errors.contains("agent one was lost"), "{}", ended.errors);
}

#[test]
fn a_search_that_loses_an_agent_prints_what_it_has_found() {
    let machines = Machines::new();
    let _server = machines.serve();
    let agents = machines.agents();
    let words = ["--find-capacity", "p99<1ns", "-z", "60s", "-c", "3", "--connections", "3"];
    let load = machines.load(3, &words);
    // Long enough for a closed loop, and far too short for all of them and a rate.
    std::thread::sleep(std::time::Duration::from_secs(5));
    agents[1].0.signal(Signal::KILL);
    let ended = load.end();
    assert_eq!(ended.status, Some(7), "{}", ended.errors);
    let found = ended.result();
    assert!(!found["closed_loops"].as_array().expect("a list").is_empty(), "{found}");
    assert_eq!(found["kept_rate"], Value::Null, "{found}");
    assert!(ended.errors.contains("agent two was lost"), "{}", ended.errors);
}

#[test]
fn an_agent_that_stops_is_lost_like_one_that_dies() {
    let machines = Machines::new();
    let _server = machines.serve();
    let agents = machines.agents();
    let mut load = machines.load(3, &LONG_RUN);
    load.await_seconds(1);
    agents[0].0.signal(Signal::STOP);
    let ended = load.end();
    agents[0].0.signal(Signal::CONT);
    assert_whole_seconds(&ended, "one");
    assert!(ended.sentences().contains("it has said nothing for"), "{}", ended.errors);
}

#[test]
fn where_a_loss_is_allowed_the_others_go_on_and_the_result_says_so() {
    let machines = Machines::new();
    let _server = machines.serve();
    let three = machines.node("three");
    let mut relay = Relay::new(three, three, machines.coordinator(), 7);
    let words = ["--rps", "300", "-z", "6s", "--connections", "3", "--on-loss", "continue"];
    let mut load = machines.load(3, &words);
    let _near = [machines.agent("one"), machines.agent("two")];
    let far = machines.agent_at("three", relay.address(), &[]);
    load.await_seconds(1);
    relay.set(&Link { connections: Connections::Silenced, ..Link::default() });
    let ended = load.end();
    assert_eq!(ended.status, Some(0), "{}", ended.errors);
    let result = ended.result();
    let fleet = &result["bookend"]["fleet"];
    let lost = &fleet["lost"][0];
    assert_eq!(
        (lost["name"].as_str(), fleet["agents"].as_array().unwrap().len()),
        (Some("three"), 2)
    );
    assert!(lost["share"].as_f64().is_some_and(|share| (share - 1.0 / 3.0).abs() < 1e-9));
    let doubt = fleet["doubts"].as_array().expect("doubts").last().expect("one").as_str();
    assert!(doubt.is_some_and(|doubt| doubt.contains("not to be quoted")), "{doubt:?}");
    // Two thirds of the calls for six seconds, and of the third as many as it told.
    let told = number(&lost["seconds_told"]);
    let due = number(&result["bookend"]["open_loop"]["due"]);
    assert!(due.abs_diff(1_200 + told * 100) <= 12, "{due} with {told} s of the lost one");
    // The lost one knows that nobody hears it, and keeps what it has measured.
    let far = far.0.end();
    assert_eq!(far.status, Some(1), "{}", far.errors);
    let kept = kept(machines.folder.path());
    assert_eq!(kept.len(), 1, "{}", far.errors);
    assert!(far.errors.contains(kept[0].to_str().unwrap()), "{}", far.errors);
    let kept: Value = serde_json::from_slice(&std::fs::read(&kept[0]).unwrap()).unwrap();
    assert!(number(&kept["count"]) >= told * 100 - 12, "{}", kept["count"]);
}

#[test]
fn agents_of_a_dead_coordinator_end_and_keep_what_they_have() {
    let machines = Machines::new();
    let server = machines.serve();
    let agents = machines.agents();
    let mut load = machines.load(3, &LONG_RUN);
    load.await_seconds(1);
    load.signal(Signal::KILL);
    for agent in agents {
        let ended = agent.0.end();
        assert_eq!(ended.status, Some(1), "{}", ended.errors);
        assert!(ended.errors.contains("what this agent has measured is in"), "{}", ended.errors);
    }
    let files = kept(machines.folder.path());
    assert_eq!(files.len(), AGENTS.len());
    let calls: u64 = files
        .iter()
        .map(|file| serde_json::from_slice::<Value>(&std::fs::read(file).unwrap()).unwrap())
        .map(|kept| number(&kept["count"]) + number(&kept["bookend"]["drained"]))
        .sum();
    assert!(calls >= RATE - 9 && server.end() >= calls, "{calls}");
}

#[test]
fn a_link_that_is_pulled_is_a_loss() {
    let machines = Machines::new();
    let _server = machines.serve();
    let _agents = machines.agents();
    let mut load = machines.load(3, &LONG_RUN);
    load.await_seconds(1);
    machines.node("two").cut();
    let ended = load.end();
    assert_whole_seconds(&ended, "two");
}

#[test]
fn whoever_comes_late_takes_no_part() {
    let machines = Machines::new();
    let _server = machines.serve();
    let _agents = [machines.agent("one"), machines.agent("two")];
    let words = ["--rps", "100", "-z", "4s", "--connections", "2"];
    let mut load = machines.load(2, &words);
    load.await_seconds(1);
    let late = machines.agent("three").0.end();
    assert_eq!(late.status, Some(1));
    assert!(late.errors.contains("nobody joins it now"), "{}", late.errors);
    let ended = load.end();
    assert_eq!(ended.status, Some(0), "{}", ended.errors);
    assert_eq!(number(&ended.result()["bookend"]["open_loop"]["due"]), 400);
}

#[test]
fn an_interrupt_at_the_coordinator_prints_what_was_measured() {
    let machines = Machines::new();
    let _server = machines.serve();
    let agents = machines.agents();
    let mut load = machines.load(3, &LONG_RUN);
    load.await_seconds(1).signal(Signal::INT);
    let ended = load.end();
    assert_eq!(ended.status, Some(130), "{}", ended.errors);
    assert!(number(&ended.result()["count"]) >= RATE - 9);
    for agent in agents {
        assert_eq!(agent.0.end().status, Some(0));
    }
    await_that(|| kept(machines.folder.path()).is_empty());
}
