//! The authorities that this machine trusts.

use super::config_error::ConfigError;
use super::pem_file::{PEM_MAX_BYTES, in_file, usable_certificates};
use crate::machine::reason;
use rustls::pki_types::CertificateDer;
use std::collections::HashSet;
use std::ffi::OsString;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::{env, fs};

/// The variables in which OpenSSL, curl and Go programs look for a file and for folders.
const FILE: &str = "SSL_CERT_FILE";
const FOLDERS: &str = "SSL_CERT_DIR";

/// The certificates that this machine trusts, without those that cannot be used.
///
/// # Errors
/// The machine has none, or `SSL_CERT_FILE` names a file that is of no use.
pub(crate) fn certificates() -> Result<Vec<CertificateDer<'static>>, ConfigError> {
    let file = variable(FILE).map(PathBuf::from);
    let folders: Vec<PathBuf> = variable(FOLDERS)
        .map(|folders| env::split_paths(&folders).filter(|one| *one != Path::new("")).collect())
        .unwrap_or_default();
    let mut store = MachineStore::default();
    match (file, folders.as_slice()) {
        (None, []) => store.add_own(),
        (None, folders) => {
            store.add_folders(folders);
            store.none_is_fault_of(FOLDERS)?;
        }
        (Some(file), folders) => {
            store.add_file(&file).map_err(|error| fault_of(FILE, &error))?;
            store.add_folders(folders);
        }
    }
    store.certificates.sort_unstable_by(|one, other| one.as_ref().cmp(other));
    store.certificates.dedup();
    match store.certificates.is_empty() {
        true => Err(ConfigError::NoSystemAuthorities(store.why_none())),
        false => Ok(store.certificates),
    }
}

/// One without a value is as good as none.
fn variable(name: &str) -> Option<OsString> {
    env::var_os(name).filter(|value| !value.is_empty())
}

fn fault_of(variable: &'static str, reason: &impl ToString) -> ConfigError {
    ConfigError::Variable { variable, reason: reason.to_string() }
}

/// What has been found, and why there is no more.
#[derive(Default)]
struct MachineStore {
    certificates: Vec<CertificateDer<'static>>,
    /// Folders have several names for one file: by device and number.
    seen: HashSet<(u64, u64)>,
    bytes: u64,
    first_fault: Option<String>,
}

impl MachineStore {
    /// What OpenSSL was built with, on one system or another.
    fn add_own(&mut self) {
        let own = openssl_probe::probe();
        if let Some(file) = own.cert_file {
            let added = self.add_file(&file);
            self.note(added);
        }
        self.add_folders(&own.cert_dir);
    }

    fn add_folders(&mut self, folders: &[PathBuf]) {
        for folder in folders {
            let files = match fs::read_dir(folder) {
                Ok(files) => files,
                Err(error) => {
                    let (file, reason) = (folder.clone(), reason(&error));
                    self.note(Err(ConfigError::Unreadable { file, reason }));
                    continue;
                }
            };
            for file in files.flatten() {
                let added = self.add_file_of_folder(&file.path());
                self.note(added);
            }
        }
    }

    /// Passes over what is no file.
    fn add_file_of_folder(&mut self, file: &Path) -> Result<(), ConfigError> {
        let is_new_file = fs::metadata(file)
            .is_ok_and(|facts| facts.is_file() && !self.seen.contains(&(facts.dev(), facts.ino())));
        if is_new_file { self.add_file(file) } else { Ok(()) }
    }

    fn add_file(&mut self, file: &Path) -> Result<(), ConfigError> {
        if let Ok(facts) = fs::metadata(file) {
            self.seen.insert((facts.dev(), facts.ino()));
        }
        let found = in_file(file, usable_certificates)?;
        self.bytes += found.iter().map(|one| one.len() as u64).sum::<u64>();
        if self.bytes > PEM_MAX_BYTES {
            let reason = format!("with it they are more than {} MiB", PEM_MAX_BYTES >> 20);
            return Err(ConfigError::Unusable { file: file.to_owned(), reason });
        }
        self.certificates.extend(found);
        Ok(())
    }

    fn note(&mut self, added: Result<(), ConfigError>) {
        if let (Err(error), None) = (added, &self.first_fault) {
            self.first_fault = Some(error.to_string());
        }
    }

    fn none_is_fault_of(&self, variable: &'static str) -> Result<(), ConfigError> {
        match self.certificates.is_empty() {
            true => Err(fault_of(variable, &self.why_none())),
            false => Ok(()),
        }
    }

    fn why_none(&self) -> String {
        self.first_fault.clone().unwrap_or_else(|| "there is no certificate in it".to_owned())
    }
}
