//! Certificates that live as long as a test.

// Each test uses a part of it.
#![allow(dead_code)]

use rcgen::{
    BasicConstraints, Certificate, CertificateParams, DnType, IsCa, Issuer, KeyPair, date_time_ymd,
};
use std::cell::Cell;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use tempfile::TempDir;

/// Each has a name of its own, as those of a machine's store have.
static AUTHORITIES: AtomicU32 = AtomicU32::new(0);

/// An authority of its own, whose certificates stand in files until it is dropped.
pub struct Authority {
    folder: TempDir,
    issuer: Issuer<'static, KeyPair>,
    issued: Cell<u32>,
}

/// A certificate and its key.
#[derive(Clone, Debug)]
pub struct Files {
    pub certificate: PathBuf,
    pub key: PathBuf,
}

impl Files {
    /// The flags with which `bookend serve` shows it.
    pub fn flags(&self) -> [String; 4] {
        let [certificate, key] =
            [&self.certificate, &self.key].map(|file| file.display().to_string());
        ["--tls-certificate".to_owned(), certificate, "--tls-key".to_owned(), key]
    }
}

impl Authority {
    pub fn new() -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let mut params = CertificateParams::default();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let number = AUTHORITIES.fetch_add(1, Ordering::Relaxed);
        let name = format!("authority {number} of a test");
        params.distinguished_name.push(DnType::CommonName, name);
        let key = KeyPair::generate().expect("a key");
        let certificate = params.self_signed(&key).expect("a certificate");
        fs::write(folder.path().join("ca.pem"), certificate.pem()).expect("a file");
        Self { folder, issuer: Issuer::new(params, key), issued: Cell::new(0) }
    }

    /// Its own certificate.
    pub fn file(&self) -> PathBuf {
        self.folder.path().join("ca.pem")
    }

    /// A certificate for these names, valid for long.
    pub fn issue(&self, names: &[&str]) -> Files {
        self.issue_until(names, 4096)
    }

    /// A certificate for these names that expired long ago.
    pub fn issue_expired(&self, names: &[&str]) -> Files {
        self.issue_until(names, 2001)
    }

    fn issue_until(&self, names: &[&str], year: i32) -> Files {
        self.issue_with(names, |params| params.not_after = date_time_ymd(year, 1, 1))
    }

    /// A certificate for these names, with something else about it.
    pub fn issue_with(&self, names: &[&str], change: impl FnOnce(&mut CertificateParams)) -> Files {
        let mut params = params(names);
        change(&mut params);
        let key = KeyPair::generate().expect("a key");
        let certificate = params.signed_by(&key, &self.issuer).expect("a certificate");
        self.keep(&certificate, &key)
    }

    /// A certificate that its own key has signed and that is one of an authority, as `openssl req
    /// -x509` makes it, with something else about it.
    pub fn self_signed(
        &self,
        names: &[&str],
        change: impl FnOnce(&mut CertificateParams),
    ) -> Files {
        let mut params = params(names);
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        change(&mut params);
        let key = KeyPair::generate().expect("a key");
        let certificate = params.self_signed(&key).expect("a certificate");
        self.keep(&certificate, &key)
    }

    fn keep(&self, certificate: &Certificate, key: &KeyPair) -> Files {
        let number = self.issued.get();
        self.issued.set(number + 1);
        Files {
            certificate: self.write(&format!("{number}.pem"), &certificate.pem()),
            key: self.write(&format!("{number}.key"), &key.serialize_pem()),
        }
    }

    /// A file next to the certificates.
    pub fn write(&self, name: &str, text: &str) -> PathBuf {
        let file = self.folder.path().join(name);
        fs::write(&file, text).expect("a file");
        file
    }

    /// Where they all stand.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }
}

/// Of a certificate for these names that is valid for long.
fn params(names: &[&str]) -> CertificateParams {
    let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
    let mut params = CertificateParams::new(names).expect("names");
    params.not_before = date_time_ymd(2000, 1, 1);
    params.not_after = date_time_ymd(4096, 1, 1);
    params
}
