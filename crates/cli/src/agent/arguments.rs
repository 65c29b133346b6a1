//! The flags of `bookend agent`, as typed.

use crate::terminal::Failure;
use bookend_contract::duration;
use bookend_fleet::message::AgentRole;
use clap::Args;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, RootCertStore};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use tokio_rustls::TlsConnector;

const EXAMPLES: &str = r"Examples:
  bookend agent --join coordinator:7420 --token-file token
  bookend agent --join coordinator:7420 --token-file token --role server";

/// Arguments of `bookend agent`.
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub struct AgentArguments {
    /// Where bookend load, race or run awaits its agents
    #[arg(long, value_name = "HOST:PORT", value_parser = host_and_port)]
    pub join: String,
    /// File with the secret that the coordinator knows too [default: the variable
    /// BOOKEND_FLEET_TOKEN]
    #[arg(long, value_name = "FILE")]
    pub token_file: Option<PathBuf>,
    /// What to do: load (make calls), server (start or watch the server) or probe (make few calls)
    #[arg(long, value_name = "ROLE", value_parser = role, default_value = "load")]
    pub role: AgentRole,
    /// What results call this machine [default: its host name]
    #[arg(long, value_name = "TEXT")]
    pub name: Option<String>,
    /// Use TLS, and trust the coordinator's certificate if it is this one or signed by it
    #[arg(long, value_name = "FILE")]
    fleet_cacert: Option<PathBuf>,
    /// Time to wait for the coordinator
    #[arg(long, value_name = "TIME", value_parser = duration::parse, default_value = "60s")]
    pub fleet_wait: Duration,
    /// Folder for what was measured when the coordinator is gone
    #[arg(long, value_name = "FOLDER", default_value = ".")]
    pub keep: PathBuf,
}

impl AgentArguments {
    /// TLS of the link, where it has it, and the name that the coordinator's certificate is for.
    ///
    /// # Errors
    /// [`Failure`] when the certificate is of no use.
    pub fn tls(&self) -> Result<Option<(TlsConnector, ServerName<'static>)>, Failure> {
        let Some(file) = &self.fleet_cacert else {
            return Ok(None);
        };
        let unusable = |error: &dyn ToString| {
            let error = error.to_string();
            Failure::usage(format!("--fleet-cacert {}: {error}", file.display()))
        };
        let mut roots = RootCertStore::empty();
        for certificate in CertificateDer::pem_file_iter(file).map_err(|error| unusable(&error))? {
            let certificate = certificate.map_err(|error| unusable(&error))?;
            roots.add(certificate).map_err(|error| unusable(&error))?;
        }
        if roots.is_empty() {
            return Err(unusable(&"no certificate is in it"));
        }
        let host = self.join.rsplit_once(':').map_or(self.join.as_str(), |(host, _)| host);
        let host = host.trim_start_matches('[').trim_end_matches(']').to_owned();
        let name = ServerName::try_from(host)
            .map_err(|error| Failure::usage(format!("--join {}: {error}", self.join)))?;
        let config = ClientConfig::builder().with_root_certificates(roots).with_no_client_auth();
        Ok(Some((TlsConnector::from(Arc::new(config)), name)))
    }
}

fn host_and_port(text: &str) -> Result<String, String> {
    match text.rsplit_once(':') {
        Some((host, port)) if !host.is_empty() && port.parse::<u16>().is_ok() => {
            Ok(text.to_owned())
        }
        _ => Err("it takes a host and a port, as in coordinator:7420".to_owned()),
    }
}

fn role(name: &str) -> Result<AgentRole, String> {
    [AgentRole::Load, AgentRole::Server, AgentRole::Probe]
        .into_iter()
        .find(|role| role.name() == name)
        .ok_or_else(|| "one of load, server, probe".to_owned())
}
