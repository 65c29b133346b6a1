//! Races of programs whose starts are of two kinds, simulated: how often what is said is wrong.

use bookend_results::race::{Block, RaceLap, RaceVerdict, STARTS_MIN, Standing};
use bookend_results::statistics::{Interval, median};
use std::f64::consts::TAU;

/// Starts of a race of two minutes.
const STARTS: u64 = 60;

const ROUNDS: usize = 3;

/// Standard deviation of a round from its start.
const ROUND_NOISE: f64 = 0.003;

const MARGIN: f64 = 0.01;

/// SplitMix64, which the widths were recorded with that intervals are compared with below.
struct Random(u64);

impl Random {
    /// At least 0 and below 1.
    fn fraction(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((mixed ^ (mixed >> 31)) >> 11) as f64 / (1u64 << 53) as f64
    }
}

/// The logarithm of how far a start of one server is from what it would be.
#[derive(Clone, Copy)]
enum Starts {
    /// This share of them are of the first kind, the others of the second.
    TwoKinds(f64, f64, f64),
    /// Normal values with this standard deviation.
    Normal(f64),
    /// Nine in ten differ by little, and the others by far more.
    HeavyTailed,
}

use Starts::{HeavyTailed, Normal, TwoKinds};

const ALIKE: Starts = Normal(0.0);

impl Starts {
    fn next(self, random: &mut Random) -> f64 {
        let by_lot = |share: f64, first: f64, second: f64, random: &mut Random| {
            if random.fraction() < share { first } else { second }
        };
        match self {
            TwoKinds(share, first, second) => by_lot(share, first, second, random),
            Normal(deviation) => deviation * normal(random),
            HeavyTailed => by_lot(0.1, 0.04, 0.007, random) * normal(random),
        }
    }

    fn mean(self) -> f64 {
        match self {
            TwoKinds(share, first, second) => share * first + (1.0 - share) * second,
            Normal(_) | HeavyTailed => 0.0,
        }
    }

    /// The same the other way round.
    fn mirrored(self) -> Self {
        match self {
            TwoKinds(share, first, second) => TwoKinds(share, -first, -second),
            Normal(_) | HeavyTailed => self,
        }
    }
}

/// Two servers, and by how much calls a CPU-second of the second are more besides.
#[derive(Clone, Copy)]
struct Pair {
    first: Starts,
    second: Starts,
    more: f64,
}

impl Pair {
    fn truth(self) -> f64 {
        self.second.mean() - self.first.mean() + self.more
    }

    /// The race after each of its starts.
    fn raced(self, seed: u64) -> impl Iterator<Item = Standing> {
        let mut random = Random(seed);
        let mut standing = Standing::default();
        (0..STARTS).map(move |_| {
            let start = self.second.next(&mut random) - self.first.next(&mut random) + self.more;
            for _ in 0..ROUNDS {
                let round = block_of(start + ROUND_NOISE * normal(&mut random));
                standing.push(&[round]).expect("it has calls");
            }
            standing.end_start();
            standing.clone()
        })
    }

    /// How many of `races` races ever declare the wrong server better.
    fn wrong(self, races: u64) -> usize {
        let is_wrong = |verdict: RaceVerdict| match verdict {
            RaceVerdict::Better(0) => self.truth() > -1e-9,
            RaceVerdict::Better(_) => self.truth() < 1e-9,
            RaceVerdict::Equivalent | RaceVerdict::Inconclusive => false,
        };
        let is_ever_wrong =
            |seed: &u64| self.raced(*seed).any(|standing| is_wrong(standing.verdict(MARGIN)));
        (0..races).filter(is_ever_wrong).count()
    }

    /// How many of `races` races ever declare the better server better.
    fn right(self, races: u64) -> usize {
        let better = RaceVerdict::Better(usize::from(self.truth() > 0.0));
        let is_right =
            |seed: &u64| self.raced(*seed).any(|standing| standing.verdict(MARGIN) == better);
        (0..races).filter(is_right).count()
    }

    /// How many of `races` races have an interval at their end that leaves the truth out.
    fn left_out(self, races: u64) -> usize {
        let leaves_out = |seed: &u64| {
            let end = self.raced(*seed).last().and_then(|standing| standing.cost_interval());
            !end.expect("an interval").contains(self.truth().exp())
        };
        (0..races).filter(leaves_out).count()
    }
}

fn normal(random: &mut Random) -> f64 {
    (-2.0 * (1.0 - random.fraction()).ln()).sqrt() * (TAU * random.fraction()).cos()
}

/// A block that comes to this ratio, as a logarithm.
fn block_of(ratio: f64) -> Block {
    let lap = |server, cpu_ns| RaceLap {
        server,
        ok: 1_000,
        failed: 0,
        length_ns: 100_000_000,
        cpu_ns,
        rated: None,
    };
    let (first, second) = (lap(0, 1_000_000_000), lap(1, (1e9 * (-ratio).exp()) as u64));
    [first, second, second, first]
}

/// Starts of two kinds that are 5 % to 10 % apart, in shares from one in ten to half; of the last
/// ones the mean is next to nothing, so that the kind that comes more often is on its wrong side.
const KINDS: [Starts; 9] = [
    TwoKinds(0.1, -0.06, 0.004),
    TwoKinds(0.2, -0.05, 0.005),
    TwoKinds(0.3, -0.05, 0.005),
    TwoKinds(0.4, -0.04, 0.01),
    TwoKinds(0.5, -0.05, 0.05),
    TwoKinds(0.1, -0.05, 0.0055),
    TwoKinds(0.2, -0.044, 0.0109),
    TwoKinds(0.3, -0.04, 0.017),
    TwoKinds(0.4, -0.033, 0.0219),
];

#[test]
fn a_rare_kind_of_start_counts_as_often_as_it_comes() {
    let mut standing = Standing::default();
    for start in 0..30 {
        let kind = if start % 10 == 9 { -0.06 } else { 0.004 };
        (0..ROUNDS).for_each(|_| standing.push(&[block_of(kind)]).expect("it has calls"));
        standing.end_start();
    }
    let (mean, truth) = (standing.cost_ratio().ln(), 0.1 * -0.06 + 0.9 * 0.004);
    assert!((mean - truth).abs() < 1e-8, "{mean} instead of {truth}");
}

#[test]
fn the_wrong_server_is_better_in_at_most_five_of_a_hundred_races_of_two_kinds_of_starts() {
    let races = 300;
    let of_second = |second: Starts| Pair { first: ALIKE, second, more: 0.0 };
    let of_both = |first: Starts, second: Starts| Pair { first, second, more: 0.0 };
    let single = KINDS.iter().flat_map(|kinds| [of_second(*kinds), of_second(kinds.mirrored())]);
    let [rare, fifth, third, ..] = KINDS;
    let both = [
        of_both(rare, fifth),
        of_both(third, rare),
        of_both(fifth.mirrored(), third),
        of_both(TwoKinds(0.3, -0.02, 0.0), TwoKinds(0.1, -0.06, 0.0)),
    ];
    for (number, pair) in single.chain(both).enumerate() {
        let wrong = pair.wrong(races);
        assert!(wrong as f64 <= 0.05 * races as f64, "{wrong} of {races} of pair {number}");
    }
}

#[test]
fn of_equal_servers_one_is_better_in_at_most_five_of_a_hundred_races() {
    let races = 200;
    for starts in [ALIKE, Normal(0.007), Normal(0.02), HeavyTailed].into_iter().chain(KINDS) {
        let wrong = Pair { first: starts, second: starts, more: 0.0 }.wrong(races);
        assert!(wrong as f64 <= 0.05 * races as f64, "{wrong} of {races}");
    }
}

#[test]
fn two_percent_between_the_means_are_found_within_sixty_starts() {
    let races = 100;
    let kinds = [0.1, 0.2, 0.3, 0.4, 0.5].map(|share| TwoKinds(share, -0.055, 0.0));
    let seconds = kinds.into_iter().flat_map(|kinds| [kinds, kinds.mirrored()]);
    let one = seconds.map(|second| (ALIKE, second));
    let both = [(kinds[1], kinds[1]), (Normal(0.02), ALIKE), (HeavyTailed, HeavyTailed)];
    for (first, second) in one.chain(both) {
        for truth in [0.02, -0.02] {
            let more = truth - (second.mean() - first.mean());
            let right = Pair { first, second, more }.right(races);
            assert!(right >= 80, "{right} of {races} find {truth}");
        }
    }
}

/// Against the widths of before starts counted as they are, when those far away were moved nearer.
#[test]
fn the_intervals_of_normal_starts_are_no_wider_for_counting_all() {
    const BEFORE: [(u64, f64); 4] = [(8, 1.388), (12, 1.016), (24, 0.672), (60, 0.437)];
    const DEVIATION: f64 = 0.02;
    let pair = Pair { first: ALIKE, second: Normal(DEVIATION), more: 0.0 };
    let mut halves: [Vec<f64>; 4] = Default::default();
    for seed in 0..400 {
        for standing in pair.raced(seed).filter(|standing| standing.starts() >= STARTS_MIN) {
            let at = BEFORE.iter().position(|(starts, _)| *starts == standing.starts());
            if let Some(at) = at {
                let Interval { low, high } = standing.cost_interval().expect("eight starts");
                halves[at].push((high / low).ln() / 2.0 / DEVIATION);
            }
        }
    }
    for (halves, (starts, before)) in halves.iter().zip(BEFORE) {
        let half = median(halves).expect("some");
        assert!((half / before - 1.0).abs() < 0.03, "{half} instead of {before} at {starts}");
    }
}

/// Where the rare kind has surely been seen, the interval of its mean holds.
#[test]
fn after_sixty_starts_intervals_hold_for_kinds_that_are_not_rare() {
    let races = 300;
    for kinds in KINDS.into_iter().filter(|kinds| matches!(kinds, TwoKinds(0.2..=0.5, ..))) {
        let left_out = Pair { first: ALIKE, second: kinds, more: 0.0 }.left_out(races);
        assert!(left_out as f64 <= 0.05 * races as f64, "{left_out} of {races}");
    }
}
