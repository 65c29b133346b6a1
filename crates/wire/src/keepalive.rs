//! Whether the peer of a quiet connection is still there: PING, and what no answer means.
//!
//! As gRPC has it (proposals A8 and A9): where nothing has come for some time, a PING asks for a
//! sign of life; where then nothing at all comes for some more, the peer is gone. There is no clock
//! and no timer here. A connection is looked at from time to time, and what is remembered between
//! two looks is how much had been heard: while bytes come, nothing is noted for them.

/// How often a client may ask at most: grpc-go's clients raise what is shorter to this.
pub const CLIENT_TIME_MIN_NS: u64 = 10_000_000_000;
/// How long an answer may take where nobody says otherwise: grpc-go's and grpc-java's default.
pub const TIMEOUT_NS: u64 = 20_000_000_000;
/// What servers say in the debug data of GOAWAY to clients that ask too often. Clients of grpc-go
/// and grpc-java know these bytes, and ask half as often from then on; so do ours.
pub const TOO_MANY_PINGS: &str = "too_many_pings";

/// A connection is looked at so often within the time of its silence. So the PING goes out between
/// one and one and a half times that after the last byte.
const LOOKS_PER_TIME: u64 = 4;

/// When to ask, and how long to wait for the answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Keepalive {
    /// Silence after which a PING is sent, nanoseconds.
    pub time_ns: u64,
    /// Silence behind the PING after which the peer is given up, nanoseconds.
    pub timeout_ns: u64,
}

/// What is to be done about a peer that is silent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Silence {
    /// Send a PING.
    Ask,
    /// The PING was not answered: the peer is gone, or the network is.
    Unanswered,
}

/// What was heard of one peer when its connection was last looked at.
#[derive(Clone, Copy, Debug, Default)]
pub struct Vigil {
    heard_bytes: u64,
    since_ns: Option<u64>,
    asked_at_ns: Option<u64>,
}

impl Keepalive {
    /// How long a connection may be left alone before it is looked at again, nanoseconds.
    pub fn look_interval_ns(&self) -> u64 {
        (self.time_ns / LOOKS_PER_TIME).max(1)
    }

    /// Asking half as often, as a client does that has asked too often.
    pub fn calmed(self) -> Self {
        Self {
            time_ns: self.time_ns.saturating_mul(2),
            ..self
        }
    }
}

impl Vigil {
    /// Looks at a connection on which `heard_bytes` have come since it began.
    pub fn look(&mut self, heard_bytes: u64, how: Keepalive, now_ns: u64) -> Option<Silence> {
        let since_ns = match self.since_ns {
            Some(since_ns) if self.heard_bytes == heard_bytes => since_ns,
            _ => {
                *self = Self {
                    heard_bytes,
                    since_ns: Some(now_ns),
                    asked_at_ns: None,
                };
                return None;
            }
        };
        match self.asked_at_ns {
            None if now_ns.saturating_sub(since_ns) >= how.time_ns => {
                self.asked_at_ns = Some(now_ns);
                Some(Silence::Ask)
            }
            Some(asked_at_ns) if now_ns.saturating_sub(asked_at_ns) >= how.timeout_ns => {
                Some(Silence::Unanswered)
            }
            _ => None,
        }
    }

    /// When to look next, after a look at `now_ns`.
    pub fn next_ns(&self, how: Keepalive, now_ns: u64) -> u64 {
        match self.asked_at_ns {
            Some(asked_at_ns) => asked_at_ns.saturating_add(how.timeout_ns),
            None => now_ns.saturating_add(how.look_interval_ns()),
        }
    }

    /// Nothing is expected for now: silence counts from the next look on.
    pub fn rest(&mut self) {
        *self = Self::default();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;

    const HOW: Keepalive = Keepalive {
        time_ns: 1_000,
        timeout_ns: 200,
    };

    #[test]
    fn who_is_silent_is_asked_once_and_then_given_up() {
        let mut vigil = Vigil::default();
        let mut said = Vec::new();
        let mut now_ns = 77;
        while said.last() != Some(&(now_ns, Silence::Unanswered)) {
            now_ns = vigil.next_ns(HOW, now_ns);
            said.extend(vigil.look(5, HOW, now_ns).map(|what| (now_ns, what)));
        }
        let first_ns = 77 + 250;
        let asked_ns = first_ns + 1_000;
        let expected = [
            (asked_ns, Silence::Ask),
            (asked_ns + 200, Silence::Unanswered),
        ];
        assert_eq!(said, expected);
    }

    #[test]
    fn whatever_comes_is_an_answer() {
        let mut vigil = Vigil::default();
        assert_eq!(vigil.look(5, HOW, 0), None);
        assert_eq!(vigil.look(5, HOW, 1_000), Some(Silence::Ask));
        assert_eq!(vigil.look(6, HOW, 1_199), None);
        assert_eq!(vigil.look(6, HOW, 2_198), None, "silence counts anew");
        assert_eq!(vigil.look(6, HOW, 2_199), Some(Silence::Ask));
    }

    #[test]
    fn who_goes_on_talking_is_never_asked() {
        let mut vigil = Vigil::default();
        let mut now_ns = 0;
        for heard_bytes in 0..1_000 {
            assert_eq!(vigil.look(heard_bytes, HOW, now_ns), None);
            now_ns = vigil.next_ns(HOW, now_ns) + 500;
        }
    }

    #[test]
    fn a_rest_makes_silence_count_from_its_end() {
        let mut vigil = Vigil::default();
        vigil.look(5, HOW, 0);
        vigil.rest();
        assert_eq!(vigil.look(5, HOW, 10_000), None);
        assert_eq!(vigil.look(5, HOW, 10_999), None);
        assert_eq!(vigil.look(5, HOW, 11_000), Some(Silence::Ask));
        assert_eq!(HOW.calmed().time_ns, 2_000);
    }
}
