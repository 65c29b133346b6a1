//! The two ends of a connection.

/// Which end of the connection is ours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TlsSide {
    Client,
    Server,
}

impl TlsSide {
    /// The other end, in words.
    pub fn peer(self) -> &'static str {
        match self {
            Self::Client => "the server",
            Self::Server => "the client",
        }
    }
}
