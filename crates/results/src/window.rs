//! How long a window has to be for what it measures.

use serde::{Deserialize, Serialize};

/// Fewest mean latencies in a window: of the calls in it, at most a tenth is in flight at its end.
pub const LATENCIES_MIN: f64 = 10.0;

/// Fewest answered calls in a window: ten lie beyond its 99th percentile.
pub const CALLS_MIN: f64 = 1000.0;

/// What warm-up and window of a cell were to be.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct AskedTimes {
    /// Length of the window, milliseconds; of no meaning with a fixed number of calls.
    pub window_ms: u64,
    /// Length of the warm-up, milliseconds.
    pub warmup_ms: u64,
}

/// What a window of a closed loop shows of the time that it needs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WindowFigures {
    /// Length of the window, seconds.
    pub seconds: f64,
    /// Calls answered in it.
    pub answered: f64,
    /// Mean latency of these, seconds. `None`: not known.
    pub mean_seconds: Option<f64>,
    /// Calls in flight that the case asks for.
    pub streams: f64,
}

impl WindowFigures {
    /// How long a call takes, seconds: its mean latency, or the time in which every stream has its
    /// turn, if that is more. A window that is too short cuts its slowest calls off, so that its
    /// mean latency is too short as well.
    pub fn call_seconds(&self) -> f64 {
        let turn = self.streams * self.seconds / self.answered.max(1.0);
        self.mean_seconds.unwrap_or(0.0).max(turn)
    }

    /// How long a window would have to be for such calls, seconds.
    pub fn needed_seconds(&self) -> f64 {
        let for_count = CALLS_MIN * self.seconds / self.answered.max(1.0);
        (LATENCIES_MIN * self.call_seconds()).max(for_count)
    }

    /// Whether it is long enough.
    pub fn holds(&self) -> bool {
        // Callers end a window with a call, or with a tick of their clock.
        self.seconds * 1.001 >= self.needed_seconds()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_window_holds_ten_latencies_and_a_thousand_calls() {
        let sound = WindowFigures {
            seconds: 1.0,
            answered: 1000.0,
            mean_seconds: Some(0.1),
            streams: 100.0,
        };
        assert!(sound.holds());
        assert!(!WindowFigures { mean_seconds: Some(0.11), ..sound }.holds());
        let few = WindowFigures { answered: 900.0, streams: 1.0, mean_seconds: None, ..sound };
        assert!(!few.holds());
        assert!((few.needed_seconds() - 1000.0 / 900.0).abs() < 1e-9);
    }

    #[test]
    fn a_mean_of_the_fastest_calls_alone_does_not_hide_the_slow_ones() {
        // tonic with a hundred thousand calls in flight, seen for 0.7 s.
        let cut = WindowFigures {
            seconds: 0.7,
            answered: 15_000.0,
            mean_seconds: Some(0.023),
            streams: 100_000.0,
        };
        assert!((cut.call_seconds() - 4.667).abs() < 0.001);
        assert!(!cut.holds() && (cut.needed_seconds() - 46.67).abs() < 0.01);
    }

    #[test]
    fn a_window_without_an_answer_needs_more_than_its_own_length() {
        let none = WindowFigures { seconds: 2.0, answered: 0.0, mean_seconds: None, streams: 1.0 };
        assert!(!none.holds() && none.needed_seconds() >= 20.0);
    }
}
