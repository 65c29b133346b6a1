//! When each call of an open loop is due.

use super::part::Part;
use super::schedule::RateSchedule;
use clap::ValueEnum;
use std::sync::Arc;

const NANOSECONDS_A_SECOND: f64 = 1e9;

/// How calls are spread over the time in which they are due.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum ArrivalProcess {
    /// At equal distances, as ghz makes them.
    #[default]
    Even,
    /// At random and independently of each other (a Poisson process), as many users make them.
    Poisson,
}

/// The calls of one worker, in the order in which they are due. All workers of all generators
/// together make the schedule's calls.
#[derive(Clone, Debug)]
pub(crate) struct Arrivals {
    schedule: Arc<RateSchedule>,
    part: usize,
    /// The place of its first call where calls come at equal distances.
    first_place: f64,
    /// The next call's place in the schedule: how many calls are due before it. A whole number
    /// where they come at equal distances.
    place: f64,
    /// How far the places of two calls of this worker are from each other, or are on average.
    stride: f64,
    /// Draws the distances, where they are random.
    random: Option<fastrand::Rng>,
    start_ns: u64,
    due_ns: u64,
}

impl Arrivals {
    /// The calls of worker `worker` among the `workers` of one generator. None is due before
    /// [`Arrivals::begin`].
    ///
    /// Independent processes add up to one of the sum of their rates, so that each worker may draw
    /// for itself. At equal distances generators take turns, and so do the workers of each, of
    /// which another generator may have more.
    pub fn new(
        schedule: Arc<RateSchedule>,
        process: ArrivalProcess,
        seed: u64,
        generator: Part,
        worker: u32,
        workers: u32,
    ) -> Self {
        let random = match process {
            ArrivalProcess::Even => None,
            ArrivalProcess::Poisson => Some(random_of(seed_of(seed, generator), worker)),
        };
        let generators = f64::from(generator.of);
        Self {
            schedule,
            part: 0,
            first_place: f64::from(generator.number) + generators * f64::from(worker),
            place: 0.0,
            stride: generators * f64::from(workers),
            random,
            start_ns: 0,
            due_ns: u64::MAX,
        }
    }

    /// The schedule begins at `start_ns`, with its first call.
    pub fn begin(&mut self, start_ns: u64) {
        self.start_ns = start_ns;
        self.part = 0;
        self.place = match self.random {
            Some(_) => self.distance(),
            None => self.first_place,
        };
        self.update_due_time();
    }

    /// When the next call is due, nanoseconds; `u64::MAX` for never.
    #[inline]
    pub fn due_ns(&self) -> u64 {
        self.due_ns
    }

    /// The next call is made, or never will be.
    #[inline]
    pub fn advance(&mut self) {
        self.place += self.distance();
        self.update_due_time();
    }

    #[inline]
    fn distance(&mut self) -> f64 {
        match &mut self.random {
            None => self.stride,
            // The logarithm of a number above zero and at most one.
            Some(random) => -(1.0 - random.f64()).ln() * self.stride,
        }
    }

    #[inline]
    fn update_due_time(&mut self) {
        let time_s = self.schedule.time_of(self.place, &mut self.part);
        self.due_ns = time_s.map_or(u64::MAX, |time_s| {
            self.start_ns.saturating_add((time_s * NANOSECONDS_A_SECOND) as u64)
        });
    }
}

/// The seed of a generator; that of the run where it is the only one.
fn seed_of(seed: u64, generator: Part) -> u64 {
    match generator.of {
        1 => seed,
        _ => random_of(seed, generator.number).u64(..),
    }
}

/// The random numbers of a worker. Those of neighbouring seeds are correlated, so that their calls
/// would come more evenly than they should: each worker has a seed that was drawn.
fn random_of(seed: u64, worker: u32) -> fastrand::Rng {
    let mut seeds = fastrand::Rng::with_seed(seed);
    for _ in 0..worker {
        seeds.u64(..);
    }
    seeds.fork()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    const SECOND_NS: u64 = 1_000_000_000;

    #[test]
    fn workers_draw_for_themselves() {
        const CALLS: usize = 20_000;
        let schedule = Arc::new(RateSchedule::constant(1000.0));
        let distances = |worker| {
            let process = ArrivalProcess::Poisson;
            let mut arrivals =
                Arrivals::new(Arc::clone(&schedule), process, 7, Part::default(), worker, 1);
            (0..CALLS).map(|_| arrivals.distance()).collect::<Vec<f64>>()
        };
        let of_workers: Vec<Vec<f64>> = (0..4).map(distances).collect();
        // Distances are 1 on average, with a deviation of 1: the mean product is the correlation,
        // of which independent ones have 0.007 by chance.
        for pair in of_workers.windows(2) {
            let products =
                pair[0].iter().zip(&pair[1]).map(|(one, other)| (one - 1.0) * (other - 1.0));
            let correlation = products.sum::<f64>() / CALLS as f64;
            assert!(correlation.abs() < 0.03, "{correlation}");
        }
    }

    fn until(mut arrivals: Arrivals, end_ns: u64) -> Vec<u64> {
        arrivals.begin(0);
        let next = || {
            let due_ns = arrivals.due_ns();
            arrivals.advance();
            (due_ns < end_ns).then_some(due_ns)
        };
        std::iter::from_fn(next).collect()
    }

    fn of_workers(
        schedule: &RateSchedule,
        process: ArrivalProcess,
        workers: u32,
        end_ns: u64,
    ) -> Vec<u64> {
        of_generators(schedule, process, &[workers], end_ns)
    }

    /// The calls of generators that have these numbers of workers.
    fn of_generators(
        schedule: &RateSchedule,
        process: ArrivalProcess,
        workers: &[u32],
        end_ns: u64,
    ) -> Vec<u64> {
        let schedule = Arc::new(schedule.clone());
        let of = workers.len() as u32;
        let mut all = Vec::new();
        for (number, workers) in (0..).zip(workers) {
            for worker in 0..*workers {
                let (schedule, part) = (Arc::clone(&schedule), Part { number, of });
                let arrivals = Arrivals::new(schedule, process, 7, part, worker, *workers);
                all.extend(until(arrivals, end_ns));
            }
        }
        all.sort_unstable();
        all
    }

    #[test]
    fn generators_together_make_the_calls_of_one() {
        let ramp = [(Duration::from_secs(2), 100.0, 5_000.0)];
        for schedule in [RateSchedule::constant(20_000.0), RateSchedule::new(ramp, 300.0)] {
            let one = of_workers(&schedule, ArrivalProcess::Even, 1, 3 * SECOND_NS);
            let several = of_generators(&schedule, ArrivalProcess::Even, &[1, 4, 3], 3 * SECOND_NS);
            assert_eq!(one, several);
        }
    }

    #[test]
    fn workers_together_make_the_calls_of_one() {
        let ramp = [(Duration::from_secs(2), 100.0, 5_000.0)];
        for schedule in [RateSchedule::constant(20_000.0), RateSchedule::new(ramp, 300.0)] {
            let one = of_workers(&schedule, ArrivalProcess::Even, 1, 3 * SECOND_NS);
            assert_eq!(one.len() as f64, schedule.calls_until(3.0).ceil());
            assert_eq!(one, of_workers(&schedule, ArrivalProcess::Even, 3, 3 * SECOND_NS));
        }
    }

    /// Kolmogorov and Smirnov: the largest distance between the observed distribution and the
    /// exponential one, which 1.63 over the root of their number exceeds once in a hundred.
    fn distance_from_exponential(mut gaps: Vec<f64>) -> f64 {
        gaps.sort_unstable_by(f64::total_cmp);
        let total = gaps.len() as f64;
        let mean = gaps.iter().sum::<f64>() / total;
        let distance = |(index, gap): (usize, &f64)| {
            let expected = 1.0 - (-gap / mean).exp();
            let (below, above) = (index as f64 / total, (index + 1) as f64 / total);
            (expected - below).abs().max((expected - above).abs())
        };
        gaps.iter().enumerate().map(distance).fold(0.0, f64::max)
    }

    fn gaps(times_ns: &[u64]) -> Vec<f64> {
        times_ns.windows(2).map(|pair| (pair[1] - pair[0]) as f64).collect()
    }

    #[test]
    fn a_schedule_that_begins_again_makes_the_same_calls_later() {
        let ramp = RateSchedule::new([(Duration::from_secs(1), 10.0, 1_000.0)], 5.0);
        let mut arrivals =
            Arrivals::new(Arc::new(ramp), ArrivalProcess::Even, 7, Part::default(), 1, 2);
        let mut due_from = |start_ns: u64| -> Vec<u64> {
            arrivals.begin(start_ns);
            let next = || {
                let due_ns = arrivals.due_ns();
                arrivals.advance();
                Some(due_ns - start_ns).filter(|since_ns| *since_ns < 2 * SECOND_NS)
            };
            std::iter::from_fn(next).collect()
        };
        let first = due_from(0);
        assert!(first.len() > 200, "{}", first.len());
        assert_eq!(due_from(5 * SECOND_NS), first);
    }

    #[test]
    fn gaps_of_poisson_are_exponential_however_many_workers_make_them() {
        for workers in [&[1][..], &[4], &[1, 2, 1]] {
            let schedule = RateSchedule::constant(10_000.0);
            let times = of_generators(&schedule, ArrivalProcess::Poisson, workers, 10 * SECOND_NS);
            assert!((times.len() as f64 - 100_000.0).abs() < 1_000.0, "{}", times.len());
            let distance = distance_from_exponential(gaps(&times));
            assert!(distance < 1.63 / (times.len() as f64).sqrt(), "{distance}");
        }
    }

    #[test]
    fn even_gaps_are_no_poisson() {
        let times =
            of_workers(&RateSchedule::constant(10_000.0), ArrivalProcess::Even, 1, SECOND_NS);
        assert!(distance_from_exponential(gaps(&times)) > 0.5);
    }

    #[test]
    fn poisson_follows_the_rate() {
        let steps = [(Duration::from_secs(5), 1_000.0, 1_000.0)];
        let schedule = RateSchedule::new(steps, 4_000.0);
        let times = of_workers(&schedule, ArrivalProcess::Poisson, 2, 10 * SECOND_NS);
        let early = times.iter().filter(|time| **time < 5 * SECOND_NS).count();
        assert!((4_700..5_300).contains(&early), "{early}");
        assert!((19_400..20_600).contains(&(times.len() - early)), "{}", times.len() - early);
    }
}
