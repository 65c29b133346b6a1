//! What is spoken with a server: the two layers of Thrift below the messages.

use clap::ValueEnum;

/// How values are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum ThriftProtocol {
    /// `TBinaryProtocol`, strict.
    #[default]
    Binary,
    /// `TCompactProtocol`.
    Compact,
}

/// How messages follow each other.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum ThriftTransport {
    /// Each has its length before it: `TFramedTransport`.
    #[default]
    Framed,
    /// As they are: `TBufferedTransport`, or a plain socket.
    Buffered,
}
