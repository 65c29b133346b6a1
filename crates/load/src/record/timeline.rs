//! How many calls ended OK in each short interval of a run: whether its rate was steady.

use bookend_contract::report::Intervals;

/// The narrowest interval, nanoseconds.
pub const INTERVAL_NS: u64 = 100_000_000;

/// The most intervals that are kept: beyond that, two become one of twice the width, and so on.
/// Nothing may grow with the run.
pub const INTERVALS_MAX: usize = 6_000;

const NANOSECONDS_A_MILLISECOND: u64 = 1_000_000;

/// Counts of one worker, or of all. An interval begins at the window's start, and the others join
/// it on both sides; the part of the warm-up before the first whole interval is dropped.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Timeline {
    width_ns: u64,
    /// End of the interval that is open. 0: the run has not begun.
    open_end_ns: u64,
    /// Whether the open interval is shorter than the others: the part before the first whole one.
    is_partial: bool,
    /// Calls of the open interval that no recorder holds any more. Those of a worker that has ended
    /// count once another worker has closed that interval.
    carried: u64,
    /// Calls that the recorder held when the open interval began.
    seen: u64,
    window_start: usize,
    counts: Vec<u64>,
}

impl Timeline {
    /// The run begins: calls end from `start_ns` on, the window begins at `window_start_ns`.
    pub fn begin(&mut self, start_ns: u64, window_start_ns: u64) {
        let warmup_ns = window_start_ns.saturating_sub(start_ns);
        self.width_ns = INTERVAL_NS;
        self.window_start = usize::try_from(warmup_ns / INTERVAL_NS).unwrap_or(usize::MAX);
        let partial_ns = warmup_ns % INTERVAL_NS;
        self.is_partial = partial_ns > 0;
        let first_ns = if self.is_partial { partial_ns } else { INTERVAL_NS };
        self.open_end_ns = start_ns + first_ns;
    }

    /// It is `now_ns`, and the recorder holds `ok` calls. Called before a batch is recorded.
    #[inline]
    pub fn tick(&mut self, now_ns: u64, ok: u64) {
        if now_ns >= self.open_end_ns && self.open_end_ns > 0 {
            self.close_until(now_ns, ok);
        }
    }

    /// The recorder, which holds `ok` calls, is going to be replaced by an empty one.
    pub fn carry(&mut self, ok: u64) {
        self.carried += ok.saturating_sub(self.seen);
        self.seen = 0;
    }

    fn close_until(&mut self, now_ns: u64, ok: u64) {
        while now_ns >= self.open_end_ns {
            self.carry(ok);
            self.seen = ok;
            let count = std::mem::take(&mut self.carried);
            if !std::mem::take(&mut self.is_partial) {
                self.counts.push(count);
            }
            self.open_end_ns += self.width_ns;
            if self.counts.len() == INTERVALS_MAX {
                self.widen();
            }
        }
    }

    /// Makes one interval of two. The window's start stays between two intervals.
    fn widen(&mut self) {
        if !self.window_start.is_multiple_of(2) && !self.counts.is_empty() {
            self.counts.remove(0);
            self.window_start -= 1;
        }
        self.window_start /= 2;
        self.width_ns *= 2;
        // The last interval is open again where its second half is missing.
        if !self.counts.len().is_multiple_of(2) {
            self.carried += self.counts.pop().unwrap_or(0);
        } else {
            self.open_end_ns += self.width_ns / 2;
        }
        self.counts = self.counts.chunks(2).map(|pair| pair.iter().sum()).collect();
    }

    /// Adds what another worker counted in the same run. Both have carried all they counted.
    pub fn merge(&mut self, mut other: Timeline) {
        if other.width_ns == 0 {
            return;
        }
        if self.width_ns == 0 {
            *self = other;
            return;
        }
        while self.width_ns < other.width_ns {
            self.widen();
        }
        while other.width_ns < self.width_ns {
            other.widen();
        }
        if self.counts.len() < other.counts.len() {
            std::mem::swap(self, &mut other);
        }
        let (own_open, others_open) = (self.open_count(), other.open_count());
        match self.counts.get_mut(other.counts.len()) {
            // The interval in which the worker stopped that ended first.
            Some(count) => *count += others_open,
            None => {
                self.carried = own_open + others_open;
                self.is_partial &= other.is_partial;
            }
        }
        for (own, others) in self.counts.iter_mut().zip(other.counts) {
            *own += others;
        }
    }

    /// Calls of the open interval, unless it is dropped.
    fn open_count(&self) -> u64 {
        if self.is_partial { 0 } else { self.carried }
    }

    /// The whole intervals, as reports have them. `None` for a run without a whole one.
    pub fn intervals(&self) -> Option<Intervals> {
        (!self.counts.is_empty()).then(|| Intervals {
            interval_ms: self.width_ns / NANOSECONDS_A_MILLISECOND,
            window_start: self.window_start,
            counts: self.counts.clone(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    /// A call every millisecond for `total_ms`, seen in batches of seven.
    fn steady(warmup_ms: u64, total_ms: u64) -> Timeline {
        let mut timeline = Timeline::default();
        timeline.begin(5 * MS, (5 + warmup_ms) * MS);
        for ended in (0..=total_ms).step_by(7) {
            timeline.tick((5 + ended) * MS, ended);
        }
        timeline
    }

    #[test]
    fn intervals_touch_at_the_windows_start() {
        let intervals = steady(250, 705).intervals().unwrap();
        assert_eq!((intervals.interval_ms, intervals.window_start), (100, 2));
        // From 50 ms on: six whole intervals. A batch belongs to the interval in which it began.
        assert_eq!(intervals.counts.len(), 6);
        assert!(intervals.counts.iter().all(|count| (98..=105).contains(count)), "{intervals:?}");
    }

    #[test]
    fn a_new_recorder_loses_no_call() {
        let mut timeline = Timeline::default();
        timeline.begin(0, 100 * MS);
        timeline.tick(40 * MS, 0);
        timeline.carry(30);
        timeline.tick(150 * MS, 12);
        timeline.carry(20);
        timeline.tick(210 * MS, 5);
        assert_eq!(timeline.intervals().unwrap().counts, [42, 13]);
    }

    #[test]
    fn an_interval_in_which_nothing_ended_counts_none() {
        let mut timeline = Timeline::default();
        timeline.begin(0, 0);
        timeline.tick(350 * MS, 9);
        assert_eq!(timeline.intervals().unwrap().counts, [9, 0, 0]);
    }

    #[test]
    fn before_the_run_and_without_a_whole_interval_there_are_none() {
        let mut timeline = Timeline::default();
        timeline.tick(u64::MAX, 7);
        assert_eq!(timeline.intervals(), None);
        timeline.begin(0, 0);
        timeline.tick(99 * MS, 7);
        assert_eq!(timeline.intervals(), None);
    }

    #[test]
    fn a_long_run_has_wider_intervals_and_not_more() {
        for warmup_ms in [0, 300, 1_000] {
            let intervals = steady(warmup_ms, 1_300_000).intervals().unwrap();
            assert_eq!(intervals.interval_ms, 400);
            assert!(intervals.counts.len() < INTERVALS_MAX);
            assert_eq!(intervals.window_start as u64, warmup_ms / 400);
            let odd = |count: &&u64| !(393..=407).contains(*count);
            assert_eq!(intervals.counts.iter().find(odd), None);
        }
    }

    /// A worker that had `ok` calls when it was done at `end_ms`, of which `before` had ended when
    /// its last interval began.
    fn done(end_ms: u64, before: u64, ok: u64) -> Timeline {
        let mut timeline = Timeline::default();
        timeline.begin(0, 50 * MS);
        timeline.tick(end_ms * MS, before);
        timeline.carry(ok);
        timeline
    }

    #[test]
    fn a_worker_that_is_done_first_loses_nothing_of_its_last_interval() {
        let (late, early) = (done(370, 30, 33), done(180, 20, 25));
        for (mut first, second) in [(late.clone(), early.clone()), (early, late)] {
            first.merge(second);
            // To 50 ms no interval is whole; from 150 to 250 ms the early one had five more calls.
            let counts = first.intervals().unwrap().counts;
            assert_eq!(counts, [0, 5, 0]);
            assert_eq!(first.carried, 3);
        }
    }

    #[test]
    fn of_workers_that_are_done_together_nothing_is_whole_beyond_the_last_interval() {
        let mut sum = done(170, 10, 14);
        sum.merge(done(190, 20, 27));
        assert_eq!(sum.intervals().unwrap().counts, [0]);
        assert_eq!(sum.carried, 11);
    }

    #[test]
    fn a_worker_that_is_done_before_the_first_whole_interval_adds_nothing_to_it() {
        let mut sum = done(40, 0, 7);
        sum.merge(done(90, 0, 2));
        sum.merge(done(170, 0, 0));
        assert_eq!(sum.intervals().unwrap().counts, [2]);
    }

    #[test]
    fn workers_add_up_whatever_their_widths() {
        let mut sum = steady(300, 1_300_000);
        sum.merge(steady(300, 590_000));
        let intervals = sum.intervals().unwrap();
        assert_eq!(intervals.interval_ms, 400);
        assert!((786..=814).contains(&intervals.counts[10]), "{}", intervals.counts[10]);
        assert!((393..=407).contains(&intervals.counts[2_000]));
        let mut none = Timeline::default();
        none.merge(sum.clone());
        assert_eq!(none, sum);
        none.merge(Timeline::default());
        assert_eq!(none, sum);
    }
}
