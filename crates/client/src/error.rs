//! What can go wrong with a connection, whose fault it is, and what to do.

use crate::targets::TargetError;
use bookend_wire::{CannotOpen, ConnectionError};
use std::fmt;
use std::time::Duration;

/// Why there is no connection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ConnectError {
    /// The target is none, or nobody knows the host. The user's fault.
    Unresolved(TargetError),
    /// Nobody listens there. The server's or the user's fault.
    Refused {
        /// The address.
        address: String,
    },
    /// Nobody answered. The network's fault, or a machine's that is down.
    TimedOut {
        /// The address.
        address: String,
        /// For how long it was tried.
        waited: Duration,
    },
    /// The network or this machine has no way there.
    Unreachable {
        /// The address.
        address: String,
        /// What the system said.
        reason: String,
    },
    /// The connection was accepted, and then nothing came that HTTP/2 demands. The peer's fault.
    Silent {
        /// The address.
        address: String,
        /// For how long it was waited for.
        waited: Duration,
        /// How many octets had come.
        received_bytes: usize,
    },
    /// The connection was accepted and closed before SETTINGS had come. The peer's fault.
    ClosedAtOnce {
        /// The address.
        address: String,
    },
    /// Something else than HTTP/2 answers there. The peer's fault, or the wrong port.
    NotHttp2 {
        /// The address.
        address: String,
        /// What it is known or said to be.
        answered: String,
    },
}

/// Why a call has no answer. The connection is of no further use, but for [`CallError::Path`] and
/// [`CallError::CannotOpen`] with too many streams.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CallError {
    /// The path does not begin with `/`, or has octets that HTTP/2 forbids. The caller's fault.
    Path(String),
    /// The server takes no call now.
    CannotOpen {
        /// The address.
        address: String,
        /// Why.
        reason: CannotOpen,
    },
    /// The server went away before the answer was whole.
    Closed {
        /// The address.
        address: String,
        /// What its GOAWAY said, if there was one.
        goaway: Option<String>,
    },
    /// The server broke HTTP/2.
    Protocol {
        /// The address.
        address: String,
        /// The rule.
        error: ConnectionError,
    },
    /// The network failed.
    Network {
        /// The address.
        address: String,
        /// What the system said.
        reason: String,
    },
}

impl fmt::Display for ConnectError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unresolved(error) => error.fmt(f),
            Self::Refused { address } => write!(
                f,
                "nobody listens at {address}: start the server, or correct the target"
            ),
            Self::TimedOut { address, waited } => {
                write!(f, "{address} did not answer within {waited:?}: is it up?")
            }
            Self::Unreachable { address, reason } => {
                write!(f, "cannot connect to {address}: {reason}")
            }
            Self::Silent {
                address,
                waited,
                received_bytes: 0,
            } => write!(
                f,
                "{address} accepted the connection but sent no SETTINGS within {waited:?}: it hangs, \
                 or speaks another protocol than HTTP/2 without TLS"
            ),
            Self::Silent {
                address,
                waited,
                received_bytes,
            } => write!(
                f,
                "{address} sent {received_bytes} bytes but no whole SETTINGS within {waited:?}"
            ),
            Self::ClosedAtOnce { address } => write!(
                f,
                "{address} accepted the connection and closed it: it may want TLS, or speak another \
                 protocol than HTTP/2"
            ),
            Self::NotHttp2 { address, answered } => {
                write!(f, "{address} does not speak HTTP/2: {answered}")
            }
        }
    }
}

impl fmt::Display for CallError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Path(path) => write!(
                f,
                "{path:?} is not the path of a method: write /package.Service/Method"
            ),
            Self::CannotOpen { address, reason } => {
                write!(f, "{address} takes no call: {reason}")
            }
            Self::Closed {
                address,
                goaway: None,
            } => write!(f, "{address} closed the connection before it had answered"),
            Self::Closed {
                address,
                goaway: Some(said),
            } => write!(
                f,
                "{address} closed the connection before it had answered, and said {said}"
            ),
            Self::Protocol { address, error } => write!(f, "{address}: {error}"),
            Self::Network { address, reason } => {
                write!(f, "the connection to {address} failed: {reason}")
            }
        }
    }
}

impl From<TargetError> for ConnectError {
    fn from(error: TargetError) -> Self {
        Self::Unresolved(error)
    }
}

impl std::error::Error for ConnectError {}
impl std::error::Error for CallError {}
