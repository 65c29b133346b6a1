//! Tests of the harness itself.

use crate::link::{Connections, Direction, Link};
use crate::namespace::Entrance;
use crate::network::{Network, Node};
use crate::peer;
use crate::processes::{all, network_of};
use crate::program::{Channel, Program, role, this_binary};
use crate::relay::Relay;
use std::fs::{self, File};
use std::net::SocketAddrV4;
use std::os::fd::AsRawFd as _;
use std::os::unix::process::ExitStatusExt as _;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::Command;
use std::time::{Duration, Instant};

/// Longer than anything here takes on a machine that is busy with other things.
const LONG: Duration = Duration::from_secs(60);

const SECOND_NS: u128 = 1_000_000_000;
const SIGKILL: i32 = 9;

#[test]
fn two_nodes_exchange_bytes() {
    let network = Network::new(&["agent", "server"]);
    let (_server, address) = listen(network.node("server"));
    let mut agent = peer::start_on(network.node("agent"));
    assert_eq!(agent.ask(&format!("connect {address}")), "connected");
    assert!(agent.ask("say hello").ends_with(" hello"));
}

#[test]
fn an_offset_shows_in_the_clock_of_a_program() {
    let network = Network::new(&["agent"]);
    let node = network.node("agent");
    let mut here = peer::start_on(node);
    let mut ahead = peer::start(node.command_at(3_600, this_binary()));
    let ahead_ns = number(&ahead.ask("clock"));
    // The other reads its clock later.
    assert!(ahead_ns > number(&here.ask("clock")) + 3_500 * SECOND_NS);
    assert!(ahead_ns < number(&here.ask("clock")) + 3_600 * SECOND_NS);
    let mut again = peer::start(node.command_at(3_600, this_binary()));
    assert!(number(&again.ask("clock")) > ahead_ns);
}

#[test]
fn a_cut_link_is_noticed_until_it_is_mended() {
    let network = Network::new(&["agent", "other", "server"]);
    let (_server, address) = listen(network.node("server"));
    let mut agent = peer::start_on(network.node("agent"));
    let mut other = peer::start_on(network.node("other"));
    assert_eq!(agent.ask(&format!("connect {address}")), "connected");
    network.node("agent").cut();
    assert_eq!(agent.ask("whisper hello"), "WouldBlock");
    assert_eq!(agent.ask(&format!("try {address}")), "TimedOut");
    assert_eq!(other.ask(&format!("connect {address}")), "connected");
    network.node("agent").mend();
    // The kernel sends again what was lost.
    assert!(agent.ask("hear").ends_with(" hello"));
}

#[test]
fn signals_reach_the_program() {
    let network = Network::new(&["agent"]);
    let node = network.node("agent");
    for command in [node.command(this_binary()), node.command_at(-60, this_binary())] {
        let mut program = peer::start(command);
        let id = program.process().id();
        assert_eq!(program.ask("id"), id.to_string());
        signal("STOP", id);
        await_that(|| state(id) == Some('T'));
        signal("CONT", id);
        assert_eq!(program.ask("id"), id.to_string());
        program.process().kill().expect("it runs");
        let status = program.process().wait().expect("a child can be waited for");
        assert_eq!(status.signal(), Some(SIGKILL));
    }
}

#[test]
fn two_networks_are_apart() {
    let networks = [(); 2].map(|()| Network::new(&["agent", "server"]));
    let servers = networks.each_ref().map(|network| listen(network.node("server")));
    for (network, (_, address)) in networks.iter().zip(&servers) {
        let mut agent = peer::start_on(network.node("agent"));
        assert_eq!(agent.ask(&format!("connect {address}")), "connected");
    }
    let mut agent = peer::start_on(networks[0].node("agent"));
    assert_eq!(agent.ask(&format!("try {}", servers[1].1)), "NetworkUnreachable");
}

#[test]
fn nothing_is_left_of_a_network() {
    for keeps_bridge in [true, false] {
        let network = Network::new(&["agent", "server"]);
        let node = network.node("agent");
        // Each link has one end in the bridge's namespace. Whoever keeps one namespace of a link
        // sees its end vanish when the kernel removes the other namespace.
        let kept = Kept::new(if keeps_bridge { network.bridge() } else { node.entrance() });
        let link = if keeps_bridge { "port" } else { "eth0" };
        assert!(kept.links().contains(link));
        let (names, holders) = (network.names(), network.holders());
        assert_eq!(within(&names).len(), names.len());
        // It may be about to enter its namespaces.
        let sleeper = sleep_on(node);
        drop(network);
        assert!(network_of(sleeper).is_none());
        assert!(within(&names).is_empty());
        assert!(holders.iter().all(|&holder| state(holder).is_none()));
        await_that(|| !kept.links().contains(link));
    }
    let links = fs::read_to_string("/proc/net/dev").expect("/proc is mounted");
    assert!(!links.contains("bridge0") && !links.contains("port1"));
}

#[test]
fn nothing_is_left_after_a_panic() {
    let mut names = Vec::new();
    let end = catch_unwind(AssertUnwindSafe(|| {
        let network = Network::new(&["agent", "server"]);
        names = network.names();
        sleep_on(network.node("agent"));
        std::panic::resume_unwind(Box::new("a test fails"));
    }));
    assert!(end.is_err());
    assert!(!names.is_empty() && within(&names).is_empty());
}

#[test]
fn a_network_removes_what_dead_tests_have_left_and_nothing_of_the_living() {
    let [(mut dead, of_dead), (_living, of_living)] = [(); 2].map(|()| other_test());
    assert!(state(of_dead).is_some());
    dead.process().kill().expect("it runs");
    dead.process().wait().expect("a child can be waited for");
    Network::new(&[]);
    // Whoever is its parent now may not have waited for it yet.
    assert!(network_of(of_dead).is_none());
    assert!(network_of(of_living).is_some());
}

#[test]
fn a_relay_delays_each_direction_by_itself() {
    let network = Network::new(&["coordinator", "agent", "server"]);
    let (_server, mut relay, mut agent) = relayed(&network);
    assert!(agent.ask("say now").ends_with(" now"));
    let delayed = |milliseconds| Direction {
        delay: Duration::from_millis(milliseconds),
        ..Direction::default()
    };
    let (forward, back) = (delayed(20), delayed(60));
    relay.set(&Link { forward, back, ..Link::default() });
    let answer = agent.ask("say later");
    let times: Vec<u128> = answer.split(' ').take(3).map(number).collect();
    assert!(times[1] - times[2] >= forward.delay.as_nanos());
    assert!(times[0] - times[1] >= back.delay.as_nanos());
}

#[test]
fn bytes_keep_their_order_when_delays_vary() {
    let network = Network::new(&["coordinator", "agent", "server"]);
    let (_server, mut relay, mut agent) = relayed(&network);
    let jitter = Duration::from_millis(4);
    let direction = Direction { jitter, ..Direction::default() };
    relay.set(&Link { forward: direction, back: direction, ..Link::default() });
    let numbers: Vec<String> = (0..200).map(|number| number.to_string()).collect();
    assert_eq!(agent.ask("pour 200"), numbers.join(" "));
}

#[test]
fn bytes_wait_while_a_direction_is_stalled() {
    let network = Network::new(&["coordinator", "agent", "server"]);
    let (_server, mut relay, mut agent) = relayed(&network);
    let stalled = Direction { stalled: true, ..Direction::default() };
    for link in
        [Link { forward: stalled, ..Link::default() }, Link { back: stalled, ..Link::default() }]
    {
        relay.set(&link);
        assert_eq!(agent.ask("whisper hello"), "WouldBlock");
        relay.set(&Link::default());
        assert!(agent.ask("hear").ends_with(" hello"));
    }
}

#[test]
fn both_ends_get_a_reset() {
    let network = Network::new(&["coordinator", "agent", "server"]);
    let (mut server, mut relay, mut agent) = relayed(&network);
    assert!(agent.ask("say hello").ends_with(" hello"));
    relay.set(&Link { connections: Connections::Reset, ..Link::default() });
    assert_eq!(agent.ask("hear"), "ConnectionReset");
    assert_eq!(server.ask("end"), "ConnectionReset");
    agent.ask(&format!("connect {}", relay.address()));
    assert_eq!(agent.ask("hear"), "ConnectionReset");
    relay.set(&Link::default());
    assert_eq!(agent.ask(&format!("connect {}", relay.address())), "connected");
    assert!(agent.ask("say hello").ends_with(" hello"));
}

#[test]
fn a_silenced_connection_stays_silent() {
    let network = Network::new(&["coordinator", "agent", "server"]);
    let (_server, mut relay, mut agent) = relayed(&network);
    relay.set(&Link { connections: Connections::Silenced, ..Link::default() });
    assert_eq!(agent.ask("whisper hello"), "WouldBlock");
    let mut late = peer::start_on(network.node("agent"));
    assert_eq!(late.ask(&format!("connect {}", relay.address())), "connected");
    relay.set(&Link::default());
    assert_eq!(agent.ask("whisper hello"), "WouldBlock");
    assert_eq!(late.ask("whisper hello"), "WouldBlock");
    assert_eq!(agent.ask(&format!("connect {}", relay.address())), "connected");
    assert!(agent.ask("say hello").ends_with(" hello"));
}

#[test]
fn an_end_passes_through_a_relay() {
    let network = Network::new(&["coordinator", "agent", "server"]);
    let (mut server, mut relay, mut agent) = relayed(&network);
    relay.set(&Link::delayed(Duration::from_millis(5)));
    assert!(agent.ask("say hello").ends_with(" hello"));
    drop(agent);
    assert_eq!(server.ask("end"), "end");
}

/// A server that listens on a node, and where.
fn listen(node: &Node) -> (Program, SocketAddrV4) {
    let mut server = peer::start_on(node);
    let port = server.ask("listen").parse().expect("a port");
    (server, SocketAddrV4::new(node.address(), port))
}

/// A server, a relay to it on the coordinator, and an agent that has connected to the relay.
fn relayed(network: &Network) -> (Program, Relay, Program) {
    let (server, address) = listen(network.node("server"));
    let relay = Relay::new(network.node("coordinator"), network.node("agent"), address, 7);
    let mut agent = peer::start_on(network.node("agent"));
    assert_eq!(agent.ask(&format!("connect {}", relay.address())), "connected");
    (server, relay, agent)
}

/// Starts a program that nobody ends or waits for.
fn sleep_on(node: &Node) -> u32 {
    node.command("sleep").arg("600").spawn().expect("nsenter is there").id()
}

/// Another test with a network, and the id of a program on it.
fn other_test() -> (Program, u32) {
    let test = concat!(module_path!(), "::a_test_that_is_killed");
    let mut other = Program::start(Command::new(this_binary()), test, "killed");
    let id = other.hear().parse().expect("an id");
    (other, id)
}

/// No test, but a test that another kills.
#[test]
fn a_test_that_is_killed() {
    if role().as_deref() == Some("killed") {
        let network = Network::new(&["agent"]);
        let mut channel = Channel::of_this_program();
        channel.say(&sleep_on(network.node("agent")).to_string());
        channel.hear();
    }
}

/// A namespace that descriptors of this process keep.
struct Kept {
    files: Vec<File>,
    enter: Vec<String>,
}

impl Kept {
    /// Those that this leads into.
    fn new(entrance: &Entrance) -> Self {
        let mut kept = Self { files: Vec::new(), enter: Vec::new() };
        for option in entrance.options() {
            let Some((name, path)) = option.split_once('=') else {
                kept.enter.push(option.clone());
                continue;
            };
            let file = File::open(path).expect("its holder runs");
            let id = std::process::id();
            kept.enter.push(format!("{name}=/proc/{id}/fd/{}", file.as_raw_fd()));
            kept.files.push(file);
        }
        kept
    }

    fn links(&self) -> String {
        let mut command = Command::new("nsenter");
        let output = command.args(&self.enter).args(["ip", "link"]).output();
        let output = output.expect("nsenter is there");
        assert!(output.status.success() && !self.files.is_empty());
        String::from_utf8_lossy(&output.stdout).into_owned()
    }
}

fn within(names: &[String]) -> Vec<u32> {
    let is_within = |&id: &u32| network_of(id).is_some_and(|name| names.contains(&name));
    all().into_iter().filter(is_within).collect()
}

/// The state of a process, as a letter. `None` if it is gone.
fn state(id: u32) -> Option<char> {
    let stat = fs::read_to_string(format!("/proc/{id}/stat")).ok()?;
    stat[stat.rfind(')')? + 1..].trim_start().chars().next()
}

fn signal(name: &str, id: u32) {
    let command = format!("kill -{name} {id}");
    assert!(Command::new("sh").args(["-c", &command]).status().expect("sh is there").success());
}

fn await_that(mut is_so: impl FnMut() -> bool) {
    let deadline = Instant::now() + LONG;
    while !is_so() {
        assert!(Instant::now() < deadline, "It does not come.");
        std::thread::sleep(Duration::from_millis(2));
    }
}

fn number(text: &str) -> u128 {
    text.parse().unwrap_or_else(|_| panic!("no number: {text}"))
}
