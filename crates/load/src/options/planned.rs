//! From options to the plan that workers follow, once the method, the messages and the server's
//! address are known.

use super::{Io, Options, OptionsError};
use crate::payload::Payload;
use crate::plan::{Connecting, LoadPlan};
use crate::schema::Method;
use crate::targets::Targets;
use bookend_io::Driver;
use bookend_wire::keepalive::CLIENT_TIME_MIN_NS;
use bookend_wire::{ConnectionConfig, Keepalive};
use std::time::Duration;

impl Options {
    /// The plan. `cpus` is how many processors this process may use.
    ///
    /// # Errors
    /// [`OptionsError`] when there are fewer threads than the driver needs.
    pub fn to_plan(
        &self,
        method: &Method,
        payload: Payload,
        targets: impl Into<Targets>,
        cpus: u32,
    ) -> Result<LoadPlan, OptionsError> {
        let (driver, threads) = self.choose_driver(cpus)?;
        Ok(LoadPlan {
            tls: self.connectors()?,
            targets: targets.into(),
            path: method.path.clone(),
            authority: self.authority(),
            messages: payload.into_messages(),
            metadata: self.metadata.constant.clone(),
            varying_metadata: self.metadata.varying.clone(),
            connecting: self.connecting,
            connections: self.connections.get(),
            concurrency: self.concurrency.get(),
            threads,
            driver,
            wait: self.wait,
            warmup_ns: nanoseconds(self.warmup),
            window_ns: self.until.elapsed().map(nanoseconds),
            calls: self.until.calls(),
            timeout_ns: self.timeout.map(nanoseconds),
            connect_timeout_ns: self.connect_timeout.map_or(u64::MAX, nanoseconds),
            keepalive: self.keepalive.map(keepalive),
            duration_stop: self.duration_stop,
            count_errors: self.count_errors,
            config: ConnectionConfig {
                first_stream_id: self.first_stream_id,
                ..ConnectionConfig::trusted()
            },
        })
    }

    /// A thread of its own for each connection is cheapest, as long as there are processors for
    /// the threads.
    fn choose_driver(&self, cpus: u32) -> Result<(Driver, u32), OptionsError> {
        let connections = self.connections.get();
        let most = self.threads.map_or(cpus.max(1), |threads| threads.get());
        let is_per_call = self.connecting == Connecting::PerCall;
        match self.io {
            Io::Auto if is_per_call => Ok((Driver::Epoll, connections.min(most))),
            Io::Auto if connections <= most => Ok((Driver::Blocking, connections)),
            Io::Auto | Io::Epoll => Ok((Driver::Epoll, connections.min(most))),
            Io::Uring => Ok((Driver::Uring, connections.min(most))),
            Io::Blocking => match self.threads {
                Some(threads) if threads.get() < connections => Err(OptionsError::ThreadsMissing {
                    threads: threads.get(),
                    connections,
                }),
                _ => Ok((Driver::Blocking, connections)),
            },
        }
    }
}

/// As in ghz, which waits for the answer as long as it lets the server be silent. grpc-go raises a
/// silence of less than 10 s to that, and leaves the time for the answer alone.
fn keepalive(time: Duration) -> Keepalive {
    let typed_ns = nanoseconds(time);
    Keepalive {
        time_ns: typed_ns.max(CLIENT_TIME_MIN_NS),
        timeout_ns: typed_ns,
    }
}

fn nanoseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}
