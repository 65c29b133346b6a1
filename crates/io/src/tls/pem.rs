//! Certificates and keys, as they stand in files or in memory.

use super::certificate_fault::fault_of;
use crate::machine::reason;
use rustls::pki_types::pem::{self, PemObject};
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{Error, RootCertStore};
use std::fmt;
use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};

/// Why TLS cannot be set up. The user's fault, or the machine's; `Display` says which file or which
/// argument it is, and what is wrong with it.
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
    /// The key is not the one of the certificate, or of a kind that is not supported.
    #[error("certificate and key cannot be used: {0}")]
    KeyUnfit(String),
    /// This machine's own store of trusted authorities has none.
    #[error(
        "this machine has no trusted authorities ({0}): give the server's CA, by Trust::Signed"
    )]
    NoSystemAuthorities(String),
    /// A name that no certificate can be for.
    #[error("{0:?} is no name that a certificate can be for: give another authority")]
    ServerName(String),
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
    /// The chain of an [`Identity`].
    Certificate,
    /// The key of an [`Identity`].
    Key,
    /// [`Authorities`].
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
        Ok(Self { chain: in_file(certificate, certificates)?, key: in_file(key, private_key)? })
    }

    /// Like [`Identity::read`], from memory: for a key that should be in no file.
    ///
    /// # Errors
    /// [`ConfigError::UnusableBytes`].
    pub fn from_pem(certificate: &[u8], key: &[u8]) -> Result<Self, ConfigError> {
        Ok(Self {
            chain: in_bytes(PemPart::Certificate, certificate, certificates)?,
            key: in_bytes(PemPart::Key, key, private_key)?,
        })
    }
}

impl Clone for Identity {
    fn clone(&self) -> Self {
        Self { chain: self.chain.clone(), key: self.key.clone_key() }
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
    /// [`ConfigError`] where there are none.
    pub fn of_this_machine() -> Result<Self, ConfigError> {
        let found = rustls_native_certs::load_native_certs();
        let mut store = RootCertStore::empty();
        store.add_parsable_certificates(found.certs.iter().cloned());
        if store.is_empty() {
            let reason = found
                .errors
                .first()
                .map(ToString::to_string)
                .unwrap_or_else(|| "its store is empty".to_owned());
            return Err(ConfigError::NoSystemAuthorities(reason));
        }
        Ok(Self { store, certificates: found.certs })
    }
}

/// A file is read no further: all the authorities that the world trusts together take 250 KB.
const PEM_MAX_BYTES: u64 = 16 << 20;

/// What PEM is parsed by. The error says what is missing in it, or wrong with it.
type Parse<T> = fn(&[u8]) -> Result<T, String>;

fn in_file<T>(file: &Path, parse: Parse<T>) -> Result<T, ConfigError> {
    let mut pem = Vec::new();
    File::open(file).and_then(|opened| opened.take(PEM_MAX_BYTES).read_to_end(&mut pem)).map_err(
        |error| ConfigError::Unreadable { file: file.to_owned(), reason: reason(&error) },
    )?;
    without_mark(&pem)
        .and_then(parse)
        .map_err(|reason| ConfigError::Unusable { file: file.to_owned(), reason })
}

/// What stands behind the byte order mark that some editors write before text in UTF-8.
fn without_mark(pem: &[u8]) -> Result<&[u8], String> {
    if pem.starts_with(&[0xff, 0xfe]) || pem.starts_with(&[0xfe, 0xff]) {
        return Err("it is text in UTF-16: save it in UTF-8".to_owned());
    }
    Ok(pem.strip_prefix(b"\xef\xbb\xbf").unwrap_or(pem))
}

fn in_bytes<T>(part: PemPart, pem: &[u8], parse: Parse<T>) -> Result<T, ConfigError> {
    without_mark(pem).and_then(parse).map_err(|reason| ConfigError::UnusableBytes { part, reason })
}

fn authorities(pem: &[u8]) -> Result<Authorities, String> {
    let certificates = certificates(pem)?;
    let mut store = RootCertStore::empty();
    for certificate in &certificates {
        store.add(certificate.clone()).map_err(|error| match error {
            Error::InvalidCertificate(error) => {
                format!("a certificate in it is none: it {}", fault_of(&error))
            }
            error => format!("a certificate in it is none: {error}"),
        })?;
    }
    Ok(Authorities { store, certificates })
}

fn certificates(pem: &[u8]) -> Result<Vec<CertificateDer<'static>>, String> {
    let found =
        CertificateDer::pem_slice_iter(pem).collect::<Result<Vec<_>, _>>().map_err(no_pem)?;
    if found.is_empty() {
        Err("there is no certificate in it (-----BEGIN CERTIFICATE-----)".to_owned())
    } else {
        Ok(found)
    }
}

fn private_key(pem: &[u8]) -> Result<PrivateKeyDer<'static>, String> {
    PrivateKeyDer::from_pem_slice(pem).map_err(|error| match error {
        pem::Error::NoItemsFound if is_encrypted(pem) => ENCRYPTED.to_owned(),
        pem::Error::Base64Decode(_) if is_encrypted(pem) => ENCRYPTED.to_owned(),
        pem::Error::NoItemsFound => {
            "there is no private key in it (-----BEGIN PRIVATE KEY-----)".to_owned()
        }
        error => no_pem(error),
    })
}

const ENCRYPTED: &str =
    "its private key is encrypted: write it without a password (openssl pkey -in FILE -out NEW)";

/// Whether a key has a password, in the form of PKCS #8 or in OpenSSL's older one.
fn is_encrypted(pem: &[u8]) -> bool {
    let holds = |part: &[u8]| pem.windows(part.len()).any(|window| window == part);
    holds(b"BEGIN ENCRYPTED PRIVATE KEY") || holds(b"Proc-Type: 4,ENCRYPTED")
}

/// Of a line that is wrong, an error shows so many bytes.
const LINE_BYTES_SHOWN: usize = 60;

/// The library prints the bytes of a line as numbers.
fn no_pem(error: pem::Error) -> String {
    let line = |line: &[u8]| {
        let shown = &line[..line.len().min(LINE_BYTES_SHOWN)];
        String::from_utf8_lossy(shown)
            .trim()
            .replace(|letter: char| !letter.is_ascii_graphic(), " ")
    };
    let why = match &error {
        pem::Error::MissingSectionEnd { end_marker } => {
            format!("the line -----END {}----- is missing", line(end_marker))
        }
        pem::Error::IllegalSectionStart { line: start } => {
            format!("the line {} begins nothing", line(start))
        }
        pem::Error::Base64Decode(_) => "what stands in it is not base64".to_owned(),
        error => error.to_string(),
    };
    format!("it is no PEM: {why}")
}
