//! What a client says first on a connection that is made for one call.

use crate::config::ConnectionConfig;
use crate::connection::Connection;
use crate::grpc::message::PREFIX_BYTES;
use crate::header_block::HeaderBlock;
use crate::side::Side;
use alloc::vec::Vec;

/// Preface, SETTINGS and one whole unary request: the bytes of one write. They are the same on
/// every new connection, so they are made once. See [`Connection::renew_with`].
#[derive(Clone, Debug)]
pub struct FirstFlight {
    pub(crate) bytes: Vec<u8>,
    pub(crate) body_bytes: usize,
}

impl FirstFlight {
    /// The first flight of clients with that configuration. `None` where the message does not fit
    /// the windows that a server grants before its SETTINGS (RFC 9113 section 6.9.2): such a
    /// request is not written whole before the server has said more.
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
