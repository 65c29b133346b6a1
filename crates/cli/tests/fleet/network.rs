//! Several machines and the switch between them, all of them namespaces of this machine.

use crate::namespace::{Entrance, Namespace};
use crate::processes;
use std::collections::HashMap;
use std::ffi::OsStr;
use std::io::Write as _;
use std::net::Ipv4Addr;
use std::process::{Command, Stdio};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Longer than the kernel takes to raise a link on the slowest machine.
const PATIENCE: Duration = Duration::from_secs(20);

/// A /24 has this many addresses of nodes.
const MAX_NODES: usize = 254;

/// Nodes and the bridge that joins them. Dropping it ends every program inside it, and so removes
/// the namespaces and the links.
///
/// Nothing of it is on the host: the bridge has a namespace of its own.
#[derive(Debug)]
pub struct Network {
    nodes: Vec<Node>,
    bridge: Bridge,
    /// The user namespace that the others belong to, if this process may not make any without.
    user: Option<Namespace>,
}

impl Network {
    /// A network of nodes of these names. It first removes what dead tests have left.
    ///
    /// # Panics
    /// The machine lacks what a network needs. The message says what that is.
    pub fn new(names: &[&str]) -> Self {
        assert!(names.len() <= MAX_NODES, "A network has at most {MAX_NODES} nodes.");
        processes::kill_leftovers();
        let outside = Entrance::new(processes::next_mark());
        let user = user_namespace(&outside);
        let entrance = user.as_ref().map_or(outside.clone(), |user| enter_user(&outside, user));
        let bridge = Bridge::new(&entrance);
        let node = |(index, name): (usize, &&str)| Node::new(name, index, &entrance, &bridge);
        let nodes: Vec<Node> = names.iter().enumerate().map(node).collect();
        nodes.iter().for_each(Node::mend);
        Self { nodes, bridge, user }
    }

    /// The node of that name.
    ///
    /// # Panics
    /// It has no node of that name.
    pub fn node(&self, name: &str) -> &Node {
        let found = self.nodes.iter().find(|node| node.name == name);
        found.unwrap_or_else(|| panic!("The network has no node {name}."))
    }

    /// The processes that hold its namespaces.
    pub fn holders(&self) -> Vec<u32> {
        let nodes = self.nodes.iter().map(|node| node.namespace.holder());
        let others = [&self.bridge.namespace].into_iter().chain(&self.user);
        nodes.chain(others.map(Namespace::holder)).collect()
    }

    /// What the kernel calls its network namespaces.
    pub fn names(&self) -> Vec<String> {
        let nodes = self.nodes.iter().map(|node| &node.namespace);
        let all = nodes.chain([&self.bridge.namespace]);
        all.map(|namespace| namespace.name().to_owned()).collect()
    }

    /// The way into the bridge.
    pub fn bridge(&self) -> &Entrance {
        &self.bridge.entrance
    }
}

impl Drop for Network {
    fn drop(&mut self) {
        // The holders are among them, and nobody else can enter once they have ended.
        processes::kill_network(self.bridge().mark(), &self.names());
    }
}

/// A machine of a network.
#[derive(Debug)]
pub struct Node {
    name: String,
    address: Ipv4Addr,
    namespace: Namespace,
    entrance: Entrance,
    /// The bridge's end of its link, and the way there.
    port: String,
    bridge: Entrance,
    /// Time namespaces by their offset in seconds.
    clocks: Mutex<HashMap<i64, Namespace>>,
}

impl Node {
    fn new(name: &str, index: usize, outside: &Entrance, bridge: &Bridge) -> Self {
        let namespace = network_namespace(outside);
        let [a, b, c] = subnet_of(outside.mark());
        let host = u8::try_from(index + 1).expect("a network has few nodes");
        let node = Self {
            name: name.to_owned(),
            address: Ipv4Addr::new(a, b, c, host),
            entrance: outside.into(&namespace),
            namespace,
            port: format!("port{host}"),
            bridge: bridge.entrance.clone(),
            clocks: Mutex::default(),
        };
        node.join(bridge);
        node
    }

    /// Its only address, on the link to the bridge.
    pub fn address(&self) -> Ipv4Addr {
        self.address
    }

    /// A command that runs a program on this node. The child that it starts is the program itself,
    /// so that signals reach it.
    ///
    /// A program that is not there ends with the exit code 127 of `nsenter`.
    pub fn command(&self, program: impl AsRef<OsStr>) -> Command {
        self.entrance.command(program)
    }

    /// The same with a CLOCK_MONOTONIC and a CLOCK_BOOTTIME that are ahead by that many seconds.
    ///
    /// # Panics
    /// The machine has no time namespaces, or its clock would be below zero.
    pub fn command_at(&self, offset_seconds: i64, program: impl AsRef<OsStr>) -> Command {
        self.entrance.with(&self.clock(offset_seconds)).command(program)
    }

    /// The way into it.
    pub fn entrance(&self) -> &Entrance {
        &self.entrance
    }

    /// The option of `nsenter` that enters it from another node of its network.
    pub fn option(&self) -> String {
        self.namespace.option()
    }

    /// Cuts its link, as if someone pulled the cable: packets vanish, and no program hears of it.
    pub fn cut(&self) {
        // The bridge's end goes down, not the node's: the node would lose its route, and programs
        // would get an error at once.
        ip(&self.bridge, &format!("link set {} down", self.port));
    }

    /// Mends its link, and returns when it carries packets.
    pub fn mend(&self) {
        ip(&self.bridge, &format!("link set {} up", self.port));
        await_link(&self.bridge, &self.port);
        await_link(&self.entrance, "eth0");
    }

    fn join(&self, bridge: &Bridge) {
        let (port, address) = (&self.port, self.address);
        let holder = bridge.namespace.holder();
        let commands = format!(
            "link set lo up\n\
             link add eth0 type veth peer name {port} netns {holder}\n\
             address add {address}/24 dev eth0\n\
             link set eth0 up"
        );
        ip(&self.entrance, &commands);
        ip(&self.bridge, &format!("link set {port} master bridge0"));
    }

    /// The option of `nsenter` that enters the time namespace of that offset.
    fn clock(&self, offset_seconds: i64) -> String {
        let mut clocks = self.clocks.lock().unwrap_or_else(PoisonError::into_inner);
        let clock = clocks.entry(offset_seconds);
        clock.or_insert_with(|| time_namespace(&self.entrance, offset_seconds)).option()
    }
}

/// What joins the nodes.
#[derive(Debug)]
struct Bridge {
    namespace: Namespace,
    entrance: Entrance,
}

impl Bridge {
    fn new(outside: &Entrance) -> Self {
        let namespace = network_namespace(outside);
        let entrance = outside.into(&namespace);
        ip(&entrance, "link add bridge0 type bridge\nlink set bridge0 up");
        Self { namespace, entrance }
    }
}

/// The first three bytes of the addresses of a network. Networks are apart whatever their addresses
/// are; other addresses make it plain in a trace whose packet that is.
fn subnet_of(mark: &str) -> [u8; 3] {
    let parts = mark.split('-').filter_map(|part| part.parse::<u32>().ok());
    let [.., high, low] = parts.fold(0, |sum: u32, part| sum.wrapping_mul(31) ^ part).to_be_bytes();
    [10, high, low]
}

/// `None` if this process may make network namespaces without one.
fn user_namespace(outside: &Entrance) -> Option<Namespace> {
    let Err(as_root) = Namespace::new(outside, "net", &["--net"]) else { return None };
    let user = Namespace::new(outside, "user", &["--user", "--map-root-user"]);
    let user = user.and_then(|user| {
        Namespace::new(&enter_user(outside, &user), "net", &["--net"])?;
        Ok(user)
    });
    Some(user.unwrap_or_else(|as_user| {
        panic!(
            "A network needs util-linux and either root with CAP_SYS_ADMIN ({as_root}) or user \
             namespaces of everybody ({as_user})."
        )
    }))
}

fn enter_user(outside: &Entrance, user: &Namespace) -> Entrance {
    // `nsenter` cannot drop groups inside, and need not: this user is root there by then.
    outside.into(user).with("--preserve-credentials")
}

fn network_namespace(outside: &Entrance) -> Namespace {
    let namespace = Namespace::new(outside, "net", &["--net"]);
    namespace.unwrap_or_else(|error| panic!("The machine makes no network namespace: {error}."))
}

fn time_namespace(node: &Entrance, offset_seconds: i64) -> Namespace {
    let monotonic = format!("--monotonic={offset_seconds}");
    let boottime = format!("--boottime={offset_seconds}");
    let namespace = Namespace::new(node, "time", &["--time", &monotonic, &boottime]);
    namespace.unwrap_or_else(|error| {
        panic!("An offset of {offset_seconds} s needs time namespaces, of Linux 5.6: {error}.")
    })
}

/// Runs these commands of `ip` inside these namespaces.
fn ip(within: &Entrance, commands: &str) {
    let mut command = within.command("ip");
    command.args(["-batch", "-"]).stdin(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("nsenter of util-linux is there");
    let mut input = child.stdin.take().expect("a pipe");
    // If `ip` is not there, its exit code and what `nsenter` has said tell more than this error.
    let _ = input.write_all(commands.as_bytes());
    drop(input);
    let output = child.wait_with_output().expect("a child can be waited for");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "A network needs ip of iproute2: {commands}: {said}");
}

/// Returns when a link carries packets. The kernel says that its carrier is there some time before
/// it lets packets pass, and a packet that is lost then costs TCP a second.
fn await_link(within: &Entrance, link: &str) {
    let deadline = Instant::now() + PATIENCE;
    while !is_up(within, link) {
        assert!(Instant::now() < deadline, "The link {link} does not come up.");
        std::thread::sleep(Duration::from_millis(1));
    }
}

fn is_up(within: &Entrance, link: &str) -> bool {
    let output = within.command("ip").args(["-oneline", "link", "show", "dev", link]).output();
    let output = output.expect("nsenter of util-linux is there").stdout;
    String::from_utf8_lossy(&output).contains(" state UP ")
}
