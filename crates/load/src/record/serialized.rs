//! How what was recorded goes from one process to another as JSON: histograms in HdrHistogram's own
//! encoding, sums that JSON's numbers have no room for as text.

use super::latencies::{LATENCY_DIGITS, LATENCY_MAX_NS};
use bookend_contract::latency::{decode, encode};
use bookend_io::IoStatistics;
use bookend_wire::grpc::Code;
use hdrhistogram::Histogram;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::collections::BTreeMap;

/// A histogram of latencies.
pub(super) mod histogram {
    use super::*;

    pub fn serialize<S: Serializer>(
        histogram: &Histogram<u64>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        encode(histogram).serialize(serializer)
    }

    /// Only histograms of the same bounds can be added.
    pub fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Histogram<u64>, D::Error> {
        let histogram = decode(&String::deserialize(deserializer)?).map_err(D::Error::custom)?;
        let is_ours = histogram.sigfig() == LATENCY_DIGITS && histogram.high() == LATENCY_MAX_NS;
        is_ours.then_some(histogram).ok_or_else(|| D::Error::custom("a histogram of other bounds"))
    }
}

/// A sum of many latencies.
pub(super) mod sum {
    use super::*;

    pub fn serialize<S: Serializer>(sum: &u128, serializer: S) -> Result<S::Ok, S::Error> {
        sum.to_string().serialize(serializer)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u128, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(D::Error::custom)
    }
}

/// Counts of calls by gRPC code: by the code's number.
pub(super) mod by_code {
    use super::*;

    pub fn serialize<S: Serializer>(
        calls: &BTreeMap<Code, u64>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        let by_number = calls.iter().map(|(code, count)| (*code as u8, *count));
        by_number.collect::<BTreeMap<u8, u64>>().serialize(serializer)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<BTreeMap<Code, u64>, D::Error> {
        let by_number = BTreeMap::<u8, u64>::deserialize(deserializer)?;
        let known = |(number, count): (u8, u64)| Some((code(number)?, count));
        by_number
            .into_iter()
            .map(|calls| known(calls).ok_or_else(|| D::Error::custom("no such gRPC code")))
            .collect()
    }
}

/// The code of that number.
pub(super) fn code(number: u8) -> Option<Code> {
    Code::ALL.get(usize::from(number)).copied()
}

/// The shape of [`IoStatistics`], which knows nothing of JSON.
#[derive(Serialize, Deserialize)]
#[serde(remote = "IoStatistics")]
pub(crate) struct IoStatisticsShape {
    turns: u64,
    reads: u64,
    writes: u64,
    received_bytes: u64,
    sent_bytes: u64,
    busy_ns: u64,
    accepted: u64,
    accept_errors: u64,
}
