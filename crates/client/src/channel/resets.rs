//! Streams that are to be reset, at a pace that no server takes for an attack ([`ResetPace`]).
//!
//! Streams beyond that are given up without a word: nothing of theirs is waited for, their windows
//! stay shut, and a server that keeps to `grpc-timeout` ends them by itself. Where many are owed,
//! the connection is to be replaced.

use bookend_wire::{ResetPace, StreamKey};
use std::collections::VecDeque;

/// Resets that are owed before the connection is to be replaced: paying these takes more than six
/// seconds, and a close tells the server of all of them.
pub(crate) const RESETS_OWED_MAX: usize = 32;

/// The resets of one connection.
#[derive(Debug)]
pub(crate) struct Resets {
    pace: ResetPace,
    owed: VecDeque<StreamKey>,
    /// More were to be owed than are worth keeping.
    overflowed: bool,
}

impl Resets {
    pub fn new() -> Self {
        Self {
            pace: ResetPace::default(),
            owed: VecDeque::new(),
            overflowed: false,
        }
    }

    /// A stream is to be reset when its turn comes. `is_open` says which ones still matter. Those
    /// beyond [`RESETS_OWED_MAX`] are not kept: the end of the connection is to tell of them.
    pub fn owe(&mut self, stream: StreamKey, is_open: impl Fn(StreamKey) -> bool) {
        if self.owed.len() == RESETS_OWED_MAX && !self.overflowed {
            self.owed.retain(|&stream| is_open(stream));
            self.overflowed = self.owed.len() == RESETS_OWED_MAX;
        }
        if !self.overflowed {
            self.owed.push_back(stream);
        }
    }

    /// A stream that is to be reset now.
    pub fn next(&mut self, now_ns: u64, is_open: impl Fn(StreamKey) -> bool) -> Option<StreamKey> {
        let is_allowed = self.pace.allowed(now_ns) > 0;
        while let Some(&stream) = self.owed.front() {
            if is_open(stream) {
                if !is_allowed {
                    return None;
                }
                self.pace.spend();
                return self.owed.pop_front();
            }
            self.owed.pop_front();
        }
        None
    }

    /// When the next one may go out, if any is owed.
    #[inline]
    pub fn next_ns(&self) -> Option<u64> {
        (!self.owed.is_empty()).then(|| self.pace.next_ns())
    }

    /// Whether so many were owed that a new connection costs less.
    #[inline]
    pub fn are_too_many(&self) -> bool {
        self.overflowed
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bookend_wire::reset_pace::RESETS_AT_ONCE;

    const SECOND_NS: u64 = 1_000_000_000;

    fn stream(number: u32) -> StreamKey {
        StreamKey {
            index: number,
            id: 2 * number + 1,
        }
    }

    fn owing(streams: u32) -> Resets {
        let mut resets = Resets::new();
        (0..streams).for_each(|number| resets.owe(stream(number), |_| true));
        resets
    }

    fn paid(resets: &mut Resets, now_ns: u64) -> usize {
        std::iter::from_fn(|| resets.next(now_ns, |_| true)).count()
    }

    #[test]
    fn no_window_of_thirty_seconds_sees_what_netty_forbids() {
        let mut resets = Resets::new();
        let start_ns = 77 * SECOND_NS;
        let mut number = 0;
        let mut pay_all = |now_ns| {
            // There are always some that are owed.
            while resets.owed.len() < RESETS_OWED_MAX {
                number += 1;
                resets.owe(stream(number), |_| true);
            }
            paid(&mut resets, now_ns)
        };
        assert_eq!(pay_all(start_ns), RESETS_AT_ONCE as usize);
        assert_eq!(pay_all(start_ns), 0);
        let later = (1..=300).map(|step| pay_all(start_ns + step * SECOND_NS / 10));
        assert_eq!(later.sum::<usize>(), 150);
        let after_a_pause = pay_all(u64::MAX);
        assert_eq!(
            after_a_pause, RESETS_AT_ONCE as usize,
            "a pause saves no more"
        );
    }

    #[test]
    fn what_has_ended_by_itself_costs_nothing() {
        let mut resets = owing(30);
        let is_last = |open: StreamKey| open == stream(29);
        assert_eq!(resets.next(SECOND_NS, is_last), Some(stream(29)));
        assert_eq!(resets.pace.allowed(SECOND_NS), RESETS_AT_ONCE - 1);
        assert_eq!(resets.next_ns(), None);
    }

    #[test]
    fn many_that_are_still_open_call_for_a_new_connection() {
        let mut resets = owing(RESETS_OWED_MAX as u32);
        resets.owe(stream(100), |open| open != stream(7));
        assert!(!resets.are_too_many(), "one has ended meanwhile");
        let mut resets = owing(100_000);
        assert!(resets.are_too_many());
        assert_eq!(resets.owed.len(), RESETS_OWED_MAX);
        assert_eq!(paid(&mut resets, SECOND_NS), RESETS_AT_ONCE as usize);
        assert!(
            resets.are_too_many(),
            "those that were not kept are still open"
        );
    }

    #[test]
    fn the_next_one_is_due_when_it_may_go_out() {
        let mut resets = owing(RESETS_AT_ONCE + 1);
        paid(&mut resets, SECOND_NS);
        let due_ns = resets.next_ns().unwrap();
        assert_eq!(paid(&mut resets, due_ns - 1), 0);
        assert_eq!(paid(&mut resets, due_ns), 1);
    }
}
