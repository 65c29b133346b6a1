//! What a channel may do, and how long it waits.

use super::request_heads::Origin;
use crate::error::ConnectError;
use crate::targets::{TargetName, TargetNames};
use bookend_io::tls::{ClientConfig, Connector, Connectors, TlsAdvice};
use bookend_wire::keepalive::{CLIENT_TIME_MIN_NS, TIMEOUT_NS};
use bookend_wire::{ConnectionConfig, Keepalive};
use std::time::Duration;

/// How long a connection may take to be made: what ghz and grpc-go allow is 10 to 20 s.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
/// How long the server may take to send its SETTINGS, which it owes at once (RFC 9113, section
/// 3.4). A runtime that starts slowly needs a second or two.
const SETTINGS_TIMEOUT: Duration = Duration::from_secs(5);
/// The largest message that is accepted: the default of grpc-go, grpc-java and grpc C++.
const MAX_MESSAGE_BYTES: usize = 4 << 20;
/// The first wait before a connection that failed is made again: long enough that a dead server
/// costs nothing, short enough that a restart goes unnoticed.
const BACKOFF_MIN: Duration = Duration::from_millis(100);
/// The longest such wait: each failure doubles it. A server that comes back is found within it.
const BACKOFF_MAX: Duration = Duration::from_secs(10);
/// Calls without a response that a channel holds. As many as a trusted server lets one connection
/// have in flight (2^20), at some 300 bytes each.
const MAX_PENDING_CALLS: usize = 1 << 20;

/// How a [`crate::Channel`] connects, and what it accepts.
#[derive(Clone, Debug)]
pub struct ChannelOptions {
    /// How long a connection may take to be made.
    pub connect_timeout: Duration,
    /// How long the server may then take to send its SETTINGS.
    pub settings_timeout: Duration,
    /// The largest message that is accepted; a larger one ends its call with `RESOURCE_EXHAUSTED`.
    pub max_message_bytes: usize,
    /// The `:authority` of every call; `None` means the name of the server that is connected to.
    pub authority: Option<String>,
    /// TLS; `None` means plain text. The server's certificate has to be for the host of
    /// `authority`, or else for that of the target that is connected to.
    pub tls: Option<ClientConfig>,
    /// What an error calls what can be done about a server that wants TLS, for channels without
    /// TLS.
    pub tls_advice: &'static TlsAdvice,
    /// The limits of HTTP/2.
    pub http2: ConnectionConfig,
    /// The first wait before a connection that failed is made again. Each wait is drawn at random
    /// from within 20 % of its nominal length.
    pub backoff_min: Duration,
    /// The longest such wait: each failure doubles it.
    pub backoff_max: Duration,
    /// Calls without a response, waiting or in flight; a further one ends at once with
    /// `RESOURCE_EXHAUSTED`.
    pub max_pending_calls: usize,
    /// How long a server may send nothing while calls wait for it before it is sent a PING, or up
    /// to half as much more; less than 10 s counts as 10 s, as in grpc-go. `None` means no PINGs.
    ///
    /// None is sent while no call waits: servers take those for an attack. Those of grpc-go and
    /// grpc-java allow one PING in five minutes unless their owner says otherwise, and close the
    /// connection at the third that comes sooner; a channel that learns so (`too_many_pings`) sends
    /// half as many from then on.
    pub keepalive_time: Option<Duration>,
    /// How long the server may send nothing after that PING before its connection is given up.
    pub keepalive_timeout: Duration,
}

impl Default for ChannelOptions {
    /// 10 s to connect, 5 s for the SETTINGS, messages of 4 MiB, plain text, a trusted server,
    /// back-off from 100 ms to 10 s, 1,048,576 calls, no keepalive (20 s after its PING).
    fn default() -> Self {
        Self {
            connect_timeout: CONNECT_TIMEOUT,
            settings_timeout: SETTINGS_TIMEOUT,
            max_message_bytes: MAX_MESSAGE_BYTES,
            authority: None,
            tls: None,
            tls_advice: &TlsAdvice::CLIENT,
            http2: ConnectionConfig::trusted(),
            backoff_min: BACKOFF_MIN,
            backoff_max: BACKOFF_MAX,
            max_pending_calls: MAX_PENDING_CALLS,
            keepalive_time: None,
            keepalive_timeout: Duration::from_nanos(TIMEOUT_NS),
        }
    }
}

impl ChannelOptions {
    /// What all calls to that server have in common.
    pub(super) fn origin(&self, name: &TargetName) -> Origin {
        let authority = self.authority.clone();
        Origin {
            scheme: if self.tls.is_some() { "https" } else { "http" },
            authority: authority.unwrap_or_else(|| name.authority()),
        }
    }

    /// What to do about a server that wants TLS, for a channel without TLS.
    pub(super) fn encrypt(&self) -> Option<&'static str> {
        self.tls.is_none().then_some(self.tls_advice.encrypt)
    }

    /// TLS to servers of these names, in this order, if there is to be any. Each is verified by
    /// its own name, unless there is an `authority`.
    /// RFC 9113, section 9.1.1.
    pub(super) fn connectors(
        &self,
        names: &TargetNames,
    ) -> Result<Option<Connectors>, ConnectError> {
        let Some(config) = &self.tls else {
            return Ok(None);
        };
        let connector = |name| self.connector(config, name);
        let first = connector(names.first())?;
        if self.authority.is_some() {
            return Ok(Some(Connectors::for_all(first)));
        }
        let others: Vec<_> = names.iter().skip(1).map(connector).collect::<Result<_, _>>()?;
        Ok(Some(Connectors::for_each(first, others)))
    }

    /// When servers are sent PINGs.
    pub(super) fn keepalive(&self) -> Option<Keepalive> {
        self.keepalive_time.map(|time| Keepalive {
            time_ns: nanoseconds(time).max(CLIENT_TIME_MIN_NS),
            timeout_ns: nanoseconds(self.keepalive_timeout),
        })
    }

    fn connector(
        &self,
        config: &ClientConfig,
        name: &TargetName,
    ) -> Result<Connector, ConnectError> {
        config.connector(&self.origin(name).authority).map_err(|error| ConnectError::Unreachable {
            address: name.to_string(),
            reason: error.to_string(),
        })
    }
}

/// Nanoseconds, as far as they can be added to any clock's reading.
pub(super) fn nanoseconds(time: Duration) -> u64 {
    const MAX_NS: u64 = u64::MAX / 2;
    u64::try_from(time.as_nanos()).map_or(MAX_NS, |time_ns| time_ns.min(MAX_NS))
}
