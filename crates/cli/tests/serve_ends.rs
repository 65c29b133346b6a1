//! How `bookend serve` ends, and what it does when the machine gives it nothing more.

use std::fs::OpenOptions;
use std::io::Read;
use std::process::{Child, Command, Stdio};

use bookend_server::io::raise_descriptor_limit;
use bookend_testing::{PREFACE, ScriptedPeer, flag, frame, kind, literals, message, settings};

const BOOKEND: &str = env!("CARGO_BIN_EXE_bookend");

/// A server that was started by hand.
struct Served {
    process: Child,
    port: u16,
}

/// What a server said, and how it ended.
struct Ended {
    code: Option<i32>,
    output: String,
    errors: String,
}

impl Served {
    fn by(mut command: Command) -> Self {
        let mut process = command
            .env_remove("BOOKEND_CONTRACT")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("bookend");
        let output = process.stdout.as_mut().expect("a pipe");
        let port = read_line(output)
            .strip_prefix("ready ")
            .and_then(|port| port.parse().ok())
            .expect("the port");
        Served { process, port }
    }

    fn with(flags: &[&str]) -> Self {
        let mut command = Command::new(BOOKEND);
        command.args(["serve", "--port", "0"]).args(flags);
        Self::by(command)
    }

    fn signal(&self) {
        terminate(&self.process);
    }

    fn end(mut self) -> Ended {
        let (mut output, mut errors) = (String::new(), String::new());
        let read = |pipe: &mut dyn Read, text: &mut String| pipe.read_to_string(text);
        read(self.process.stdout.as_mut().expect("a pipe"), &mut output).expect("text");
        read(self.process.stderr.as_mut().expect("a pipe"), &mut errors).expect("text");
        Ended { code: self.process.wait().expect("it ends").code(), output, errors }
    }
}

fn terminate(process: &Child) {
    let pid = process.id().to_string();
    let sent = Command::new("kill").args(["-TERM", &pid]).status();
    assert!(sent.expect("kill").success());
}

/// Reads byte by byte: what follows the line is for the next reader.
fn read_line(pipe: &mut dyn Read) -> String {
    let (mut line, mut byte) = (Vec::new(), [0]);
    while pipe.read(&mut byte).expect("text") == 1 && byte != *b"\n" {
        line.extend(byte);
    }
    String::from_utf8(line).expect("text")
}

/// A client that is as little as a client can be.
struct Client {
    peer: ScriptedPeer,
    has_greeted: bool,
    next_stream: u32,
    answers: u64,
    goodbyes: u64,
}

impl Client {
    fn connect(port: u16) -> Self {
        let peer = ScriptedPeer::connect(("127.0.0.1", port));
        Client { peer, has_greeted: false, next_stream: 1, answers: 0, goodbyes: 0 }
    }

    fn greeted(port: u16) -> Self {
        let mut client = Self::connect(port);
        client.write(&[&PREFACE[..], &settings(&[])].concat());
        client.has_greeted = true;
        client
    }

    fn write(&mut self, bytes: &[u8]) {
        // A server that has hung up is no failure of the test.
        let _ = self.peer.send(bytes);
    }

    fn call(&mut self, path: &str, request: &[u8]) {
        let id = self.next_stream;
        self.next_stream += 2;
        let head = literals(&[
            (":method", "POST"),
            (":scheme", "http"),
            (":path", path),
            ("te", "trailers"),
            ("content-type", "application/grpc"),
        ]);
        let head = frame(kind::HEADERS, flag::END_HEADERS, id, &head);
        let body = frame(kind::DATA, flag::END_STREAM, id, &message(request));
        self.write(&[head, body].concat());
    }

    fn greet(&mut self) {
        self.call("/helloworld.Greeter/SayHello", b"\x0a\x03Ada");
    }

    /// Hears a frame, and answers PINGs if it speaks at all. False at the end.
    fn hear(&mut self) -> bool {
        let Some(heard) = self.peer.hear() else { return false };
        match heard.kind {
            kind::DATA => self.answers += 1,
            kind::GOAWAY => self.goodbyes += 1,
            kind::PING if !heard.has(flag::ACK) && self.has_greeted => {
                self.write(&frame(kind::PING, flag::ACK, 0, &heard.payload))
            }
            _ => {}
        }
        true
    }

    fn wait_for_answers(&mut self, answers: u64) {
        while self.answers < answers {
            assert!(self.hear(), "the server closed before it answered");
        }
    }

    fn read_to_the_end(&mut self) {
        while self.hear() {}
    }
}

/// Ten thousand, or what the limit of descriptors leaves room for.
fn many() -> usize {
    const WISHED: usize = 10_000;
    /// What else a test process has open.
    const RESERVED: usize = 100;
    let limit = raise_descriptor_limit().map_or(1_024, |limit| limit as usize);
    let many = WISHED.min(limit - RESERVED);
    if many < WISHED {
        eprintln!("{many} connections: the limit of descriptors is {limit}");
    }
    many
}

#[test]
fn sigterm_during_ten_thousand_connections_is_clean_and_counted() {
    let server = Served::with(&["--drain", "50s", "--preset", "trusted"]);
    let many = many();
    let mut silent = Vec::new();
    let (mut idle, mut calling) = (Vec::new(), Vec::new());
    for number in 0..many {
        match number % 100 {
            0 => silent.push(Client::connect(server.port)),
            1..50 => idle.push(Client::greeted(server.port)),
            _ => {
                let mut client = Client::greeted(server.port);
                // Field 1, a number of milliseconds.
                client.call("/bookend.test.v1.Delay/Wait", &[0x08, 0xac, 0x02]);
                calling.push(client);
            }
        }
    }
    server.signal();
    let mut answers = 0;
    for client in idle.iter_mut().chain(&mut calling) {
        client.read_to_the_end();
        assert_eq!(client.goodbyes, 2);
        answers += client.answers;
    }
    assert_eq!(answers, calling.len() as u64);
    silent.iter_mut().for_each(Client::read_to_the_end);
    let ended = server.end();
    assert_eq!(ended.code, Some(0), "{}", ended.errors);
    assert_eq!(ended.output, format!("served {answers}\n"));
    let account = format!("answered {answers} call(s) on {many} connection(s)\n");
    assert!(ended.errors.ends_with(&account), "{}", ended.errors);
}

#[test]
fn a_second_signal_ends_the_calls_that_the_first_one_lets_go_on() {
    let server = Served::with(&["--drain", "1h"]);
    let mut client = Client::greeted(server.port);
    // 600 s, as long as such a call may wait.
    client.call("/bookend.test.v1.Delay/Wait", &[0x08, 0xc0, 0xcf, 0x24]);
    client.greet();
    client.wait_for_answers(1);
    server.signal();
    while client.goodbyes < 2 {
        assert!(client.hear(), "the call goes on");
    }
    server.signal();
    client.read_to_the_end();
    assert_eq!(client.answers, 1);
    let ended = server.end();
    assert_eq!(ended.code, Some(0));
    assert_eq!(ended.output, "served 2\n");
    assert!(ended.errors.contains(", 1 cut off at the end"), "{}", ended.errors);
}

#[test]
fn a_full_disk_for_what_it_says_keeps_nobody_from_being_served() {
    let full = || {
        let device = OpenOptions::new().write(true).open("/dev/full");
        Stdio::from(device.expect("Linux has it"))
    };
    for (output, errors) in [(Stdio::piped(), full()), (full(), Stdio::piped())] {
        let mut process = Command::new(BOOKEND)
            .args(["serve", "--port", "0"])
            .env_remove("BOOKEND_CONTRACT")
            .stdin(Stdio::null())
            .stdout(output)
            .stderr(errors)
            .spawn()
            .expect("bookend");
        // `ready PORT` on one, `bookend serve: 127.0.0.1:PORT (...)` on the other.
        let said = match (&mut process.stdout, &mut process.stderr) {
            (Some(output), _) => read_line(output).replace("ready ", ""),
            (None, Some(errors)) => {
                read_line(errors).split([':', ' ']).nth(4).map(str::to_owned).expect("a port")
            }
            (None, None) => unreachable!("one of them is a pipe"),
        };
        let port = said.parse().unwrap_or_else(|_| panic!("{said:?} is no port"));
        let mut client = Client::greeted(port);
        client.greet();
        client.wait_for_answers(1);
        terminate(&process);
        client.read_to_the_end();
        assert_eq!(client.goodbyes, 2);
        assert_eq!(process.wait().expect("it ends").code(), Some(0));
    }
}

/// A server that may have no more than 64 descriptors.
fn poor(driver: &str) -> Served {
    let mut shell = Command::new("sh");
    shell.args(["-c", "ulimit -n 64; exec \"$0\" \"$@\"", BOOKEND]);
    shell.args(["serve", "--port", "0", "--threads", "2", "--io", driver]);
    Served::by(shell)
}

/// Connections for which there are descriptors, also where each has a thread of its own.
const OLD: usize = 15;
/// More than there are descriptors for.
const NEW: usize = 60;

/// Connections that have been answered.
fn answered(server: &Served) -> Vec<Client> {
    let greet = |_| {
        let mut client = Client::greeted(server.port);
        client.greet();
        client.wait_for_answers(1);
        client
    };
    (0..OLD).map(greet).collect()
}

fn call_on(clients: &mut [Client]) {
    for round in 2..=10 {
        for client in &mut *clients {
            client.greet();
            client.wait_for_answers(round);
        }
    }
}

fn ends_with(server: Served, served: u64) {
    server.signal();
    let ended = server.end();
    assert_eq!(ended.code, Some(0), "{}", ended.errors);
    assert_eq!(ended.output, format!("served {served}\n"));
    let counted = "time(s) nothing could be accepted";
    assert!(ended.errors.contains(counted), "{}", ended.errors);
}

#[test]
fn without_descriptors_old_connections_go_on_and_new_ones_wait() {
    for driver in ["auto", "epoll", "blocking"] {
        let server = poor(driver);
        let mut old = answered(&server);
        let mut new: Vec<_> = (0..NEW).map(|_| Client::greeted(server.port)).collect();
        new.iter_mut().for_each(Client::greet);
        call_on(&mut old);
        drop(old);
        // Those that are served make room for those that wait.
        for mut client in new {
            client.wait_for_answers(1);
        }
        ends_with(server, (OLD * 10 + NEW) as u64);
    }
}
