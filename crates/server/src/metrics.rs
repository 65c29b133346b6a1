//! What a server counts, while it runs.

use crate::counts::{Counts, SharedCounts};

/// The counts of a server while it runs, as they were a few seconds ago:
/// [`crate::ServerBuilder::metrics`].
///
/// Calls pay nothing for it: each thread publishes its counts every five seconds.
#[derive(Clone, Debug, Default)]
pub struct Metrics {
    pub(crate) counts: SharedCounts,
}

impl Metrics {
    /// Those of no server yet.
    pub fn new() -> Self {
        Metrics::default()
    }

    /// What the server has done so far.
    pub fn counts(&self) -> Counts {
        self.counts.so_far()
    }
}

#[cfg(feature = "prometheus")]
mod prometheus {
    use std::fmt;

    use prometheus_client::collector::Collector;
    use prometheus_client::encoding::{DescriptorEncoder, EncodeMetric, text};
    use prometheus_client::metrics::MetricType;
    use prometheus_client::metrics::counter::ConstCounter;
    use prometheus_client::registry::Registry;

    use super::Metrics;
    use crate::{Counts, HttpPage};

    impl Metrics {
        /// The counts as a page for Prometheus.
        pub fn page(&self) -> HttpPage {
            let mut registry = Registry::default();
            registry.register_collector(Box::new(self.clone()));
            let mut body = String::new();
            match text::encode(&mut body, &registry) {
                Ok(()) => HttpPage {
                    status: 200,
                    content_type: "application/openmetrics-text; version=1.0.0; charset=utf-8",
                    body: body.into_bytes(),
                },
                Err(error) => HttpPage::text(error.to_string()).with_status(500),
            }
        }
    }

    /// For a registry that has other metrics, too.
    impl Collector for Metrics {
        fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> Result<(), fmt::Error> {
            for (name, help, count) in rows(&self.counts()) {
                let counter = ConstCounter::new(count);
                let row = encoder.encode_descriptor(name, help, None, MetricType::Counter)?;
                counter.encode(row)?;
            }
            Ok(())
        }
    }

    type Row = (&'static str, &'static str, u64);

    fn rows(counts: &Counts) -> [Row; 11] {
        [
            ("grpc_calls_ok", "Calls answered with OK", counts.answered_ok),
            ("grpc_calls_failed", "Calls answered with another code", counts.answered_error),
            ("grpc_answers_late", "Answers to calls that were over", counts.late),
            ("grpc_handlers_panicked", "Handlers that panicked", counts.panics),
            ("grpc_calls_cut_off", "Calls that ended with their server", counts.cut_off),
            ("grpc_calls_recalled", "Calls that ended to free their thread", counts.recalled),
            (
                "grpc_connections_broken",
                "Connections closed for what their clients did",
                counts.broken_connections,
            ),
            (
                "grpc_connections_retired",
                "Connections that had reached their age or were idle",
                counts.retired_connections,
            ),
            (
                "grpc_connections_vanished",
                "Connections whose clients did not answer a PING",
                counts.vanished_connections,
            ),
            (
                "grpc_connections_shed",
                "Connections reset for want of memory",
                counts.shed_connections,
            ),
            (
                "grpc_connections_refused",
                "Connections too many from one address",
                counts.refused_connections,
            ),
        ]
    }
}
