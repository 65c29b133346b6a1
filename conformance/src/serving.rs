//! Programs that serve until they are told to end.

use std::io::{BufRead, BufReader, Read};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::process::{Child, ChildStdout, Command, Stdio};

use crate::program::{bookend, outside};

/// A server that listens on the loopback. Ends when this is dropped.
#[derive(Debug)]
pub struct Serving {
    child: Child,
    output: BufReader<ChildStdout>,
    /// Where it listens.
    pub port: u16,
}

impl Serving {
    /// `bookend serve` with this `--io`.
    pub fn bookend(io: &str) -> Self {
        Self::bookend_with(io, &[])
    }

    /// The same with more flags.
    pub fn bookend_with(io: &str, flags: &[&str]) -> Self {
        let mut command = Command::new(bookend());
        command.args(["serve", "--port", "0", "--io", io]);
        command.args(flags);
        // Ends with its standard input, and says how many calls it served.
        command.env("BOOKEND_CONTRACT", "1");
        Self::start(command)
    }

    /// The interop service of grpc-go.
    pub fn grpc_go() -> Self {
        Self::start(Command::new(outside("grpc-go-server")))
    }

    fn start(mut command: Command) -> Self {
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap_or_else(|error| panic!("{command:?}: {error}"));
        let output = child.stdout.take().expect("its output is piped");
        let mut output = BufReader::new(output);
        let mut line = String::new();
        output.read_line(&mut line).expect("it writes text");
        let port = line.strip_prefix("ready ").map(str::trim_end);
        let port = port.and_then(|port| port.parse().ok());
        let port =
            port.unwrap_or_else(|| panic!("{command:?} said {line:?}, not where it listens"));
        Serving { child, output, port }
    }

    /// Ends `bookend serve` and returns how many calls it says it has served.
    pub fn stop(mut self) -> u64 {
        drop(self.child.stdin.take());
        let mut rest = String::new();
        self.output.read_to_string(&mut rest).expect("it writes text");
        let served = rest.trim_end().strip_prefix("served ");
        served
            .and_then(|served| served.parse().ok())
            .unwrap_or_else(|| panic!("the server's last words were {rest:?}"))
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A port at which nobody listens, and that nobody else is given meanwhile: a connection to
/// somewhere else comes from it.
pub struct ClosedPort {
    /// Its number.
    pub port: u16,
    _held_by: (TcpListener, TcpStream),
}

impl ClosedPort {
    /// Takes a free port.
    pub fn take() -> Self {
        let elsewhere =
            TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("the loopback has free ports");
        let address = elsewhere.local_addr().expect("it is bound");
        let connection = TcpStream::connect(address).expect("it listens");
        ClosedPort {
            port: connection.local_addr().expect("it is bound").port(),
            _held_by: (elsewhere, connection),
        }
    }
}
