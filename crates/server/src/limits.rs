//! What a server accepts from its clients: two presets, and where their values come from.
//! `docs/use/limits.md` lists them, with what known attacks achieve against them.

use std::hash::{BuildHasher, RandomState};
use std::time::Duration;

use bookend_wire::{ConnectionConfig, Keepalive, keepalive};

/// The largest request message, as in grpc-go, grpc-java and tonic.
pub const MAX_MESSAGE_BYTES: usize = 4 << 20;

/// What unfinished requests of one connection may occupy on the open internet: four of the largest
/// messages. A window alone does not bound it, since it reopens while a message grows.
pub const INTERNET_MAX_UNFINISHED_BYTES: usize = 4 * MAX_MESSAGE_BYTES;

/// The same for trusted peers: a thousand streams that each send a megabyte.
pub const TRUSTED_MAX_UNFINISHED_BYTES: usize = 1 << 30;

/// What all connections of a server on the open internet may hold: 32 of the largest that one may
/// have unfinished, and half of what a small container has.
pub const INTERNET_MAX_HELD_BYTES: usize = 512 << 20;

/// Connections from one address of the open internet: a tenth of what a machine's ports would
/// allow, and more than an office behind one address needs.
pub const INTERNET_MAX_ADDRESS_CONNECTIONS: u32 = 1_024;

/// How long a client may take to send its preface, the first SETTINGS included: Go's net/http2
/// waits as long. Without it, silent connections would add up.
pub const PREFACE_TIMEOUT_NS: u64 = 10 * NS_PER_SECOND;

/// How long a frame or a header block may stay incomplete: Apache's `RequestReadTimeout` gives
/// headers 20 s. A full frame then needs 800 bytes a second, which any line carries.
pub const INPUT_TIMEOUT_NS: u64 = 20 * NS_PER_SECOND;

/// How long a request of one message, or a message of a stream that has begun, may make no
/// progress: nginx's `client_body_timeout`. Between messages, streams may be silent for as long as
/// they like.
pub const REQUEST_TIMEOUT_NS: u64 = 60 * NS_PER_SECOND;

/// The same for messages of which a part has come, while three quarters of
/// [`Limits::max_held_bytes`] are taken: a line that loses a packet twice is back after 3 s
/// (RFC 6298).
pub const TIGHT_REQUEST_TIMEOUT_NS: u64 = 5 * NS_PER_SECOND;

/// Less than this in that time is no progress: 800 bytes a second, as for
/// [`INPUT_TIMEOUT_NS`].
pub(crate) const TIGHT_PROGRESS_BYTES: usize = 4_000;

/// How long a client may read nothing of what is written to it: nginx's `send_timeout`.
pub const WRITE_TIMEOUT_NS: u64 = 60 * NS_PER_SECOND;

/// How long a client's flow control may hold back data without letting any through: Envoy's
/// `stream_idle_timeout`. Longer than for writes, since flow control exists for programs that stop
/// reading one stream.
pub const WINDOW_TIMEOUT_NS: u64 = 300 * NS_PER_SECOND;

/// How long a connection may have no call: Envoy's `idle_timeout`. Clients that vanish without
/// closing, such as machines that lose power, leave such connections behind.
pub const IDLE_TIMEOUT_NS: u64 = 3_600 * NS_PER_SECOND;

/// Silence of a client after which the server sends a PING, as grpc-go's servers do. This finds
/// clients that vanished with a call open; without a call, [`IDLE_TIMEOUT_NS`] comes first.
pub const KEEPALIVE_TIME_NS: u64 = 7_200 * NS_PER_SECOND;

/// How long the client may take to answer that PING: grpc-go's.
pub const KEEPALIVE_TIMEOUT_NS: u64 = keepalive::TIMEOUT_NS;

/// How long a client may take to answer the PING behind the first GOAWAY, before calls that it
/// sends are no longer handled: grpc-go's, and Envoy's `drain_timeout`.
pub const GOAWAY_PING_TIMEOUT_NS: u64 = 5 * NS_PER_SECOND;

/// How long calls may go on once the server stops. Docker kills a process 10 s after asking it to
/// end, Kubernetes after 30 s: this leaves the rest of the program two of the ten.
pub const DRAIN_NS: u64 = 8 * NS_PER_SECOND;

/// Jitter of the ages of connections, as a divisor: 10 % to either side, as in grpc-go, so that the
/// clients of a server that was restarted do not all reconnect at once.
const AGE_JITTER_PARTS: u64 = 10;

/// How often connections are checked for these timeouts, which may last that much longer.
pub const TIMEOUT_CHECK_INTERVAL_NS: u64 = 5 * NS_PER_SECOND;

/// The same while three quarters of [`Limits::max_held_bytes`] are taken.
pub(crate) const TIGHT_CHECK_INTERVAL_NS: u64 = NS_PER_SECOND / 4;

const NS_PER_SECOND: u64 = 1_000_000_000;

/// What one stream may send in one turn, bytes: four full frames. Then the other streams of its
/// thread have theirs. Large enough that the fixed costs of a turn do not matter, small enough that
/// each of a thousand streams that all have something to send gets a dozen turns a second.
pub const STREAM_TURN_BYTES: usize = 64 << 10;

/// The work that one connection may cause in one turn, in bytes that are inflated: what takes a few
/// milliseconds. A kilobyte of gzip can stand for a megabyte, and a request of twenty bytes for a
/// reply of many, so without this limit a read's worth of small frames would occupy a thread for
/// seconds. The call that goes beyond is still handled.
pub const TURN_WORK_BYTES: usize = 1 << 20;

/// What one stream may have waiting for its client's flow control, bytes, before its handler must
/// stop: grpc-go's write quota. The message that goes beyond is still taken.
pub const STREAM_SEND_BUFFER_BYTES: usize = 64 << 10;

/// The same for all streams of a connection together: what the streams that clients may open by
/// default (250) can fill.
pub const CONNECTION_SEND_BUFFER_BYTES: usize = 16 << 20;

/// Output of one connection beyond which its streams wait until the driver has written it: a
/// quarter of what makes the driver stop reading (`BACKLOG_LIMIT_BYTES`), so that unary answers and
/// PINGs still find room.
pub const CONNECTION_OUTPUT_BYTES: usize = 256 << 10;

/// Streams of a client on the open internet that may be reset: nghttp2's numbers. Each costs the
/// server work and the client none (CVE-2023-44487), whether the client resets it or provokes the
/// server to (CVE-2025-8671).
pub const INTERNET_RESETS: Rate = Rate { burst: 1_000, per_second: 33 };

/// Wrong or useless actions of a client on the open internet that are tolerated
/// ([`bookend_wire::Sender::take_glitches`]): nghttp2's numbers.
pub const INTERNET_GLITCHES: Rate = Rate { burst: 10_000, per_second: 330 };

/// How many glitches a compressed message is that cannot be decompressed: a hundred of them at
/// once, and then three a second, end the connection of a client on the open internet. Each may
/// take milliseconds before it breaks, and compressors write none; one now and then may come from a
/// faulty machine.
pub const BROKEN_MESSAGE_GLITCHES: u32 = 100;

/// What a server accepts from its clients. Two presets; each value can be changed.
#[derive(Clone, Debug)]
pub struct Limits {
    /// HTTP/2: windows, streams, header lists.
    pub http2: ConnectionConfig,
    /// The largest request message, bytes. A larger one ends its call with `RESOURCE_EXHAUSTED`
    /// before it is stored.
    pub max_message_bytes: usize,
    /// What the unfinished requests of one connection may occupy, bytes. The call that exceeds it
    /// ends with `RESOURCE_EXHAUSTED`.
    pub max_unfinished_bytes: usize,
    /// What all connections of the server may hold, bytes; `None` for no limit. Heads, header
    /// blocks, unfinished requests, streaming calls, replies that wait for windows, output that is
    /// not written, the tables for all that, and what TLS keeps count, where they are allocated.
    /// When three quarters are taken, connections that hold more than their share get no further
    /// streams; when all is, those are reset that hold much and make no progress, and then those
    /// that were idle for longest. Of what handlers hold, only that of
    /// [`StreamHandler::held_bytes`](crate::StreamHandler::held_bytes) is known.
    pub max_held_bytes: Option<usize>,
    /// Connections that may come from one address, or one /64 of IPv6; `None` for no limit. Further
    /// ones are closed with `ENHANCE_YOUR_CALM`. Those of this machine have no limit.
    pub max_address_connections: Option<u32>,
    /// Time within which the client's preface, its first SETTINGS included, must come, nanoseconds;
    /// `None` for no limit.
    pub preface_timeout_ns: Option<u64>,
    /// Time that a frame or a header block may stay incomplete, nanoseconds; `None` for no limit.
    pub input_timeout_ns: Option<u64>,
    /// Time that a request of one message, or a message of a stream that has begun, may make no
    /// progress, nanoseconds; `None` for no limit. Then its call ends with `DEADLINE_EXCEEDED`. A
    /// stream that was answered before its request was complete is reset.
    pub request_timeout_ns: Option<u64>,
    /// Time that the client may read nothing of what is written, nanoseconds; `None` for no limit.
    pub write_timeout_ns: Option<u64>,
    /// Time that the client's flow control may hold back data without letting any through,
    /// nanoseconds; `None` for no limit.
    pub window_timeout_ns: Option<u64>,
    /// Time that a connection may have no call, nanoseconds; `None` for no limit. Then it is
    /// drained; a call that its client sends meanwhile is answered.
    pub idle_timeout_ns: Option<u64>,
    /// When a silent client is sent a PING; `None` for never. Connections are checked every
    /// [`TIMEOUT_CHECK_INTERVAL_NS`], so shorter times have no effect.
    pub keepalive: Option<Keepalive>,
    /// How old connections may become; `None` for no limit.
    pub connection_age: Option<ConnectionAge>,
    /// Streams of one connection that may be reset; `None` for no limit. Beyond it the connection
    /// is closed with `ENHANCE_YOUR_CALM`.
    pub resets: Option<Rate>,
    /// Wrong or useless actions of one client that are tolerated; `None` for no limit. Beyond it
    /// the connection is closed with `ENHANCE_YOUR_CALM`.
    pub glitches: Option<Rate>,
}

/// How old a connection may become. Then its client is asked to reconnect, while its calls go on:
/// this spreads load again over servers behind a balancer of connections.
#[derive(Clone, Debug)]
pub struct ConnectionAge {
    /// The age, nanoseconds. Each connection gets up to 10 % more or less.
    pub max_ns: u64,
    /// How long its calls may then go on, nanoseconds; `None` for no limit. Those that are left end
    /// with `UNAVAILABLE`.
    pub grace_ns: Option<u64>,
    /// The seed of the jitter: the same seed gives the same ages.
    pub seed: u64,
}

impl ConnectionAge {
    /// That age, no limit for the calls that are left, and a random seed.
    pub fn new(max: Duration) -> Self {
        ConnectionAge {
            max_ns: u64::try_from(max.as_nanos()).unwrap_or(u64::MAX),
            grace_ns: None,
            seed: RandomState::new().hash_one("ages of connections"),
        }
    }

    /// The age that the connection of that number gets.
    pub(crate) fn jittered_ns(&self, number: u64) -> u64 {
        let spread_ns = self.max_ns / AGE_JITTER_PARTS;
        let drawn = mixed(self.seed.wrapping_add(mixed(number)));
        let jitter_ns = drawn % (2 * spread_ns + 1);
        (self.max_ns - spread_ns).saturating_add(jitter_ns)
    }
}

/// The last step of SplitMix64.
fn mixed(number: u64) -> u64 {
    let mut z = number.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// A number of events, and how fast it is replenished.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rate {
    /// Events that may come at once.
    pub burst: u32,
    /// Further events a second.
    pub per_second: u32,
}

impl Limits {
    /// For clients that may be hostile: the default.
    pub fn internet() -> Self {
        Limits {
            http2: ConnectionConfig::internet(),
            max_message_bytes: MAX_MESSAGE_BYTES,
            max_unfinished_bytes: INTERNET_MAX_UNFINISHED_BYTES,
            max_held_bytes: Some(INTERNET_MAX_HELD_BYTES),
            max_address_connections: Some(INTERNET_MAX_ADDRESS_CONNECTIONS),
            preface_timeout_ns: Some(PREFACE_TIMEOUT_NS),
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
            max_held_bytes: None,
            max_address_connections: None,
            preface_timeout_ns: None,
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

    /// Handlers that may run for one connection at once, those of cancelled calls included: as many
    /// as streams may be open.
    pub(crate) fn max_running_handlers(&self) -> u32 {
        self.http2.settings.max_concurrent_streams.unwrap_or(u32::MAX)
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
        let age = ConnectionAge { seed: 7, ..ConnectionAge::new(Duration::from_secs(100)) };
        let drawn: Vec<_> = (0..1_000).map(|number| age.jittered_ns(number)).collect();
        let again: Vec<_> = (0..1_000).map(|number| age.jittered_ns(number)).collect();
        assert_eq!(drawn, again);
        let (least, most) = (drawn.iter().min().unwrap(), drawn.iter().max().unwrap());
        assert!((90 * NS_PER_SECOND..91 * NS_PER_SECOND).contains(least), "{least}");
        assert!((109 * NS_PER_SECOND..=110 * NS_PER_SECOND).contains(most), "{most}");
        let other = ConnectionAge { seed: 8, ..age };
        assert_ne!(other.jittered_ns(0), drawn[0]);
    }

    #[test]
    fn an_age_of_nothing_and_one_without_end_can_be_drawn() {
        assert_eq!(ConnectionAge::new(Duration::ZERO).jittered_ns(3), 0);
        ConnectionAge::new(Duration::MAX).jittered_ns(3);
    }
}
