//! What carries a connection between the two ends of a call.

use serde::de::IntoDeserializer as _;
use serde::de::value::{self, StrDeserializer};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

/// What carries a connection. `Display` and `FromStr` use the word of `BOOKEND_TRANSPORT`.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(rename_all = "lowercase")]
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
}

impl fmt::Display for Transport {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.serialize(out)
    }
}

/// The word is not one of the three transports.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a transport is h2c, tls or unix")]
pub struct UnknownTransport;

impl FromStr for Transport {
    type Err = UnknownTransport;

    fn from_str(word: &str) -> Result<Transport, UnknownTransport> {
        let deserializer: StrDeserializer<'_, value::Error> = word.into_deserializer();
        Transport::deserialize(deserializer).map_err(|_| UnknownTransport)
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
            assert_eq!(transport.to_string().parse(), Ok(transport));
        }
        assert_eq!(Transport::ALL.map(|transport| transport.to_string()), ["h2c", "tls", "unix"]);
        for stranger in ["", "h2", "TLS", "tcp"] {
            assert_eq!(stranger.parse::<Transport>(), Err(UnknownTransport));
        }
    }
}
