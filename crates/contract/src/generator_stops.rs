//! Times in which the load generator did not run: its process was stopped or frozen, its machine
//! was paused, or others had the CPU. What a server did meanwhile, it does not know.

use serde::{Deserialize, Serialize};
use std::fmt;

/// Lateness of a wake-up that means that the process did not run meanwhile, nanoseconds. It is as
/// long as a period of CPU quotas, and far beyond the lateness of timers.
pub const STOP_MIN_NS: u64 = 100_000_000;

/// The stops of one run's window.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct GeneratorStops {
    /// How many there were.
    pub count: u64,
    /// The longest, nanoseconds.
    pub longest_ns: u64,
}

impl GeneratorStops {
    /// A thread that asked to be woken at `asked_ns` at the latest ran again at `woken_ns`.
    pub fn woken(&mut self, asked_ns: u64, woken_ns: u64) {
        let late_ns = woken_ns.saturating_sub(asked_ns);
        if late_ns >= STOP_MIN_NS {
            self.count += 1;
            self.longest_ns = self.longest_ns.max(late_ns);
        }
    }
}

impl fmt::Display for GeneratorStops {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let seconds = self.longest_ns as f64 / 1e9;
        match self.count {
            0 | 1 => write!(f, "the generator did not run for {seconds:.2} s"),
            count => {
                write!(f, "the generator did not run {count} times, for {seconds:.2} s at most")
            }
        }
    }
}

/// What is added to a sentence about a limit or a silence, which may be the generator's own then.
pub fn clause(stops: Option<GeneratorStops>) -> String {
    stops.map_or_else(String::new, |stops| format!("; {stops}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wake_up_far_beyond_what_was_asked_for_is_a_stop() {
        let mut stops = GeneratorStops::default();
        let asked_ns = 20_000_000;
        for early_or_late_ns in [0, asked_ns, asked_ns + STOP_MIN_NS - 1] {
            stops.woken(asked_ns, early_or_late_ns);
        }
        assert_eq!(stops, GeneratorStops::default());
        stops.woken(asked_ns, asked_ns + 1_484_000_000);
        let once = "; the generator did not run for 1.48 s";
        assert_eq!(clause(Some(stops)), once);
        stops.woken(asked_ns, asked_ns + STOP_MIN_NS);
        assert_eq!(stops, GeneratorStops { count: 2, longest_ns: 1_484_000_000 });
        let twice = "the generator did not run 2 times, for 1.48 s at most";
        assert_eq!(stops.to_string(), twice);
    }
}
