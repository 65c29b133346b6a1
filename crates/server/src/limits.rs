//! What a server takes from its clients: two presets, and where their values come from.
//! `docs/use/limits.md` shows them beside what known attacks come to.

use std::hash::{BuildHasher, RandomState};
use std::time::Duration;

use bookend_wire::{ConnectionConfig, Keepalive, keepalive};

/// The largest request message, as in grpc-go, grpc-java and tonic.
pub const MAX_MESSAGE_BYTES: usize = 4 << 20;

/// What unfinished requests of one connection may occupy on the open internet: four of the largest
/// messages. A window alone does not bound it, since credit is given back while a message grows.
pub const INTERNET_MAX_UNFINISHED_BYTES: usize = 4 * MAX_MESSAGE_BYTES;

/// The same for trusted peers: a thousand streams that each send a megabyte.
pub const TRUSTED_MAX_UNFINISHED_BYTES: usize = 1 << 30;

/// How long a client may take to say what protocol it speaks: Go's net/http2 waits as long for the
/// preface. Without it, connections that say nothing would add up.
pub const GREETING_TIMEOUT_NS: u64 = 10 * NS_PER_SECOND;

/// How long a frame may stay half, and a header block open: Apache's `RequestReadTimeout` gives
/// headers 20 s. A full frame takes 800 bytes a second then, which any line carries.
pub const INPUT_TIMEOUT_NS: u64 = 20 * NS_PER_SECOND;

/// How long a request that is one message may stay as far as it has come: nginx's
/// `client_body_timeout`. Streams of messages may be silent for as long as they like.
pub const REQUEST_TIMEOUT_NS: u64 = 60 * NS_PER_SECOND;

/// How long a client may take nothing of what is written to it: nginx's `send_timeout`.
pub const WRITE_TIMEOUT_NS: u64 = 60 * NS_PER_SECOND;

/// How long a client's windows may let nothing go of what they hold back: Envoy's
/// `stream_idle_timeout`. Longer than for writes, since programs that stop reading one stream are
/// what flow control is for.
pub const WINDOW_TIMEOUT_NS: u64 = 300 * NS_PER_SECOND;

/// How long a connection may be kept without a call: Envoy's `idle_timeout`. Clients that are gone
/// without a word, as machines are that lose their power, leave such connections behind.
pub const IDLE_TIMEOUT_NS: u64 = 3_600 * NS_PER_SECOND;

/// Silence of a client after which it is asked whether it is there, as grpc-go's servers do. It
/// finds machines that are gone and left a call open; without a call, [`IDLE_TIMEOUT_NS`] is first.
pub const KEEPALIVE_TIME_NS: u64 = 7_200 * NS_PER_SECOND;

/// How long the client may take to answer that: grpc-go's.
pub const KEEPALIVE_TIMEOUT_NS: u64 = keepalive::TIMEOUT_NS;

/// How long a client that is asked to leave may take to answer the PING that goes with it, before
/// calls that it sends are no longer looked at: grpc-go's, and Envoy's `drain_timeout`.
pub const GOAWAY_PING_TIMEOUT_NS: u64 = 5 * NS_PER_SECOND;

/// How long calls may go on when the server was told to stop. Docker kills a process 10 s after it
/// asked it to end, Kubernetes after 30 s: this leaves the rest of the program two of the ten.
pub const DRAIN_NS: u64 = 8 * NS_PER_SECOND;

/// By how much the ages of connections differ, in parts of the age: 10 % to either side, as in
/// grpc-go, so that those of a server that was restarted do not all come back at once.
const AGE_JITTER_PARTS: u64 = 10;

/// How often connections are looked at for these: they last up to so much longer.
pub const PATROL_NS: u64 = 5 * NS_PER_SECOND;

const NS_PER_SECOND: u64 = 1_000_000_000;

/// Streams that a client on the open internet may have reset at once, and how many more a second:
/// nghttp2's numbers. Each costs the server work and the client none (CVE-2023-44487), whether the
/// client resets it or provokes us to (CVE-2025-8671).
pub const INTERNET_RESETS: Rate = Rate {
    burst: 1_000,
    per_second: 33,
};

/// What a client on the open internet may do that is wrong or useless
/// ([`bookend_wire::Sender::take_glitches`]): nghttp2's numbers.
pub const INTERNET_GLITCHES: Rate = Rate {
    burst: 10_000,
    per_second: 330,
};

/// What a server takes from its clients. Two presets; each value can be changed.
#[derive(Clone, Debug)]
pub struct Limits {
    /// HTTP/2: windows, streams, header lists.
    pub http2: ConnectionConfig,
    /// The largest request message, bytes. A larger one ends its call with `RESOURCE_EXHAUSTED`
    /// before it is stored.
    pub max_message_bytes: usize,
    /// What the unfinished requests of one connection may occupy, bytes. The call that goes beyond
    /// ends with `RESOURCE_EXHAUSTED`.
    pub max_unfinished_bytes: usize,
    /// Time until the client's first SETTINGS must have come, nanoseconds; `None`: for ever.
    pub greeting_timeout_ns: Option<u64>,
    /// Time that a frame may stay half or a header block open, nanoseconds; `None`: for ever.
    pub input_timeout_ns: Option<u64>,
    /// Time that a request which is one message may come no further, nanoseconds; `None`: for ever.
    /// Its call ends with `DEADLINE_EXCEEDED`, and a stream that was answered before its request
    /// was whole with RST_STREAM.
    pub request_timeout_ns: Option<u64>,
    /// Time that the client may take nothing of what is written, nanoseconds; `None`: for ever.
    pub write_timeout_ns: Option<u64>,
    /// Time that the client's windows may let nothing go of what they hold back, nanoseconds;
    /// `None`: for ever.
    pub window_timeout_ns: Option<u64>,
    /// Time that a connection may have no call, nanoseconds; `None`: for ever. Then its client is
    /// asked to leave; a call that it sends meanwhile is answered.
    pub idle_timeout_ns: Option<u64>,
    /// When to ask a silent client whether it is there; `None`: never. Connections are looked at
    /// every [`PATROL_NS`], so shorter times are as good as that.
    pub keepalive: Option<Keepalive>,
    /// How old connections may become; `None`: any age.
    pub connection_age: Option<ConnectionAge>,
    /// Streams of one connection that may be reset; `None`: all. A connection beyond is closed with
    /// `ENHANCE_YOUR_CALM`.
    pub resets: Option<Rate>,
    /// What may go wrong on one connection, or be of no use, and is survived; `None`: everything. A
    /// connection beyond is closed with `ENHANCE_YOUR_CALM`.
    pub glitches: Option<Rate>,
}

/// How old a connection may become. Its client is then asked to make another one, and the calls
/// that it has here go on: so load spreads again over servers behind a balancer of connections.
#[derive(Clone, Debug)]
pub struct ConnectionAge {
    /// The age, nanoseconds; each connection's own is up to 10 % more or less.
    pub max_ns: u64,
    /// How long its calls may then go on, nanoseconds; `None`: until they end. Those that are left
    /// end with `UNAVAILABLE`.
    pub grace_ns: Option<u64>,
    /// What the ages are drawn by: with the same seed, the same ages.
    pub seed: u64,
}

impl ConnectionAge {
    /// That age, any time for calls that are left, and a seed of its own.
    pub fn new(max: Duration) -> Self {
        ConnectionAge {
            max_ns: u64::try_from(max.as_nanos()).unwrap_or(u64::MAX),
            grace_ns: None,
            seed: RandomState::new().hash_one("ages of connections"),
        }
    }

    /// The age of one of many connections, by its number.
    pub(crate) fn drawn_ns(&self, number: u64) -> u64 {
        let spread_ns = self.max_ns / AGE_JITTER_PARTS;
        let drawn = mixed(self.seed.wrapping_add(mixed(number)));
        let jitter_ns = drawn % (2 * spread_ns + 1);
        (self.max_ns - spread_ns).saturating_add(jitter_ns)
    }
}

/// A number that looks like any other: the last step of SplitMix64.
fn mixed(number: u64) -> u64 {
    let mut z = number.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// A number of events and how fast it fills up again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rate {
    /// At once.
    pub burst: u32,
    /// And so many more a second.
    pub per_second: u32,
}

impl Limits {
    /// For clients that may be hostile: the default.
    pub fn internet() -> Self {
        Limits {
            http2: ConnectionConfig::internet(),
            max_message_bytes: MAX_MESSAGE_BYTES,
            max_unfinished_bytes: INTERNET_MAX_UNFINISHED_BYTES,
            greeting_timeout_ns: Some(GREETING_TIMEOUT_NS),
            input_timeout_ns: Some(INPUT_TIMEOUT_NS),
            request_timeout_ns: Some(REQUEST_TIMEOUT_NS),
            write_timeout_ns: Some(WRITE_TIMEOUT_NS),
            window_timeout_ns: Some(WINDOW_TIMEOUT_NS),
            idle_timeout_ns: Some(IDLE_TIMEOUT_NS),
            keepalive: Some(Keepalive {
                time_ns: KEEPALIVE_TIME_NS,
                timeout_ns: KEEPALIVE_TIMEOUT_NS,
            }),
            connection_age: None,
            resets: Some(INTERNET_RESETS),
            glitches: Some(INTERNET_GLITCHES),
        }
    }

    /// For clients that are trusted: large windows, many streams.
    pub fn trusted() -> Self {
        Limits {
            http2: ConnectionConfig::trusted(),
            max_message_bytes: MAX_MESSAGE_BYTES,
            max_unfinished_bytes: TRUSTED_MAX_UNFINISHED_BYTES,
            greeting_timeout_ns: None,
            input_timeout_ns: None,
            request_timeout_ns: None,
            write_timeout_ns: None,
            window_timeout_ns: None,
            idle_timeout_ns: None,
            keepalive: None,
            connection_age: None,
            resets: None,
            glitches: None,
        }
    }

    /// Handlers that may run for one connection at once, whether or not anybody still waits for
    /// them: as many as streams may be open.
    pub(crate) fn running_handlers_max(&self) -> u32 {
        self.http2
            .settings
            .max_concurrent_streams
            .unwrap_or(u32::MAX)
    }
}

impl Default for Limits {
    fn default() -> Self {
        Limits::internet()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ages_lie_within_a_tenth_and_are_the_same_for_the_same_seed() {
        let age = ConnectionAge {
            seed: 7,
            ..ConnectionAge::new(Duration::from_secs(100))
        };
        let drawn: Vec<_> = (0..1_000).map(|number| age.drawn_ns(number)).collect();
        let again: Vec<_> = (0..1_000).map(|number| age.drawn_ns(number)).collect();
        assert_eq!(drawn, again);
        let (least, most) = (drawn.iter().min().unwrap(), drawn.iter().max().unwrap());
        assert!(
            (90 * NS_PER_SECOND..91 * NS_PER_SECOND).contains(least),
            "{least}"
        );
        assert!(
            (109 * NS_PER_SECOND..=110 * NS_PER_SECOND).contains(most),
            "{most}"
        );
        let other = ConnectionAge { seed: 8, ..age };
        assert_ne!(other.drawn_ns(0), drawn[0]);
    }

    #[test]
    fn an_age_of_nothing_and_one_without_end_can_be_drawn() {
        assert_eq!(ConnectionAge::new(Duration::ZERO).drawn_ns(3), 0);
        ConnectionAge::new(Duration::MAX).drawn_ns(3);
    }
}
