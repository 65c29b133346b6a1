//! How long calls had been in flight that were cut off.

use bookend_contract::in_flight::InFlightAtEnd;
use serde::{Deserialize, Serialize};

/// The ages of the calls in flight at one moment, nanoseconds.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct InFlightAges(Vec<u64>);

impl InFlightAges {
    /// The ages at `now_ns` of calls that began at these times: when they were due in an open loop,
    /// and else when they were made. 0 is a call about to be made.
    pub fn at(now_ns: u64, begins_ns: impl Iterator<Item = u64>) -> Self {
        let age_ns = |begin_ns| if begin_ns == 0 { 0 } else { now_ns.saturating_sub(begin_ns) };
        Self(begins_ns.map(age_ns).collect())
    }

    /// Adds those of another worker.
    pub fn merge(&mut self, mut other: Self) {
        self.0.append(&mut other.0);
    }

    /// The number of calls.
    pub fn calls(&self) -> u64 {
        self.0.len() as u64
    }

    /// Calls that had been in flight for longer than that.
    pub fn longer_than(&self, age_ns: u64) -> u64 {
        self.0.iter().filter(|age| **age > age_ns).count() as u64
    }
}

impl From<&InFlightAges> for InFlightAtEnd {
    fn from(InFlightAges(ages): &InFlightAges) -> Self {
        let sum_ns: u128 = ages.iter().map(|age_ns| u128::from(*age_ns)).sum();
        let mean_ns = sum_ns.checked_div(ages.len() as u128).unwrap_or(0);
        Self {
            calls: ages.len() as u64,
            age_mean_ns: u64::try_from(mean_ns).unwrap_or(u64::MAX),
            age_max_ns: ages.iter().copied().max().unwrap_or(0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ages_of_workers_add_up() {
        let mut ages = InFlightAges::at(100, [40, 0, 130, 70].into_iter());
        ages.merge(InFlightAges::at(1000, [10].into_iter()));
        ages.merge(InFlightAges::at(1000, std::iter::empty()));
        let expected = InFlightAtEnd { calls: 5, age_mean_ns: 216, age_max_ns: 990 };
        assert_eq!(InFlightAtEnd::from(&ages), expected);
        assert_eq!((ages.longer_than(60), ages.longer_than(59)), (1, 2));
        let none = InFlightAtEnd::from(&InFlightAges::default());
        assert_eq!(none, InFlightAtEnd::default());
    }
}
