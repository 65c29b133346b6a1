//! The two sides of a connection.

/// Which side of a connection this is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// Opens streams.
    Client,
    /// Answers them.
    Server,
}
