//! Where agents are awaited.

use super::flags::FleetFlags;
use super::greeting::{TIMEOUT, greet};
use super::link::{Receiving, Sending, Stream, ends};
use super::token::FleetToken;
use crate::terminal::Failure;
use bookend_fleet::message::AgentFacts;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use std::net::{SocketAddr, ToSocketAddrs as _};
use std::path::Path;
use std::sync::Arc;
use tokio::net::{TcpListener, TcpSocket, TcpStream};
use tokio::sync::mpsc::UnboundedSender;
use tokio::time::timeout;
use tokio_rustls::TlsAcceptor;

/// The port of `--listen` where none is given.
const PORT: u16 = 7420;

/// Connections that wait to be taken: a thousand agents may come at once.
const BACKLOG: u32 = 1_024;

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
    tcp: TcpListener,
    greeter: Arc<Greeter>,
    /// Where it listens.
    pub address: SocketAddr,
}

/// Finds out who has connected.
struct Greeter {
    tls: Option<TlsAcceptor>,
    token: Option<FleetToken>,
}

impl AgentListener {
    /// Listens as the flags say. Called within a runtime.
    ///
    /// # Errors
    /// [`Failure`] when the address or the certificate is of no use, or others could join without
    /// a token.
    pub fn bind(flags: &FleetFlags, token: Option<FleetToken>) -> Result<AgentListener, Failure> {
        let socket = reserve(flags, token.is_some())?;
        let tcp = socket.listen(BACKLOG).map_err(Failure::nothing_measured)?;
        let address = tcp.local_addr().map_err(Failure::nothing_measured)?;
        let tls = match (&flags.fleet_cert, &flags.fleet_key) {
            (Some(certificate), Some(key)) => Some(acceptor(certificate, key)?),
            _ => None,
        };
        let greeter = Arc::new(Greeter { tls, token });
        Ok(AgentListener { tcp, greeter, address })
    }

    /// Whether nobody can read what goes over the link: it has TLS, or does not leave the machine.
    pub fn is_private(&self) -> bool {
        self.greeter.tls.is_some() || self.address.ip().is_loopback()
    }

    /// Takes connections for ever, and passes on who has come.
    pub async fn accept(self, arrivals: UnboundedSender<Arrival>) {
        // One that cannot be taken, for want of descriptors, is taken later or gives up.
        while let Ok((tcp, peer)) = self.tcp.accept().await {
            let (greeter, arrivals) = (Arc::clone(&self.greeter), arrivals.clone());
            tokio::spawn(async move {
                let arrival = match greeter.greeted(tcp, peer).await {
                    Ok(candidate) => Arrival::Candidate(Box::new(candidate)),
                    Err(why) => Arrival::Stranger(peer, why),
                };
                // Where nobody waits any more, the connection ends with this.
                let _ = arrivals.send(arrival);
            });
        }
    }
}

impl Greeter {
    async fn greeted(&self, tcp: TcpStream, peer: SocketAddr) -> Result<Candidate, String> {
        // Round trips tell a clock: no message may wait for another.
        tcp.set_nodelay(true).map_err(|error| error.to_string())?;
        let stream: Box<dyn Stream> = match &self.tls {
            None => Box::new(tcp),
            Some(tls) => {
                let secured = timeout(TIMEOUT, tls.accept(tcp)).await;
                let secured = secured.map_err(|_| "it did not make TLS in time".to_owned())?;
                Box::new(secured.map_err(|error| format!("no TLS with it: {error}"))?)
            }
        };
        let (mut receiving, mut sending) = ends(stream);
        let facts = greet(&mut receiving, &mut sending, self.token.as_ref()).await?;
        Ok(Candidate { facts, peer, receiving, sending })
    }
}

/// A socket that has the address of `--listen`, on which nobody listens so far. Processes of one
/// user may have it together, so that a command and those that it starts await agents by turns.
///
/// # Errors
/// [`Failure`] when the address is of no use, or others could join without a token.
pub fn reserve(flags: &FleetFlags, has_token: bool) -> Result<TcpSocket, Failure> {
    let wanted = flags.listens_on();
    let cannot = |error: &dyn ToString| {
        let error = error.to_string();
        Failure::usage(format!(
            "cannot await agents on --listen {wanted}: {error}; it takes an address of this \
             machine and a port that is free"
        ))
    };
    let with_port = match wanted.rsplit_once(':') {
        Some((_, port)) if port.parse::<u16>().is_ok() => wanted.clone(),
        _ => format!("{wanted}:{PORT}"),
    };
    let mut addresses = with_port.to_socket_addrs().map_err(|error| cannot(&error))?;
    let address = addresses.next().ok_or_else(|| cannot(&"it stands for no address"))?;
    if !address.ip().is_loopback() && !has_token {
        return Err(Failure::usage(format!(
            "--listen {wanted}: whoever reaches this address could join, so give --token-file \
             here and to the agents; `openssl rand -hex 32` makes a token"
        )));
    }
    let socket = if address.is_ipv4() { TcpSocket::new_v4() } else { TcpSocket::new_v6() };
    let bound = socket.and_then(|socket| {
        socket.set_reuseaddr(true)?;
        socket.set_reuseport(flags.is_shared)?;
        socket.bind(address)?;
        Ok(socket)
    });
    bound.map_err(|error| cannot(&error))
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
