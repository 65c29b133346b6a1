//! Whether connections are encrypted, and whom they trust: ghz's flags, and ghz's rules.

use super::{Flags, OptionsError};
use bookend_io::tls::{Authorities, ClientConfig, Identity, Trust};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Whether connections are encrypted.
#[derive(Clone, Debug, PartialEq)]
pub enum Security {
    /// `--insecure`: plain text, whatever else is said.
    Plain,
    /// TLS, with the authorities of this machine unless others are named.
    Tls(Tls),
}

/// TLS as the flags want it. Equal where the flags are.
#[derive(Clone, Debug)]
pub struct Tls {
    files: Files,
    config: ClientConfig,
}

#[derive(Clone, Debug, PartialEq)]
struct Files {
    authorities: Option<PathBuf>,
    identity: Option<(PathBuf, PathBuf)>,
    server_name: Option<String>,
    skips_verification: bool,
}

impl PartialEq for Tls {
    fn eq(&self, other: &Self) -> bool {
        self.files == other.files
    }
}

impl Tls {
    /// For the client library, and for connections of a run.
    pub fn config(&self) -> &ClientConfig {
        &self.config
    }

    /// `--cacert`
    pub fn authorities(&self) -> Option<&Path> {
        self.files.authorities.as_deref()
    }

    /// `--cert` and `--key`
    pub fn identity(&self) -> Option<(&Path, &Path)> {
        let (certificate, key) = self.files.identity.as_ref()?;
        Some((certificate, key))
    }

    /// `--cname`
    pub fn server_name(&self) -> Option<&str> {
        self.files.server_name.as_deref()
    }

    /// `--skipTLS`
    pub fn skips_verification(&self) -> bool {
        self.files.skips_verification
    }
}

impl Security {
    /// Reads the files that the flags name, or this machine's own store of authorities.
    pub(super) fn from_flags(flags: &Flags) -> Result<Self, OptionsError> {
        if flags.insecure {
            return Ok(Self::Plain);
        }
        let files = Files {
            authorities: flags.cacert.clone(),
            identity: both(&flags.cert, &flags.key)?,
            server_name: flags.cname.clone(),
            skips_verification: flags.skip_tls,
        };
        let config = files.read().map_err(OptionsError::Tls)?;
        let config = match flags.connect_timeout {
            Duration::ZERO => config.handshake_timeout_ns(u64::MAX),
            time => config.handshake_timeout_ns(u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)),
        };
        Ok(Self::Tls(Tls { files, config }))
    }

    /// TLS, where there is to be any.
    pub fn tls(&self) -> Option<&Tls> {
        match self {
            Self::Plain => None,
            Self::Tls(tls) => Some(tls),
        }
    }

    /// `http` or `https`, as `:scheme` has it.
    pub fn scheme(&self) -> &'static str {
        match self {
            Self::Plain => "http",
            Self::Tls(_) => "https",
        }
    }
}

impl Files {
    fn read(&self) -> Result<ClientConfig, bookend_io::tls::ConfigError> {
        let trust = match (&self.authorities, self.skips_verification) {
            (_, true) => Trust::Anyone,
            (Some(file), false) => Trust::Signed(Authorities::read(file)?),
            (None, false) => Trust::Signed(Authorities::of_this_machine()?),
        };
        let identity = match &self.identity {
            Some((certificate, key)) => Some(Identity::read(certificate, key)?),
            None => None,
        };
        ClientConfig::new(trust, identity)
    }
}

fn both(
    certificate: &Option<PathBuf>,
    key: &Option<PathBuf>,
) -> Result<Option<(PathBuf, PathBuf)>, OptionsError> {
    match (certificate, key) {
        (None, None) => Ok(None),
        (Some(certificate), Some(key)) => Ok(Some((certificate.clone(), key.clone()))),
        (Some(_), None) => Err(OptionsError::HalfIdentity {
            given: "--cert",
            missing: "--key",
        }),
        (None, Some(_)) => Err(OptionsError::HalfIdentity {
            given: "--key",
            missing: "--cert",
        }),
    }
}

/// The `:authority` of every request, where the flags give one. Its host is the name that the
/// server's certificate has to be for, so that `--cname` sets it as well: as in grpc-go, and so in
/// ghz.
pub(super) fn authority(flags: &Flags) -> Result<Option<String>, OptionsError> {
    let cname = flags.cname.as_ref().filter(|_| !flags.insecure);
    match (&flags.authority, cname) {
        (Some(authority), Some(cname)) if authority != cname => Err(OptionsError::TwoNames {
            authority: authority.clone(),
            cname: cname.clone(),
        }),
        (authority, cname) => Ok(authority.as_ref().or(cname).cloned()),
    }
}
