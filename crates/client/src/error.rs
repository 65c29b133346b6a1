//! What can go wrong with a connection, whose fault it is, and what to do.

use crate::targets::TargetError;
use std::time::Duration;
use thiserror::Error;

/// Why there is no channel, or a channel has no connection.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ConnectError {
    /// The target cannot be understood, or its host has no address. The user's fault.
    #[error(transparent)]
    Unresolved(#[from] TargetError),
    /// Nothing listens there. The server's or the user's fault.
    #[error("nobody listens at {address}: start the server, or correct the target")]
    Refused {
        /// The address.
        address: String,
    },
    /// No answer came. The network's fault, or the machine there is down.
    #[error("{address} did not answer within {waited:?}: is it up?")]
    TimedOut {
        /// The address.
        address: String,
        /// How long the attempt lasted.
        waited: Duration,
    },
    /// The network or this machine has no way there, or the TLS handshake failed.
    #[error("cannot connect to {address}: {reason}")]
    Unreachable {
        /// The address.
        address: String,
        /// The system's words.
        reason: String,
    },
    /// The connection was accepted, and then nothing came. The peer's fault.
    #[error(
        "{address} accepted the connection but sent no SETTINGS within {waited:?}: it hangs, or \
         speaks another protocol than HTTP/2 without TLS"
    )]
    Silent {
        /// The address.
        address: String,
        /// How long the channel waited.
        waited: Duration,
    },
    /// The connection was accepted, and less came than HTTP/2 demands. The peer's fault.
    #[error("{address} sent {received_bytes} bytes but no whole SETTINGS within {waited:?}")]
    NoSettings {
        /// The address.
        address: String,
        /// How long the channel waited.
        waited: Duration,
        /// How many bytes came.
        received_bytes: usize,
    },
    /// The connection was accepted and closed before SETTINGS had come. The peer's fault.
    #[error(
        "{address} accepted the connection and closed it: it may want TLS, or speak another \
         protocol than HTTP/2"
    )]
    ClosedAtOnce {
        /// The address.
        address: String,
    },
    /// The peer speaks another protocol than HTTP/2. Its fault, or the port is wrong.
    #[error("{address} does not speak HTTP/2: {answered}")]
    NotHttp2 {
        /// The address.
        address: String,
        /// What it answered.
        answered: String,
    },
    /// This machine has no thread or descriptor left.
    #[error("cannot start the thread of a channel: {reason}")]
    Machine {
        /// The system's words.
        reason: String,
    },
    /// A callback of a channel would have waited for its own thread. The caller's fault.
    #[error("a callback of a channel must not wait for a connection: use a thread")]
    InsideCallback,
    /// The channel's thread has ended.
    #[error("the channel has ended")]
    ChannelEnded,
}

impl From<std::io::Error> for ConnectError {
    fn from(error: std::io::Error) -> Self {
        let reason = error.to_string();
        Self::Machine { reason }
    }
}
