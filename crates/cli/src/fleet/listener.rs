//! Where agents are awaited.

use super::flags::{Agents, FleetFlags};
use super::greeting::greet;
use super::link::{Receiving, Sending, Stream, ends};
use super::token::FleetToken;
use crate::terminal::Failure;
use bookend_fleet::message::AgentFacts;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use std::net::{SocketAddr, TcpListener as StdListener, ToSocketAddrs as _};
use std::path::Path;
use std::sync::Arc;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc::UnboundedSender;
use tokio_rustls::TlsAcceptor;

/// The port of `--listen` where none is given.
const PORT: u16 = 7420;

/// An agent that has shown that it knows the token.
pub struct Candidate {
    pub facts: AgentFacts,
    pub peer: SocketAddr,
    pub receiving: Receiving,
    pub sending: Sending,
}

/// What comes to a listener.
pub enum Arrival {
    /// An agent.
    Candidate(Box<Candidate>),
    /// Somebody who takes no part: from where, and why.
    Stranger(SocketAddr, String),
}

/// Listens for agents.
pub struct AgentListener {
    tcp: StdListener,
    tls: Option<TlsAcceptor>,
    token: Option<FleetToken>,
    /// Where it listens.
    pub address: SocketAddr,
}

impl AgentListener {
    /// Listens as the flags say.
    ///
    /// # Errors
    /// [`Failure`] when the address or the certificate is of no use, or others could join without
    /// a token.
    pub fn bind(flags: &FleetFlags, token: Option<FleetToken>) -> Result<AgentListener, Failure> {
        let is_local = matches!(flags.agents, Some(Agents::Local(_)));
        let wanted = if is_local && !flags.has_server() && flags.probe_rate.is_none() {
            "127.0.0.1:0"
        } else {
            &flags.listen
        };
        let cannot = |error: &dyn ToString| {
            let error = error.to_string();
            Failure::usage(format!(
                "cannot await agents on --listen {wanted}: {error}; it takes an address of this \
                 machine and a port that is free"
            ))
        };
        let with_port = match wanted.rsplit_once(':') {
            Some((_, port)) if port.parse::<u16>().is_ok() => wanted.to_owned(),
            _ => format!("{wanted}:{PORT}"),
        };
        let addresses = with_port.to_socket_addrs().map_err(|error| cannot(&error))?;
        let addresses: Vec<SocketAddr> = addresses.collect();
        let is_reachable = addresses.iter().any(|address| !address.ip().is_loopback());
        if is_reachable && token.is_none() {
            return Err(Failure::usage(format!(
                "--listen {wanted}: whoever reaches this address could join, so give --token-file \
                 here and to the agents; `openssl rand -hex 32` makes a token"
            )));
        }
        let tcp = StdListener::bind(&*addresses).map_err(|error| cannot(&error))?;
        tcp.set_nonblocking(true).map_err(Failure::nothing_measured)?;
        let address = tcp.local_addr().map_err(Failure::nothing_measured)?;
        let tls = match (&flags.fleet_cert, &flags.fleet_key) {
            (Some(certificate), Some(key)) => Some(acceptor(certificate, key)?),
            _ => None,
        };
        Ok(AgentListener { tcp, tls, token, address })
    }

    /// Whether nobody can read what goes over the link: it has TLS, or does not leave the machine.
    pub fn is_private(&self) -> bool {
        self.tls.is_some() || self.address.ip().is_loopback()
    }

    /// Takes connections for ever, and passes on who has come.
    pub async fn accept(self: Arc<Self>, arrivals: UnboundedSender<Arrival>) {
        let Ok(listener) = self.tcp.try_clone().and_then(TcpListener::from_std) else {
            return;
        };
        // One that cannot be taken, for want of descriptors, is taken later or gives up.
        while let Ok((tcp, peer)) = listener.accept().await {
            let (listener, arrivals) = (Arc::clone(&self), arrivals.clone());
            tokio::spawn(async move {
                let arrival = match listener.greeted(tcp, peer).await {
                    Ok(candidate) => Arrival::Candidate(Box::new(candidate)),
                    Err(why) => Arrival::Stranger(peer, why),
                };
                // Where nobody waits any more, the connection ends with this.
                let _ = arrivals.send(arrival);
            });
        }
    }

    async fn greeted(&self, tcp: TcpStream, peer: SocketAddr) -> Result<Candidate, String> {
        // Round trips tell a clock: no message may wait for another.
        tcp.set_nodelay(true).map_err(|error| error.to_string())?;
        let stream: Box<dyn Stream> = match &self.tls {
            None => Box::new(tcp),
            Some(tls) => {
                let secured = tls.accept(tcp).await;
                Box::new(secured.map_err(|error| format!("no TLS with it: {error}"))?)
            }
        };
        let (mut receiving, mut sending) = ends(stream);
        let facts = greet(&mut receiving, &mut sending, self.token.as_ref()).await?;
        Ok(Candidate { facts, peer, receiving, sending })
    }
}

fn acceptor(certificate: &Path, key: &Path) -> Result<TlsAcceptor, Failure> {
    let unusable = |flag: &str, file: &Path, error: &dyn ToString| {
        let error = error.to_string();
        Failure::usage(format!("--{flag} {}: {error}", file.display()))
    };
    let chain: Result<Vec<_>, _> =
        CertificateDer::pem_file_iter(certificate).and_then(Iterator::collect);
    let chain = chain.map_err(|error| unusable("fleet-cert", certificate, &error))?;
    let private = PrivateKeyDer::from_pem_file(key);
    let private = private.map_err(|error| unusable("fleet-key", key, &error))?;
    let config = rustls::ServerConfig::builder()
        .with_no_client_auth()
        .with_single_cert(chain, private)
        .map_err(|error| unusable("fleet-cert", certificate, &error))?;
    Ok(TlsAcceptor::from(Arc::new(config)))
}
