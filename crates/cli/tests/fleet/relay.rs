//! A relay of TCP connections from one node to another, which a test delays, stalls and cuts.

use crate::link::Link;
use crate::network::Node;
use crate::program::{Program, this_binary};
use crate::relay_process::{CONNECT_FROM, LISTEN, LISTEN_ON, SEED, SERVER, TEST};
use std::net::SocketAddrV4;

/// A relay of TCP connections. Dropping it ends it and its connections.
///
/// It is a process that listens in one namespace and connects in another. A thread of the test
/// cannot be it: the standard library cannot move a thread to another namespace.
#[derive(Debug)]
pub struct Relay {
    program: Program,
    address: SocketAddrV4,
}

impl Relay {
    /// A relay that listens on one node, and connects to the server from another, which may be the
    /// same. It carries bytes at once, until [`Self::set`] says otherwise. Jitter has that seed.
    pub fn new(listen_on: &Node, connect_from: &Node, server: SocketAddrV4, seed: u64) -> Self {
        let mut command = listen_on.command(this_binary());
        command.env(LISTEN_ON, listen_on.address().to_string());
        command.env(CONNECT_FROM, connect_from.option());
        command.env(SERVER, server.to_string()).env(SEED, seed.to_string());
        let mut program = Program::start(command, TEST, LISTEN);
        let said = program.hear();
        let port = said.strip_prefix("port ").and_then(|port| port.parse().ok());
        let port = port.unwrap_or_else(|| fail(&mut program, &said));
        Self { program, address: SocketAddrV4::new(listen_on.address(), port) }
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddrV4 {
        self.address
    }

    /// Carries bytes in this manner from now on. When it returns, connections that are reset have
    /// gone.
    pub fn set(&mut self, link: &Link) {
        let said = self.program.ask(&link.to_line());
        if said != "set" {
            fail(&mut self.program, &said)
        }
    }
}

/// Ends the test with what the relay says.
fn fail(program: &mut Program, said: &str) -> ! {
    // What a panic says has more than one line. The next one has its reason.
    panic!("The relay has failed: {said} {}", program.hear())
}
