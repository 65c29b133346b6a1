//! The reproductions of `records/findings`, which anybody runs against any server.

use super::faulty::{self, Fault};
use super::honest;
use bookend_wire::frame::kind;
use std::path::PathBuf;
use std::process::{Command, Output};

const MESSAGE: &str = "pajamax-cut-message.py";
const FRAME: &str = "pajamax-cut-frame.py";
const WAITS: &str = "pajamax-waits-on-ack.py";

fn file(name: &str) -> PathBuf {
    [env!("CARGO_MANIFEST_DIR"), "..", "..", "records", "findings", name].iter().collect()
}

fn reproduce(name: &str, target: &str) -> Output {
    let (host, port) = target.rsplit_once(':').unwrap();
    Command::new("python3").arg(file(name)).args([host, port]).output().unwrap()
}

#[test]
fn our_server_is_not_what_the_findings_speak_of() {
    let server = honest::start(false);
    for name in [MESSAGE, FRAME, WAITS] {
        let output = reproduce(name, &server.local_address().to_string());
        assert!(output.status.success(), "{name}: {output:?}");
    }
    server.stop();
}

#[test]
fn a_server_with_the_fault_is() {
    for (name, fault, said) in [
        (MESSAGE, Fault::OneFrameMessages, "on a message in two DATA frames"),
        (FRAME, Fault::ClosesOnCut(kind::PING), "on a frame that came in two reads"),
    ] {
        let output = reproduce(name, &faulty::start(fault).address);
        assert_eq!(output.status.code(), Some(1), "{name}: {output:?}");
        let error = String::from_utf8(output.stderr).unwrap();
        assert_eq!(error, format!("the server closed the connection {said}\n"));
    }
}

#[test]
fn a_reproduction_has_at_most_twenty_lines() {
    for name in [MESSAGE, FRAME, WAITS] {
        let lines = std::fs::read_to_string(file(name)).unwrap().lines().count();
        assert!(lines <= 20, "{name} has {lines} lines");
    }
}
