//! Certificates and keys, as they stand in files.

use rustls::RootCertStore;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};

/// Why TLS cannot be set up. The user's fault, or the machine's; `Display` says which file and what
/// is wrong with it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ConfigError {
    /// A file cannot be read.
    Unreadable {
        /// The file as it was given.
        file: PathBuf,
        /// What the system said.
        reason: String,
    },
    /// A file has nothing in it of what it should have.
    Unusable {
        /// The file as it was given.
        file: PathBuf,
        /// What is missing in it, or wrong with it.
        reason: String,
    },
    /// The key is not the one of the certificate, or of a kind that is not supported.
    KeyUnfit(String),
    /// This machine's own store of trusted authorities has none.
    NoSystemAuthorities(String),
    /// A name that no certificate can be for.
    ServerName(String),
    /// `SSLKEYLOGFILE` names a file that cannot be written.
    KeyLog {
        /// The file.
        file: PathBuf,
        /// What the system said.
        reason: String,
    },
    /// rustls takes none of it.
    Refused(String),
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unreadable { file, reason } => {
                write!(f, "cannot read {}: {reason}", file.display())
            }
            Self::Unusable { file, reason } => write!(f, "{}: {reason}", file.display()),
            Self::KeyUnfit(reason) => write!(f, "certificate and key cannot be used: {reason}"),
            Self::NoSystemAuthorities(reason) => write!(
                f,
                "this machine has no trusted authorities ({reason}): name the server's CA with \
                 --cacert FILE"
            ),
            Self::ServerName(name) => write!(
                f,
                "{name:?} is no name that a certificate can be for: give one with --cname NAME"
            ),
            Self::KeyLog { file, reason } => write!(
                f,
                "SSLKEYLOGFILE names {}, which cannot be written: {reason}",
                file.display()
            ),
            Self::Refused(reason) => write!(f, "TLS cannot be set up: {reason}"),
        }
    }
}

impl std::error::Error for ConfigError {}

/// A certificate chain and its private key.
#[derive(Debug)]
pub struct Identity {
    pub(crate) chain: Vec<CertificateDer<'static>>,
    pub(crate) key: PrivateKeyDer<'static>,
}

impl Identity {
    /// Reads a chain, the end's own certificate first, and its key (PKCS #8, PKCS #1 or SEC 1),
    /// both in PEM. They may stand in one file.
    ///
    /// # Errors
    /// [`ConfigError`] naming the file.
    pub fn read(certificate: &Path, key: &Path) -> Result<Self, ConfigError> {
        let chain = certificates(certificate)?;
        let bytes = read(key)?;
        let key = PrivateKeyDer::from_pem_slice(&bytes).map_err(|error| ConfigError::Unusable {
            file: key.to_owned(),
            reason: match error {
                rustls::pki_types::pem::Error::NoItemsFound => {
                    "there is no private key in it (-----BEGIN PRIVATE KEY-----)".to_owned()
                }
                error => format!("it is no PEM: {error}"),
            },
        })?;
        Ok(Self { chain, key })
    }
}

impl Clone for Identity {
    fn clone(&self) -> Self {
        Self {
            chain: self.chain.clone(),
            key: self.key.clone_key(),
        }
    }
}

/// Who may sign certificates.
#[derive(Clone, Debug)]
pub struct Authorities(pub(crate) RootCertStore);

impl Authorities {
    /// Reads the certificates of authorities from a PEM file.
    ///
    /// # Errors
    /// [`ConfigError`] naming the file.
    pub fn read(file: &Path) -> Result<Self, ConfigError> {
        let mut store = RootCertStore::empty();
        for certificate in certificates(file)? {
            store
                .add(certificate)
                .map_err(|error| ConfigError::Unusable {
                    file: file.to_owned(),
                    reason: format!("a certificate in it is none: {error}"),
                })?;
        }
        Ok(Self(store))
    }

    /// Those that this machine trusts: its own store, or what `SSL_CERT_FILE` and `SSL_CERT_DIR`
    /// name. Certificates in it that cannot be used are left out, as everywhere.
    ///
    /// # Errors
    /// [`ConfigError`] where there is not one.
    pub fn of_this_machine() -> Result<Self, ConfigError> {
        let found = rustls_native_certs::load_native_certs();
        let mut store = RootCertStore::empty();
        store.add_parsable_certificates(found.certs);
        if store.is_empty() {
            let reason = found.errors.first().map(ToString::to_string);
            let reason = reason.unwrap_or_else(|| "its store is empty".to_owned());
            return Err(ConfigError::NoSystemAuthorities(reason));
        }
        Ok(Self(store))
    }
}

fn certificates(file: &Path) -> Result<Vec<CertificateDer<'static>>, ConfigError> {
    let bytes = read(file)?;
    let unusable = |reason: String| ConfigError::Unusable {
        file: file.to_owned(),
        reason,
    };
    let found: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(&bytes).collect();
    let found = found.map_err(|error| unusable(format!("it is no PEM: {error}")))?;
    match found.is_empty() {
        false => Ok(found),
        true => Err(unusable(
            "there is no certificate in it (-----BEGIN CERTIFICATE-----)".to_owned(),
        )),
    }
}

fn read(file: &Path) -> Result<Vec<u8>, ConfigError> {
    fs::read(file).map_err(|error| ConfigError::Unreadable {
        file: file.to_owned(),
        reason: error.to_string(),
    })
}
