//! What becomes of a connection, in words for the calls that had to do with it.

use crate::error::{ConnectError, likely_cause_of_close};
use bookend_io::reason;
use bookend_wire::{ConnectionError, ErrorCode, Initiator};
use std::io::{self, ErrorKind};

/// A TLS record that says "alert": what a server with TLS answers to anything else.
const TLS_ALERT: &[u8] = &[0x15, 0x03];
/// Bytes of a foreign answer that an error shows.
const SHOWN_BYTES: usize = 40;

/// The message of a call whose deadline has passed.
pub(crate) const DEADLINE_PASSED: &str = "the deadline passed before the server had answered";

/// How a connection was lost.
#[derive(Debug)]
pub(crate) enum Loss<'a> {
    /// The server closed it.
    Closed,
    /// The network failed, in the system's words.
    Network(String),
    /// The server broke HTTP/2 by these bytes: nothing that follows can be understood.
    Protocol(ConnectionError, &'a [u8]),
    /// The server speaks another protocol.
    NotHttp2(&'a [u8]),
}

impl Loss<'_> {
    /// A reset is a close by a peer that had not read everything.
    pub fn of(error: &io::Error) -> Self {
        match error.kind() {
            ErrorKind::ConnectionReset | ErrorKind::BrokenPipe | ErrorKind::ConnectionAborted => {
                Self::Closed
            }
            _ => Self::Network(reason(error)),
        }
    }

    /// What the loss means for a connection on which no SETTINGS had come. `encrypt`: it had no
    /// TLS, and what to do for it to have TLS.
    pub fn before_settings(self, address: String, encrypt: Option<&str>) -> ConnectError {
        match self {
            Self::Closed => {
                ConnectError::ClosedAtOnce { address, likely: likely_cause_of_close(encrypt) }
            }
            Self::Network(reason) => ConnectError::Unreachable { address, reason },
            Self::Protocol(_, bytes) | Self::NotHttp2(bytes) => {
                ConnectError::NotHttp2 { address, answered: answered(bytes, encrypt) }
            }
        }
    }

    /// What the loss means for calls that were in flight, in words.
    pub fn text_of_calls(self, address: &str, goaway: Option<String>) -> String {
        match (self, goaway) {
            (Self::Network(reason), _) => format!("the connection to {address} failed: {reason}"),
            (Self::Protocol(error, _), _) => format!("{address}: {error}"),
            (_, Some(goaway)) => {
                format!("{address} closed the connection before it had answered, and said {goaway}")
            }
            (_, None) => format!("{address} closed the connection before it had answered"),
        }
    }
}

/// Whether a server has answered with an alert of TLS.
pub(crate) fn is_tls_alert(bytes: &[u8]) -> bool {
    bytes.starts_with(TLS_ALERT)
}

/// What a server has answered that does not speak HTTP/2.
fn answered(bytes: &[u8], encrypt: Option<&str>) -> String {
    match encrypt {
        Some(encrypt) if is_tls_alert(bytes) => {
            format!("it answered with a TLS alert, and wants TLS: {encrypt}")
        }
        _ => {
            let shown = bytes[..bytes.len().min(SHOWN_BYTES)].escape_ascii();
            format!("it answered \"{shown}\"")
        }
    }
}

/// What a RST_STREAM means, in words.
pub(crate) fn reset_text(code: ErrorCode, by: Initiator) -> String {
    match by {
        Initiator::Peer => format!("the server reset the call: {code}"),
        Initiator::PeerGoAway => "the server went away and had not looked at the call".to_owned(),
        Initiator::Library => format!("the server broke HTTP/2 on this call: {code}"),
    }
}

/// What a GOAWAY means, in words.
pub(crate) fn goaway_text(code: ErrorCode, debug: &[u8]) -> String {
    let debug = String::from_utf8_lossy(debug);
    if debug.is_empty() { code.to_string() } else { format!("{code} ({debug})") }
}
