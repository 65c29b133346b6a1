//! Builds that measure wrongly on purpose, to show that `bookend check` or a test notices.
//!
//! Nothing that is shipped has the feature `mutants`, without which no mutant is ever on.

/// A way to measure wrongly: a mistake that has been made somewhere, and looks right.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mutant {
    /// Latencies of an open loop run from when calls were made, not from when they were due.
    ActualStart,
    /// From the hundredth on, failed calls are not counted.
    LostErrors,
    /// CPU time is that since the process began, not that of the window.
    AbsoluteCpu,
    /// The cells of a round are measured in the order of the suite.
    OrderedRounds,
    /// The window goes on for one batch.
    LateWindowEnd,
    /// The median of the rounds' percentiles stands for the percentile of all their calls.
    MedianOfPercentiles,
}

/// The variable that names the mutant of a build that has them.
#[cfg(feature = "mutants")]
pub const VARIABLE: &str = "MUTANT";

impl Mutant {
    /// Every one, with the name that selects it.
    pub const ALL: [(Mutant, &str); 6] = [
        (Mutant::ActualStart, "actual-start"),
        (Mutant::LostErrors, "lost-errors"),
        (Mutant::AbsoluteCpu, "absolute-cpu"),
        (Mutant::OrderedRounds, "ordered-rounds"),
        (Mutant::LateWindowEnd, "late-window-end"),
        (Mutant::MedianOfPercentiles, "median-of-percentiles"),
    ];

    /// Whether this process is to measure wrongly in this way.
    #[cfg(not(feature = "mutants"))]
    #[inline(always)]
    pub const fn is_on(self) -> bool {
        false
    }

    /// Whether this process is to measure wrongly in this way.
    #[cfg(feature = "mutants")]
    pub fn is_on(self) -> bool {
        static SELECTED: std::sync::OnceLock<Option<Mutant>> = std::sync::OnceLock::new();
        let selected = SELECTED.get_or_init(|| {
            let name = std::env::var(VARIABLE).ok()?;
            Mutant::ALL.into_iter().find_map(|(mutant, known)| (known == name).then_some(mutant))
        });
        *selected == Some(self)
    }
}

#[cfg(all(test, not(feature = "mutants")))]
mod tests {
    use super::*;

    #[test]
    fn what_is_shipped_has_no_mutants() {
        assert!(Mutant::ALL.iter().all(|(mutant, _)| !mutant.is_on()));
    }
}
