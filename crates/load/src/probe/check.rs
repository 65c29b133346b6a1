//! What is checked, and the outcomes that a check may have.

use std::fmt;

/// One thing that HTTP/2 or gRPC demands of a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SemanticsCheck {
    /// SETTINGS are acknowledged.
    SettingsAck,
    /// PING is answered with its own payload.
    Ping,
    /// A request message over 16 KiB, which spans several DATA frames, is accepted.
    LargeMessage,
    /// A reply respects our window, however small.
    SmallWindows,
    /// A method that does not exist is answered with `UNIMPLEMENTED`.
    UnknownMethod,
    /// A call whose deadline has passed before its request is whole is not answered `OK`.
    Deadline,
    /// Metadata that the server does not know, with binary values, breaks nothing.
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
    /// Our SETTINGS_HEADER_TABLE_SIZE of 0 is respected.
    HeaderTable,
}

impl SemanticsCheck {
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

    /// The check's key in JSON.
    pub fn key(self) -> &'static str {
        self.names().0
    }

    /// The check's name in tables and reports.
    pub fn label(self) -> &'static str {
        self.names().1
    }

    fn names(self) -> (&'static str, &'static str) {
        match self {
            Self::SettingsAck => ("settings_ack", "SETTINGS ACK"),
            Self::Ping => ("ping", "PING"),
            Self::LargeMessage => ("large_message", "messages over 16 KiB"),
            Self::SmallWindows => ("small_windows", "small windows"),
            Self::UnknownMethod => ("unknown_method", "UNIMPLEMENTED"),
            Self::Deadline => ("deadline", "deadlines"),
            Self::Metadata => ("metadata", "metadata"),
            Self::Continuation => ("continuation", "CONTINUATION"),
            Self::Padding => ("padding", "padding"),
            Self::ResetStream => ("reset_stream", "RST_STREAM"),
            Self::InterleavedCalls => ("interleaved_calls", "interleaved calls"),
            Self::CutMessage => ("cut_message", "messages cut anywhere"),
            Self::UnknownFrames => ("unknown_frames", "unknown frames"),
            Self::HeaderTable => ("header_table", "header table size"),
        }
    }

    /// Whether it can only be made where the server answers the plain call.
    pub(super) fn needs_good_call(self) -> bool {
        !matches!(self, Self::SettingsAck | Self::Ping | Self::UnknownMethod)
    }
}

/// The outcome of a check.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CheckOutcome {
    /// The server does it.
    Supported,
    /// The server does not do it; what it does instead.
    Unsupported(String),
    /// The check could not be made; why.
    NotChecked(String),
}

impl CheckOutcome {
    /// The outcome in JSON.
    pub fn word(&self) -> &'static str {
        match self {
            Self::Supported => "yes",
            Self::Unsupported(_) => "no",
            Self::NotChecked(_) => "not checked",
        }
    }

    /// Why the server is not said to do it.
    pub fn reason(&self) -> Option<&str> {
        match self {
            Self::Supported => None,
            Self::Unsupported(reason) | Self::NotChecked(reason) => Some(reason),
        }
    }

    /// The first of two outcomes that is not [`CheckOutcome::Supported`], if any.
    pub(super) fn and(self, other: Self) -> Self {
        match self {
            Self::Supported => other,
            _ => self,
        }
    }
}

impl fmt::Display for CheckOutcome {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Supported => write!(formatter, "supported"),
            Self::Unsupported(reason) => write!(formatter, "not supported ({reason})"),
            Self::NotChecked(reason) => write!(formatter, "not checked ({reason})"),
        }
    }
}
