//! What limited a row: the server, the generator, neither, or the path between them.

use serde::{Deserialize, Serialize};
use std::fmt;

/// From this share of the CPU it may use, the server counts as saturated.
pub const SERVER_SATURATED: f64 = 0.95;

/// From this busy share, the generator counts as saturated: the row is a lower bound.
pub const GENERATOR_SATURATED: f64 = 0.90;

/// Below this share, an end counts as idle enough that a waiting handler explains the rate.
pub const WAITING_BELOW: f64 = 0.70;

/// The limit of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// The server used up its CPU while the generator had time left: the figure is the server's.
    ServerBound,
    /// The generator was the limit: the figure is a lower bound, printed `>= N`.
    ClientBound,
    /// Both ends had time left because the handler is known to wait.
    Waiting,
    /// Neither end was the limit: wake-ups, the network, the kernel or locks were.
    PathBound,
}

/// Judges a row. `server_share` is the server's CPU time over what it may use, and
/// `generator_busy_share` the time that the generator's threads did work over the time they had;
/// both 0 to 1. `handler_waits` says that the handler under test is known to wait.
///
/// A share that is not a number counts as idle: it can never make a row look server-bound.
pub fn verdict(server_share: f64, generator_busy_share: f64, handler_waits: bool) -> Verdict {
    if generator_busy_share >= GENERATOR_SATURATED {
        Verdict::ClientBound
    } else if server_share >= SERVER_SATURATED {
        Verdict::ServerBound
    } else if handler_waits && idle(server_share) && idle(generator_busy_share) {
        Verdict::Waiting
    } else {
        Verdict::PathBound
    }
}

fn idle(share: f64) -> bool {
    share.is_nan() || share < WAITING_BELOW
}

impl fmt::Display for Verdict {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.serialize(out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_busy_server_before_an_idle_generator_is_the_limit() {
        assert_eq!(verdict(0.95, 0.89, false), Verdict::ServerBound);
        assert_eq!(verdict(1.0, 0.0, true), Verdict::ServerBound);
    }

    #[test]
    fn a_busy_generator_makes_every_row_a_lower_bound() {
        assert_eq!(verdict(0.99, 0.90, false), Verdict::ClientBound);
        assert_eq!(verdict(0.10, 1.0, true), Verdict::ClientBound);
    }

    #[test]
    fn two_idle_ends_wait_only_if_the_handler_is_known_to_wait() {
        assert_eq!(verdict(0.48, 0.36, true), Verdict::Waiting);
        assert_eq!(verdict(0.48, 0.36, false), Verdict::PathBound);
        assert_eq!(verdict(0.70, 0.36, true), Verdict::PathBound);
        assert_eq!(verdict(0.36, 0.70, true), Verdict::PathBound);
    }

    #[test]
    fn a_share_that_is_not_a_number_never_flatters_the_server() {
        assert_eq!(verdict(f64::NAN, 0.5, false), Verdict::PathBound);
        assert_eq!(verdict(f64::NAN, f64::NAN, true), Verdict::Waiting);
    }

    #[test]
    fn words_are_the_same_in_print_and_in_json() {
        let all =
            [Verdict::ServerBound, Verdict::ClientBound, Verdict::Waiting, Verdict::PathBound];
        for verdict in all {
            let json = serde_json::to_string(&verdict).unwrap();
            assert_eq!(json, format!("\"{verdict}\""));
        }
        let words = ["server-bound", "client-bound", "waiting", "path-bound"];
        assert_eq!(all.map(|verdict| verdict.to_string()), words);
    }
}
