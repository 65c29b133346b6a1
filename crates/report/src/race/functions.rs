//! The functions in which two servers differ, as a table.

use crate::text_table::{Aligned, PlainTable};
use bookend_results::quoted::{cut_in_the_middle, one_line};
use bookend_results::race::FunctionCost;
use bookend_results::statistics::Interval;
use bookend_results::text::precise_latency_text;

/// Most functions that are named.
const SHOWN: usize = 8;

/// Longer names are cut: those of generic functions may have thousands of letters.
const NAME_CHARS: usize = 46;

/// And those of servers.
const SERVER_CHARS: usize = 12;

/// The table of the functions, for two servers of these names.
pub(super) fn functions_table(functions: &[FunctionCost], names: [&str; 2]) -> String {
    let [first, second] = names.map(|name| cut_in_the_middle(name, SERVER_CHARS));
    let mut table = PlainTable::new(&[
        ("CPU time a call, by function", Aligned::Left),
        (&first, Aligned::Right),
        (&second, Aligned::Right),
        ("difference (three standard deviations)", Aligned::Left),
    ]);
    for function in functions.iter().take(SHOWN) {
        let [first, second] = function.cpu_ns_per_call.map(precise_latency_text);
        let Interval { low, high } = function.difference_ns;
        let difference =
            format!("{} ({} to {})", signed(function.difference()), signed(low), signed(high));
        let name = cut_in_the_middle(&one_line(&function.name), NAME_CHARS);
        table.row([name, first, second, difference]);
    }
    match functions.len().saturating_sub(SHOWN) {
        0 => table.to_string(),
        more => format!("{table}and {more} more, with smaller differences\n"),
    }
}

/// A difference of times.
pub(super) fn signed(nanoseconds: f64) -> String {
    let sign = if nanoseconds < 0.0 { '-' } else { '+' };
    format!("{sign}{}", precise_latency_text(nanoseconds.abs()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use bookend_results::race::{FunctionSamples, differing_functions};

    fn samples(counts: &[(&str, u64)]) -> FunctionSamples {
        counts.iter().map(|(name, count)| ((*name).to_owned(), *count)).collect()
    }

    #[test]
    fn the_function_that_burns_one_percent_has_a_line() {
        let old = samples(&[("read", 2_500), ("write", 2_000), ("handler", 500)]);
        let new = samples(&[("read", 2_480), ("write", 1_990), ("handler", 480), ("burn", 50)]);
        let found = differing_functions([&old, &new], [1_000.0, 1_010.0]);
        let table = functions_table(&found, ["old", "new"]);
        assert!(table.contains("burn ") && table.contains("+10.1 ns"), "{table}");
    }

    #[test]
    fn a_name_of_any_length_keeps_the_table_in_shape() {
        let long =
            "<alloc::vec::Vec<T> as core::iter::FromIterator<T>>::from_iter\u{1b}".repeat(99);
        let found = differing_functions(
            [&samples(&[]), &samples(&[(long.as_str(), 1_000)])],
            [1_000.0, 1_000.0],
        );
        let table = functions_table(&found, ["a-branch/with-a-long-name", "new"]);
        assert!(table.lines().all(|line| line.chars().count() <= 130), "{table}");
        assert!(!table.contains('\u{1b}'), "{table}");
    }
}
