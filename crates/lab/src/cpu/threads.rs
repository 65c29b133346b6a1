//! What the kernel tells of single threads: context switches, and the CPU time of each.

use crate::key_values::value;
use crate::process::tree::ProcessTree;
use std::collections::HashMap;
use std::path::{Path, PathBuf};

/// Most threads of which CPU time is read: with more of them, as in a server with a thread a call,
/// it would take time that both ends need. Servers with a fixed number of workers have fewer.
const WORKERS_MAX: usize = 256;

/// Counts context switches and CPU time of a tree's threads in a window.
#[derive(Debug)]
pub struct ThreadMeter {
    tree: ProcessTree,
    seen: HashMap<ThreadId, ThreadCounters>,
}

/// Process and thread. The kernel gives a thread's number again only after many others.
type ThreadId = (i32, i32);

/// What one thread did in the window.
#[derive(Clone, Debug, Default)]
struct ThreadCounters {
    /// Its name without the number at its end.
    kind: String,
    switches: Counter,
    cpu_ns: Counter,
}

/// The count from which it counts, and the last that was seen.
#[derive(Clone, Copy, Debug, Default)]
struct Counter {
    first: u64,
    last: u64,
}

impl Counter {
    /// What has been counted since the last look does not count.
    fn skip_to(&mut self, count: u64) {
        self.first += count.saturating_sub(self.last);
        self.last = count;
    }

    fn counted(self) -> u64 {
        self.last.saturating_sub(self.first)
    }
}

impl ThreadMeter {
    /// Begins to count.
    pub fn begin(tree: ProcessTree) -> ThreadMeter {
        let mut meter = ThreadMeter { tree, seen: HashMap::new() };
        meter.skip();
        meter
    }

    /// Looks at the context switches again, so that threads which end before the window does are
    /// not lost whole. A thread that was not there at the beginning counts from its own.
    pub fn sample(&mut self) {
        for (thread, folder) in threads(&self.tree) {
            self.look(thread, &folder);
        }
    }

    /// Looks at CPU times as well: at the end of the window, and where it pauses.
    pub fn sample_all(&mut self) {
        let threads = threads(&self.tree);
        let are_few = threads.len() <= WORKERS_MAX;
        for (thread, folder) in threads {
            let counters = self.look(thread, &folder);
            if let Some((counters, cpu_ns)) = counters.zip(read_cpu_ns(&folder, are_few)) {
                counters.cpu_ns.last = cpu_ns;
            }
        }
    }

    /// What has been counted since the last look does not count.
    pub fn skip(&mut self) {
        let threads = threads(&self.tree);
        let are_few = threads.len() <= WORKERS_MAX;
        for (thread, folder) in threads {
            let Some((kind, switches)) = read_status(&folder) else {
                continue;
            };
            let counters = self.seen.entry(thread).or_default();
            counters.kind = kind;
            counters.switches.skip_to(switches);
            if let Some(cpu_ns) = read_cpu_ns(&folder, are_few) {
                counters.cpu_ns.skip_to(cpu_ns);
            }
        }
    }

    /// Threads that were seen so far.
    pub fn threads(&self) -> usize {
        self.seen.len()
    }

    /// Switches in the window, voluntary and not, as it was at the last look.
    pub fn switches(&self) -> u64 {
        self.seen.values().map(|thread| thread.switches.counted()).sum()
    }

    /// CPU time of the busiest thread over the mean of the threads that are named like it, numbers
    /// aside: 1 where they are loaded alike. `None` where no CPU time was seen.
    pub fn imbalance(&self) -> Option<f64> {
        let busiest = self.seen.values().max_by_key(|thread| thread.cpu_ns.counted())?;
        let alike = self.seen.values().filter(|thread| thread.kind == busiest.kind);
        let (sum_ns, count) = alike
            .fold((0, 0), |(sum_ns, count), thread| (sum_ns + thread.cpu_ns.counted(), count + 1));
        let mean_ns = sum_ns as f64 / f64::from(count);
        (sum_ns > 0).then(|| busiest.cpu_ns.counted() as f64 / mean_ns)
    }

    fn look(&mut self, thread: ThreadId, folder: &Path) -> Option<&mut ThreadCounters> {
        let (kind, switches) = read_status(folder)?;
        let counters = self.seen.entry(thread).or_default();
        counters.kind = kind;
        counters.switches.last = switches;
        Some(counters)
    }
}

/// The kind of a thread, and its context switches. `None`: it has ended.
fn read_status(folder: &Path) -> Option<(String, u64)> {
    let text = std::fs::read_to_string(folder.join("status")).ok()?;
    Some((kind(value(&text, "Name", ':').unwrap_or_default()).to_owned(), parse_switches(&text)))
}

/// `None`: it has ended, the kernel does not tell, or there are too many.
fn read_cpu_ns(folder: &Path, are_few: bool) -> Option<u64> {
    let text = are_few.then(|| std::fs::read_to_string(folder.join("schedstat")).ok())??;
    text.split_ascii_whitespace().next()?.parse().ok()
}

/// Threads of a pool are named alike, with a number behind: `epoll-0`, `tokio-rt-worker`.
fn kind(name: &str) -> &str {
    name.trim_end_matches(|letter: char| letter.is_ascii_digit())
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

    fn this_process() -> ThreadMeter {
        ThreadMeter::begin(ProcessTree::new(std::process::id(), "none".into(), vec![]))
    }

    #[test]
    fn both_kinds_of_switches_count() {
        let status = "Name:\tx\nvoluntary_ctxt_switches:\t40\nnonvoluntary_ctxt_switches:\t2\n";
        assert_eq!(parse_switches(status), 42);
        assert_eq!(parse_switches("Name:\tvoluntary\n"), 0);
    }

    #[test]
    fn this_process_has_threads_that_switch() {
        let meter = this_process();
        assert!(meter.threads() > 0);
        assert_eq!((meter.switches(), meter.imbalance()), (0, None));
    }

    #[test]
    fn the_busiest_thread_is_held_against_those_of_its_name() {
        let thread = |name: &str, cpu_ns: u64| ThreadCounters {
            kind: kind(name).to_owned(),
            cpu_ns: Counter { first: 5, last: 5 + cpu_ns },
            ..ThreadCounters::default()
        };
        let mut meter = this_process();
        meter.seen.clear();
        let pool =
            [("epoll-0", 60), ("epoll-1", 30), ("epoll-12", 30), ("epoll-3", 0), ("main", 7)];
        let all = (0..).zip(pool).map(|(id, (name, cpu_ns))| ((1, id), thread(name, cpu_ns)));
        meter.seen.extend(all);
        assert_eq!(meter.imbalance(), Some(2.0));
    }

    #[test]
    fn a_pause_counts_for_no_thread() {
        let mut counter = Counter { first: 10, last: 30 };
        counter.skip_to(100);
        counter.last = 105;
        assert_eq!(counter.counted(), 25);
    }

    #[test]
    fn a_thread_that_works_has_cpu_time() {
        let mut meter = this_process();
        let began = std::time::Instant::now();
        while began.elapsed() < std::time::Duration::from_millis(50) {}
        meter.sample_all();
        assert!(meter.imbalance().is_some_and(|imbalance| imbalance >= 1.0));
    }
}
