//! How far a connection has come lately, for when memory is tight.

use crate::memory::STEP_BYTES;

/// A connection that holds less is not worth looking at.
const HELD_MIN_BYTES: usize = 2 * STEP_BYTES;

/// Least time between two marks: a round trip of any line. Short, because an attacker can fill what
/// is left of the memory within a second.
const MARK_INTERVAL_NS: u64 = 250_000_000;

/// A connection makes too little progress if it holds more than this multiple of what has moved
/// since the mark. One with a slow line does so too, but a silent one makes less, and the worst are
/// reset first.
const HELD_PER_PROGRESS_MAX: u64 = 8;

/// How many bytes a connection had moved in both directions at two times.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ProgressMarks {
    earlier: Mark,
    last: Mark,
    /// When what it holds changed by much.
    pub held_changed_ns: u64,
}

#[derive(Clone, Copy, Debug, Default)]
struct Mark {
    bytes: u64,
    at_ns: u64,
}

impl ProgressMarks {
    /// Of a connection that begins.
    pub fn beginning(now_ns: u64) -> Self {
        let begin = Mark { bytes: 0, at_ns: now_ns };
        ProgressMarks { earlier: begin, last: begin, held_changed_ns: now_ns }
    }

    /// `bytes` bytes have been moved by now.
    pub fn note(&mut self, bytes: u64, now_ns: u64) {
        if now_ns - self.last.at_ns >= MARK_INTERVAL_NS {
            self.earlier = self.last;
            self.last = Mark { bytes, at_ns: now_ns };
        }
    }

    /// How many times what has been moved lately is held, if that is too much.
    pub fn held_per_progress(&self, held_bytes: usize, bytes: u64, now_ns: u64) -> Option<u64> {
        let is_recent = now_ns - self.last.at_ns < MARK_INTERVAL_NS;
        let mark = if is_recent { self.earlier } else { self.last };
        let ratio = held_bytes as u64 / (bytes.saturating_sub(mark.bytes) + 1);
        let is_known = now_ns - mark.at_ns >= MARK_INTERVAL_NS;
        let is_too_much = ratio > HELD_PER_PROGRESS_MAX && held_bytes >= HELD_MIN_BYTES;
        (is_known && is_too_much).then_some(ratio)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIB: usize = 1 << 20;

    #[test]
    fn who_moves_enough_for_what_is_held_makes_progress() {
        let mut marks = ProgressMarks::beginning(0);
        for second in 1..100 {
            let (bytes, now_ns) = (second * 200_000, second * MARK_INTERVAL_NS);
            assert_eq!(marks.held_per_progress(MIB, bytes, now_ns), None);
            marks.note(bytes, now_ns);
        }
    }

    #[test]
    fn who_stands_still_is_found_within_two_marks_and_who_trickles_too() {
        for trickle in [0, 1] {
            let mut marks = ProgressMarks::beginning(0);
            let bytes = |second: u64| MIB as u64 + second * trickle;
            assert_eq!(marks.held_per_progress(MIB, bytes(0), 0), None, "it has just come");
            for second in 1..=2 {
                marks.note(bytes(second), second * MARK_INTERVAL_NS);
            }
            let ratio = marks.held_per_progress(MIB, bytes(3), 3 * MARK_INTERVAL_NS);
            assert!(ratio > Some(MIB as u64 / 4), "{ratio:?}");
        }
    }

    #[test]
    fn looks_that_come_fast_move_no_mark() {
        let mut marks = ProgressMarks::beginning(0);
        for millisecond in 0..900 {
            marks.note(MIB as u64, millisecond * MARK_INTERVAL_NS / 1_000);
        }
        assert_eq!(marks.held_per_progress(MIB, MIB as u64, MARK_INTERVAL_NS), None);
    }
}
