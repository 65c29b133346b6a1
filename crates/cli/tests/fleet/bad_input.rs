//! What cannot work is said in one sentence, and leaves nothing behind.

use crate::machines::{BOOKEND, Machines, Running};
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::process::Command;

#[test]
fn a_coordinator_that_is_not_there_is_named() {
    let machines = Machines::new();
    let ended =
        machines.agent_at("one", machines.coordinator(), &["--fleet-wait", "300ms"]).0.end();
    assert_eq!(ended.status, Some(1));
    let expected = format!("no coordinator at {} within", machines.coordinator());
    assert!(
        ended.errors.contains(&expected) && ended.errors.lines().count() == 1,
        "{}",
        ended.errors
    );
}

#[test]
fn another_token_opens_nothing_and_is_found_at_both_ends() {
    let machines = Machines::new();
    let other = machines.folder.path().join("other");
    fs::write(&other, "another token than theirs").unwrap();
    let load = machines.load(1, &["-n", "1", "--fleet-wait", "3s"]);
    let mut command = machines.node("one").command(BOOKEND);
    command.args(["agent", "--join", &machines.coordinator().to_string()]);
    command.arg("--token-file").arg(&other);
    let agent = Running::start(command).end();
    assert_eq!(agent.status, Some(1));
    assert!(agent.errors.contains("the token of the coordinator is another"), "{}", agent.errors);
    let ended = load.end();
    assert_eq!(ended.status, Some(1));
    assert!(ended.errors.contains("its token is another"), "{}", ended.errors);
    let missing = "1 of 1 agents have not joined within 3s (1 of --role load); joined: none";
    assert!(ended.errors.contains(missing), "{}", ended.errors);
}

#[test]
fn two_builds_do_not_measure_together() {
    let machines = Machines::new();
    let other = machines.folder.path().join("bookend");
    let mut program = fs::read(BOOKEND).unwrap();
    // Behind the end of its sections, where nothing reads it.
    program.push(0);
    fs::write(&other, program).unwrap();
    fs::set_permissions(&other, fs::Permissions::from_mode(0o755)).unwrap();
    let load = machines.load(1, &["-n", "1", "--fleet-wait", "5s"]);
    let mut command = machines.node("one").command(&other);
    command.args(["agent", "--name", "old", "--join", &machines.coordinator().to_string()]);
    command.arg("--token-file").arg(machines.token());
    let agent = Running::start(command).end();
    assert_eq!(agent.status, Some(1));
    assert!(agent.errors.contains("run the same bookend on both"), "{}", agent.errors);
    let ended = load.end();
    assert_eq!(ended.status, Some(1));
    assert!(ended.errors.contains("takes no part: this agent is bookend"), "{}", ended.errors);
}

#[test]
fn an_agent_that_cannot_reach_the_server_is_named_and_nothing_begins() {
    let machines = Machines::new();
    let server = machines.serve();
    let address = machines.node("server").address().to_string();
    let blocked =
        machines.node("two").command("ip").args(["route", "add", "blackhole", &address]).status();
    assert!(blocked.is_ok_and(|status| status.success()));
    let _agents = machines.agents();
    let ended = machines.load(3, &["-z", "5s", "--connections", "3"]).end();
    assert_eq!(ended.status, Some(1), "{}", ended.errors);
    assert!(ended.sentences().contains("agent two: "), "{}", ended.errors);
    assert!(ended.output.is_empty());
    // The other two have made their one call and asked for the schema, and no more.
    let served = server.end();
    assert!(served <= 6, "{served} calls");
}

#[test]
fn flags_that_cannot_work_are_refused_before_anybody_joins() {
    for join in ["127.0.0.1", "127.0.0.1:99999", ":7420"] {
        let mut command = Command::new(BOOKEND);
        command.args(["agent", "--join", join]);
        let ended = Running::start(command).end();
        assert_eq!(ended.status, Some(2), "{join}: {}", ended.errors);
        assert!(ended.errors.contains("coordinator:7420"), "{join}: {}", ended.errors);
    }
    for (words, sentence) in [
        (&["--agents", "3"][..], "3 agents have 1 connections to share"),
        (
            &["--agents", "2", "--connections", "2", "--on-loss", "continue"],
            "--on-loss continue needs a rate",
        ),
        (&["--agents", "1"], "whoever reaches this address could join"),
        (&["--agents", "local:1", "--server-agent"], "whoever reaches this address could join"),
        (&["--agents", "1", "--token-file", "/dev/null"], "a token is text of 16 bytes or more"),
        (&["--listen", "127.0.0.1:1"], "--agents"),
        (
            &["--agents", "local:1", "--find-capacity", "p99<1s", "--server-agent"],
            "--find-capacity searches with agents that make calls",
        ),
        (&["--agents", "local:1", "--find-capacity", "p99<1s", "-O", "csv"], "as a summary or as"),
        (
            &["--agents", "1", "--listen", "192.0.2.77:1", "--token-file", "/proc/version"],
            "cannot await agents",
        ),
        (
            &[
                "--agents",
                "1",
                "--fleet-cert",
                "/nowhere",
                "--fleet-key",
                "/nowhere",
                "--token-file",
                "/proc/version",
            ],
            "--fleet-cert /nowhere",
        ),
    ] {
        let mut command = Command::new(BOOKEND);
        command.args(["load", "--insecure", "--call", "a.B/C", "localhost:1"]).args(words);
        let ended = Running::start(command).end();
        assert_eq!(ended.status, Some(2), "{words:?}: {}", ended.errors);
        assert!(ended.errors.contains(sentence), "{words:?}: {}", ended.errors);
        assert_eq!(ended.errors.lines().count(), 1, "{}", ended.errors);
    }
}

#[test]
fn an_agent_without_tls_hears_that_the_link_may_want_it() {
    let machines = Machines::new();
    let (certificate, key) = (machines.folder.path().join("c"), machines.folder.path().join("k"));
    let own = rcgen::generate_simple_self_signed(["coordinator".to_owned()]).expect("a key");
    fs::write(&certificate, own.cert.pem()).unwrap();
    fs::write(&key, own.signing_key.serialize_pem()).unwrap();
    let (certificate, key) = (certificate.to_str().unwrap(), key.to_str().unwrap());
    let tls = ["--fleet-cert", certificate, "--fleet-key", key];
    let load = machines.load(1, &[&tls[..], &["-n", "1", "--fleet-wait", "4s"]].concat());
    let words = ["--fleet-wait", "3s"];
    let agent = machines.agent_at("one", machines.coordinator(), &words).0.end();
    assert_eq!(agent.status, Some(1), "{}", agent.errors);
    assert!(agent.errors.contains("if it wants TLS, give --fleet-cacert"), "{}", agent.errors);
    let ended = load.end();
    assert_eq!(ended.status, Some(1), "{}", ended.errors);
    let lines = ended.errors.matches("no TLS with it").count();
    assert!((1..3).contains(&lines), "{}", ended.errors);
}
