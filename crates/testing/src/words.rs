//! Numbers of RFC 9113 by their names.

/// What a client sends before its first frame, section 3.4.
pub const PREFACE: &[u8; 24] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

/// Types of frames, section 6.
pub mod kind {
    /// Part of a body.
    pub const DATA: u8 = 0;
    /// The head of a message, or its trailers.
    pub const HEADERS: u8 = 1;
    /// Advice about priority, deprecated.
    pub const PRIORITY: u8 = 2;
    /// The abrupt end of a stream.
    pub const RST_STREAM: u8 = 3;
    /// Parameters of the sender.
    pub const SETTINGS: u8 = 4;
    /// A liveness check.
    pub const PING: u8 = 6;
    /// The end of the connection.
    pub const GOAWAY: u8 = 7;
    /// Credit to send more.
    pub const WINDOW_UPDATE: u8 = 8;
    /// More of a header block.
    pub const CONTINUATION: u8 = 9;
}

/// Flags of frames, section 6.
pub mod flag {
    /// On SETTINGS and PING: an acknowledgement.
    pub const ACK: u8 = 0x1;
    /// On DATA and HEADERS: the last frame of its direction.
    pub const END_STREAM: u8 = 0x1;
    /// On HEADERS and CONTINUATION: the header block is whole.
    pub const END_HEADERS: u8 = 0x4;
    /// On DATA and HEADERS: the payload begins with a pad length.
    pub const PADDED: u8 = 0x8;
    /// On HEADERS: five bytes of priority precede the block.
    pub const PRIORITY: u8 = 0x20;
}

/// Parameters of SETTINGS, section 6.5.2.
pub mod setting {
    /// The decoder's table, bytes.
    pub const HEADER_TABLE_SIZE: u16 = 1;
    /// Streams that the peer may have open.
    pub const MAX_CONCURRENT_STREAMS: u16 = 3;
    /// The window of a new stream, bytes.
    pub const INITIAL_WINDOW_SIZE: u16 = 4;
    /// The largest payload of a frame, bytes.
    pub const MAX_FRAME_SIZE: u16 = 5;
}

/// Error codes, section 7.
pub mod error {
    /// Nothing is wrong.
    pub const NO_ERROR: u32 = 0;
    /// The stream was not looked at.
    pub const REFUSED_STREAM: u32 = 7;
    /// The stream is not needed any more.
    pub const CANCEL: u32 = 8;
    /// The peer generates too much load.
    pub const ENHANCE_YOUR_CALM: u32 = 11;
}
