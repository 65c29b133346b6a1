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
pub const GREETING_TIMEOUT_NS: u64 = 10_000_000_000;

/// Streams that a client on the open internet may have reset at once, and how many more a second:
/// nghttp2's numbers. Each costs the server work and the client none (CVE-2023-44487), whether the
/// client resets it or provokes us to (CVE-2025-8671).
pub const INTERNET_RESETS: ResetLimit = ResetLimit {
    burst: 1_000,
    per_second: 33,
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
    /// Streams of one connection that may be reset; `None`: all. A connection beyond is closed with
    /// `ENHANCE_YOUR_CALM`.
    pub resets: Option<ResetLimit>,
}

/// A number of events and how fast it fills up again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ResetLimit {
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
            resets: Some(INTERNET_RESETS),
        }
    }

    /// For clients that are trusted: large windows, many streams.
    pub fn trusted() -> Self {
        Limits {
            http2: Config::trusted(),
            max_message_bytes: MAX_MESSAGE_BYTES,
            max_unfinished_bytes: TRUSTED_MAX_UNFINISHED_BYTES,
            greeting_timeout_ns: None,
            resets: None,
        }
    }
}

impl Default for Limits {
    fn default() -> Self {
        Limits::internet()
    }
}
