//! What the kernel tells of single threads: context switches.

use crate::key_values::value;
use crate::process::tree::ProcessTree;
use std::collections::HashMap;
use std::path::PathBuf;

/// Counts a tree's context switches in a window.
#[derive(Debug)]
pub struct ContextSwitches {
    tree: ProcessTree,
    /// For every thread seen, the count from which it counts, and the last that was seen.
    seen: HashMap<ThreadId, (u64, u64)>,
}

/// Process and thread. The kernel gives a thread's number again only after many others.
type ThreadId = (i32, i32);

impl ContextSwitches {
    /// Begins to count.
    pub fn begin(tree: ProcessTree) -> ContextSwitches {
        let seen = read_switches(&tree)
            .into_iter()
            .map(|(thread, count)| (thread, (count, count)))
            .collect();
        ContextSwitches { seen, tree }
    }

    /// Looks again, so that threads which end before the window does are not lost whole. A thread
    /// that was not there at the beginning counts from its own.
    pub fn sample(&mut self) {
        for (thread, count) in read_switches(&self.tree) {
            self.seen.entry(thread).or_insert((0, count)).1 = count;
        }
    }

    /// What has been switched since the last look does not count.
    pub fn skip(&mut self) {
        for (thread, count) in read_switches(&self.tree) {
            let (first, last) = self.seen.entry(thread).or_insert((count, count));
            *first += count.saturating_sub(*last);
            *last = count;
        }
    }

    /// Threads that were seen so far.
    pub fn threads(&self) -> usize {
        self.seen.len()
    }

    /// Switches in the window, voluntary and not, as it was at the last look.
    pub fn counted(&self) -> u64 {
        self.seen.values().map(|(first, last)| last.saturating_sub(*first)).sum()
    }
}

fn read_switches(tree: &ProcessTree) -> Vec<(ThreadId, u64)> {
    threads(tree)
        .into_iter()
        .filter_map(|(thread, path)| {
            let text = std::fs::read_to_string(path.join("status")).ok()?;
            Some((thread, parse_switches(&text)))
        })
        .collect()
}

fn threads(tree: &ProcessTree) -> Vec<(ThreadId, PathBuf)> {
    let mut threads = Vec::new();
    for process in tree.members() {
        let folder = format!("/proc/{}/task", process.pid);
        let entries = std::fs::read_dir(folder).into_iter().flatten();
        threads.extend(entries.filter_map(Result::ok).filter_map(|entry| {
            let thread = entry.file_name().to_str()?.parse().ok()?;
            Some(((process.pid, thread), entry.path()))
        }));
    }
    threads
}

fn parse_switches(status: &str) -> u64 {
    ["voluntary_ctxt_switches", "nonvoluntary_ctxt_switches"]
        .into_iter()
        .filter_map(|key| value(status, key, ':')?.parse::<u64>().ok())
        .sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_kinds_of_switches_count() {
        let status = "Name:\tx\nvoluntary_ctxt_switches:\t40\nnonvoluntary_ctxt_switches:\t2\n";
        assert_eq!(parse_switches(status), 42);
        assert_eq!(parse_switches("Name:\tvoluntary\n"), 0);
    }

    #[test]
    fn this_process_has_threads_that_switch() {
        let tree = ProcessTree::new(std::process::id(), "none".into(), vec![]);
        let switches = ContextSwitches::begin(tree);
        assert!(switches.threads() > 0);
        assert_eq!(switches.counted(), 0);
    }
}
