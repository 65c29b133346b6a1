//! Reading PEM: of files no more than there is a use for.

use super::config_error::{ConfigError, PemPart};
use super::pem_fault::{PemKind, no_pem, nothing_in};
use crate::machine::reason;
use rustls::pki_types::pem::{Error, PemObject};
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use std::fs::File;
use std::io::Read as _;
use std::path::Path;

/// Files with more are refused: all the authorities that the world trusts together take 250 KB.
pub(crate) const PEM_MAX_BYTES: u64 = 16 << 20;

/// What PEM is parsed by. The error says what is missing in it, or wrong with it.
type Parse<T> = fn(&[u8]) -> Result<T, String>;

/// What a file holds. A device or a pipe without an end is read no further than the limit.
pub(crate) fn in_file<T>(file: &Path, parse: Parse<T>) -> Result<T, ConfigError> {
    let mut pem = Vec::new();
    File::open(file)
        .and_then(|opened| opened.take(PEM_MAX_BYTES + 1).read_to_end(&mut pem))
        .map_err(|error| ConfigError::Unreadable {
            file: file.to_owned(),
            reason: reason(&error),
        })?;
    let within = match pem.len() as u64 {
        0..=PEM_MAX_BYTES => Ok(&pem[..]),
        _ => Err(format!("it has more than {} MiB", PEM_MAX_BYTES >> 20)),
    };
    within
        .and_then(without_mark)
        .and_then(parse)
        .map_err(|reason| ConfigError::Unusable { file: file.to_owned(), reason })
}

/// The same of bytes that the caller has.
pub(crate) fn in_bytes<T>(part: PemPart, pem: &[u8], parse: Parse<T>) -> Result<T, ConfigError> {
    without_mark(pem).and_then(parse).map_err(|reason| ConfigError::UnusableBytes { part, reason })
}

/// What follows the byte order mark that some editors write before text in UTF-8.
fn without_mark(pem: &[u8]) -> Result<&[u8], String> {
    if pem.starts_with(&[0xff, 0xfe]) || pem.starts_with(&[0xfe, 0xff]) {
        return Err("it is text in UTF-16: save it in UTF-8".to_owned());
    }
    Ok(pem.strip_prefix(b"\xef\xbb\xbf").unwrap_or(pem))
}

/// All certificates, at least one.
pub(crate) fn certificates(pem: &[u8]) -> Result<Vec<CertificateDer<'static>>, String> {
    let found = CertificateDer::pem_slice_iter(pem)
        .collect::<Result<Vec<_>, _>>()
        .map_err(|error| no_pem(pem, &error))?;
    if found.is_empty() { Err(nothing_in(pem, PemKind::Certificate)) } else { Ok(found) }
}

/// The certificates that an authority may have, at least one, without what cannot be used.
pub(crate) fn usable_certificates(pem: &[u8]) -> Result<Vec<CertificateDer<'static>>, String> {
    let is_usable = |one: &CertificateDer<'_>| webpki::anchor_from_trusted_cert(one).is_ok();
    let found: Vec<_> = CertificateDer::pem_slice_iter(pem).flatten().filter(is_usable).collect();
    if found.is_empty() {
        certificates(pem)?;
        return Err("no certificate in it can be used: make them anew".to_owned());
    }
    Ok(found)
}

/// The first private key.
pub(crate) fn private_key(pem: &[u8]) -> Result<PrivateKeyDer<'static>, String> {
    PrivateKeyDer::from_pem_slice(pem).map_err(|error| match error {
        Error::NoItemsFound | Error::Base64Decode(_) if is_encrypted(pem) => ENCRYPTED.to_owned(),
        Error::NoItemsFound => nothing_in(pem, PemKind::Key),
        error => no_pem(pem, &error),
    })
}

const ENCRYPTED: &str =
    "its private key is encrypted: write it without a password (openssl pkey -in FILE -out NEW)";

/// Whether a key has a password, in the form of PKCS #8 or in OpenSSL's older one.
fn is_encrypted(pem: &[u8]) -> bool {
    let holds = |part: &[u8]| pem.windows(part.len()).any(|window| window == part);
    holds(b"BEGIN ENCRYPTED PRIVATE KEY") || holds(b"Proc-Type: 4,ENCRYPTED")
}
