//! What each end of TLS is set up with, once for all its connections.

use super::advice::TlsAdvice;
use super::config_error::ConfigError;
use super::engine::{Engine, RustlsConnection};
use super::handshakes::{HandshakePolicy, Handshakes};
use super::identity_fault::unfit;
use super::pem::{Authorities, Identity};
use super::shared_limits::{LimitsOption, SharedLimits};
use super::trusted::{TrustedClients, TrustedServers};
use super::unverified::Unverified;
use crate::machine::reason;
use rustls::client::UnbufferedClientConnection;
use rustls::crypto::{CryptoProvider, ring};
use rustls::pki_types::ServerName;
use rustls::server::UnbufferedServerConnection;
use rustls::{Error, KeyLog, KeyLogFile, NoKeyLog};
use std::env;
use std::fs::OpenOptions;
use std::os::unix::fs::OpenOptionsExt;
use std::path::PathBuf;
use std::sync::Arc;

/// What HTTP/2 is called in ALPN (RFC 9113, section 3.2).
pub(crate) const H2: &[u8] = b"h2";

/// The variable in which browsers, curl and Go programs look for the key log file.
const KEY_LOG_VARIABLE: &str = "SSLKEYLOGFILE";

/// Read and written by its owner: whoever reads it reads the traffic.
const KEY_LOG_MODE: u32 = 0o600;

/// TLS of a server: 1.2 and 1.3, ALPN `h2`, stateless session tickets.
#[derive(Clone, Debug)]
pub struct ServerConfig {
    rustls: Arc<rustls::ServerConfig>,
    pub(crate) handshake_policy: HandshakePolicy,
}

impl ServerConfig {
    /// A server that presents `identity`. With `client_authorities`, it accepts only clients whose
    /// certificate one of them has signed, or is one of them.
    ///
    /// # Errors
    /// [`ConfigError`]: the key does not belong to the certificate.
    /// RFC 9113, sections 3.2 and 9.2.
    pub fn new(
        identity: Identity,
        client_authorities: Option<Authorities>,
    ) -> Result<Self, ConfigError> {
        let provider = provider();
        let builder = rustls::ServerConfig::builder_with_provider(Arc::clone(&provider))
            .with_safe_default_protocol_versions()
            .map_err(refused)?;
        let builder = match client_authorities {
            None => builder.with_no_client_auth(),
            Some(authorities) => {
                let verifier = TrustedClients::new(authorities, &provider).map_err(refused)?;
                builder.with_client_cert_verifier(Arc::new(verifier))
            }
        };
        let (chain, key) = identity.parts();
        let mut rustls = builder
            .with_single_cert(chain, key)
            .map_err(|error| unfit(&identity, &provider, error))?;
        rustls.alpn_protocols = vec![H2.to_vec()];
        rustls.ticketer = ring::Ticketer::new().map_err(refused)?;
        let handshake_policy = HandshakePolicy::new(&TlsAdvice::SERVER);
        Ok(Self { rustls: Arc::new(rustls), handshake_policy })
    }

    /// Appends the keys of every connection to the file that `SSLKEYLOGFILE` in the environment
    /// names, if it names one: with it, recorded traffic can be decrypted. A new file is for its
    /// owner alone.
    ///
    /// # Errors
    /// [`ConfigError::KeyLog`]: the file cannot be written.
    pub fn log_keys(mut self) -> Result<Self, ConfigError> {
        Arc::make_mut(&mut self.rustls).key_log = key_log()?;
        Ok(self)
    }

    /// What [`TlsFault`](super::TlsFault)s call what can be done about them, instead of the
    /// library's own options.
    #[must_use]
    pub fn advice(mut self, advice: &'static TlsAdvice) -> Self {
        self.handshake_policy.advice = advice;
        self
    }

    /// How long a handshake may take, nanoseconds.
    pub fn handshake_timeout_ns(mut self, timeout_ns: u64) -> Self {
        self.handshake_policy.timeout_ns = timeout_ns;
        self
    }

    /// Calls `callback` with the reason of each handshake that fails, on the thread that serves the
    /// connection: it must neither block nor panic. Of several callbacks, only the first is called.
    pub fn on_failure(self, callback: impl Fn(&str) + Send + Sync + 'static) -> Self {
        self.handshake_policy.counters.on_failure(callback);
        self
    }

    /// Counts what connections hold in `limits`, and handshakes by their address. While memory is
    /// tight, handshakes that are older than a second are given up, and while it is exceeded, the
    /// oldest ones; those of connections that have
    /// [no time limit](ServerConfig::handshake_timeout_ns) are not. A connection is reset at once
    /// if there are too many from its address.
    #[must_use]
    pub fn limits(mut self, limits: Arc<dyn SharedLimits>) -> Self {
        self.handshake_policy.limits = LimitsOption(Some(limits));
        self
    }

    /// How the handshakes have ended so far, over all threads.
    pub fn handshakes(&self) -> Handshakes {
        self.handshake_policy.counters.so_far()
    }

    pub(crate) fn engine(&self) -> Result<Engine, Error> {
        let connection = UnbufferedServerConnection::new(Arc::clone(&self.rustls))?;
        Ok(Engine::new(RustlsConnection::Server(connection), Some(H2)))
    }
}

/// Which certificates a client accepts.
#[derive(Clone, Debug)]
pub enum Trust {
    /// Those signed by one of these authorities, or among them, byte for byte; valid now, and for
    /// the server's name.
    Signed(Authorities),
    /// Any. An attacker on the path can then read and change everything.
    Anyone,
}

/// TLS of a client: 1.2 and 1.3, ALPN `h2`. Sessions that can be resumed are kept in memory, and
/// shared by all clones.
#[derive(Clone, Debug)]
pub struct ClientConfig {
    rustls: Arc<rustls::ClientConfig>,
    /// What the server has to choose by ALPN; `None` where nothing is offered.
    protocol: Option<&'static [u8]>,
    handshake_policy: HandshakePolicy,
}

impl ClientConfig {
    /// A client that trusts `trust`, and presents `identity` to servers that ask for a certificate.
    ///
    /// # Errors
    /// [`ConfigError`]: the key does not belong to the certificate.
    pub fn new(trust: Trust, identity: Option<Identity>) -> Result<Self, ConfigError> {
        let provider = provider();
        let builder = rustls::ClientConfig::builder_with_provider(Arc::clone(&provider))
            .with_safe_default_protocol_versions()
            .map_err(refused)?;
        let builder = match trust {
            Trust::Signed(authorities) => {
                let verifier = TrustedServers::new(authorities, &provider).map_err(refused)?;
                builder.dangerous().with_custom_certificate_verifier(Arc::new(verifier))
            }
            Trust::Anyone => builder
                .dangerous()
                .with_custom_certificate_verifier(Arc::new(Unverified::new(&provider))),
        };
        let mut rustls = match identity {
            None => builder.with_no_client_auth(),
            Some(identity) => {
                let (chain, key) = identity.parts();
                builder
                    .with_client_auth_cert(chain, key)
                    .map_err(|error| unfit(&identity, &provider, error))?
            }
        };
        rustls.alpn_protocols = vec![H2.to_vec()];
        Ok(Self {
            rustls: Arc::new(rustls),
            protocol: Some(H2),
            handshake_policy: HandshakePolicy::new(&TlsAdvice::CLIENT),
        })
    }

    /// Appends the keys of every connection to the file that `SSLKEYLOGFILE` in the environment
    /// names, if it names one: with it, recorded traffic can be decrypted. A new file is for its
    /// owner alone.
    ///
    /// # Errors
    /// [`ConfigError::KeyLog`]: the file cannot be written.
    pub fn log_keys(mut self) -> Result<Self, ConfigError> {
        Arc::make_mut(&mut self.rustls).key_log = key_log()?;
        Ok(self)
    }

    /// What [`TlsFault`](super::TlsFault)s call what can be done about them, instead of the
    /// library's own options.
    #[must_use]
    pub fn advice(mut self, advice: &'static TlsAdvice) -> Self {
        self.handshake_policy.advice = advice;
        self
    }

    /// How long a handshake may take, nanoseconds.
    pub fn handshake_timeout_ns(mut self, timeout_ns: u64) -> Self {
        self.handshake_policy.timeout_ns = timeout_ns;
        self
    }

    /// The same for a protocol that has no name in ALPN: nothing is offered, and nothing has to be
    /// chosen.
    #[must_use]
    pub fn without_alpn(mut self) -> Self {
        Arc::make_mut(&mut self.rustls).alpn_protocols.clear();
        self.protocol = None;
        self
    }

    /// How the handshakes have ended so far, over all clones.
    pub fn handshakes(&self) -> Handshakes {
        self.handshake_policy.counters.so_far()
    }

    /// For connections to a server whose certificate is for the host of `authority`: a name or an
    /// IP address, with a port behind it or not.
    ///
    /// # Errors
    /// [`ConfigError::ServerName`].
    /// RFC 9113, section 9.2.
    pub fn connector(&self, authority: &str) -> Result<Connector, ConfigError> {
        let server_name = ServerName::try_from(host_of(authority).to_owned())
            .map_err(|_| self.no_server_name(authority))?;
        Ok(Connector { config: self.clone(), server_name })
    }

    fn no_server_name(&self, authority: &str) -> ConfigError {
        let option = self.handshake_policy.advice.server_name;
        ConfigError::ServerName { name: authority.to_owned(), option }
    }
}

/// TLS of a client, and the name of the server that it is for.
#[derive(Clone, Debug)]
pub struct Connector {
    config: ClientConfig,
    server_name: ServerName<'static>,
}

impl Connector {
    /// How the handshakes have ended so far, over all clones.
    pub fn handshakes(&self) -> Handshakes {
        self.config.handshakes()
    }

    pub(crate) fn handshake_policy(&self) -> &HandshakePolicy {
        &self.config.handshake_policy
    }

    pub(crate) fn engine(&self) -> Result<Engine, Error> {
        let rustls = Arc::clone(&self.config.rustls);
        let connection = UnbufferedClientConnection::new(rustls, self.server_name.clone())?;
        Ok(Engine::new(RustlsConnection::Client(connection), self.config.protocol))
    }
}

/// TLS of a client to several servers: by one name for all of them, or each by its own.
#[derive(Clone, Debug)]
pub struct Connectors {
    first: Connector,
    /// `None`: the first is for all.
    others: Option<Arc<[Connector]>>,
}

impl Connectors {
    /// Every server has to have a certificate for this one's name.
    pub fn for_all(connector: Connector) -> Self {
        Self { first: connector, others: None }
    }

    /// Each server has to have a certificate for its own name. They are numbered from 0, in this
    /// order.
    pub fn for_each(first: Connector, others: impl IntoIterator<Item = Connector>) -> Self {
        Self { first, others: Some(others.into_iter().collect()) }
    }

    /// That of one server.
    pub(crate) fn of(&self, server: usize) -> &Connector {
        match (&self.others, server.checked_sub(1)) {
            (Some(others), Some(at)) => others.get(at).expect("every server has a name"),
            _ => &self.first,
        }
    }

    /// What they have in common, since it does not depend on the name.
    pub(crate) fn any(&self) -> &Connector {
        &self.first
    }
}

/// An authority without its port, and without the brackets of IPv6.
fn host_of(authority: &str) -> &str {
    if let Some((host, _)) = authority.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        return host;
    }
    match authority.split_once(':') {
        Some((host, port)) if !port.contains(':') => host,
        _ => authority,
    }
}

/// RFC 9113, section 9.2.2.
fn provider() -> Arc<CryptoProvider> {
    Arc::new(ring::default_provider())
}

fn refused(error: impl ToString) -> ConfigError {
    ConfigError::Refused(error.to_string())
}

/// Writes the key log file, where the environment names one. rustls itself ignores a file that it
/// cannot write.
fn key_log() -> Result<Arc<dyn KeyLog>, ConfigError> {
    let Some(file) = env::var_os(KEY_LOG_VARIABLE).map(PathBuf::from) else {
        return Ok(Arc::new(NoKeyLog));
    };
    if let Err(error) = OpenOptions::new().append(true).create(true).mode(KEY_LOG_MODE).open(&file)
    {
        let reason = reason(&error);
        return Err(ConfigError::KeyLog { file, reason });
    }
    Ok(Arc::new(KeyLogFile::new()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustls::NamedGroup;
    use rustls::crypto::ring::cipher_suite::TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256;

    #[test]
    fn the_cipher_suite_that_everybody_has_is_there() {
        let provider = provider();
        assert!(provider.cipher_suites.contains(&TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256));
        let groups = provider.kx_groups.iter().map(|group| group.name());
        assert!(groups.into_iter().any(|name| name == NamedGroup::secp256r1));
    }
}
