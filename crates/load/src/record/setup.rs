//! The parts of a call that has a connection of its own.

use super::latencies::Latencies;
use serde::{Deserialize, Serialize};

/// The parts of such calls, each a histogram of its own. Their total is the latency.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct SetupLatencies {
    /// From just before the connection is requested until the transport is established.
    pub connect: Latencies,
    /// From there until both ends have agreed on keys and on HTTP/2. Empty without TLS.
    pub tls: Latencies,
    /// From just before the write that carries the request's last byte to the return of the read
    /// that brings the head of the response.
    pub first_byte: Latencies,
}

/// The parts of one call, nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct SetupTimes {
    pub connect_ns: u64,
    /// 0 without TLS.
    pub tls_ns: u64,
    pub first_byte_ns: u64,
}

impl SetupLatencies {
    pub(crate) fn record(&mut self, times: SetupTimes) {
        self.connect.record(times.connect_ns);
        if times.tls_ns > 0 {
            self.tls.record(times.tls_ns);
        }
        self.first_byte.record(times.first_byte_ns);
    }

    /// Adds what another worker measured.
    pub fn merge(&mut self, other: &Self) {
        self.connect.merge(&other.connect);
        self.tls.merge(&other.tls);
        self.first_byte.merge(&other.first_byte);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_add_up_over_workers_and_tls_is_there_only_where_it_was() {
        let times = |connect_ns, tls_ns| SetupTimes { connect_ns, tls_ns, first_byte_ns: 7 };
        let mut setup = SetupLatencies::default();
        setup.record(times(10, 0));
        let mut other = SetupLatencies::default();
        other.record(times(30, 500));
        setup.merge(&other);
        assert_eq!((setup.connect.sum_ns, setup.connect.histogram.len()), (40, 2));
        assert_eq!((setup.tls.sum_ns, setup.tls.histogram.len()), (500, 1));
        assert_eq!((setup.first_byte.min_ns, setup.first_byte.max_ns), (7, 7));
    }
}
