//! From an address to a connection whose server has sent its SETTINGS.

use crate::error::ConnectError;
use crate::exchange::Exchange;
use crate::options::Options;
use crate::targets::TargetName;
use crate::transport::{Event, Transport};
use bookend_io::ByteStream;
use bookend_wire::{Connection, Side};
use std::io::{self, ErrorKind};
use std::time::Instant;

/// A TLS record that says "alert": what a server with TLS answers to anything else.
const TLS_ALERT: &[u8] = &[0x15, 0x03];
/// Octets of a foreign answer that an error shows.
const SHOWN_BYTES: usize = 40;

/// Tries every address that the name stands for.
pub(crate) fn connect(name: &TargetName, options: &Options) -> Result<Transport, ConnectError> {
    let connector = options.connector(name)?;
    let patience = options.connect_timeout;
    let secured = |stream: ByteStream| match &connector {
        Some(connector) => stream.secure(connector, patience),
        None => Ok(stream),
    };
    let mut last = None;
    for address in name.resolve()? {
        let connected = ByteStream::connect(&address, patience).and_then(secured);
        match connected.and_then(Transport::new) {
            Ok(transport) => return Ok(transport),
            Err(error) => last = Some(error),
        }
    }
    let error = last.unwrap_or_else(|| ErrorKind::AddrNotAvailable.into());
    Err(refused(&name.to_string(), &error, options))
}

/// Whose fault it is that there is no connection.
pub(crate) fn refused(address: &str, error: &io::Error, options: &Options) -> ConnectError {
    let address = address.to_owned();
    match error.kind() {
        // The file of a unix socket is not there, or has been left behind.
        ErrorKind::NotFound | ErrorKind::ConnectionRefused => ConnectError::Refused { address },
        ErrorKind::TimedOut | ErrorKind::WouldBlock => ConnectError::TimedOut {
            address,
            waited: options.connect_timeout,
        },
        _ => ConnectError::Unreachable {
            address,
            reason: error.to_string(),
        },
    }
}

/// Sends the preface and waits for the server's SETTINGS.
pub(crate) fn greet(
    transport: &mut Transport,
    exchange: &mut Exchange,
    address: &str,
    options: &Options,
) -> Result<Connection, ConnectError> {
    let mut connection = Connection::new(Side::Client, &options.http2);
    let deadline = Instant::now().checked_add(options.greeting_timeout);
    let mut received_bytes = 0;
    while !exchange.greeted {
        let before = transport.inbox().len();
        match transport.exchange(&mut connection.sender.output, deadline) {
            Ok(Event::Progress) => {}
            Ok(Event::TimedOut) => {
                return Err(ConnectError::Silent {
                    address: address.to_owned(),
                    waited: options.greeting_timeout,
                    received_bytes,
                });
            }
            // A reset is a close by a peer that had not read everything.
            Ok(Event::Closed) | Err(_) if received_bytes == 0 => {
                return Err(ConnectError::ClosedAtOnce {
                    address: address.to_owned(),
                });
            }
            Ok(Event::Closed) | Err(_) => {
                return Err(not_http2(address, transport.inbox()));
            }
        }
        received_bytes += transport.inbox().len() - before;
        match connection.receive(transport.inbox(), exchange) {
            Ok(consumed) => transport.consume(consumed),
            Err(_) => return Err(not_http2(address, transport.inbox())),
        }
    }
    Ok(connection)
}

/// Whether a server has answered with an alert of TLS.
pub(crate) fn is_tls_alert(inbox: &[u8]) -> bool {
    inbox.starts_with(TLS_ALERT)
}

/// Something answers that is not HTTP/2; `inbox` is the first of what it said.
pub(crate) fn not_http2(address: &str, inbox: &[u8]) -> ConnectError {
    let answered = if inbox.starts_with(TLS_ALERT) {
        "it answered with a TLS alert, and wants TLS".to_owned()
    } else {
        let shown = inbox[..inbox.len().min(SHOWN_BYTES)].escape_ascii();
        format!("it answered \"{shown}\"")
    };
    ConnectError::NotHttp2 {
        address: address.to_owned(),
        answered,
    }
}
