//! Runs in which nothing is lost.

use crate::link::{Direction, Link};
use crate::machines::{AGENTS, BOOKEND, Machines, PORT, Running, SERVER_PORT, number};
use crate::relay::Relay;
use serde_json::Value;
use std::net::SocketAddrV4;
use std::time::Duration;

/// The clocks of agents are hours apart, and none begins minutes late.
fn assert_together(fleet: &Value) {
    const MINUTE_NS: u64 = 60_000_000_000;
    for agent in fleet["agents"].as_array().expect("agents") {
        assert!(number(&agent["start_late_ns"]) < MINUTE_NS, "{agent}");
    }
    assert!(number(&fleet["start"]["bound_ns"]) < MINUTE_NS);
}

fn sum(fleet: &Value, field: &str) -> u64 {
    fleet["agents"].as_array().expect("agents").iter().map(|agent| number(&agent[field])).sum()
}

#[test]
fn by_number_every_call_of_three_machines_counts_once() {
    let machines = Machines::new();
    let server = machines.serve();
    let agents = machines.agents();
    let load = machines.load(3, &["-n", "3001", "-c", "31", "--connections", "7"]);
    let ended = load.end();
    assert_eq!(ended.status, Some(0), "{}", ended.errors);
    let result = ended.result();
    let fleet = &result["bookend"]["fleet"];
    assert_eq!(number(&result["count"]), 3_001);
    assert_eq!((sum(fleet, "ok"), sum(fleet, "connections_opened")), (3_001, 7));
    assert_eq!(result["details"].as_array().map(Vec::len), Some(3_001));
    assert_eq!(result["options"]["connections"], 7);
    assert_eq!(result["endReason"], "normal");
    assert_together(fleet);
    for agent in agents {
        assert_eq!(agent.0.end().status, Some(0));
    }
    assert_eq!(server.end(), 3_001 + number(&fleet["preparing_calls"]));
}

#[test]
fn a_rate_is_shared_and_its_calls_are_those_of_one_generator() {
    let machines = Machines::new();
    let server = machines.serve();
    let agents = machines.agents();
    let words = ["--rps", "600", "-z", "2s", "--connections", "3", "-c", "300"];
    let ended = machines.load(3, &words).end();
    assert_eq!(ended.status, Some(0), "{}", ended.errors);
    let result = ended.result();
    let (open_loop, fleet) = (&result["bookend"]["open_loop"], &result["bookend"]["fleet"]);
    assert_eq!(number(&open_loop["due"]), 1_200);
    assert_eq!(result["options"]["rps"], 600);
    assert!(fleet["agents"][0]["lag_p99_ns"].is_u64());
    assert_together(fleet);
    drop(agents);
    let answered = number(&result["bookend"]["ok"]) + number(&result["bookend"]["drained"]);
    let served = server.end() - number(&fleet["preparing_calls"]);
    let unfinished = number(&result["bookend"]["unfinished"]);
    assert!((answered..=answered + unfinished).contains(&served), "{served} {answered}");
}

#[test]
fn a_capacity_is_searched_with_all_agents() {
    let machines = Machines::new();
    let _server = machines.serve();
    let agents = machines.agents();
    let objective = "p99<1m,errors<=100%";
    let words = ["--find-capacity", objective, "-z", "50ms", "-c", "99", "--connections", "99"];
    let ended = machines.load(3, &words).end();
    assert!(matches!(ended.status, Some(0 | 3 | 6)), "{:?}: {}", ended.status, ended.errors);
    let found = ended.result();
    let mut names: Vec<_> = found["agents"].as_array().expect("a list").iter().collect();
    names.sort_by_key(|name| AGENTS.iter().position(|agent| *name == agent));
    assert_eq!(names, AGENTS);
    let closed_loops = found["closed_loops"].as_array().expect("a list");
    let in_flight: Vec<u64> = closed_loops.iter().map(|at| number(&at["in_flight"])).collect();
    assert_eq!(in_flight[..2], [99, 198]);
    assert!(closed_loops.iter().all(|point| point["ok_per_second"].as_f64() > Some(0.0)));
    assert!(!found["trials"].as_array().expect("a list").is_empty());
    for agent in agents {
        assert_eq!(agent.0.end().status, Some(0));
    }
}

#[test]
fn a_slow_way_to_one_agent_delays_the_start_and_falsifies_nothing() {
    let machines = Machines::new();
    let _server = machines.serve();
    let three = machines.node("three");
    let mut relay = Relay::new(three, three, machines.coordinator(), 7);
    let way = |delay_ms| Direction {
        delay: Duration::from_millis(delay_ms),
        jitter: Duration::from_millis(3),
        stalled: false,
    };
    relay.set(&Link { forward: way(1), back: way(40), ..Link::default() });
    let load = machines.load(3, &["-n", "300", "--connections", "3"]);
    let _near = [machines.agent("one"), machines.agent("two")];
    let _far = machines.agent_at("three", relay.address(), &[]);
    let ended = load.end();
    assert_eq!(ended.status, Some(0), "{}", ended.errors);
    let result = ended.result();
    let fleet = &result["bookend"]["fleet"];
    assert_eq!(number(&result["count"]), 300);
    // The bound says how little is known of a clock behind such a way.
    assert!(number(&fleet["start"]["bound_ns"]) > 10_000_000, "{}", fleet["start"]);
    assert_together(fleet);
}

#[test]
fn the_servers_node_tells_what_the_server_used() {
    let machines = Machines::new();
    let command = format!("exec {BOOKEND} serve --host 0.0.0.0 --port {SERVER_PORT}");
    let agents = machines.agents();
    let server = machines.agent_at("server", machines.coordinator(), &["--role", "server"]);
    let words = ["-z", "2s", "--connections", "3", "--warmup", "100ms", "--start-server", &command];
    let ended = machines.load(3, &words).end();
    assert_eq!(ended.status, Some(0), "{}", ended.errors);
    let result = ended.result();
    let told = &result["bookend"]["fleet"]["server"];
    assert!(told["cpu_seconds"].as_f64().is_some_and(|seconds| seconds > 0.0), "{told}");
    assert!(told["requests_per_cpu_second"].as_f64().is_some_and(|rate| rate > 0.0), "{told}");
    assert!(number(&told["memory_bytes"]) > 0);
    let node = &told["node"];
    assert!(node["seconds"].as_f64().is_some_and(|seconds| (1.9..60.0).contains(&seconds)));
    assert!(number(&node["tcp_sent_segments"]) > 0, "{node}");
    let interface = &node["interfaces"][0];
    assert!(number(&interface["received_bytes"]) > 0, "{node}");
    assert_eq!(told["interface"], interface["name"]);
    assert_eq!(server.0.end().status, Some(0));
    drop(agents);
    // What the agent has started has ended with it.
    let mut called = machines.node("server").command(BOOKEND);
    called.args(["probe", "--insecure", "--call", "helloworld.Greeter/SayHello", "-d", "{}"]);
    let ended = Running::start({
        called.arg(machines.target());
        called
    });
    assert_eq!(ended.end().status, Some(1));
}

#[test]
fn an_agent_that_probes_makes_calls_of_its_own() {
    let machines = Machines::new();
    let server = machines.serve();
    let load = machines.load(2, &["-n", "4000", "--connections", "2", "--probe-rate", "100"]);
    let _agents = [machines.agent("one"), machines.agent("two")];
    let _probe = machines.agent_at("three", machines.coordinator(), &["--role", "probe"]);
    let ended = load.end();
    assert_eq!(ended.status, Some(0), "{}", ended.errors);
    let result = ended.result();
    assert_eq!(number(&result["count"]), 4_000, "the probe's calls are in no other count");
    let probe = &result["bookend"]["fleet"]["probe"];
    assert_eq!((probe["name"].as_str(), probe["rate"].as_f64()), (Some("three"), Some(100.0)));
    assert!(server.end() >= 4_000 + number(&probe["ok"]));
}

#[test]
fn files_and_input_of_the_coordinator_reach_agents_that_do_not_have_them() {
    let machines = Machines::new();
    let _server = machines.serve();
    let folder = machines.folder.path().join("typed here");
    std::fs::create_dir(&folder).unwrap();
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
    let proto = std::fs::read_to_string(format!("{root}/proto/helloworld.proto")).unwrap();
    std::fs::write(folder.join("greeter.proto"), proto).unwrap();
    std::fs::write(folder.join("data.json"), r#"{"name": "file"}"#).unwrap();
    let agents = machines.agents();
    let mut command = machines.node("coordinator").command(BOOKEND);
    command.current_dir(&folder).args(["load", "--agents", "3", "-O", "json"]);
    command.arg("--token-file").arg(machines.token());
    command.args(["--insecure", "--proto", "greeter.proto", "-D", "data.json", "-n", "30"]);
    command.args(["--connections", "3", "--call", "helloworld.Greeter/SayHello"]);
    command.arg(machines.target());
    let ended = Running::start(command).end();
    assert_eq!(ended.status, Some(0), "{}", ended.errors);
    let result = ended.result();
    assert_eq!(number(&result["count"]), 30);
    let options = &result["options"];
    assert_eq!(options["proto"], "greeter.proto", "{options}");
    assert_eq!((&options["data-file"], options.get("protoset")), (&"data.json".into(), None));
    for agent in agents {
        assert_eq!(agent.0.end().status, Some(0));
    }
    let left = std::fs::read_dir(machines.temporary()).unwrap().count();
    assert_eq!(left, 0, "files of the coordinator are left at the agents");
}

#[test]
fn agents_of_this_machine_need_no_flag_of_the_link() {
    let machines = Machines::new();
    let server = machines.serve();
    let mut command = machines.node("coordinator").command(BOOKEND);
    command.args(["load", "--agents", "local:2", "-O", "json", "-n", "100", "--connections", "2"]);
    command.args(["--insecure", "--call", "helloworld.Greeter/SayHello", "-d", "{}"]);
    command.arg(machines.target());
    let ended = Running::start(command).end();
    assert_eq!(ended.status, Some(0), "{}", ended.errors);
    let fleet = &ended.result()["bookend"]["fleet"];
    assert_eq!(sum(fleet, "ok"), 100);
    assert_eq!(server.end(), 100 + number(&fleet["preparing_calls"]));
}

#[test]
fn the_link_may_have_tls() {
    let machines = Machines::new();
    let _server = machines.serve();
    let coordinator = machines.node("coordinator").address().to_string();
    let own = rcgen::generate_simple_self_signed([coordinator]).expect("a certificate");
    let (certificate, key) =
        (machines.folder.path().join("cert.pem"), machines.folder.path().join("key.pem"));
    std::fs::write(&certificate, own.cert.pem()).unwrap();
    std::fs::write(&key, own.signing_key.serialize_pem()).unwrap();
    let (certificate, key) = (certificate.to_str().unwrap(), key.to_str().unwrap());
    let words = ["-n", "30", "--connections", "3", "--fleet-cert", certificate, "--fleet-key", key];
    let load = machines.load(3, &words);
    let trusting = ["--fleet-cacert", certificate];
    let _agents = AGENTS.map(|name| machines.agent_at(name, machines.coordinator(), &trusting));
    let ended = load.end();
    assert_eq!(ended.status, Some(0), "{}", ended.errors);
    assert_eq!(number(&ended.result()["count"]), 30);
}

#[test]
fn servers_are_raced_by_agents_in_laps_that_begin_together() {
    let machines = Machines::new();
    let coordinator = SocketAddrV4::new(machines.node("server").address(), PORT);
    let agents = ["one", "two"].map(|name| machines.agent_at(name, coordinator, &[]));
    let ended = machines.race(2, &["--quiet", "--budget", "4s"]).end();
    assert_eq!(ended.status, Some(0), "{}", ended.errors);
    let answer: Value = serde_json::from_str(&ended.output).expect("an answer in JSON");
    let text = answer.to_string();
    assert!(text.contains("old") && text.contains("new"), "{text}");
    for agent in agents {
        let ended = agent.0.end();
        assert_eq!(ended.status, Some(0), "{}", ended.errors);
    }
    assert_eq!(std::fs::read_dir(machines.temporary()).unwrap().count(), 0);
}

#[test]
fn a_suite_is_measured_by_agents_that_reach_its_servers() {
    let machines = Machines::new();
    let server = machines.node("server");
    let coordinator = SocketAddrV4::new(server.address(), PORT);
    let home = machines.folder.path().join("lab");
    std::fs::create_dir(&home).unwrap();
    let mut init = server.command(BOOKEND);
    init.arg("init").current_dir(&home);
    assert_eq!(Running::start(init).end().status, Some(0));
    let agent = machines.agent_at("one", coordinator, &[]);
    let mut command = server.command(BOOKEND);
    command.args(["run", "my-question", "--quick", "--rounds", "1", "--quiet", "--agents", "1"]);
    command.arg("--token-file").arg(machines.token()).current_dir(&home);
    command.env("TMPDIR", &home);
    for (name, value) in [("CLIENT_CONCURRENCY", "100"), ("BENCHMARK_DURATION", "150ms")] {
        command.env(format!("GRPC_{name}"), value);
    }
    let ended = Running::start(command).end();
    assert_eq!(ended.status, Some(0), "{}{}", ended.output, ended.errors);
    for row in ["\n  my-server ", "\n  other-server "] {
        assert!(ended.output.contains(row), "{}", ended.output);
    }
    assert!(!ended.output.contains("Not measured"), "{}", ended.output);
    let agent = agent.0.end();
    assert_eq!(agent.status, Some(0), "{}", agent.errors);
}
