//! What is checked, and what can come of it.

use std::fmt;

/// One thing that HTTP/2 or gRPC demands of a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Check {
    /// SETTINGS are acknowledged.
    SettingsAck,
    /// PING is answered with its own payload.
    Ping,
    /// A request message over 16 KiB, which spans several DATA frames, is taken.
    LargeMessage,
    /// A reply comes in pieces where our window wants pieces.
    SmallWindows,
    /// A method that does not exist is answered with `UNIMPLEMENTED`.
    UnknownMethod,
    /// A call whose deadline has passed before its request is whole is not answered `OK`.
    Deadline,
    /// Metadata that the server does not know, binary values among it, breaks nothing.
    Metadata,
    /// A request's head may continue in CONTINUATION frames.
    Continuation,
    /// HEADERS and DATA may be padded.
    Padding,
    /// A call succeeds on a connection on which another one was reset.
    ResetStream,
    /// Two calls' frames may come interleaved.
    InterleavedCalls,
    /// A message may be cut into DATA frames anywhere, even inside its prefix.
    CutMessage,
    /// Frames and settings of unknown kinds are ignored.
    UnknownFrames,
    /// Our SETTINGS_HEADER_TABLE_SIZE of 0 is kept.
    HeaderTable,
}

impl Check {
    /// Every check, in the order in which reports list them.
    pub const ALL: [Self; 14] = [
        Self::SettingsAck,
        Self::Ping,
        Self::LargeMessage,
        Self::SmallWindows,
        Self::UnknownMethod,
        Self::Deadline,
        Self::Metadata,
        Self::Continuation,
        Self::Padding,
        Self::ResetStream,
        Self::InterleavedCalls,
        Self::CutMessage,
        Self::UnknownFrames,
        Self::HeaderTable,
    ];

    /// The key in JSON.
    pub fn key(self) -> &'static str {
        match self {
            Self::SettingsAck => "settings_ack",
            Self::Ping => "ping",
            Self::LargeMessage => "large_message",
            Self::SmallWindows => "small_windows",
            Self::UnknownMethod => "unknown_method",
            Self::Deadline => "deadline",
            Self::Metadata => "metadata",
            Self::Continuation => "continuation",
            Self::Padding => "padding",
            Self::ResetStream => "reset_stream",
            Self::InterleavedCalls => "interleaved_calls",
            Self::CutMessage => "cut_message",
            Self::UnknownFrames => "unknown_frames",
            Self::HeaderTable => "header_table",
        }
    }

    /// What stands behind "skips" in a table.
    pub fn label(self) -> &'static str {
        match self {
            Self::SettingsAck => "SETTINGS ACK",
            Self::Ping => "PING",
            Self::LargeMessage => "messages over 16 KiB",
            Self::SmallWindows => "small windows",
            Self::UnknownMethod => "UNIMPLEMENTED",
            Self::Deadline => "deadlines",
            Self::Metadata => "metadata",
            Self::Continuation => "CONTINUATION",
            Self::Padding => "padding",
            Self::ResetStream => "RST_STREAM",
            Self::InterleavedCalls => "interleaved calls",
            Self::CutMessage => "messages cut anywhere",
            Self::UnknownFrames => "unknown frames",
            Self::HeaderTable => "header table size",
        }
    }

    /// Whether it says nothing about a server that does not answer the plain call.
    pub(super) fn needs_good_call(self) -> bool {
        !matches!(self, Self::SettingsAck | Self::Ping | Self::UnknownMethod)
    }
}

/// What came of a check.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Finding {
    /// The server does it.
    Yes,
    /// The server does not; what it does instead.
    No(String),
    /// It cannot be said; why.
    NotChecked(String),
}

impl Finding {
    /// The value in JSON.
    pub fn word(&self) -> &'static str {
        match self {
            Self::Yes => "yes",
            Self::No(_) => "no",
            Self::NotChecked(_) => "not checked",
        }
    }

    /// What there is to say besides.
    pub fn reason(&self) -> Option<&str> {
        match self {
            Self::Yes => None,
            Self::No(reason) | Self::NotChecked(reason) => Some(reason),
        }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Yes => write!(formatter, "supported"),
            Self::No(reason) => write!(formatter, "not supported ({reason})"),
            Self::NotChecked(reason) => write!(formatter, "not checked ({reason})"),
        }
    }
}
