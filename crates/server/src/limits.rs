//! What a server takes from its clients: two presets, and where their values come from.
//! `docs/limits.md` shows them beside what known attacks come to.

use bookend_wire::Config;

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
    pub http2: Config,
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
    /// Time that a connection may have no call, nanoseconds; `None`: for ever.
    pub idle_timeout_ns: Option<u64>,
    /// Streams of one connection that may be reset; `None`: all. A connection beyond is closed with
    /// `ENHANCE_YOUR_CALM`.
    pub resets: Option<Rate>,
    /// What may go wrong on one connection, or be of no use, and is survived; `None`: everything. A
    /// connection beyond is closed with `ENHANCE_YOUR_CALM`.
    pub glitches: Option<Rate>,
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
            http2: Config::internet(),
            max_message_bytes: MAX_MESSAGE_BYTES,
            max_unfinished_bytes: INTERNET_MAX_UNFINISHED_BYTES,
            greeting_timeout_ns: Some(GREETING_TIMEOUT_NS),
            input_timeout_ns: Some(INPUT_TIMEOUT_NS),
            request_timeout_ns: Some(REQUEST_TIMEOUT_NS),
            write_timeout_ns: Some(WRITE_TIMEOUT_NS),
            window_timeout_ns: Some(WINDOW_TIMEOUT_NS),
            idle_timeout_ns: Some(IDLE_TIMEOUT_NS),
            resets: Some(INTERNET_RESETS),
            glitches: Some(INTERNET_GLITCHES),
        }
    }

    /// For clients that are trusted: large windows, many streams.
    pub fn trusted() -> Self {
        Limits {
            http2: Config::trusted(),
            max_message_bytes: MAX_MESSAGE_BYTES,
            max_unfinished_bytes: TRUSTED_MAX_UNFINISHED_BYTES,
            greeting_timeout_ns: None,
            input_timeout_ns: None,
            request_timeout_ns: None,
            write_timeout_ns: None,
            window_timeout_ns: None,
            idle_timeout_ns: None,
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
