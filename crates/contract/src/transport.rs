//! What carries a connection between the two ends of a call.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

/// What carries a connection. `Display` and `FromStr` use the word of `BOOKEND_TRANSPORT`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Transport {
    /// HTTP/2 in plain text over TCP on IPv4 loopback, with prior knowledge (RFC 9113, 3.3); for
    /// protocols other than gRPC, plain TCP.
    #[default]
    H2c,
    /// The same over TLS, with `h2` chosen by ALPN.
    Tls,
    /// In plain text over a Unix domain socket (a stream socket with a path).
    Unix,
}

impl Transport {
    /// Every transport, in the order of tables.
    pub const ALL: [Transport; 3] = [Transport::H2c, Transport::Tls, Transport::Unix];

    /// Its word.
    pub fn word(self) -> &'static str {
        match self {
            Transport::H2c => "h2c",
            Transport::Tls => "tls",
            Transport::Unix => "unix",
        }
    }
}

impl fmt::Display for Transport {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.word())
    }
}

/// The word is not one of the three transports.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a transport is h2c, tls or unix")]
pub struct UnknownTransport;

impl FromStr for Transport {
    type Err = UnknownTransport;

    fn from_str(word: &str) -> Result<Transport, UnknownTransport> {
        let mut all = Transport::ALL.into_iter();
        all.find(|transport| transport.word() == word).ok_or(UnknownTransport)
    }
}

/// A transport with the files that a process needs for it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum TransportConfig {
    /// Nothing is needed.
    #[default]
    H2c,
    /// Keys and certificates.
    Tls(TlsFiles),
    /// The socket: a server listens there, a caller connects to it.
    Unix(PathBuf),
}

/// Files in PEM for one end of a TLS connection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TlsFiles {
    /// The certificate of the authority that has signed those of both ends.
    pub ca: PathBuf,
    /// This end's own certificate.
    pub certificate: PathBuf,
    /// Its private key, PKCS #8.
    pub key: PathBuf,
}

impl TransportConfig {
    /// Which transport it is.
    pub fn kind(&self) -> Transport {
        match self {
            TransportConfig::H2c => Transport::H2c,
            TransportConfig::Tls(_) => Transport::Tls,
            TransportConfig::Unix(_) => Transport::Unix,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_transport_is_known_by_its_word() {
        for transport in Transport::ALL {
            assert_eq!(transport.word().parse(), Ok(transport));
        }
        for stranger in ["", "h2", "TLS", "tcp"] {
            assert_eq!(stranger.parse::<Transport>(), Err(UnknownTransport));
        }
    }
}
