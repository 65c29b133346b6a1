//! The limits of a connection. Every one is a named constant with its reason and its precedent.

use crate::settings::{DEFAULT_HEADER_TABLE_BYTES, DEFAULT_MAX_FRAME_BYTES, Settings};

/// Streams that a peer on the open internet may have open: what h2 and nghttp2's servers advertise
/// lies between 100 and 250.
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
/// shall not be what is measured.
pub const TRUSTED_CONNECTION_WINDOW_BYTES: u32 = 1 << 30;
/// Header list that is stored, RFC 9113's count of 32 bytes a field on top: hyper's default.
pub const MAX_HEADER_LIST_BYTES: u32 = 16_384;
/// Fields of a header list that are stored: Envoy stops at 100.
pub const MAX_HEADER_FIELDS: usize = 128;
/// Frames of one header block: nghttp2 allows 8 CONTINUATION frames.
pub const MAX_HEADER_BLOCK_FRAMES: usize = 9;
/// Bytes of one header block, in header lists that are stored: beyond four h2 closes the
/// connection. Coded bytes are hardly ever more than those that they stand for.
pub const MAX_HEADER_BLOCK_LISTS: usize = 4;
/// What the peer's windows may hold back on a connection from the open internet before no further
/// stream is taken: sixteen of the largest messages that gRPC clients take (4 MiB). hyper's 400 KiB
/// for each of 250 streams come to 100 MB.
pub const INTERNET_MAX_BLOCKED_BYTES: usize = 64 << 20;
/// The same for trusted peers: as much as their unfinished requests may occupy.
pub const TRUSTED_MAX_BLOCKED_BYTES: usize = 1 << 30;
/// A window that is opened by less than this, while something waits for it, is opened a crack, and
/// a glitch. h2 has the sender of smaller DATA frames pay for them (RUSTSEC-2026-0258).
pub const SMALL_INCREMENT_BYTES: u32 = 256;
/// Calls that a client starts before the server's SETTINGS have come: RFC 9113 section 6.5.2
/// recommends that servers allow no fewer than 100.
pub const CONCURRENT_STREAMS_BEFORE_SETTINGS: u32 = 100;

/// What a connection promises its peer.
#[derive(Clone, Debug)]
pub struct ConnectionConfig {
    /// The settings that are announced in the first frame.
    pub settings: Settings,
    /// The window of the whole connection.
    pub connection_window_bytes: u32,
    /// Fields of a header list that are stored.
    pub max_header_fields: usize,
    /// What the peer's windows may hold back before further streams of the peer are refused
    /// (REFUSED_STREAM: it is safe to try again), bytes.
    pub max_blocked_bytes: usize,
    /// The id of the first stream of a client: 1, but in tests of what happens at the end of ids.
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
