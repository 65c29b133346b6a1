//! The process of a relay.

use crate::carrying::Carrying;
use crate::link::Link;
use crate::namespace::command_in;
use crate::program::{Channel, role, run_as, this_binary};
use std::env;
use std::io;
use std::net::{SocketAddr, TcpListener};
use std::os::fd::{AsFd as _, OwnedFd};
use std::os::unix::process::CommandExt as _;
use std::sync::Arc;

/// The path of the test that is this process.
pub const TEST: &str = concat!(module_path!(), "::relay_process");

/// Its first role: it listens on one node, and becomes the second on the other node.
pub const LISTEN: &str = "listen";

/// Its second role.
const CARRY: &str = "carry";

/// The variable with the address that it listens on.
pub const LISTEN_ON: &str = "BOOKEND_RELAY_LISTEN_ON";

/// The variable with the option of `nsenter` that enters the node from which it connects.
pub const CONNECT_FROM: &str = "BOOKEND_RELAY_CONNECT_FROM";

/// The variable with the address of the server.
pub const SERVER: &str = "BOOKEND_RELAY_SERVER";

/// The variable with the seed of the jitter.
pub const SEED: &str = "BOOKEND_RELAY_SEED";

/// No test, but the process of a relay, which a relay starts.
#[test]
fn relay_process() {
    match role().as_deref() {
        Some(LISTEN) => listen(),
        Some(CARRY) => carry(),
        _ => {}
    }
}

/// A socket stays in the namespace that it was made in. So the listener goes along when this
/// process moves to the other node, as the standard input.
fn listen() -> ! {
    let listener = TcpListener::bind((variable(LISTEN_ON), 0)).expect("a port is free");
    let mut command = command_in(&[variable(CONNECT_FROM)], this_binary());
    run_as(&mut command, TEST, CARRY);
    let error = command.stdin(OwnedFd::from(listener)).exec();
    panic!("nsenter of util-linux is there: {error}");
}

fn carry() -> ! {
    let listener = io::stdin().as_fd().try_clone_to_owned().expect("a descriptor");
    let listener = TcpListener::from(listener);
    let port = listener.local_addr().expect("it listens").port();
    let server: SocketAddr = variable(SERVER).parse().expect("an address of a relay");
    let seed = variable(SEED).parse().expect("a seed of a relay");
    let carrying = Arc::new(Carrying::new(listener, server, seed));
    let mut channel = Channel::of_this_program();
    carrying.start();
    channel.say(&format!("port {port}"));
    while let Some(line) = channel.hear() {
        carrying.set(Link::of_line(&line).expect("a line of a relay"));
        channel.say("set");
    }
    std::process::exit(0);
}

fn variable(name: &str) -> String {
    env::var(name).expect("a relay has set it")
}
