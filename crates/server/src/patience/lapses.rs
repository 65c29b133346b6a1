//! What a connection has left undone for too long.

use crate::limits::Limits;

/// What a client can leave undone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Lapse {
    /// A frame stays half.
    HalfFrame,
    /// A header block stays open.
    OpenBlock,
    /// Nothing is taken of what is written.
    Unwritten,
    /// The windows let nothing go of what they hold back.
    HeldBack,
    /// There is no call.
    Idle,
}

const LAPSES: [Lapse; 5] = [
    Lapse::HalfFrame,
    Lapse::OpenBlock,
    Lapse::Unwritten,
    Lapse::HeldBack,
    Lapse::Idle,
];

/// How a connection looks: for each lapse `None`, or a number that changes with every bit of
/// progress.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Signs {
    /// Octets of the input that were used up.
    pub half_frame: Option<u64>,
    /// The stream of the header block.
    pub open_block: Option<u64>,
    /// Octets that the network has taken.
    pub unwritten: Option<u64>,
    /// Octets that the windows have let go.
    pub held_back: Option<u64>,
    /// The last stream that was opened.
    pub idle: Option<u64>,
}

/// Since when a connection looks as it does.
///
/// There is no timer: connections are looked at every few seconds, and what looks the same each
/// time for long enough is a lapse. So nothing is noted, and no clock read, while things go on.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Lapses {
    since: [Option<Since>; LAPSES.len()],
}

#[derive(Clone, Copy, Debug)]
struct Since {
    sign: u64,
    at_ns: u64,
}

impl Lapses {
    /// Looks at a connection. What it has left undone for longer than `limits` allow, if anything.
    pub fn look(&mut self, signs: Signs, limits: &Limits, now_ns: u64) -> Option<Lapse> {
        let mut overdue = None;
        for (lapse, since) in LAPSES.into_iter().zip(&mut self.since) {
            let lasted_ns = look_at(since, signs.of(lapse), now_ns);
            if lapse
                .timeout_ns(limits)
                .is_some_and(|most| lasted_ns >= Some(most))
            {
                overdue = overdue.or(Some(lapse));
            }
        }
        overdue
    }
}

/// How long it has looked like that, if it does.
fn look_at(since: &mut Option<Since>, sign: Option<u64>, now_ns: u64) -> Option<u64> {
    let Some(sign) = sign else {
        *since = None;
        return None;
    };
    let first = since.filter(|since| since.sign == sign).unwrap_or(Since {
        sign,
        at_ns: now_ns,
    });
    *since = Some(first);
    Some(now_ns - first.at_ns)
}

impl Signs {
    fn of(self, lapse: Lapse) -> Option<u64> {
        match lapse {
            Lapse::HalfFrame => self.half_frame,
            Lapse::OpenBlock => self.open_block,
            Lapse::Unwritten => self.unwritten,
            Lapse::HeldBack => self.held_back,
            Lapse::Idle => self.idle,
        }
    }
}

impl Lapse {
    fn timeout_ns(self, limits: &Limits) -> Option<u64> {
        match self {
            Lapse::HalfFrame | Lapse::OpenBlock => limits.input_timeout_ns,
            Lapse::Unwritten => limits.write_timeout_ns,
            Lapse::HeldBack => limits.window_timeout_ns,
            Lapse::Idle => limits.idle_timeout_ns,
        }
    }

    /// What the client is told.
    pub fn what(self) -> &'static str {
        match self {
            Lapse::HalfFrame => "a frame was not completed in time",
            Lapse::OpenBlock => "a header block was not completed in time",
            Lapse::Unwritten => "nothing was read for too long",
            Lapse::HeldBack => "the windows let nothing go for too long",
            Lapse::Idle => "there was no call for too long",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limits::{INPUT_TIMEOUT_NS, WINDOW_TIMEOUT_NS};

    fn half(consumed: u64) -> Signs {
        Signs {
            half_frame: Some(consumed),
            ..Signs::default()
        }
    }

    #[test]
    fn what_stands_still_for_its_time_is_a_lapse_and_what_moves_is_none() {
        let limits = Limits::internet();
        let mut lapses = Lapses::default();
        let start_ns = 1_000;
        for consumed in 0..100 {
            let now_ns = start_ns + consumed * INPUT_TIMEOUT_NS;
            assert_eq!(lapses.look(half(consumed), &limits, now_ns), None);
        }
        let last_ns = start_ns + 99 * INPUT_TIMEOUT_NS;
        let just_ns = last_ns + INPUT_TIMEOUT_NS - 1;
        assert_eq!(lapses.look(half(99), &limits, just_ns), None);
        let overdue = lapses.look(half(99), &limits, just_ns + 1);
        assert_eq!(overdue, Some(Lapse::HalfFrame));
    }

    #[test]
    fn a_lapse_that_has_ended_counts_from_its_next_beginning() {
        let limits = Limits::internet();
        let mut lapses = Lapses::default();
        assert_eq!(lapses.look(half(7), &limits, 0), None);
        assert_eq!(lapses.look(Signs::default(), &limits, 1), None);
        assert_eq!(lapses.look(half(7), &limits, INPUT_TIMEOUT_NS), None);
    }

    #[test]
    fn each_has_a_time_of_its_own_and_none_where_there_is_no_limit() {
        let held = Signs {
            half_frame: Some(1),
            held_back: Some(1),
            ..Signs::default()
        };
        let mut limits = Limits {
            input_timeout_ns: None,
            ..Limits::internet()
        };
        let mut lapses = Lapses::default();
        lapses.look(held, &limits, 0);
        assert_eq!(lapses.look(held, &limits, WINDOW_TIMEOUT_NS - 1), None);
        let overdue = lapses.look(held, &limits, WINDOW_TIMEOUT_NS);
        assert_eq!(overdue, Some(Lapse::HeldBack));
        limits.window_timeout_ns = None;
        assert_eq!(lapses.look(held, &limits, u64::MAX), None);
    }
}
