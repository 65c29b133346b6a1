//! How long laps are, how many, and in which order.

use crate::round::order::shuffle;
use bookend_results::window::LATENCIES_MIN;
use fastrand::Rng;

/// The laps of a window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WindowLaps {
    /// Their number.
    pub laps: u32,
    /// The length of each, milliseconds.
    pub lap_ms: u64,
}

/// The shortest lap of calls that take `call_seconds`, milliseconds. Calls start together at its
/// beginning and are awaited at its end: where it is as long as ten of them, that stays small.
/// Nothing is known without a call, so there is one lap, as long as the window.
pub fn shortest_lap_ms(lap_ms: u64, call_seconds: Option<f64>, window_ms: u64) -> u64 {
    let for_calls_ms = match call_seconds {
        Some(seconds) if seconds.is_finite() => (LATENCIES_MIN * seconds * 1e3).ceil() as u64,
        Some(_) => window_ms,
        None => lap_ms,
    };
    for_calls_ms.max(lap_ms).min(window_ms).max(1)
}

/// As many laps as a window has room for. Blocks are mirrored, so it is an even number of them.
pub fn cut(window_ms: u64, shortest_lap_ms: u64) -> WindowLaps {
    let room = u32::try_from(window_ms / shortest_lap_ms.max(1)).unwrap_or(u32::MAX);
    let laps = if room < 2 { 1 } else { room - room % 2 };
    WindowLaps { laps, lap_ms: window_ms.div_ceil(u64::from(laps)) }
}

/// The order of laps, where `laps` has the number of each contestant: blocks of all in random
/// order, each followed by its reverse. Those with fewer laps than others sit some out, evenly.
pub fn order(laps: &[u32], random: &mut Rng) -> Vec<usize> {
    let most = laps.iter().copied().max().unwrap_or(0);
    let turns = most.next_multiple_of(2);
    let mut order = Vec::new();
    for turn in (0..turns).step_by(2) {
        let mut block: Vec<usize> = (0..laps.len()).collect();
        shuffle(&mut block, random);
        order.extend(block.iter().filter(|index| has_lap(laps[**index], turn, turns)));
        order.extend(block.iter().rev().filter(|index| has_lap(laps[**index], turn + 1, turns)));
    }
    order
}

fn has_lap(laps: u32, turn: u32, turns: u32) -> bool {
    let until = |turn: u32| u64::from(laps) * u64::from(turn) / u64::from(turns);
    until(turn + 1) > until(turn)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lap_is_as_long_as_ten_calls_and_no_longer_than_the_window() {
        assert_eq!(shortest_lap_ms(100, Some(0.001), 2000), 100);
        assert_eq!(shortest_lap_ms(100, Some(0.0301), 2000), 301);
        assert_eq!(shortest_lap_ms(100, Some(5.0), 2000), 2000);
        assert_eq!(shortest_lap_ms(100, Some(f64::INFINITY), 2000), 2000);
        assert_eq!(shortest_lap_ms(100, None, 2000), 100);
        assert_eq!(shortest_lap_ms(100, Some(0.001), 50), 50);
        assert_eq!(shortest_lap_ms(100, None, 0), 1);
    }

    #[test]
    fn a_window_is_cut_into_an_even_number_of_laps() {
        let laps = |laps, lap_ms| WindowLaps { laps, lap_ms };
        assert_eq!(cut(1000, 100), laps(10, 100));
        assert_eq!(cut(450, 100), laps(4, 113));
        assert_eq!(cut(1000, 301), laps(2, 500));
        assert_eq!(cut(1000, 600), laps(1, 1000));
        assert_eq!(cut(1000, 1000), laps(1, 1000));
    }

    #[test]
    fn each_block_is_followed_by_its_reverse() {
        let order = order(&[6, 6, 6], &mut Rng::with_seed(1));
        assert_eq!(order.len(), 18);
        for block in order.chunks(6) {
            let mut sorted = block[..3].to_vec();
            sorted.sort_unstable();
            assert_eq!(sorted, [0, 1, 2]);
            let mirrored: Vec<usize> = block[..3].iter().rev().copied().collect();
            assert_eq!(block[3..], mirrored);
        }
        assert!(order.chunks(6).any(|block| block != &order[..6]), "blocks differ");
    }

    #[test]
    fn a_seed_brings_an_order_back() {
        let of = |seed| order(&[10, 10, 10, 10], &mut Rng::with_seed(seed));
        assert_eq!(of(5), of(5));
        assert_ne!(of(5), of(6));
    }

    #[test]
    fn everybody_has_all_of_its_laps_and_whoever_has_few_has_them_evenly() {
        let laps = [20, 4, 1, 0];
        let order = order(&laps, &mut Rng::with_seed(3));
        for (index, laps) in laps.into_iter().enumerate() {
            assert_eq!(order.iter().filter(|each| **each == index).count(), laps as usize);
        }
        let half = order.len() / 2;
        assert_eq!(order[..half].iter().filter(|each| **each == 1).count(), 2);
        assert_eq!(order_of_nobody(), [0; 0]);
    }

    fn order_of_nobody() -> Vec<usize> {
        order(&[], &mut Rng::with_seed(0))
    }
}
