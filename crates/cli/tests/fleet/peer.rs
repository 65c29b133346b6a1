//! A program of a node that tests the harness: it connects, listens and tells the time.

use crate::program::{Channel, Program, role, this_binary};
use std::fmt::Write as _;
use std::io::{BufRead as _, BufReader, Error, ErrorKind, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::process::Command;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;
use std::time::{Duration, Instant};

const PEER: &str = "peer";

/// Longer than any answer takes on the slowest machine.
const PATIENCE: Duration = Duration::from_secs(60);

/// Starts one with a command that runs [`this_binary`].
pub fn start(command: Command) -> Program {
    Program::start(command, concat!(module_path!(), "::peer"), PEER)
}

/// Starts one on that node.
pub fn start_on(node: &crate::network::Node) -> Program {
    start(node.command(this_binary()))
}

/// No test, but a program that tests start.
#[test]
fn peer() {
    if role().as_deref() != Some(PEER) {
        return;
    }
    let mut channel = Channel::of_this_program();
    let mut peer = Peer { connection: None, ends: None };
    while let Some(line) = channel.hear() {
        let answer = peer.answer(&line);
        channel.say(&answer.unwrap_or_else(|error| format!("{:?}", error.kind())));
    }
}

#[derive(Debug)]
struct Peer {
    connection: Option<BufReader<TcpStream>>,
    /// How connections to it have ended.
    ends: Option<Receiver<String>>,
}

impl Peer {
    fn answer(&mut self, line: &str) -> Result<String, Error> {
        let (command, argument) = line.split_once(' ').unwrap_or((line, ""));
        match command {
            "id" => Ok(std::process::id().to_string()),
            "clock" => Ok(now_ns().to_string()),
            "listen" => self.listen(),
            "end" => Ok(self.ends.as_ref().expect("it listens").recv().expect("a thread sends")),
            "connect" => self.connect(argument, PATIENCE),
            "try" => self.connect(argument, Duration::from_millis(150)),
            "say" => self.say(argument).and_then(|()| self.hear(PATIENCE)),
            "whisper" => self.say(argument).and_then(|()| self.hear(Duration::from_millis(150))),
            "hear" => self.hear(PATIENCE),
            "pour" => self.pour(argument.parse().expect("a number")),
            _ => panic!("no command: {command}"),
        }
    }

    fn listen(&mut self) -> Result<String, Error> {
        let listener = TcpListener::bind(("0.0.0.0", 0))?;
        let port = listener.local_addr()?.port();
        let (sender, receiver) = channel();
        self.ends = Some(receiver);
        thread::spawn(move || {
            for client in listener.incoming() {
                let (client, sender) = (client.expect("a listener goes on"), sender.clone());
                thread::spawn(move || serve(client, &sender));
            }
        });
        Ok(port.to_string())
    }

    fn connect(&mut self, server: &str, timeout: Duration) -> Result<String, Error> {
        let server: SocketAddr = server.parse().expect("an address");
        let socket = TcpStream::connect_timeout(&server, timeout)?;
        socket.set_nodelay(true)?;
        self.connection = Some(BufReader::new(socket));
        Ok("connected".to_owned())
    }

    /// Sends a line with the time.
    fn say(&mut self, line: &str) -> Result<(), Error> {
        let line = format!("{} {line}\n", now_ns());
        self.connection().get_mut().write_all(line.as_bytes())
    }

    /// The answer, with the times: sent, at the server, here.
    fn hear(&mut self, timeout: Duration) -> Result<String, Error> {
        self.connection().get_ref().set_read_timeout(Some(timeout))?;
        let mut line = String::new();
        if self.connection().read_line(&mut line)? == 0 {
            return Err(ErrorKind::UnexpectedEof.into());
        }
        Ok(format!("{} {}", now_ns(), line.trim_end()))
    }

    /// Sends numbers one by one, and returns the answers without their times.
    fn pour(&mut self, count: u32) -> Result<String, Error> {
        for number in 0..count {
            self.say(&number.to_string())?;
        }
        let mut answers = String::new();
        for _ in 0..count {
            let answer = self.hear(PATIENCE)?;
            write!(answers, "{} ", answer.rsplit(' ').next().expect("a number")).expect("memory");
        }
        Ok(answers.trim_end().to_owned())
    }

    fn connection(&mut self) -> &mut BufReader<TcpStream> {
        self.connection.as_mut().expect("it has connected")
    }
}

/// Answers each line with itself and the time.
fn serve(client: TcpStream, ends: &Sender<String>) {
    client.set_nodelay(true).expect("an option of every socket");
    let mut client = BufReader::new(client);
    let end = loop {
        let mut line = String::new();
        match client.read_line(&mut line) {
            Ok(0) => break "end".to_owned(),
            Ok(_) => {}
            Err(error) => break format!("{:?}", error.kind()),
        }
        let answer = format!("{} {line}", now_ns());
        if let Err(error) = client.get_mut().write_all(answer.as_bytes()) {
            break format!("{:?}", error.kind());
        }
    };
    // Nobody may want to know.
    let _ = ends.send(end);
}

/// CLOCK_MONOTONIC. The standard library shows it in this way only.
fn now_ns() -> u128 {
    let shown = format!("{:?}", Instant::now());
    let numbers = shown.split(|letter: char| !letter.is_ascii_digit());
    let mut numbers = numbers.filter_map(|number| number.parse::<u128>().ok());
    let (seconds, nanoseconds) = (numbers.next(), numbers.next());
    seconds.expect("seconds") * 1_000_000_000 + nanoseconds.expect("nanoseconds")
}
