//! How long the calls had been in flight that the end of the window cut off.

use bookend_contract::in_flight::InFlightAtEnd;

/// Calls in flight at one moment, with the time since each was made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct InFlightAges {
    calls: u64,
    sum_ns: u128,
    max_ns: u64,
}

impl InFlightAges {
    /// The ages at `now_ns` of calls that were made at these times; 0 is a call about to be made.
    pub fn at(now_ns: u64, starts_ns: impl Iterator<Item = u64>) -> Self {
        let mut ages = Self::default();
        for start_ns in starts_ns {
            let age_ns = if start_ns == 0 { 0 } else { now_ns.saturating_sub(start_ns) };
            ages.calls += 1;
            ages.sum_ns += u128::from(age_ns);
            ages.max_ns = ages.max_ns.max(age_ns);
        }
        ages
    }

    /// Adds those of another worker.
    pub fn merge(&mut self, other: Self) {
        self.calls += other.calls;
        self.sum_ns += other.sum_ns;
        self.max_ns = self.max_ns.max(other.max_ns);
    }
}

impl From<InFlightAges> for InFlightAtEnd {
    fn from(ages: InFlightAges) -> Self {
        let mean_ns = ages.sum_ns.checked_div(u128::from(ages.calls)).unwrap_or(0);
        Self {
            calls: ages.calls,
            age_mean_ns: u64::try_from(mean_ns).unwrap_or(u64::MAX),
            age_max_ns: ages.max_ns,
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
        assert_eq!(InFlightAtEnd::from(ages), expected);
        let none = InFlightAtEnd::from(InFlightAges::default());
        assert_eq!(none, InFlightAtEnd::default());
    }
}
