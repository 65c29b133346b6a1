//! `bookend agent`: one of the machines of a load test. It dials in, and opens no port.

pub mod identity;
mod joined;
mod kept;
mod load_run;
mod run;
mod run_link;
mod server_run;

use crate::fleet::greeting::{Refusal, join};
use crate::fleet::link::{Stream, ends};
use crate::fleet::token::FleetToken;
use crate::load::interrupt;
use crate::terminal::{Failure, print_error};
use bookend_contract::{duration, exit};
use bookend_fleet::message::AgentRole;
use clap::Args;
use joined::{Ending, serve};
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, RootCertStore};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use tokio::net::TcpStream;
use tokio::runtime::Builder;
use tokio::time::{sleep, timeout};
use tokio_rustls::TlsConnector;

const EXAMPLES: &str = r"Examples:
  bookend agent --join coordinator:7420 --token-file token
  bookend agent --join coordinator:7420 --token-file token --role server";

/// Between two tries to reach the coordinator.
const RETRY: Duration = Duration::from_millis(200);

/// How long one try may take.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);

/// Arguments of `bookend agent`.
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub struct AgentArguments {
    /// Where bookend load, race or run awaits its agents
    #[arg(long, value_name = "HOST:PORT")]
    join: String,
    /// File with the secret that the coordinator knows too [default: the variable
    /// BOOKEND_FLEET_TOKEN]
    #[arg(long, value_name = "FILE")]
    token_file: Option<PathBuf>,
    /// What to do: load (make calls), server (start or watch the server) or probe (make few calls)
    #[arg(long, value_name = "ROLE", value_parser = role, default_value = "load")]
    role: AgentRole,
    /// What results call this machine [default: its host name]
    #[arg(long, value_name = "TEXT")]
    name: Option<String>,
    /// Use TLS, and trust the coordinator's certificate if it is this one or signed by it
    #[arg(long, value_name = "FILE")]
    fleet_cacert: Option<PathBuf>,
    /// Time to wait for the coordinator
    #[arg(long, value_name = "TIME", value_parser = duration::parse, default_value = "60s")]
    fleet_wait: Duration,
    /// Folder for what was measured when the coordinator is gone
    #[arg(long, value_name = "FOLDER", default_value = ".")]
    keep: PathBuf,
}

fn role(name: &str) -> Result<AgentRole, String> {
    [AgentRole::Load, AgentRole::Server, AgentRole::Probe]
        .into_iter()
        .find(|role| role.name() == name)
        .ok_or_else(|| "one of load, server, probe".to_owned())
}

/// Joins a coordinator and does what it says. The number is the exit status.
///
/// # Errors
/// [`Failure`] when it cannot be reached, takes no more agents, or is gone.
pub fn start(arguments: &AgentArguments) -> Result<u8, Failure> {
    let token = FleetToken::read(arguments.token_file.as_deref())?;
    let tls = arguments.tls()?;
    let interrupt = interrupt::watch(false).map_err(Failure::nothing_measured)?;
    let runtime = Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(Failure::nothing_measured)?;
    let facts = identity::of_this_process(arguments.role, arguments.name.clone())?;
    loop {
        let joined = async {
            let stream = reach(arguments, tls.as_ref(), &interrupt).await?;
            let (mut receiving, mut sending) = ends(stream);
            match join(&mut receiving, &mut sending, token.as_ref(), facts.clone()).await {
                Ok(()) => serve(receiving, sending, &arguments.keep, &interrupt).await,
                Err(Refusal { reason, again: true }) => {
                    print_error(&format!("bookend agent: {reason}"));
                    Ok(Ending::Again)
                }
                Err(Refusal { reason, .. }) => Err(Failure::nothing_measured(format!(
                    "{} takes no agent: {reason}",
                    arguments.join
                ))),
            }
        };
        match runtime.block_on(joined)? {
            Ending::Over => return Ok(exit::MEASURED),
            Ending::Interrupted => return Ok(exit::INTERRUPTED),
            Ending::Again => {}
        }
    }
}

/// A connection to the coordinator, which may not be there yet.
async fn reach(
    arguments: &AgentArguments,
    tls: Option<&(TlsConnector, ServerName<'static>)>,
    interrupt: &AtomicBool,
) -> Result<Box<dyn Stream>, Failure> {
    let begin = Instant::now();
    loop {
        let connected = timeout(CONNECT_TIMEOUT, TcpStream::connect(&arguments.join)).await;
        let error = match connected {
            Ok(Ok(tcp)) => {
                tcp.set_nodelay(true).map_err(Failure::nothing_measured)?;
                return secured(tcp, arguments, tls).await;
            }
            Ok(Err(error)) => error.to_string(),
            Err(_) => format!("no answer within {CONNECT_TIMEOUT:?}"),
        };
        if interrupt.load(Ordering::Relaxed) {
            return Err(Failure::nothing_measured("interrupted before it joined"));
        }
        if begin.elapsed() >= arguments.fleet_wait {
            return Err(Failure::nothing_measured(format!(
                "no coordinator at {} within {:?}: {error}; start bookend load --agents there, and \
                 see that its port is open",
                arguments.join, arguments.fleet_wait
            )));
        }
        sleep(RETRY).await;
    }
}

async fn secured(
    tcp: TcpStream,
    arguments: &AgentArguments,
    tls: Option<&(TlsConnector, ServerName<'static>)>,
) -> Result<Box<dyn Stream>, Failure> {
    let Some((connector, name)) = tls else {
        return Ok(Box::new(tcp));
    };
    let stream = connector.connect(name.clone(), tcp).await;
    let stream = stream.map_err(|error| {
        Failure::nothing_measured(format!(
            "no TLS with {}: {error}; the coordinator needs --fleet-cert and --fleet-key, and \
             --fleet-cacert its certificate",
            arguments.join
        ))
    })?;
    Ok(Box::new(stream))
}

impl AgentArguments {
    fn tls(&self) -> Result<Option<(TlsConnector, ServerName<'static>)>, Failure> {
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
