//! What is checked, and the outcomes that a check may have.

use bookend_wire::ErrorCode;
use serde::Serialize;
use std::fmt;
use std::time::Duration;
use thiserror::Error;

macro_rules! checks {
    ($($(#[$doc:meta])* $check:ident: $label:literal,)*) => {
        /// One thing that HTTP/2 or gRPC demands of a server. In JSON its name is in snake case.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
        #[serde(rename_all = "snake_case")]
        pub enum SemanticsCheck {
            $($(#[$doc])* $check,)*
        }

        impl SemanticsCheck {
            /// Every check, in the order in which reports list them.
            pub const ALL: [Self; 16] = [$(Self::$check),*];

            /// The check's name in tables and reports.
            pub fn label(self) -> &'static str {
                match self {
                    $(Self::$check => $label,)*
                }
            }
        }
    };
}

checks! {
    /// SETTINGS are acknowledged.
    SettingsAck: "SETTINGS ACK",
    /// PING is answered with its own payload.
    Ping: "PING",
    /// A request message over 16 KiB, which spans several DATA frames, is accepted.
    LargeMessage: "messages over 16 KiB",
    /// A reply respects our window, however small.
    SmallWindows: "small windows",
    /// A method that does not exist is answered with `UNIMPLEMENTED`.
    UnknownMethod: "UNIMPLEMENTED",
    /// A call whose deadline has passed before its request is whole is not answered `OK`.
    Deadline: "deadlines",
    /// Metadata that the server does not know, with binary values, breaks nothing.
    Metadata: "metadata",
    /// A request's head may continue in CONTINUATION frames.
    Continuation: "CONTINUATION",
    /// HEADERS and DATA may be padded.
    Padding: "padding",
    /// A call succeeds on a connection on which another one was reset.
    ResetStream: "RST_STREAM",
    /// Two calls' frames may come interleaved.
    InterleavedCalls: "interleaved calls",
    /// A message may be cut into DATA frames anywhere, even inside its prefix.
    CutMessage: "messages cut anywhere",
    /// A frame may come in several reads, cut in its header or in its payload.
    CutFrames: "frames cut anywhere",
    /// Frames and settings of unknown kinds are ignored.
    UnknownFrames: "unknown frames",
    /// Our SETTINGS_HEADER_TABLE_SIZE of 0 is respected.
    HeaderTable: "header table size",
    /// No answer waits in the server's kernel until an earlier one is acknowledged.
    NoAckWaits: "answers without waiting for ACKs",
}

impl SemanticsCheck {
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

/// Why a check did not find what it looked for.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub(super) enum CheckError {
    /// The check's time is up.
    #[error("no answer within {0:?}")]
    TimedOut(Duration),
    /// The server closed the connection, or refused it.
    #[error("the server closed the connection")]
    Closed,
    /// The server sent GOAWAY with an error, and why.
    #[error("the server sent GOAWAY {0}{reason}", reason = in_parentheses(.1))]
    GoingAway(ErrorCode, String),
    /// The server broke HTTP/2.
    #[error("the server broke HTTP/2: {0}")]
    Violation(&'static str),
    /// The server did something else.
    #[error("{0}")]
    Unsupported(String),
    /// The network or this machine failed, or there is nothing to send.
    #[error("{0}")]
    NotChecked(String),
}

impl From<CheckError> for CheckOutcome {
    fn from(error: CheckError) -> Self {
        match error {
            CheckError::NotChecked(reason) => Self::NotChecked(reason),
            error => Self::Unsupported(error.to_string()),
        }
    }
}

fn in_parentheses(text: &str) -> String {
    if text.is_empty() { String::new() } else { format!(" ({text})") }
}
