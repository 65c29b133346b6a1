use std::net::SocketAddr;
use std::sync::Arc;

/// Who is at the other end of an accepted connection.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Peer {
    /// Where it connected from; `None` for a unix socket.
    pub address: Option<SocketAddr>,
    /// The certificates that it has shown, in DER, its own first; none without mutual TLS.
    ///
    /// They were verified: a handshake with others fails.
    pub certificates: Arc<[Box<[u8]>]>,
}
