//! When a connection that is gone is made again.

/// The first wait before a connection is made again, nanoseconds.
pub(crate) const BACK_OFF_MIN_NS: u64 = 100_000_000;
/// The longest such wait: each failure doubles it. A server that comes back is found within it.
pub(crate) const BACK_OFF_MAX_NS: u64 = 2_000_000_000;

/// What becomes of one connection of a worker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Redial {
    state: State,
    back_off_ns: u64,
    /// Whether it has greeted or failed at least once: the run does not wait for it any more.
    settled: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Due { at_ns: u64 },
    Dialled { at_ns: u64 },
    Greeted,
}

/// How a connection ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    /// It had done its work: the next one is made at once.
    WorkDone,
    /// It was good for something, then it broke.
    Broken,
    /// No call was ever answered on it.
    Useless,
}

impl Default for Redial {
    fn default() -> Self {
        Self {
            state: State::Due { at_ns: 0 },
            back_off_ns: BACK_OFF_MIN_NS,
            settled: false,
        }
    }
}

impl Redial {
    /// Whether the run need not wait for this connection any more.
    pub fn is_settled(&self) -> bool {
        self.settled
    }

    /// When it is to be made, if it is not there.
    pub fn due_at_ns(&self) -> Option<u64> {
        match self.state {
            State::Due { at_ns } => Some(at_ns),
            _ => None,
        }
    }

    /// When it was asked for, while its greeting is awaited.
    pub fn dialled_at_ns(&self) -> Option<u64> {
        match self.state {
            State::Dialled { at_ns } => Some(at_ns),
            _ => None,
        }
    }

    /// It was asked for.
    pub fn dialled(&mut self, now_ns: u64) {
        self.state = State::Dialled { at_ns: now_ns };
    }

    /// The server has greeted.
    pub fn greeted(&mut self) {
        self.state = State::Greeted;
        self.settled = true;
    }

    /// It is gone, or never came.
    pub fn lost(&mut self, now_ns: u64, end: End) {
        self.settled = true;
        if end != End::Useless {
            self.back_off_ns = BACK_OFF_MIN_NS;
        }
        if end == End::WorkDone {
            self.state = State::Due { at_ns: now_ns };
            return;
        }
        self.state = State::Due {
            at_ns: now_ns + self.back_off_ns,
        };
        self.back_off_ns = (self.back_off_ns * 2).min(BACK_OFF_MAX_NS);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_double_until_a_call_is_answered() {
        let mut redial = Redial::default();
        assert_eq!(redial.due_at_ns(), Some(0));
        let mut waits_ns = Vec::new();
        for _ in 0..7 {
            redial.dialled(1_000);
            redial.greeted();
            redial.lost(1_000, End::Useless);
            waits_ns.extend(redial.due_at_ns().map(|at_ns| at_ns - 1_000));
        }
        let expected_ms = [100, 200, 400, 800, 1_600, 2_000, 2_000];
        assert_eq!(waits_ns, expected_ms.map(|wait_ms| wait_ms * 1_000_000));
        redial.dialled(0);
        redial.greeted();
        redial.lost(0, End::Broken);
        assert_eq!(redial.due_at_ns(), Some(BACK_OFF_MIN_NS));
    }

    #[test]
    fn a_connection_that_has_done_its_work_is_replaced_at_once() {
        let mut redial = Redial::default();
        redial.dialled(5);
        redial.greeted();
        redial.lost(9, End::WorkDone);
        assert_eq!(redial.due_at_ns(), Some(9));
    }
}
