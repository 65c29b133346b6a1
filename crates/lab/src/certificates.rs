//! A throw-away authority and the two certificates that it signs: for one run, in its folder.
//!
//! Keys are ECDSA over P-256: the smallest that every TLS library of the subjects can do, and what
//! a handshake costs is a question of suites.

use bookend_contract::transport::TlsFiles;
use rcgen::{
    BasicConstraints, CertificateParams, CertifiedIssuer, DistinguishedName, DnType,
    ExtendedKeyUsagePurpose, IsCa, KeyPair, KeyUsagePurpose, PKCS_ECDSA_P256_SHA256, date_time_ymd,
};
use std::fs::OpenOptions;
use std::io::{self, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};
use thiserror::Error;

/// The names of a server on this machine.
pub const SERVER_NAMES: [&str; 2] = ["localhost", "127.0.0.1"];

/// No run lasts longer, and no forgotten key is worth anything after it.
const LIFETIME: Duration = Duration::from_secs(30 * 24 * 60 * 60);

/// A clock that is set back in the middle of a run shall not end it.
const BACKDATED: Duration = Duration::from_secs(24 * 60 * 60);

/// What each end of a TLS connection is given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Certificates {
    /// For servers: [`SERVER_NAMES`].
    pub server: TlsFiles,
    /// For callers, should a server ask for a certificate.
    pub caller: TlsFiles,
}

/// Why there are no certificates.
#[derive(Debug, Error)]
pub enum CertificateError {
    /// The library cannot make them.
    #[error("no certificate can be made: {0}")]
    Signing(#[from] rcgen::Error),
    /// This file cannot be written.
    #[error("{}: {}", .0.display(), .1)]
    Unwritten(PathBuf, io::Error),
}

impl Certificates {
    /// Makes an authority, signs a certificate for each end and writes all of it into `folder`. The
    /// authority's own key is kept nowhere.
    ///
    /// # Errors
    /// See [`CertificateError`].
    pub fn issue(folder: &Path) -> Result<Self, CertificateError> {
        let authority = authority()?;
        let ca = folder.join("ca.pem");
        write(&ca, &authority.pem())?;
        let end = |name: &str, subject_names: &[&str], usage| {
            let mut params = named(&format!("bookend {name}"), subject_names)?;
            params.extended_key_usages = vec![usage];
            signed(&authority, params, &ca, &folder.join(name))
        };
        let server = end("server", &SERVER_NAMES, ExtendedKeyUsagePurpose::ServerAuth)?;
        let caller = end("caller", &[], ExtendedKeyUsagePurpose::ClientAuth)?;
        Ok(Self { server, caller })
    }
}

fn authority() -> Result<CertifiedIssuer<'static, KeyPair>, rcgen::Error> {
    let mut params = named("bookend throw-away authority", &[])?;
    params.is_ca = IsCa::Ca(BasicConstraints::Constrained(0));
    params.key_usages = vec![KeyUsagePurpose::KeyCertSign];
    CertifiedIssuer::self_signed(params, key()?)
}

fn named(name: &str, subject_names: &[&str]) -> Result<CertificateParams, rcgen::Error> {
    let names: Vec<String> = subject_names.iter().map(|&name| name.to_owned()).collect();
    let mut params = CertificateParams::new(names)?;
    params.distinguished_name = DistinguishedName::new();
    params.distinguished_name.push(DnType::CommonName, name);
    // A clock before 1970 has other sorrows than certificates.
    let since_1970 = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    let now = date_time_ymd(1970, 1, 1) + since_1970;
    params.not_before = now - BACKDATED;
    params.not_after = now + LIFETIME;
    Ok(params)
}

fn key() -> Result<KeyPair, rcgen::Error> {
    KeyPair::generate_for(&PKCS_ECDSA_P256_SHA256)
}

/// Writes `STEM.pem` and `STEM.key`.
fn signed(
    authority: &CertifiedIssuer<'_, KeyPair>,
    mut params: CertificateParams,
    ca: &Path,
    stem: &Path,
) -> Result<TlsFiles, CertificateError> {
    params.use_authority_key_identifier_extension = true;
    params.key_usages = vec![KeyUsagePurpose::DigitalSignature];
    let own_key = key()?;
    let own = params.signed_by(&own_key, authority)?;
    let files = TlsFiles {
        ca: ca.to_owned(),
        certificate: stem.with_extension("pem"),
        key: stem.with_extension("key"),
    };
    write(&files.certificate, &own.pem())?;
    write(&files.key, &own_key.serialize_pem())?;
    Ok(files)
}

/// Only this user may read a key, even one that is thrown away.
fn write(file: &Path, pem: &str) -> Result<(), CertificateError> {
    OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(file)
        .and_then(|mut open| open.write_all(pem.as_bytes()))
        .map_err(|error| CertificateError::Unwritten(file.to_owned(), error))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::PermissionsExt as _;

    fn issued() -> (tempfile::TempDir, Certificates) {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let certificates = Certificates::issue(folder.path()).expect("issued");
        (folder, certificates)
    }

    #[test]
    fn each_end_gets_a_certificate_a_key_and_the_authority() {
        let (_folder, certificates) = issued();
        let Certificates { server, caller } = &certificates;
        assert_eq!(server.ca, caller.ca);
        for end in [server, caller] {
            for (file, begins) in [
                (&end.ca, "-----BEGIN CERTIFICATE-----"),
                (&end.certificate, "-----BEGIN CERTIFICATE-----"),
                (&end.key, "-----BEGIN PRIVATE KEY-----"),
            ] {
                let text = fs::read_to_string(file).expect("written");
                assert!(text.starts_with(begins), "{}", file.display());
            }
        }
        let texts = [&server.certificate, &caller.certificate, &server.ca]
            .map(|file| fs::read(file).expect("written"));
        assert!(texts[0] != texts[1] && texts[1] != texts[2]);
    }

    #[test]
    fn nobody_else_can_read_a_key_and_the_authoritys_is_nowhere() {
        let (folder, certificates) = issued();
        let names: Vec<_> = fs::read_dir(folder.path())
            .expect("readable")
            .map(|file| file.expect("readable").path())
            .collect();
        assert_eq!(names.len(), 5, "{names:?}");
        let mode = fs::metadata(&certificates.server.key).expect("written");
        assert_eq!(mode.permissions().mode() & 0o777, 0o600);
    }

    #[test]
    fn two_runs_have_nothing_in_common() {
        let read =
            |certificates: &Certificates| fs::read(&certificates.server.ca).expect("written");
        let (first, second) = (issued(), issued());
        assert_ne!(read(&first.1), read(&second.1));
    }

    #[test]
    fn a_folder_that_is_not_there_is_named() {
        let error = Certificates::issue(Path::new("/no/such/folder")).expect_err("nowhere");
        assert!(error.to_string().starts_with("/no/such/folder/ca.pem: "));
    }
}
