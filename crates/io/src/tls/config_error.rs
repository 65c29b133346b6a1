//! Why TLS cannot be set up.

use std::fmt;
use std::path::PathBuf;

/// Why TLS cannot be set up. The user's fault, or the machine's; `Display` says which file or which
/// argument it is, and what is wrong with it. It shows nothing of a file's content: that may be a
/// key.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ConfigError {
    /// A file cannot be read.
    #[error("cannot read {}: {reason}", .file.display())]
    Unreadable {
        /// The file as it was given.
        file: PathBuf,
        /// What the system said.
        reason: String,
    },
    /// A file has nothing in it of what it should have.
    #[error("{}: {reason}", .file.display())]
    Unusable {
        /// The file as it was given.
        file: PathBuf,
        /// What is missing in it, or wrong with it.
        reason: String,
    },
    /// Bytes have nothing in them of what they should have.
    #[error("{part} given as bytes: {reason}")]
    UnusableBytes {
        /// What they were given as.
        part: PemPart,
        /// What is missing in them, or wrong with them.
        reason: String,
    },
    /// A variable of the environment names a file that is of no use.
    #[error("{variable}: {reason}")]
    Variable {
        /// Its name.
        variable: &'static str,
        /// Which file, and what is wrong with it.
        reason: String,
    },
    /// The key is not the one of the certificate, or of a kind that is not supported.
    #[error("{identity} cannot be used: {reason}")]
    KeyUnfit {
        /// Certificate and key, with their files where they have been read.
        identity: String,
        /// What is wrong with which.
        reason: String,
    },
    /// This machine's own store of trusted authorities has none.
    #[error(
        "this machine has no trusted authorities ({0}): give the server's CA, by Trust::Signed"
    )]
    NoSystemAuthorities(String),
    /// A name that no certificate can be for.
    #[error("{name:?} is no name that a certificate can be for: give another with {option}")]
    ServerName {
        /// The name, with a port behind it or not.
        name: String,
        /// [`TlsAdvice::server_name`](super::TlsAdvice::server_name).
        option: &'static str,
    },
    /// `SSLKEYLOGFILE` names a file that cannot be written.
    #[error("SSLKEYLOGFILE names {}, which cannot be written: {reason}", .file.display())]
    KeyLog {
        /// The file.
        file: PathBuf,
        /// What the system said.
        reason: String,
    },
    /// rustls takes none of it.
    #[error("TLS cannot be set up: {0}")]
    Refused(String),
}

/// What bytes in PEM were given as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PemPart {
    /// The chain of an [`Identity`](super::Identity).
    Certificate,
    /// The key of an [`Identity`](super::Identity).
    Key,
    /// [`Authorities`](super::Authorities).
    Authorities,
}

impl fmt::Display for PemPart {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Certificate => "the certificate",
            Self::Key => "the key",
            Self::Authorities => "the authorities",
        })
    }
}
