//! Doubts about one window, as they are kept with it.

/// The name of the rule behind a mark of one window: what all marks of a kind have in common.
pub fn rule_of(mark: &str) -> &'static str {
    let rules = [
        ("steal ", "steal"),
        ("foreign process ", "foreign-process"),
        ("counts differ: ", "counts-differ"),
        ("calls could not be counted", "not-counted"),
        ("the server did not say how many", "not-counted"),
        ("the backend did not say how many", "not-counted"),
    ];
    let known = rules.iter().find(|(begins, _)| mark.starts_with(begins));
    known.map_or("other", |(_, rule)| rule)
}
