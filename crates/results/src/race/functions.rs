//! Which functions a difference is in, from samples of both servers.
//!
//! A call costs a server CPU time, and a function's share of it is its share of the samples.
//! Samples are counted, so the error of a share is known; as many functions are looked at, only a
//! difference of three standard deviations is reported.

use crate::statistics::Interval;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Half of an interval, in standard deviations: of a hundred functions that do not differ, one in
/// four profiles shows one.
const DEVIATIONS: f64 = 3.0;

/// The samples of a server, by the function that ran.
pub type FunctionSamples = BTreeMap<String, u64>;

/// What a call costs in one function of both servers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FunctionCost {
    /// The function.
    pub name: String,
    /// CPU time a call in it, of the first and of the second server, nanoseconds.
    pub cpu_ns_per_call: [f64; 2],
    /// How much more it is in the second, nanoseconds, within three standard deviations.
    pub difference_ns: Interval,
}

impl FunctionCost {
    /// Whether the servers differ in it.
    pub fn differs(&self) -> bool {
        !self.difference_ns.contains(0.0)
    }

    /// How much more it costs in the second, nanoseconds.
    pub fn difference(&self) -> f64 {
        self.cpu_ns_per_call[1] - self.cpu_ns_per_call[0]
    }
}

/// The functions in which the servers differ, the largest difference first. `cpu_ns_per_call` is
/// that of whole calls.
pub fn differing_functions(
    samples: [&FunctionSamples; 2],
    cpu_ns_per_call: [f64; 2],
) -> Vec<FunctionCost> {
    let all = samples.map(|of_server| of_server.values().sum::<u64>().max(1) as f64);
    let names: BTreeMap<&String, ()> =
        samples.iter().flat_map(|of_server| of_server.keys()).map(|name| (name, ())).collect();
    let cost = |name: &String| {
        let count = samples.map(|of_server| *of_server.get(name).unwrap_or(&0) as f64);
        let a_sample = [0, 1].map(|server| cpu_ns_per_call[server] / all[server]);
        let cost = [0, 1].map(|server| count[server] * a_sample[server]);
        // Counts are Poisson's; of none there might have been one.
        let variance: f64 =
            [0, 1].iter().map(|&server| count[server].max(1.0) * a_sample[server].powi(2)).sum();
        let (difference, half) = (cost[1] - cost[0], DEVIATIONS * variance.sqrt());
        FunctionCost {
            name: name.clone(),
            cpu_ns_per_call: cost,
            difference_ns: Interval { low: difference - half, high: difference + half },
        }
    };
    let mut differing: Vec<FunctionCost> =
        names.into_keys().map(cost).filter(FunctionCost::differs).collect();
    differing.sort_by(|one, other| other.difference().abs().total_cmp(&one.difference().abs()));
    differing
}

#[cfg(test)]
mod tests {
    use super::*;

    fn samples(counts: &[(&str, u64)]) -> FunctionSamples {
        counts.iter().map(|(name, count)| ((*name).to_owned(), *count)).collect()
    }

    #[test]
    fn the_function_that_burns_one_percent_is_named() {
        let old = samples(&[("read", 2_500), ("write", 2_000), ("handler", 500)]);
        let new = samples(&[("read", 2_480), ("write", 1_990), ("handler", 480), ("burn", 50)]);
        let found = differing_functions([&old, &new], [1_000.0, 1_010.0]);
        let names: Vec<&str> = found.iter().map(|function| function.name.as_str()).collect();
        assert_eq!(names, ["burn"]);
        assert!((found[0].cpu_ns_per_call[1] - 10.1).abs() < 1e-9);
    }

    #[test]
    fn equal_servers_differ_in_nothing_however_few_samples_there_are() {
        let few = samples(&[("read", 2), ("write", 1)]);
        assert!(differing_functions([&few, &few], [1.0, 1.0]).is_empty());
        assert!(differing_functions([&few, &samples(&[])], [1.0, 1.0]).is_empty());
    }
}
