//! How calls ended, as parts of bars: by what codes, and in which colours.

use crate::chart::StackPart;
use std::collections::BTreeMap;

/// Codes that have a colour of their own; rarer ones share one.
pub(crate) const CODES_MAX: usize = 4;

/// Colours that differ visibly from that of success.
const COLOURS: [usize; CODES_MAX] = [1, 3, 5, 2];

/// The colour of success, and that of codes without one of their own.
const OK: usize = 0;
const OTHER: usize = 4;

/// The codes of failed calls in all of these counts, the most frequent first.
pub(crate) fn most_frequent<'a>(
    counts: impl Iterator<Item = &'a BTreeMap<String, u64>>,
) -> Vec<String> {
    let mut totals: BTreeMap<&String, u64> = BTreeMap::new();
    for (code, count) in counts.flatten().filter(|(_, count)| **count > 0) {
        let total = totals.entry(code).or_default();
        *total = total.saturating_add(*count);
    }
    let mut codes: Vec<(&String, u64)> = totals.into_iter().collect();
    codes.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    codes.into_iter().map(|(code, _)| code.clone()).collect()
}

/// The parts of bars: OK, as many of the codes as have a colour, and all others.
pub(crate) fn parts_of(codes: &[String]) -> Vec<StackPart> {
    let part = |name: &str, colour| StackPart { name: name.to_owned(), colour: Some(colour) };
    let coloured = codes.iter().zip(COLOURS).map(|(code, colour)| part(code, colour));
    std::iter::once(part("OK", OK))
        .chain(coloured)
        .chain((codes.len() > CODES_MAX).then(|| part("other codes", OTHER)))
        .collect()
}
