//! Numbers of CPUs and processes as the kernel and its tools write them: `0,2`.

use std::str::FromStr;

/// As one word.
pub fn list<T: ToString>(numbers: &[T]) -> String {
    numbers.iter().map(T::to_string).collect::<Vec<_>>().join(",")
}

/// Reads what [`list`] wrote.
pub fn parse_list<T: FromStr>(word: &str) -> Option<Vec<T>> {
    word.split(',').map(|number| number.parse().ok()).collect()
}
