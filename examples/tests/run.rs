//! Every example does what it says.

#[path = "../../crates/io/tests/support/certificates.rs"]
mod certificates;

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};

use bookend_client::{Channel, ChannelOptions};
use bookend_examples::counter::{CounterClient, Range};
use bookend_examples::journal::{Attribute, JournalClient, Record};
use certificates::{Authority, Files};

/// A server that is killed at the end of its test.
struct Running {
    process: Child,
    address: String,
}

impl Running {
    fn start(program: &str, arguments: &[&Path]) -> Self {
        let mut command = Command::new(program);
        command.arg("127.0.0.1:0").args(arguments).stdout(Stdio::piped());
        let mut process = command.spawn().unwrap();
        let mut line = String::new();
        BufReader::new(process.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
        let address = line.trim().strip_prefix("listening on ").expect(&line).to_owned();
        Running { process, address }
    }

    fn client(&self, program: &str, arguments: &[&Path]) -> Command {
        let mut command = Command::new(program);
        command.arg(&self.address).args(arguments);
        command
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

fn said(output: &Output) -> String {
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout.clone()).unwrap()
}

#[test]
fn hello() {
    let server = Running::start(env!("CARGO_BIN_EXE_hello_server"), &[]);
    let output = server.client(env!("CARGO_BIN_EXE_hello_client"), &[]).output().unwrap();
    assert_eq!(said(&output), "Hello world!\n100 of 100 guests were greeted\n");
}

#[test]
fn a_slowed_server_answers_all_the_same() {
    let slowed = env!("CARGO_BIN_EXE_slowed_server");
    let server = Running::start(slowed, &[Path::new("1000"), Path::new("1000")]);
    let output = server.client(env!("CARGO_BIN_EXE_hello_client"), &[]).output().unwrap();
    assert!(said(&output).starts_with("Hello world!\n"));
    let measured = said(&Command::new(slowed).arg("measure").output().unwrap());
    assert!(measured.trim().parse::<f64>().unwrap() > 0.0, "{measured}");
}

#[test]
fn deferred_answers() {
    let server = Running::start(env!("CARGO_BIN_EXE_deferred_server"), &[]);
    let output = server.client(env!("CARGO_BIN_EXE_deferred_client"), &[]).output().unwrap();
    assert!(said(&output).ends_with("calls waited at once\n"));
}

#[test]
fn borrowed_messages() {
    let server = Running::start(env!("CARGO_BIN_EXE_borrowed_server"), &[]);
    let output = server.client(env!("CARGO_BIN_EXE_borrowed_client"), &[]).output().unwrap();
    assert_eq!(said(&output), "Ada\n   120 3 x apple\n   350 1 x bread\n   470 in all\n");
}

/// So that a race of the two compares the same work.
#[test]
fn records_in_place_are_those_of_prost() {
    let record = Record {
        time_ns: 5,
        body: "a record".to_owned(),
        trace_id: vec![7; 16],
        attributes: vec![Attribute { key: "n".to_owned(), text: String::new(), number: -3 }],
        ..Record::default()
    };
    let stamped = ["in-place", "owned"].map(|messages| {
        let server = Running::start(env!("CARGO_BIN_EXE_record_server"), &[Path::new(messages)]);
        let channel = Channel::connect(&server.address, ChannelOptions::default()).unwrap();
        JournalClient::new(channel).stamp(&record).wait().unwrap()
    });
    assert_eq!(stamped[0], stamped[1]);
    let attributes = stamped[0].attributes.len();
    assert_eq!((stamped[0].observed_ns, attributes), (1_005, 2));
}

#[test]
fn a_stream_counts_as_far_as_it_is_told() {
    let server = Running::start(env!("CARGO_BIN_EXE_counter_server"), &[]);
    let channel = Channel::connect(&server.address, ChannelOptions::default()).unwrap();
    let stream = CounterClient::new(channel).count(&Range { end: 30_000 }).open();
    let numbers = stream.map(|number| number.unwrap().number);
    assert!(numbers.eq(0..30_000));
}

#[test]
fn asynchronous_answers() {
    let server = Running::start(env!("CARGO_BIN_EXE_async_server"), &[]);
    let output = server.client(env!("CARGO_BIN_EXE_deferred_client"), &[]).output().unwrap();
    assert!(said(&output).ends_with("calls waited at once\n"));
}

#[test]
fn a_chat() {
    let server = Running::start(env!("CARGO_BIN_EXE_chat_server"), &[]);
    let join = |name: &str| {
        let mut command = server.client(env!("CARGO_BIN_EXE_chat_client"), &[Path::new(name)]);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap()
    };
    let heard = |guest: &mut Child| {
        let mut line = String::new();
        BufReader::new(guest.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
        line
    };
    let say = |guest: &mut Child, text: &str| {
        writeln!(guest.stdin.as_mut().unwrap(), "{text}").unwrap();
    };
    let (mut ada, mut bob) = (join("ada"), join("bob"));
    // Each hears what it says itself, and so is in the room.
    say(&mut ada, "first");
    assert_eq!(heard(&mut ada), "ada: first\n");
    say(&mut bob, "second");
    assert_eq!(heard(&mut ada), "bob: second\n");
    for mut guest in [ada, bob] {
        drop(guest.stdin.take());
        assert!(guest.wait().unwrap().success());
    }
}

#[test]
fn mutual_tls() {
    let authority = Authority::new();
    let file = authority.file();
    let (own, of_client) = (authority.issue(&["127.0.0.1"]), authority.issue(&["client"]));
    let Files { certificate, key } = &own;
    let program = env!("CARGO_BIN_EXE_tls_server");
    let server = Running::start(program, &[certificate, key, &file]);
    let Files { certificate, key } = &of_client;
    let mut client = server.client(env!("CARGO_BIN_EXE_tls_client"), &[certificate, key, &file]);
    let said = said(&client.output().unwrap());
    assert!(said.contains("Hello stranger at 127.0.0.1:") && said.contains("1 certificate"));
}

#[test]
fn a_call_without_a_token_is_refused() {
    let server = Running::start(env!("CARGO_BIN_EXE_health_server"), &[]);
    let output = server.client(env!("CARGO_BIN_EXE_hello_client"), &[]).output().unwrap();
    let error = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(!output.status.success() && error.contains("who are you?"), "{error}");
}
