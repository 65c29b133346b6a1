//! Counts of calls, as far as they are plausible.
//!
//! Counts come from other programs and are added up, so one that is beyond all reason would wrap a
//! sum and look like a small one.

use serde::de::Error as _;
use serde::{Deserialize, Deserializer};
use std::collections::BTreeMap;

/// The largest plausible count: a hundred million calls a second for almost three years. Up
/// to it every count is exact in JSON (RFC 8259, section 6) and in a floating-point number, and the
/// sum of two thousand of them, more than a round has, fits into 64 bits.
pub const COUNT_MAX: u64 = 1 << 53;

/// A count above [`COUNT_MAX`]. It is the fault of the process that printed it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no program makes more than 2^53 ({COUNT_MAX}) calls: it counts wrongly")]
pub struct TooMany;

/// The count, if it is plausible.
///
/// # Errors
/// It is above [`COUNT_MAX`].
pub fn checked(count: u64) -> Result<u64, TooMany> {
    if count > COUNT_MAX {
        return Err(TooMany);
    }
    Ok(count)
}

/// The sum of two counts, if it is plausible.
///
/// # Errors
/// It is above [`COUNT_MAX`].
pub fn sum(total: u64, count: u64) -> Result<u64, TooMany> {
    checked(total.checked_add(count).ok_or(TooMany)?)
}

/// Reads a count, for `serde(deserialize_with)`.
///
/// # Errors
/// It is not a number, or above [`COUNT_MAX`].
pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u64, D::Error> {
    checked(u64::deserialize(deserializer)?).map_err(D::Error::custom)
}

/// Reads counts in a list, for `serde(deserialize_with)`.
///
/// # Errors
/// One is not a number, or their sum is above [`COUNT_MAX`].
pub fn deserialize_list<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<u64>, D::Error> {
    let counts = Vec::<u64>::deserialize(deserializer)?;
    total(counts.iter()).map_err(D::Error::custom)?;
    Ok(counts)
}

/// Reads counts by name, for `serde(deserialize_with)`.
///
/// # Errors
/// One is not a number, or their sum is above [`COUNT_MAX`].
pub fn deserialize_map<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<BTreeMap<String, u64>, D::Error> {
    let counts = BTreeMap::<String, u64>::deserialize(deserializer)?;
    total(counts.values()).map_err(D::Error::custom)?;
    Ok(counts)
}

fn total<'a>(counts: impl Iterator<Item = &'a u64>) -> Result<u64, TooMany> {
    let mut counts = counts;
    counts.try_fold(0, |total, count| sum(total, *count))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_largest_count_is_believed_and_the_next_is_not() {
        assert_eq!(checked(COUNT_MAX), Ok(COUNT_MAX));
        assert_eq!(checked(COUNT_MAX + 1), Err(TooMany));
        assert_eq!(COUNT_MAX as f64 as u64, COUNT_MAX);
    }

    #[test]
    fn no_sum_wraps() {
        assert_eq!(sum(COUNT_MAX - 1, 1), Ok(COUNT_MAX));
        assert_eq!(sum(COUNT_MAX, 1), Err(TooMany));
        assert_eq!(sum(2, u64::MAX), Err(TooMany));
    }
}
