//! The order in which cells are measured: random, and the same again for the same seed.

use fastrand::Rng;

/// Every round has its own random numbers, so that a resumed run goes on as it would have.
pub fn random_of(seed: u64, round: u32) -> Rng {
    // A fork mixes the seed, so that rounds with neighbouring seeds have nothing in common.
    Rng::with_seed(seed ^ u64::from(round).rotate_left(32)).fork()
}

/// Puts `items` into a random order; each order is as likely as every other. A seed brings it back.
pub fn shuffle<T>(items: &mut [T], random: &mut Rng) {
    random.shuffle(items);
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    fn order(seed: u64, round: u32) -> Vec<u32> {
        let mut items: Vec<u32> = (0..20).collect();
        shuffle(&mut items, &mut random_of(seed, round));
        items
    }

    #[test]
    fn a_seed_brings_an_order_back_and_rounds_differ() {
        assert_eq!(order(7, 3), order(7, 3));
        assert_ne!(order(7, 3), order(7, 4));
        assert_ne!(order(7, 3), order(8, 3));
        let mut sorted = order(7, 3);
        sorted.sort_unstable();
        assert_eq!(sorted, (0..20).collect::<Vec<u32>>());
    }

    #[test]
    fn every_order_of_three_comes_about_equally_often() {
        let mut counts: BTreeMap<[u8; 3], u32> = BTreeMap::new();
        for round in 0..6000 {
            let mut items = [0, 1, 2];
            shuffle(&mut items, &mut random_of(42, round));
            *counts.entry(items).or_default() += 1;
        }
        assert_eq!(counts.len(), 6);
        // Five standard deviations of a binomial with 6000 draws and one in six are 144.
        assert!(counts.values().all(|count| count.abs_diff(1000) < 144));
    }

    #[test]
    fn nothing_and_one_thing_stay_as_they_are() {
        shuffle::<u8>(&mut [], &mut random_of(0, 0));
        let mut one = [5];
        shuffle(&mut one, &mut random_of(0, 0));
        assert_eq!(one, [5]);
    }
}
