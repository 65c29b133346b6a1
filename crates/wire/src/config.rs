//! The limits of a connection. Each is a named constant with its reason and its precedent.

use crate::settings::{DEFAULT_HEADER_TABLE_BYTES, DEFAULT_MAX_FRAME_BYTES, Settings};

/// Streams that a peer on the open internet may have open: h2 and nghttp2's servers advertise
/// between 100 and 250.
pub const INTERNET_MAX_CONCURRENT_STREAMS: u32 = 250;
/// Streams of a trusted peer: load tests put tens of thousands of calls on one connection.
pub const TRUSTED_MAX_CONCURRENT_STREAMS: u32 = 1 << 20;
/// Window of a stream on the open internet: HTTP/2's own default. A message fits in four of them.
pub const INTERNET_STREAM_WINDOW_BYTES: u32 = 65_535;
/// Window of a connection on the open internet: 16 stream windows, so that one slow stream does
/// not stop the others.
pub const INTERNET_CONNECTION_WINDOW_BYTES: u32 = 1 << 20;
/// Window of a stream of a trusted peer: a message of the usual 4 MiB limit fits.
pub const TRUSTED_STREAM_WINDOW_BYTES: u32 = 4 << 20;
/// Window of a connection of a trusted peer. h2load uses 2^30 for the same reason: flow control
/// must not be what is measured.
pub const TRUSTED_CONNECTION_WINDOW_BYTES: u32 = 1 << 30;
/// Size limit of a stored header list, counted as in RFC 9113 with 32 bytes for each field: hyper's
/// default.
pub const MAX_HEADER_LIST_BYTES: u32 = 16_384;
/// Most fields that are stored of a header list: Envoy stops at 100.
pub const MAX_HEADER_FIELDS: usize = 128;
/// Most frames of one header block: nghttp2 allows 8 CONTINUATION frames.
pub const MAX_HEADER_BLOCK_FRAMES: usize = 9;
/// Largest header block, as a multiple of the largest stored header list: h2 closes the connection
/// beyond four. Encoded bytes hardly ever outnumber the bytes that they stand for.
pub const MAX_HEADER_BLOCK_LISTS: usize = 4;
/// Bytes that may wait for the windows of a peer on the open internet before its further streams
/// are refused: sixteen of the largest messages that gRPC clients take (4 MiB). hyper's 400 KiB for
/// each of 250 streams add up to 100 MB.
pub const INTERNET_MAX_BLOCKED_BYTES: usize = 64 << 20;
/// The same for trusted peers: as much as their unfinished requests may occupy.
pub const TRUSTED_MAX_BLOCKED_BYTES: usize = 1 << 30;
/// While something waits for a window, opening that window by less than this counts as a glitch. h2
/// charges smaller DATA frames to their sender (RUSTSEC-2026-0258).
pub const SMALL_INCREMENT_BYTES: u32 = 256;
/// Calls that a client starts before the server's SETTINGS have come: RFC 9113 section 6.5.2
/// recommends that servers allow no fewer than 100.
pub const CONCURRENT_STREAMS_BEFORE_SETTINGS: u32 = 100;

/// What a connection promises its peer.
#[derive(Clone, Debug)]
pub struct ConnectionConfig {
    /// The settings announced in the first frame.
    pub settings: Settings,
    /// The window of the whole connection.
    pub connection_window_bytes: u32,
    /// Most fields that are stored of a header list.
    pub max_header_fields: usize,
    /// Bytes that may wait for the peer's windows before its further streams are refused
    /// (REFUSED_STREAM: it is safe to try again).
    pub max_blocked_bytes: usize,
    /// The id of a client's first stream: 1, except in tests of how the ids run out.
    pub first_stream_id: u32,
}

impl ConnectionConfig {
    /// Limits for peers that may be hostile.
    pub fn internet() -> Self {
        Self {
            settings: settings(INTERNET_MAX_CONCURRENT_STREAMS, INTERNET_STREAM_WINDOW_BYTES),
            connection_window_bytes: INTERNET_CONNECTION_WINDOW_BYTES,
            max_header_fields: MAX_HEADER_FIELDS,
            max_blocked_bytes: INTERNET_MAX_BLOCKED_BYTES,
            first_stream_id: 1,
        }
    }

    /// Limits for peers that are trusted: large windows, many streams.
    pub fn trusted() -> Self {
        Self {
            settings: settings(TRUSTED_MAX_CONCURRENT_STREAMS, TRUSTED_STREAM_WINDOW_BYTES),
            connection_window_bytes: TRUSTED_CONNECTION_WINDOW_BYTES,
            max_blocked_bytes: TRUSTED_MAX_BLOCKED_BYTES,
            ..Self::internet()
        }
    }
}

fn settings(streams: u32, stream_window_bytes: u32) -> Settings {
    Settings {
        header_table_bytes: DEFAULT_HEADER_TABLE_BYTES,
        enable_push: false,
        max_concurrent_streams: Some(streams),
        initial_window_bytes: stream_window_bytes,
        max_frame_bytes: DEFAULT_MAX_FRAME_BYTES,
        max_header_list_bytes: Some(MAX_HEADER_LIST_BYTES),
    }
}
