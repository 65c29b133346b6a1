//! The first bytes of a client on a connection that is made for one call.

use crate::config::ConnectionConfig;
use crate::connection::Connection;
use crate::error::CannotOpen;
use crate::grpc::message::PREFIX_BYTES;
use crate::header_block::HeaderBlock;
use crate::side::Side;
use crate::streams::StreamKey;
use alloc::vec::Vec;

/// Preface, SETTINGS and one whole unary request: the bytes of one write. They are the same on
/// every new connection, so they are made once. See [`Connection::renew_with`].
#[derive(Clone, Debug)]
pub struct FirstFlight {
    bytes: Vec<u8>,
    body_bytes: usize,
}

impl FirstFlight {
    /// The first flight of clients with this configuration. `None` where the message does not fit
    /// the windows that a server grants before its SETTINGS (RFC 9113 section 6.9.2): such a
    /// request can only be written whole once the server has granted more.
    pub fn new(config: &ConnectionConfig, head: &HeaderBlock, message: &[u8]) -> Option<Self> {
        let mut connection = Connection::new(Side::Client, config);
        let sender = &mut connection.sender;
        let stream = sender.request(&mut head.clone(), &[], message).ok()?;
        (sender.blocked_bytes(stream) == 0).then(|| Self {
            bytes: core::mem::take(&mut sender.output),
            body_bytes: PREFIX_BYTES + message.len(),
        })
    }
}

impl Connection {
    /// As [`Connection::renew`] for a client, but with a whole `first_flight` in the output.
    /// Returns the stream of its call.
    ///
    /// The fields that the first flight inserted into the peer's dynamic table are older than all
    /// that this side will insert, so both ends count the same from the newest entry on.
    ///
    /// # Errors
    /// As [`crate::Sender::open`], where the first id is also the last.
    #[inline]
    pub fn renew_with(
        &mut self,
        config: &ConnectionConfig,
        first_flight: &FirstFlight,
    ) -> Result<StreamKey, CannotOpen> {
        self.forget(config);
        let FirstFlight { bytes, body_bytes } = first_flight;
        self.sender.open_with(bytes, *body_bytes)
    }
}
