//! A process and everything that was started from it, daemons included.
//!
//! A process belongs to the tree if any of these holds:
//!
//! - it is in the tree's control group;
//! - a chain of parents leads to the root;
//! - it is in the root's session;
//! - it was orphaned and came to the lab (which is a subreaper), and carries the tree's token in
//!   its environment. A daemon that forks twice and opens a session of its own is found by this
//!   alone.
//!
//! Process ids are reused by the kernel, so none is trusted longer than it must be: the root is not
//! collected until its tree is gone, and every other process is recognised by its start time before
//! it is killed.

use super::stat::ProcessStat;
use rustix::process::{Pid, PidfdFlags, Signal, WaitOptions};
use std::collections::{BTreeSet, HashSet};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// The variable that marks every process of a tree; not of the contract, subjects ignore it.
pub const TOKEN_VARIABLE: &str = "BOOKEND_TREE";

/// How long killed processes may take to be gone. A process in an uninterruptible system call can
/// take long, but then the machine is no place to measure on.
const KILL_TIMEOUT: Duration = Duration::from_secs(5);

/// Between two looks at whether killed processes are gone.
const KILL_INTERVAL: Duration = Duration::from_millis(2);

/// No process has this id.
const NO_ROOT: i32 = -1;

/// A process and everything that was started from it.
#[derive(Clone, Debug)]
pub struct ProcessTree {
    root: i32,
    token: String,
    groups: Vec<PathBuf>,
}

/// Some processes of a tree could not be killed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("processes {0:?} cannot be killed")]
pub struct Survivors(pub Vec<i32>);

/// Kills every process in the control group at `folder`, whose lab has died.
pub fn kill_group(folder: &Path) {
    let this = std::process::id().to_string();
    let has_left = |parent: &Path| std::fs::write(parent.join("cgroup.procs"), &this).is_ok();
    // A lab that had to move out of its group has taken its guardian with it.
    if pids_of_group(folder).iter().any(|pid| pid.to_string() == this)
        && !folder.parent().is_some_and(has_left)
    {
        return;
    }
    let tree = ProcessTree { root: NO_ROOT, token: new_token(), groups: vec![folder.to_owned()] };
    let _ = tree.kill();
}

/// A token that no other tree has: of which lab it is, and a number. A lab is known by its
/// namespace of processes, its process id in there and the time at which it started.
pub fn new_token() -> String {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    let this = std::process::id();
    let started =
        i32::try_from(this).ok().and_then(ProcessStat::read).map_or(0, |stat| stat.start_time);
    format!("{}.{this}.{started}.{number}", namespace().unwrap_or(0))
}

/// Kills the processes whose lab has ended without ending them, known by their token or because
/// they are in one of its `sessions`, with all that they have started. Returns how many there were.
pub fn kill_orphans(sessions: &BTreeSet<i32>) -> usize {
    let namespace = namespace();
    let has_dead_lab = |stat: &ProcessStat| {
        let token = namespace.zip(token_of(stat.pid));
        token.is_some_and(|(namespace, token)| is_of_dead_lab(&token, namespace, ProcessStat::read))
    };
    let is_orphan = |stat: &ProcessStat| sessions.contains(&stat.session) || has_dead_lab(stat);
    let (killed, _) = kill_until_gone(|| {
        let mut orphans = with_descendants(ProcessStat::read_all(), is_orphan);
        orphans.retain(ProcessStat::is_alive);
        orphans
    });
    let killed = killed.iter().map(|stat| (stat.pid, stat.start_time));
    killed.collect::<HashSet<_>>().len()
}

/// Process ids of another namespace mean nothing here. A lab that has ended may wait to be reaped.
fn is_of_dead_lab(token: &str, namespace: u64, read: impl Fn(i32) -> Option<ProcessStat>) -> bool {
    let fields: Vec<u64> = token.split('.').filter_map(|field| field.parse().ok()).collect();
    let [of, lab, started, _] = fields[..] else {
        return false;
    };
    let lab = i32::try_from(lab).ok().and_then(read);
    of == namespace && lab.is_none_or(|stat| stat.start_time != started || !stat.is_alive())
}

/// The number of this process's namespace of processes.
fn namespace() -> Option<u64> {
    let link = std::fs::read_link("/proc/self/ns/pid").ok()?;
    link.to_str()?.strip_prefix("pid:[")?.strip_suffix(']')?.parse().ok()
}

impl ProcessTree {
    /// The tree of the process `root`, which was started with `token` in its environment and put
    /// into the control groups at `groups`.
    pub fn new(root: u32, token: String, groups: Vec<PathBuf>) -> ProcessTree {
        ProcessTree { root: i32::try_from(root).unwrap_or(NO_ROOT), token, groups }
    }

    /// The tree of a process that the lab has not started, and all that it has started.
    pub fn of_running(root: i32) -> ProcessTree {
        ProcessTree { root, token: new_token(), groups: Vec::new() }
    }

    /// The process that was started first.
    pub fn root(&self) -> i32 {
        self.root
    }

    /// Every living process of the tree.
    pub fn members(&self) -> Vec<ProcessStat> {
        if !self.groups.is_empty() {
            return self.members_of_groups();
        }
        let mut members = self.family(|_| false);
        members.retain(ProcessStat::is_alive);
        members
    }

    /// Every process of the tree that the kernel still knows, ended ones too; and those that
    /// `is_known`, with all that they have started.
    pub(crate) fn family(&self, is_known: impl Fn(&ProcessStat) -> bool) -> Vec<ProcessStat> {
        let in_groups = self.pids_of_groups();
        let is_member = |stat: &ProcessStat| {
            in_groups.contains(&stat.pid) || self.is_member(stat) || is_known(stat)
        };
        with_descendants(ProcessStat::read_all(), is_member)
    }

    /// Kills every process of the tree and waits until none is left.
    ///
    /// # Errors
    /// Some are still there after five seconds.
    pub fn kill(&self) -> Result<(), Survivors> {
        let (killed, survivors) = kill_until_gone(|| {
            self.kill_groups();
            self.all_members()
        });
        if !survivors.is_empty() {
            return Err(Survivors(survivors.iter().map(|stat| stat.pid).collect()));
        }
        // Orphans among them have become children of the lab, which must reap them.
        killed.iter().for_each(|ended| self.reap(ended.pid));
        Ok(())
    }

    fn all_members(&self) -> Vec<ProcessStat> {
        let family = self.family(|_| false).into_iter();
        let (alive, ended): (Vec<_>, Vec<_>) = family.partition(ProcessStat::is_alive);
        // A daemon that has ended is our zombie until it is reaped.
        ended.iter().for_each(|stat| self.reap(stat.pid));
        alive
    }

    fn members_of_groups(&self) -> Vec<ProcessStat> {
        let unique = self.pids_of_groups().into_iter();
        unique.filter_map(ProcessStat::read).filter(ProcessStat::is_alive).collect()
    }

    fn pids_of_groups(&self) -> HashSet<i32> {
        self.groups.iter().flat_map(|group| pids_of_group(group)).collect()
    }

    fn is_member(&self, stat: &ProcessStat) -> bool {
        let is_adopted = i32::try_from(std::process::id()) == Ok(stat.parent);
        stat.pid == self.root
            || stat.session == self.root
            || (is_adopted && has_token(stat.pid, &self.token))
    }

    /// Collects the exit status of a child that has ended. The root is left to [`super::Process`];
    /// a process that still runs, or is not our child, is not affected.
    pub(crate) fn reap(&self, pid: i32) {
        if let Some(child) = Pid::from_raw(pid).filter(|_| pid != self.root) {
            let _ = rustix::process::waitpid(Some(child), WaitOptions::NOHANG);
        }
    }

    fn kill_groups(&self) {
        for group in &self.groups {
            // Only version 2 has this file, since Linux 5.14; else members are killed one by one.
            let _ = std::fs::OpenOptions::new()
                .write(true)
                .open(group.join("cgroup.kill"))
                .and_then(|mut file| std::io::Write::write_all(&mut file, b"1"));
        }
    }
}

/// Kills what `find` finds until it finds nothing, for what is killed may just have started more.
/// Returns all that it killed, and what is still there after five seconds.
fn kill_until_gone(find: impl Fn() -> Vec<ProcessStat>) -> (Vec<ProcessStat>, Vec<ProcessStat>) {
    let deadline = Instant::now() + KILL_TIMEOUT;
    let mut killed: Vec<ProcessStat> = Vec::new();
    loop {
        let found = find();
        if found.is_empty() || Instant::now() >= deadline {
            return (killed, found);
        }
        found.iter().for_each(kill_if_same);
        killed.extend(found);
        thread::sleep(KILL_INTERVAL);
    }
}

/// The members among `all`, and their descendants.
fn with_descendants(
    all: Vec<ProcessStat>,
    is_member: impl Fn(&ProcessStat) -> bool,
) -> Vec<ProcessStat> {
    let (mut members, mut others): (Vec<_>, Vec<_>) = all.into_iter().partition(is_member);
    let mut visited = 0;
    while visited < members.len() {
        let parent = members[visited].pid;
        let (children, rest) = others.into_iter().partition(|stat| stat.parent == parent);
        members.extend::<Vec<_>>(children);
        others = rest;
        visited += 1;
    }
    members
}

fn pids_of_group(group: &Path) -> Vec<i32> {
    let text = std::fs::read_to_string(group.join("cgroup.procs")).unwrap_or_default();
    text.lines().filter_map(|line| line.parse().ok()).collect()
}

fn has_token(pid: i32, token: &str) -> bool {
    token_of(pid).is_some_and(|found| found == token)
}

fn token_of(pid: i32) -> Option<String> {
    let variables = std::fs::read(format!("/proc/{pid}/environ")).ok()?;
    let token = variables
        .split(|byte| *byte == 0)
        .find_map(|variable| variable.strip_prefix(TOKEN_VARIABLE.as_bytes())?.strip_prefix(b"="));
    String::from_utf8(token?.to_vec()).ok()
}

/// The kernel may have given the process id to another process since it was read, so the process is
/// held by a descriptor, recognised by its start time, and only then killed.
fn kill_if_same(member: &ProcessStat) {
    if let Some(pid) = Pid::from_raw(member.pid)
        && let Ok(held) = rustix::process::pidfd_open(pid, PidfdFlags::empty())
        && let Some(now) = ProcessStat::read(member.pid)
        && now.start_time == member.start_time
    {
        let _ = rustix::process::pidfd_send_signal(held, Signal::KILL);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn process(pid: i32, parent: i32) -> ProcessStat {
        let session = 1;
        ProcessStat { pid, parent, session, state: 'S', waited_ticks: 0, threads: 1, start_time: 0 }
    }

    #[test]
    fn a_family_is_whole_in_whatever_order_it_is_listed() {
        let all = vec![
            process(40, 30),
            process(9, 1),
            process(30, 20),
            process(20, 10),
            process(10, 9),
            process(21, 10),
        ];
        let mut found: Vec<i32> =
            with_descendants(all, |stat| stat.pid == 10).iter().map(|stat| stat.pid).collect();
        found.sort_unstable();
        assert_eq!(found, [10, 20, 21, 30, 40]);
    }

    #[test]
    fn a_lab_is_dead_when_its_process_is_gone_or_another_one_has_its_number() {
        let lab = |pid| (pid == 17).then(|| ProcessStat { start_time: 500, ..process(17, 1) });
        assert!(!is_of_dead_lab("4.17.500.0", 4, lab));
        assert!(is_of_dead_lab("4.17.499.0", 4, lab));
        assert!(is_of_dead_lab("4.18.500.0", 4, lab));
        let not_reaped = |pid| lab(pid).map(|stat| ProcessStat { state: 'Z', ..stat });
        assert!(is_of_dead_lab("4.17.500.0", 4, not_reaped));
        assert!(!is_of_dead_lab("5.18.500.0", 4, lab), "of another namespace");
        for other in ["", "17.0", "4.17.x.0"] {
            assert!(!is_of_dead_lab(other, 4, lab), "{other}");
        }
        assert!(!is_of_dead_lab(&new_token(), namespace().unwrap(), ProcessStat::read));
    }

    #[test]
    fn tokens_are_never_given_twice() {
        assert_ne!(new_token(), new_token());
    }
}
