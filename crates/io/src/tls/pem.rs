//! Certificates and keys, as they stand in files or in memory.

use super::certificate_fault::fault_of;
use super::config_error::{ConfigError, PemPart};
use super::machine_store;
use super::pem_file::{certificates, in_bytes, in_file, private_key};
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{Error, RootCertStore};
use std::fmt;
use std::path::{Path, PathBuf};

/// A certificate chain and its private key.
#[derive(Debug)]
pub struct Identity {
    pub(crate) chain: Vec<CertificateDer<'static>>,
    pub(crate) key: PrivateKeyDer<'static>,
    /// Where they stand, if they have been read.
    files: Option<[PathBuf; 2]>,
}

impl Identity {
    /// Reads a chain, the end's own certificate first, and its key (PKCS #8, PKCS #1 or SEC 1),
    /// both in PEM. They may stand in one file.
    ///
    /// # Errors
    /// [`ConfigError`] naming the file.
    pub fn read(certificate: &Path, key: &Path) -> Result<Self, ConfigError> {
        Ok(Self {
            chain: in_file(certificate, certificates)?,
            key: in_file(key, private_key)?,
            files: Some([certificate, key].map(Path::to_owned)),
        })
    }

    /// Like [`Identity::read`], from memory: for a key that should be in no file.
    ///
    /// # Errors
    /// [`ConfigError::UnusableBytes`].
    pub fn from_pem(certificate: &[u8], key: &[u8]) -> Result<Self, ConfigError> {
        Ok(Self {
            chain: in_bytes(PemPart::Certificate, certificate, certificates)?,
            key: in_bytes(PemPart::Key, key, private_key)?,
            files: None,
        })
    }

    /// Chain and key, as rustls takes them.
    pub(crate) fn parts(&self) -> (Vec<CertificateDer<'static>>, PrivateKeyDer<'static>) {
        (self.chain.clone(), self.key.clone_key())
    }
}

impl fmt::Display for Identity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.files {
            Some([certificate, key]) => {
                write!(f, "certificate {} and key {}", certificate.display(), key.display())
            }
            None => f.write_str("certificate and key"),
        }
    }
}

impl Clone for Identity {
    fn clone(&self) -> Self {
        let (chain, key) = self.parts();
        Self { chain, key, files: self.files.clone() }
    }
}

/// Trusted certificate authorities, and certificates of servers or clients that are trusted
/// themselves.
#[derive(Clone, Debug)]
pub struct Authorities {
    pub(crate) store: RootCertStore,
    /// What the store was made of.
    pub(crate) certificates: Vec<CertificateDer<'static>>,
}

impl Authorities {
    /// Reads the certificates of authorities from a PEM file.
    ///
    /// # Errors
    /// [`ConfigError`] naming the file.
    pub fn read(file: &Path) -> Result<Self, ConfigError> {
        in_file(file, authorities)
    }

    /// As [`Authorities::read`], of what the file would hold.
    ///
    /// # Errors
    /// [`ConfigError::UnusableBytes`].
    pub fn from_pem(certificates: &[u8]) -> Result<Self, ConfigError> {
        in_bytes(PemPart::Authorities, certificates, authorities)
    }

    /// Those that this machine trusts: its own store, or what `SSL_CERT_FILE` and `SSL_CERT_DIR`
    /// name. Certificates that cannot be used are skipped.
    ///
    /// # Errors
    /// [`ConfigError`] where the machine has none, or `SSL_CERT_FILE` names a file that is of no
    /// use.
    pub fn of_this_machine() -> Result<Self, ConfigError> {
        let certificates = machine_store::certificates()?;
        let mut store = RootCertStore::empty();
        store.add_parsable_certificates(certificates.iter().cloned());
        Ok(Self { store, certificates })
    }
}

fn authorities(pem: &[u8]) -> Result<Authorities, String> {
    let certificates = certificates(pem)?;
    let mut store = RootCertStore::empty();
    for certificate in &certificates {
        store.add(certificate.clone()).map_err(|error| match error {
            Error::InvalidCertificate(error) => {
                format!("a certificate in it is not valid: it {}", fault_of(&error))
            }
            error => format!("a certificate in it is not valid: {error}"),
        })?;
    }
    Ok(Authorities { store, certificates })
}
