//! What the workers of a run do: the calls, the phases, the limits.

mod call;
mod from_flags;
pub mod pacing;
mod part;
mod reported;
mod streaming;
mod thrift_flags;

pub use call::{Call, GrpcCall, ThriftRun};
pub use reported::ReportedPlan;
pub use streaming::Streaming;

use crate::pace::Part;
use bookend_client::targets::Targets;
use bookend_io::tls::{Connectors, TlsAdvice};
use bookend_io::{Driver, UringRefusal, Wait};
use bookend_wire::HeaderBlock;
use bookend_wire::grpc::{request, timeout};
use clap::ValueEnum;
use pacing::{ConcurrencyStep, Loop};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;

/// Which calls a run makes, and for how long. Shared by all workers, never changed.
#[derive(Clone, Debug)]
pub struct LoadPlan {
    /// Where the connections go.
    pub targets: Targets,
    /// What is called.
    pub call: Call,
    /// TLS of all connections, by the names of the targets; `None` is plain text.
    pub tls: Option<Connectors>,
    /// What the command calls its flags for TLS.
    pub tls_advice: &'static TlsAdvice,
    /// When connections are made.
    pub connecting: Connecting,
    /// Connections over all workers; with [`Connecting::PerCall`] as many as calls in flight.
    pub connections: u32,
    /// Calls in flight over all connections, at least one for each; in an open loop, at most.
    pub concurrency: u32,
    /// How the calls in flight change, in an open loop those that there may be at most; empty where
    /// they do not.
    pub concurrency_steps: Vec<ConcurrencyStep>,
    /// Whether calls are made as others end, or by a schedule.
    pub pacing: Loop,
    /// Worker threads, at most one for each connection.
    pub threads: u32,
    /// The driver.
    pub driver: Driver,
    /// How the driver waits.
    pub wait: Wait,
    /// Time before the window (the part of the run that is measured), nanoseconds.
    pub warmup_ns: u64,
    /// Length of the window, nanoseconds; `None` where its end is a number of calls.
    pub window_ns: Option<u64>,
    /// Number of calls of the window; `None` is as many as there is time for.
    pub calls: Option<u64>,
    /// The deadline of a call, nanoseconds.
    pub timeout_ns: Option<u64>,
    /// How long a connection may take to be made, and then the server to send its SETTINGS,
    /// nanoseconds.
    pub connect_timeout_ns: u64,
    /// What happens to calls in flight at the end of the window.
    pub duration_stop: DurationStop,
    /// Whether failed calls count in the latencies.
    pub count_errors: bool,
    /// The number of calls at the beginning of the window that are not counted, in the order of
    /// their ends.
    pub calls_skipped: u64,
    /// Calls that the report lists one by one: the first ones of the window.
    pub calls_listed: u64,
    /// How the report describes the run.
    pub labels: ReportLabels,
    /// Which of the generators of the run this plan is for. Connections, calls in flight and calls
    /// are those of this generator; the schedule of an open loop is that of all.
    pub part: Part,
    /// Number of this generator's first connection among those of the run.
    pub first_connection: u32,
}

/// How a report describes its run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ReportLabels {
    /// `--name`
    pub name: Option<String>,
    /// `--tags`
    pub tags: BTreeMap<String, String>,
    /// The targets, in the order of the command line.
    pub targets: Vec<String>,
    /// The flags, under ghz's names.
    pub options: Value,
}

/// When connections are made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Connecting {
    /// Before the run, which begins once the SETTINGS have come on each connection, or it failed.
    #[default]
    BeforeRun,
    /// During the run, which begins at once: calls are made on each connection once it is there.
    InRun,
    /// One for each call, made and ended within the call's latency.
    PerCall,
}

/// What happens to the calls in flight when the time is up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum DurationStop {
    /// The connections are closed, and these calls count as `UNAVAILABLE`: ghz's default, which
    /// makes every run by time end with errors that no server made.
    Close,
    /// The run waits for them and counts them.
    Wait,
    /// They have [`crate::DRAIN_NS`] to end, and are not counted.
    #[default]
    Ignore,
}

impl LoadPlan {
    /// Falls back to epoll where io_uring was chosen and this machine refuses it; returns the
    /// reason.
    pub fn fall_back(&mut self) -> Option<UringRefusal> {
        if self.driver != Driver::Uring {
            return None;
        }
        let refusal = UringRefusal::ask()?;
        self.driver = Driver::Epoll;
        Some(refusal)
    }

    /// The head of every request of `call` to the target of that number, without the varying field.
    pub(crate) fn head(&self, call: &GrpcCall, name: usize) -> HeaderBlock {
        let authority = self.targets.authority(name).unwrap_or(&call.authority);
        let scheme = if self.tls.is_some() { "https" } else { "http" };
        let mut head = HeaderBlock::new(&request::head(scheme, &call.path, authority));
        if let Some(timeout_ns) = self.timeout_ns {
            let mut value = Vec::new();
            timeout::write(timeout_ns, &mut value);
            head.push(b"grpc-timeout", &value);
        }
        if call.is_compressed {
            head.push(b"grpc-encoding", b"gzip");
            head.push(b"grpc-accept-encoding", b"gzip");
        }
        for (name, value) in &call.metadata {
            head.push(name, value);
        }
        head
    }

    /// The calls in flight on each connection of worker `worker` where there are `concurrency` on
    /// all connections of all workers.
    pub(crate) fn streams(&self, worker: u32, concurrency: u32) -> Vec<u32> {
        let first = part_before(self.connections, self.threads, worker);
        let behind = part_before(self.connections, self.threads, worker + 1);
        let before = |connection| part_before(concurrency, self.connections, connection);
        (first..behind).map(|connection| before(connection + 1) - before(connection)).collect()
    }

    /// Of the first calls of the window, which are not counted, those of worker `worker`.
    pub(crate) fn calls_skipped_by(&self, worker: u32) -> u64 {
        let threads = u64::from(self.threads);
        let worker = u64::from(worker);
        let before = |worker: u64| {
            self.calls_skipped / threads * worker
                + (self.calls_skipped % threads) * worker / threads
        };
        before(worker + 1) - before(worker)
    }

    /// The share of worker `worker` in connections, calls in flight and calls in all.
    pub(crate) fn share(&self, worker: u32) -> Share {
        let first = part_before(self.connections, self.threads, worker);
        let behind = part_before(self.connections, self.threads, worker + 1);
        let streams_before =
            |connection| part_before(self.concurrency, self.connections, connection);
        let streams = self.streams(worker, self.concurrency);
        let in_flight = streams_before(behind) - streams_before(first);
        // Calls follow the streams, so that all workers end at about the same time.
        let calls_before = |streams: u32| {
            self.calls.map(|calls| {
                (u128::from(calls) * u128::from(streams) / u128::from(self.concurrency)) as u64
            })
        };
        let calls = calls_before(streams_before(behind))
            .zip(calls_before(streams_before(first)))
            .map(|(behind, before)| behind - before);
        let first_connection = self.first_connection + first;
        Share { first_connection, streams, in_flight, calls }
    }
}

/// What falls to one worker.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Share {
    pub first_connection: u32,
    /// Calls in flight on each of its connections.
    pub streams: Vec<u32>,
    pub in_flight: u32,
    pub calls: Option<u64>,
}

/// How many of `total` fall to the parts before `part` when they are spread evenly over `parts`.
fn part_before(total: u32, parts: u32, part: u32) -> u32 {
    (u64::from(total) * u64::from(part) / u64::from(parts)) as u32
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use bookend_wire::ConnectionConfig;
    use std::sync::Arc;

    /// The call of which the calls of other tests are variants.
    pub(crate) fn grpc_call() -> GrpcCall {
        GrpcCall {
            path: "/a/b".into(),
            authority: "a".into(),
            messages: vec![Vec::new()],
            template: None,
            is_compressed: false,
            streaming: None,
            response_max_bytes: u32::MAX,
            metadata: Vec::new(),
            varying_metadata: None,
            metadata_templates: Vec::new(),
            run_name: String::new(),
            keepalive: None,
            config: ConnectionConfig::trusted(),
        }
    }

    /// The same plan with another call.
    pub(crate) fn calling(plan: LoadPlan, change: impl FnOnce(&mut GrpcCall)) -> LoadPlan {
        let mut call = plan.call.grpc().expect("these plans are of gRPC").clone();
        change(&mut call);
        LoadPlan { call: Call::Grpc(Arc::new(call)), ..plan }
    }

    /// The plan of which the plans of other tests are variants: no warm-up, no deadlines.
    pub(crate) fn plan(
        connections: u32,
        concurrency: u32,
        threads: u32,
        calls: Option<u64>,
    ) -> LoadPlan {
        LoadPlan {
            targets: std::net::SocketAddr::from(([127, 0, 0, 1], 1)).into(),
            call: Call::Grpc(Arc::new(grpc_call())),
            tls: None,
            tls_advice: &TlsAdvice::CLIENT,
            connecting: Connecting::BeforeRun,
            connections,
            concurrency,
            concurrency_steps: Vec::new(),
            pacing: Loop::Closed,
            threads,
            driver: Driver::Epoll,
            wait: Wait::Sleep,
            warmup_ns: 0,
            window_ns: None,
            calls,
            timeout_ns: None,
            connect_timeout_ns: 1,
            duration_stop: DurationStop::Ignore,
            count_errors: false,
            calls_skipped: 0,
            calls_listed: 0,
            labels: ReportLabels::default(),
            part: Part::default(),
            first_connection: 0,
        }
    }

    #[test]
    fn shares_add_up_to_the_whole() {
        for (connections, concurrency, threads, calls) in
            [(1, 1, 1, 7), (7, 100, 3, 1_000), (10, 10, 10, 3), (100, 100_001, 8, 1 << 40)]
        {
            let plan = plan(connections, concurrency, threads, Some(calls));
            let shares: Vec<_> = (0..threads).map(|worker| plan.share(worker)).collect();
            let streams: Vec<u32> = shares.iter().flat_map(|share| share.streams.clone()).collect();
            assert_eq!(streams.len() as u32, connections);
            assert_eq!(streams.iter().sum::<u32>(), concurrency);
            assert!(streams.iter().all(|&streams| streams >= 1));
            assert_eq!(shares.iter().filter_map(|share| share.calls).sum::<u64>(), calls);
            assert_eq!(shares.iter().map(|share| share.in_flight).sum::<u32>(), concurrency);
            let skipping = LoadPlan { calls_skipped: 17, ..plan };
            let skipped = (0..threads).map(|worker| skipping.calls_skipped_by(worker));
            assert_eq!(skipped.sum::<u64>(), 17);
        }
    }
}
