use bookend_wire::Config;

/// The largest request message, as in grpc-go, grpc-java and tonic.
pub const MAX_MESSAGE_BYTES: usize = 4 << 20;

/// What unfinished requests of one connection may occupy on the open internet: four of the largest
/// messages. A window alone does not bound it, since credit is given back while a message grows.
pub const INTERNET_MAX_UNFINISHED_BYTES: usize = 4 * MAX_MESSAGE_BYTES;

/// The same for trusted peers: a thousand streams that each send a megabyte.
pub const TRUSTED_MAX_UNFINISHED_BYTES: usize = 1 << 30;

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
}

impl Limits {
    /// For clients that may be hostile: the default.
    pub fn internet() -> Self {
        Limits {
            http2: Config::internet(),
            max_message_bytes: MAX_MESSAGE_BYTES,
            max_unfinished_bytes: INTERNET_MAX_UNFINISHED_BYTES,
        }
    }

    /// For clients that are trusted: large windows, many streams.
    pub fn trusted() -> Self {
        Limits {
            http2: Config::trusted(),
            max_message_bytes: MAX_MESSAGE_BYTES,
            max_unfinished_bytes: TRUSTED_MAX_UNFINISHED_BYTES,
        }
    }
}

impl Default for Limits {
    fn default() -> Self {
        Limits::internet()
    }
}
