//! What can go wrong with a connection, whose fault it is, and what to do.

use crate::targets::TargetError;
use bookend_io::reason;
use std::io::{self, ErrorKind};
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
        /// The system's words, or why the handshake failed.
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
    #[error("{address} accepted the connection and closed it: {likely}")]
    ClosedAtOnce {
        /// The address.
        address: String,
        /// What that is likely to mean, and what to do.
        likely: String,
    },
    /// The peer speaks another protocol than HTTP/2. Its fault, or the port is wrong.
    #[error("{address} does not speak HTTP/2: {answered}")]
    NotHttp2 {
        /// The address.
        address: String,
        /// What it answered, and what to do.
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

impl ConnectError {
    /// Why no connection to `address` was made, given what the system or TLS says, after `waited`.
    pub fn not_connected(address: String, error: &io::Error, waited: Duration) -> Self {
        match error.kind() {
            // The file of a unix socket is not there, or has been left behind.
            ErrorKind::NotFound | ErrorKind::ConnectionRefused => Self::Refused { address },
            ErrorKind::TimedOut | ErrorKind::WouldBlock => Self::TimedOut { address, waited },
            ErrorKind::HostUnreachable | ErrorKind::NetworkUnreachable | ErrorKind::NetworkDown => {
                let reason = format!(
                    "{}: correct the target, or look after this machine's network",
                    reason(error)
                );
                Self::Unreachable { address, reason }
            }
            _ => Self::Unreachable { address, reason: reason(error) },
        }
    }
}

impl From<io::Error> for ConnectError {
    fn from(error: io::Error) -> Self {
        Self::Machine { reason: reason(&error) }
    }
}

/// What it is likely to mean that a server has accepted a connection and closed it before it had
/// sent SETTINGS. `encrypt` is what to do where the connection had no TLS and the server wants it.
pub fn likely_cause_of_close(encrypt: Option<&str>) -> String {
    match encrypt {
        Some(encrypt) => format!("if it wants TLS, {encrypt}; else it does not speak HTTP/2"),
        None => "it does not speak HTTP/2, or is about to end".to_owned(),
    }
}
