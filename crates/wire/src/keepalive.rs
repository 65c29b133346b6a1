//! Whether the peer of a quiet connection is still there: when to send PING, and when to give up.
//!
//! As in gRPC (proposals A8 and A9): after some time without a byte from the peer, a PING asks for
//! one; if nothing at all comes for some more time, the peer is gone. There is no clock and no
//! timer here. The owner checks a connection from time to time, and a check remembers only how many
//! bytes had come: keepalive adds no work to sending or receiving.

/// The shortest time for a client: grpc-go's clients raise shorter ones to this.
pub const CLIENT_TIME_MIN_NS: u64 = 10_000_000_000;
/// How long an answer may take by default: grpc-go's and grpc-java's value.
pub const TIMEOUT_NS: u64 = 20_000_000_000;
/// The debug data of a server's GOAWAY to a client that sends too many PINGs. Clients of grpc-go
/// and grpc-java know these bytes, and send half as many from then on; so do ours.
pub const TOO_MANY_PINGS: &str = "too_many_pings";

/// Number of checks within `time_ns`. So the PING goes out between one and one and a half times
/// that after the last byte.
const CHECKS_PER_TIME: u64 = 4;

/// When to send a PING, and how long to wait for the answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Keepalive {
    /// Silence after which a PING is sent, nanoseconds.
    pub time_ns: u64,
    /// Silence after the PING before the peer is given up, nanoseconds.
    pub timeout_ns: u64,
}

/// What to do about a peer that is silent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeepaliveAction {
    /// Send a PING.
    SendPing,
    /// Give up the peer: it did not answer the PING, or the network lost it.
    GiveUp,
}

/// What the last check of one connection found.
#[derive(Clone, Copy, Debug, Default)]
pub struct KeepaliveState {
    received_bytes: u64,
    silent_since_ns: Option<u64>,
    pinged_at_ns: Option<u64>,
}

impl Keepalive {
    /// The interval between checks, nanoseconds.
    pub fn check_interval_ns(&self) -> u64 {
        (self.time_ns / CHECKS_PER_TIME).max(1)
    }

    /// The same with half as many PINGs: for a client whose server received too many.
    pub fn at_half_rate(self) -> Self {
        Self { time_ns: self.time_ns.saturating_mul(2), ..self }
    }
}

impl KeepaliveState {
    /// Checks a connection that has received `received_bytes` since it began.
    pub fn check(
        &mut self,
        received_bytes: u64,
        keepalive: Keepalive,
        now_ns: u64,
    ) -> Option<KeepaliveAction> {
        let silent_since_ns = match self.silent_since_ns {
            Some(since_ns) if self.received_bytes == received_bytes => since_ns,
            _ => {
                *self = Self { received_bytes, silent_since_ns: Some(now_ns), pinged_at_ns: None };
                return None;
            }
        };
        match self.pinged_at_ns {
            None if now_ns.saturating_sub(silent_since_ns) >= keepalive.time_ns => {
                self.pinged_at_ns = Some(now_ns);
                Some(KeepaliveAction::SendPing)
            }
            Some(at_ns) if now_ns.saturating_sub(at_ns) >= keepalive.timeout_ns => {
                Some(KeepaliveAction::GiveUp)
            }
            _ => None,
        }
    }

    /// When the next check is due, after a check at `now_ns`.
    pub fn next_ns(&self, keepalive: Keepalive, now_ns: u64) -> u64 {
        match self.pinged_at_ns {
            Some(at_ns) => at_ns.saturating_add(keepalive.timeout_ns),
            None => now_ns.saturating_add(keepalive.check_interval_ns()),
        }
    }

    /// Nothing is expected for now: silence is measured from the next check on.
    pub fn pause(&mut self) {
        *self = Self::default();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;

    const KEEPALIVE: Keepalive = Keepalive { time_ns: 1_000, timeout_ns: 200 };

    #[test]
    fn a_silent_peer_gets_one_ping_and_is_then_given_up() {
        let mut state = KeepaliveState::default();
        let mut said = Vec::new();
        let mut now_ns = 77;
        while said.last() != Some(&(now_ns, KeepaliveAction::GiveUp)) {
            now_ns = state.next_ns(KEEPALIVE, now_ns);
            said.extend(state.check(5, KEEPALIVE, now_ns).map(|what| (now_ns, what)));
        }
        let first_ns = 77 + 250;
        let pinged_ns = first_ns + 1_000;
        let expected =
            [(pinged_ns, KeepaliveAction::SendPing), (pinged_ns + 200, KeepaliveAction::GiveUp)];
        assert_eq!(said, expected);
    }

    #[test]
    fn whatever_comes_is_an_answer() {
        let mut state = KeepaliveState::default();
        assert_eq!(state.check(5, KEEPALIVE, 0), None);
        assert_eq!(state.check(5, KEEPALIVE, 1_000), Some(KeepaliveAction::SendPing));
        assert_eq!(state.check(6, KEEPALIVE, 1_199), None);
        assert_eq!(state.check(6, KEEPALIVE, 2_198), None, "silence counts anew");
        assert_eq!(state.check(6, KEEPALIVE, 2_199), Some(KeepaliveAction::SendPing));
    }

    #[test]
    fn a_peer_that_goes_on_talking_gets_no_ping() {
        let mut state = KeepaliveState::default();
        let mut now_ns = 0;
        for received_bytes in 0..1_000 {
            assert_eq!(state.check(received_bytes, KEEPALIVE, now_ns), None);
            now_ns = state.next_ns(KEEPALIVE, now_ns) + 500;
        }
    }

    #[test]
    fn a_pause_makes_silence_count_from_its_end() {
        let mut state = KeepaliveState::default();
        state.check(5, KEEPALIVE, 0);
        state.pause();
        assert_eq!(state.check(5, KEEPALIVE, 10_000), None);
        assert_eq!(state.check(5, KEEPALIVE, 10_999), None);
        assert_eq!(state.check(5, KEEPALIVE, 11_000), Some(KeepaliveAction::SendPing));
        assert_eq!(KEEPALIVE.at_half_rate().time_ns, 2_000);
    }
}
