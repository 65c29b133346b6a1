//! What a client may leave undone only for a limited time.

use crate::limits::Limits;

/// What a client can leave undone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TimeoutKind {
    /// To complete a frame.
    PartialFrame,
    /// To complete a header block.
    OpenHeaderBlock,
    /// To read what is written to it.
    Unread,
    /// To open the windows that hold data back.
    BlockedByWindow,
    /// To make a call.
    Idle,
}

/// How far a connection has come: `None` where nothing is left undone, otherwise a number that
/// changes with every bit of progress.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ConnectionProgress {
    /// Bytes of the input that were consumed.
    pub partial_frame: Option<u64>,
    /// The stream of the header block.
    pub open_header_block: Option<u64>,
    /// Bytes that the network has taken.
    pub unread: Option<u64>,
    /// Bytes that the windows have let through.
    pub blocked_by_window: Option<u64>,
    /// The last stream that was opened.
    pub idle: Option<u64>,
}

/// Since when a connection has made no progress.
///
/// There is no timer: connections are checked every few seconds, and one that looks the same each
/// time for long enough has timed out. So nothing is noted, and no clock read, while it makes
/// progress.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ConnectionTimeouts {
    since: [Option<Since>; TimeoutKind::ALL.len()],
}

#[derive(Clone, Copy, Debug)]
struct Since {
    progress: u64,
    at_ns: u64,
}

impl ConnectionTimeouts {
    /// Returns what the connection has left undone for longer than `limits` allow, if anything.
    pub fn check(
        &mut self,
        progress: ConnectionProgress,
        limits: &Limits,
        now_ns: u64,
    ) -> Option<TimeoutKind> {
        let mut expired = None;
        for (kind, since) in TimeoutKind::ALL.into_iter().zip(&mut self.since) {
            let lasted_ns = lasted_ns(since, progress.of(kind), now_ns);
            if kind.timeout_ns(limits).is_some_and(|timeout_ns| lasted_ns >= Some(timeout_ns)) {
                expired = expired.or(Some(kind));
            }
        }
        expired
    }
}

/// How long there has been no progress, if something is left undone.
fn lasted_ns(since: &mut Option<Since>, progress: Option<u64>, now_ns: u64) -> Option<u64> {
    let Some(progress) = progress else {
        *since = None;
        return None;
    };
    let first = since
        .filter(|since| since.progress == progress)
        .unwrap_or(Since { progress, at_ns: now_ns });
    *since = Some(first);
    Some(now_ns - first.at_ns)
}

impl ConnectionProgress {
    fn of(self, kind: TimeoutKind) -> Option<u64> {
        match kind {
            TimeoutKind::PartialFrame => self.partial_frame,
            TimeoutKind::OpenHeaderBlock => self.open_header_block,
            TimeoutKind::Unread => self.unread,
            TimeoutKind::BlockedByWindow => self.blocked_by_window,
            TimeoutKind::Idle => self.idle,
        }
    }
}

impl TimeoutKind {
    pub const ALL: [TimeoutKind; 5] = [
        TimeoutKind::PartialFrame,
        TimeoutKind::OpenHeaderBlock,
        TimeoutKind::Unread,
        TimeoutKind::BlockedByWindow,
        TimeoutKind::Idle,
    ];

    pub fn timeout_ns(self, limits: &Limits) -> Option<u64> {
        match self {
            TimeoutKind::PartialFrame | TimeoutKind::OpenHeaderBlock => limits.input_timeout_ns,
            TimeoutKind::Unread => limits.write_timeout_ns,
            TimeoutKind::BlockedByWindow => limits.window_timeout_ns,
            TimeoutKind::Idle => limits.idle_timeout_ns,
        }
    }

    /// The debug data of the GOAWAY.
    pub fn reason(self) -> &'static str {
        match self {
            TimeoutKind::PartialFrame => "a frame was not completed in time",
            TimeoutKind::OpenHeaderBlock => "a header block was not completed in time",
            TimeoutKind::Unread => "nothing was read for too long",
            TimeoutKind::BlockedByWindow => "the windows let nothing go for too long",
            TimeoutKind::Idle => "there was no call for too long",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limits::{INPUT_TIMEOUT_NS, WINDOW_TIMEOUT_NS};

    fn partial_frame(consumed: u64) -> ConnectionProgress {
        ConnectionProgress { partial_frame: Some(consumed), ..ConnectionProgress::default() }
    }

    #[test]
    fn what_stands_still_for_its_time_expires_and_what_moves_does_not() {
        let limits = Limits::internet();
        let mut timeouts = ConnectionTimeouts::default();
        let start_ns = 1_000;
        for consumed in 0..100 {
            let now_ns = start_ns + consumed * INPUT_TIMEOUT_NS;
            let expired = timeouts.check(partial_frame(consumed), &limits, now_ns);
            assert_eq!(expired, None);
        }
        let last_ns = start_ns + 99 * INPUT_TIMEOUT_NS;
        let just_ns = last_ns + INPUT_TIMEOUT_NS - 1;
        assert_eq!(timeouts.check(partial_frame(99), &limits, just_ns), None);
        let expired = timeouts.check(partial_frame(99), &limits, just_ns + 1);
        assert_eq!(expired, Some(TimeoutKind::PartialFrame));
    }

    #[test]
    fn a_timeout_that_was_averted_counts_from_its_next_beginning() {
        let limits = Limits::internet();
        let mut timeouts = ConnectionTimeouts::default();
        assert_eq!(timeouts.check(partial_frame(7), &limits, 0), None);
        let none = ConnectionProgress::default();
        assert_eq!(timeouts.check(none, &limits, 1), None);
        let expired = timeouts.check(partial_frame(7), &limits, INPUT_TIMEOUT_NS);
        assert_eq!(expired, None);
    }

    #[test]
    fn each_has_a_time_of_its_own_and_none_without_a_limit() {
        let blocked = ConnectionProgress {
            partial_frame: Some(1),
            blocked_by_window: Some(1),
            ..ConnectionProgress::default()
        };
        let mut limits = Limits { input_timeout_ns: None, ..Limits::internet() };
        let mut timeouts = ConnectionTimeouts::default();
        timeouts.check(blocked, &limits, 0);
        let expired = timeouts.check(blocked, &limits, WINDOW_TIMEOUT_NS - 1);
        assert_eq!(expired, None);
        let expired = timeouts.check(blocked, &limits, WINDOW_TIMEOUT_NS);
        assert_eq!(expired, Some(TimeoutKind::BlockedByWindow));
        limits.window_timeout_ns = None;
        assert_eq!(timeouts.check(blocked, &limits, u64::MAX), None);
    }
}
