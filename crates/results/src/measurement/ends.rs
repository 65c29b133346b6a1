//! What each end of a window used: the server, its caller, and the backend behind the server.

use crate::suite::TestedEnd;
use serde::{Deserialize, Serialize};

/// The ends of a window.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(from = "StoredEnds", into = "StoredEnds")]
pub struct Ends {
    /// The end that was measured.
    pub side: TestedEnd,
    /// The server.
    pub server: EndUsage,
    /// The calling end: an instrument, or a client under test.
    pub caller: EndUsage,
    /// The process behind the server. `None`: the server has no backend.
    pub backend: Option<EndUsage>,
}

/// Resources that the process tree of one end used over a window, as far as they are known. Where
/// a row is stored, `opposite` and `backend` have the fields that are not skipped here.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct EndUsage {
    /// CPU time, seconds.
    pub cpu_seconds: f64,
    /// CPU time as it was sampled, seconds. Older records have in [`EndUsage::cpu_seconds`] what
    /// the instrument itself said, with threads that ended before they could be sampled.
    #[serde(skip)]
    pub cpu_sampled_seconds: Option<f64>,
    /// Mean share of one CPU, sampled every 100 ms of the window (1.0 = one CPU).
    #[serde(skip)]
    pub cpu_mean: Option<f64>,
    /// Largest share of one CPU in 100 ms.
    #[serde(skip)]
    pub cpu_max: Option<f64>,
    /// CPUs that it may use. `None`: it is not limited beyond the CPUs that it is pinned to.
    #[serde(skip)]
    pub cpu_limit: Option<f64>,
    /// Number of CPUs that it was pinned to. `None`: it was not pinned, or nobody noted it.
    #[serde(skip)]
    pub cpus: Option<u32>,
    /// Mean memory, bytes.
    pub memory_mean_bytes: Option<u64>,
    /// Peak memory, bytes.
    pub memory_peak_bytes: Option<u64>,
    /// Where the memory figures come from: `cgroup` or `rss`.
    #[serde(skip)]
    pub memory_source: Option<String>,
    /// Largest number of threads.
    pub threads: Option<u32>,
    /// Context switches, voluntary or not. They are counted for the end under test alone.
    #[serde(skip)]
    pub context_switches: Option<u64>,
    /// CPU time of the busiest thread over the mean of the threads that are named like it, numbers
    /// aside. `None`: nobody noted it. Known of the end under test alone.
    #[serde(skip)]
    pub thread_imbalance: Option<f64>,
}

impl Ends {
    /// The end under test.
    pub fn tested(&self) -> &EndUsage {
        match self.side {
            TestedEnd::Server => &self.server,
            TestedEnd::Client => &self.caller,
        }
    }

    /// As above, mutable.
    pub fn tested_mut(&mut self) -> &mut EndUsage {
        match self.side {
            TestedEnd::Server => &mut self.server,
            TestedEnd::Client => &mut self.caller,
        }
    }

    /// The end that is not under test.
    pub fn opposite(&self) -> &EndUsage {
        match self.side {
            TestedEnd::Server => &self.caller,
            TestedEnd::Client => &self.server,
        }
    }
}

/// The ends in the flat form in which rows are stored: the CPU time of both under their names,
/// memory and threads of the end under test next to it, and those of the other under `opposite`.
#[derive(Serialize, Deserialize)]
struct StoredEnds {
    #[serde(default)]
    side: TestedEnd,
    server_cpu_seconds: f64,
    server_cpu_mean: Option<f64>,
    server_cpu_max: Option<f64>,
    server_cpu_limit: Option<f64>,
    generator_cpu_seconds: f64,
    client_cpu_mean: Option<f64>,
    client_cpu_max: Option<f64>,
    client_cpu_limit: Option<f64>,
    generator_cpus: Option<u32>,
    memory_mean_bytes: Option<u64>,
    memory_peak_bytes: Option<u64>,
    memory_source: Option<String>,
    threads: Option<u32>,
    context_switches: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    thread_imbalance: Option<f64>,
    opposite: Option<EndUsage>,
    backend: Option<EndUsage>,
}

impl From<StoredEnds> for Ends {
    fn from(stored: StoredEnds) -> Self {
        let tested = EndUsage {
            memory_mean_bytes: stored.memory_mean_bytes,
            memory_peak_bytes: stored.memory_peak_bytes,
            memory_source: stored.memory_source,
            threads: stored.threads,
            context_switches: stored.context_switches,
            thread_imbalance: stored.thread_imbalance,
            ..EndUsage::default()
        };
        let sampled =
            |end: EndUsage| EndUsage { cpu_sampled_seconds: Some(end.cpu_seconds), ..end };
        let opposite = stored.opposite.map(sampled).unwrap_or_default();
        let (server, caller) = match stored.side {
            TestedEnd::Server => (tested, opposite),
            TestedEnd::Client => (opposite, tested),
        };
        Self {
            side: stored.side,
            server: EndUsage {
                cpu_seconds: stored.server_cpu_seconds,
                cpu_mean: stored.server_cpu_mean,
                cpu_max: stored.server_cpu_max,
                cpu_limit: stored.server_cpu_limit,
                ..server
            },
            caller: EndUsage {
                cpu_seconds: stored.generator_cpu_seconds,
                cpu_mean: stored.client_cpu_mean,
                cpu_max: stored.client_cpu_max,
                cpu_limit: stored.client_cpu_limit,
                cpus: stored.generator_cpus,
                ..caller
            },
            backend: stored.backend,
        }
    }
}

impl From<Ends> for StoredEnds {
    fn from(ends: Ends) -> Self {
        let (tested, opposite) = (ends.tested().clone(), ends.opposite().clone());
        Self {
            side: ends.side,
            server_cpu_seconds: ends.server.cpu_seconds,
            server_cpu_mean: ends.server.cpu_mean,
            server_cpu_max: ends.server.cpu_max,
            server_cpu_limit: ends.server.cpu_limit,
            generator_cpu_seconds: ends.caller.cpu_seconds,
            client_cpu_mean: ends.caller.cpu_mean,
            client_cpu_max: ends.caller.cpu_max,
            client_cpu_limit: ends.caller.cpu_limit,
            generator_cpus: ends.caller.cpus,
            memory_mean_bytes: tested.memory_mean_bytes,
            memory_peak_bytes: tested.memory_peak_bytes,
            memory_source: tested.memory_source,
            threads: tested.threads,
            context_switches: tested.context_switches,
            thread_imbalance: tested.thread_imbalance,
            opposite: opposite
                .cpu_sampled_seconds
                .map(|cpu_seconds| EndUsage { cpu_seconds, ..opposite }),
            backend: ends.backend,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn how_unevenly_threads_are_loaded_is_kept_where_it_is_known() {
        let stored = |thread_imbalance| {
            let server = EndUsage { thread_imbalance, ..EndUsage::default() };
            serde_json::to_string(&Ends { server, ..Ends::default() }).expect("JSON")
        };
        let (known, unknown) = (stored(Some(1.5)), stored(None));
        let read: Ends = serde_json::from_str(&known).expect("readable");
        assert_eq!(read.tested().thread_imbalance, Some(1.5));
        assert!(!unknown.contains("thread_imbalance"), "{unknown}");
        assert!(serde_json::from_str::<Ends>(&unknown).is_ok());
    }
}
