//! Processes of a network: whose they are, and how they end.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

/// The variable in the environment of each process of a network. It says which network that is.
pub const MARK: &str = "BOOKEND_FLEET_NETWORK";

/// Longer than a process takes to end after SIGKILL on the slowest machine.
const PATIENCE: Duration = Duration::from_secs(20);

/// The value of [`MARK`] of another network of this test: the id of this process, when it has
/// started, and a number. Another process may have the same id later, but not the same start.
pub fn next_mark() -> String {
    static NETWORKS: AtomicU32 = AtomicU32::new(0);
    let id = std::process::id();
    let start = start_of(id).expect("/proc tells when this process has started");
    format!("{id}-{start}-{}", NETWORKS.fetch_add(1, Ordering::Relaxed))
}

/// Ends the processes of tests that are dead. It leaves alone those of living tests.
pub fn kill_leftovers() {
    kill_until_none(|| all().into_iter().filter(|&id| is_leftover(id)).collect());
}

/// Ends each process of a network: those that have its mark, and those in its network namespaces.
pub fn kill_network(mark: &str, namespaces: &[String]) {
    kill_until_none(|| {
        // `nsenter` may be about to enter, and a program may have another environment: so both.
        let has_mark = |id| mark_of(id).is_some_and(|its| its == mark);
        let is_within = |id| network_of(id).is_some_and(|name| namespaces.contains(&name));
        all().into_iter().filter(|&id| is_within(id) || has_mark(id)).collect()
    });
}

/// The name of a process's network namespace. A process that has ended has none, even if nobody
/// has waited for it yet.
pub fn network_of(id: u32) -> Option<String> {
    namespace_of(id, "net")
}

/// The ids of all processes.
pub fn all() -> Vec<u32> {
    let entries = fs::read_dir("/proc").expect("/proc is mounted");
    entries.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok()).collect()
}

fn namespace_of(id: u32, kind: &str) -> Option<String> {
    let link = fs::read_link(Path::new("/proc").join(id.to_string()).join("ns").join(kind));
    Some(link.ok()?.to_str()?.to_owned())
}

/// Whether the test that has started this process is dead.
fn is_leftover(id: u32) -> bool {
    // A container that this machine runs may have tests too, but their ids mean nothing here.
    let is_of_here = || namespace_of(id, "pid") == namespace_of(std::process::id(), "pid");
    mark_of(id).is_some_and(|mark| is_of_here() && !is_alive(&mark))
}

fn mark_of(id: u32) -> Option<String> {
    let environment = fs::read(format!("/proc/{id}/environ")).ok()?;
    let mut variables = environment.split(|&byte| byte == 0);
    let value = variables.find_map(|variable| variable.strip_prefix(MARK.as_bytes()))?;
    Some(str::from_utf8(value.strip_prefix(b"=")?).ok()?.to_owned())
}

/// Whether the test that has made a network is alive. If its mark is not ours, it is.
fn is_alive(mark: &str) -> bool {
    let mut parts = mark.split('-').map(str::parse);
    let (Some(Ok(id)), Some(Ok(start))) = (parts.next(), parts.next()) else { return true };
    u32::try_from(id).is_ok_and(|id| start_of(id) == Some(start))
}

/// When a process has started, in ticks of the machine's clock. `None` if it has ended.
fn start_of(id: u32) -> Option<u64> {
    let stat = fs::read_to_string(format!("/proc/{id}/stat")).ok()?;
    // The name is in brackets, and may have spaces and brackets in it.
    let mut fields = stat[stat.rfind(')')? + 1..].split_whitespace();
    let is_zombie = fields.next()? == "Z";
    // Its number is 22; the state, which has gone, is 3.
    let start = fields.nth(18)?.parse().ok()?;
    (!is_zombie).then_some(start)
}

/// A process may start another between a look and its end, so one look is not enough.
fn kill_until_none(find: impl Fn() -> Vec<u32>) {
    let deadline = Instant::now() + PATIENCE;
    loop {
        let found = find();
        if found.is_empty() {
            return;
        }
        assert!(Instant::now() < deadline, "These processes do not end: {found:?}");
        kill(&found);
        std::thread::sleep(Duration::from_millis(1));
    }
}

fn kill(ids: &[u32]) {
    // The shell has `kill` where no package has put one. It fails if one has ended by now.
    let mut shell = Command::new("sh");
    shell.args(["-c", "kill -KILL \"$@\" 2>&-", "kill"]).args(ids.iter().map(u32::to_string));
    shell.status().expect("sh is there");
}
