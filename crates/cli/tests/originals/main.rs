//! The command lines of the published documents still mean something here: each is run as printed.
//!
//! They need a JDK, Maven, Python, a C++ server and ghz, so they are a feature of their own;
//! `scripts/originals` runs them once those have been seen to. They also compare the output of ghz
//! with ours.
#![forbid(unsafe_code)]

mod formats;
mod list;
mod shell;

use list::{Command, Interrupt, List};
use shell::{Environment, Running};

/// Runs one command as printed, and once more with our own program in the place of the first word.
fn run(list: &List, command: &Command, environment: &Environment) -> Vec<String> {
    let mut complaints = Vec::new();
    let lines = [Some(command.line.clone()), command.line_with_ours()];
    for line in lines.into_iter().flatten() {
        // Every run has fresh servers: one that is still busy with calls that nobody awaits any
        // more is no fair peer for the next.
        let servers = start_servers(list, command, environment);
        let ended = match servers {
            Ok(_) => environment.run(&command.folder, &line, command.interrupt),
            Err(ref complaint) => Err(complaint.clone()),
        };
        match ended {
            Ok(output) => complaints.extend(command.complaint(&line, &output)),
            Err(complaint) => complaints.push(format!("{complaint}\n{line}")),
        }
    }
    complaints
}

fn start_servers(
    list: &List,
    command: &Command,
    environment: &Environment,
) -> Result<Vec<Running>, String> {
    let named = command.servers.iter().map(|name| list.server(name));
    named.map(|server| environment.serve(server)).collect()
}

#[test]
fn every_published_command_line_runs_and_prints_what_it_should() {
    let list = List::read();
    let environment = Environment::new();
    let commands = list.commands.iter();
    let complaints: Vec<String> =
        commands.flat_map(|command| run(&list, command, &environment)).collect();
    assert!(complaints.is_empty(), "{}", complaints.join("\n\n"));
}

#[test]
fn every_suite_that_was_published_with_commands_has_them_in_the_list() {
    let list = List::read();
    let of_suite = |suite: &str| list.commands.iter().filter(|each| each.suite == suite).count();
    let counted =
        ["pajamax-tonic", "helloworld-profile", "python-clients", "java-executors"].map(of_suite);
    assert_eq!(counted, [1, 1, 3, 4]);
}

#[test]
fn a_command_that_prints_nothing_is_a_complaint() {
    let list = List::read();
    let complaint = list.commands[0].complaint("ghz", "");
    assert!(complaint.expect("nothing was printed").contains("Summary:"));
}

#[test]
fn a_server_that_never_listens_is_a_complaint() {
    let environment = Environment::new();
    let server = list::Server {
        name: "deaf".to_owned(),
        folder: ".".to_owned(),
        line: "exit 3".to_owned(),
        port: 1,
    };
    let complaint = environment.serve(&server).err().expect("it has ended");
    assert!(complaint.contains("deaf"), "{complaint}");
}

#[test]
fn a_server_whose_port_is_taken_is_a_complaint() {
    let taken = std::net::TcpListener::bind("127.0.0.1:0").expect("a port is free");
    let server = list::Server {
        name: "late".to_owned(),
        folder: ".".to_owned(),
        line: "sleep 60".to_owned(),
        port: taken.local_addr().expect("it is bound").port(),
    };
    let complaint = Environment::new().serve(&server).err().expect("another server would be asked");
    assert!(complaint.contains("somebody else"), "{complaint}");
}

#[test]
fn a_command_that_goes_on_for_ever_is_interrupted_once() {
    let environment = Environment::new();
    let line = "trap 'echo stopped; exit 0' INT; echo goes on; while :; do sleep 0.05; done";
    let interrupt = Interrupt::AfterText("goes on\n");
    let output = environment.run(".", line, interrupt).expect("it ends when told");
    assert_eq!(output, "goes on\nstopped\n");
}

#[test]
fn a_command_is_interrupted_although_its_test_was_started_in_the_background() {
    let this_test = std::env::current_exe().expect("this program has a file");
    let ignoring = "trap '' INT; exec \"$0\" --exact \"$1\"";
    let status = std::process::Command::new("sh")
        .args(["-c", ignoring])
        .arg(this_test)
        .arg("a_command_that_goes_on_for_ever_is_interrupted_once")
        .status();
    assert!(status.expect("there is a shell").success());
}
